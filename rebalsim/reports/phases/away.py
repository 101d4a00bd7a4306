"""A member is simply not there yet: its process is being started again."""

from __future__ import annotations

from rebalsim.analysis.values import Facts
from rebalsim.domain.doing import Doing
from rebalsim.domain.phase import PhaseKind
from rebalsim.domain.trigger import Trigger
from rebalsim.reports.doings_told import of_the_kept, once_over, waited_for
from rebalsim.reports.phases.card import Look, PhaseCard
from rebalsim.reports.settings_behind import Asked
from rebalsim.words.times import say_instant


def tell(f: Facts, who: str) -> str:
    if not f.consumer:
        return "while nobody was there to take it"
    if f.doing is Doing.NEW:
        return f"until {who} came"
    if f.doing is Doing.STARTING:
        return f"until {who} had started"
    joined = " and joined again" if f.trigger is Trigger.REJOINED else ""
    over = once_over(f.doing)
    at = f" at {say_instant(f.until_us)}" if f.until_us >= 0 else ""
    return f"until {who} {over}{joined}{at}" if over else f"until {who} was back"


def hint(asked: Asked) -> str:
    if (kept := of_the_kept(asked)) is not None:
        return kept
    if asked.doing is Doing.IN_CALLBACK:
        return waited_for(asked)
    if not asked.consumer or asked.doing in (Doing.FROZEN, Doing.CUT_OFF):
        return ""  # nobody else was there, and nothing that can be set brings anybody
    return "How soon a process is back is for its start to decide: no timeout does."


CARD = PhaseCard(
    PhaseKind.AWAY,
    Look("A", "▓", "bright_black", "#888b93", "#767d9b"),
    title="a member is simply not there yet",
    what="The partition belongs to a static member that is being restarted, or nobody is in "
    "the group: all are still starting, have left it "
    "in the middle of their batches, or are dead or frozen and their sessions over. Nothing "
    "is decided: the partition waits for whoever comes first.",
    why="It lasts as long as the process takes to stop and start again, JVM and all. If that "
    "is longer than the session, detection and a "
    "rebalance come on top.",
    shows="CloseEnded or ConsumerExited begins it; PollingBegan of the next life, or "
    "MemberAdded with replacement, ends it.",
    change="Start quicker; keep session.timeout.ms above the slowest restart; restart fewer at "
    "once.",
    tell=tell,
    hint=hint,
)
