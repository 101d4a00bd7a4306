"""The rebalance has begun, and members hear of it at their next heartbeat."""

from __future__ import annotations

from rebalsim.analysis.values import Facts
from rebalsim.domain.doing import Doing
from rebalsim.domain.phase import PhaseKind
from rebalsim.reports.doings_told import of_the_kept, waited_for
from rebalsim.reports.phases.card import Look, PhaseCard
from rebalsim.reports.settings_behind import Asked, heartbeat
from rebalsim.reports.waits_told import heard, until


def tell(f: Facts, who: str) -> str:
    if f.doing is Doing.NO_COORDINATOR:
        return f"without a coordinator{until(f)}"
    if f.consumer and f.until_us < 0:
        return f"before {who} had heard of the rebalance"
    return f"until {who} heard of the rebalance{heard(f)}"


def hint(asked: Asked) -> str:
    if (kept := of_the_kept(asked)) is not None:
        return kept
    if asked.consumer and not asked.timer:
        return waited_for(asked)
    return heartbeat(asked.settings)


CARD = PhaseCard(
    PhaseKind.NOTICE,
    Look("n", "▒", "cyan", "#2985b4", "#43b8d0"),
    title="members learn of the rebalance at their next heartbeat",
    what="The rebalance has begun at the coordinator, and a member has not heard of it: it is "
    "told in the answer to its next heartbeat.",
    why="The coordinator never calls its members. Each hears within heartbeat.interval.ms, "
    "the last of them decides, and an eager group "
    "that has already stopped waits for it.",
    shows="From GroupStateChanged to PreparingRebalance until RebalanceNoticed (by heartbeat, "
    "commit or sync).",
    change="Shorten heartbeat.interval.ms (1s costs little). A member inside a long batch "
    "hears "
    "in time and acts late: see barrier.",
    tell=tell,
    hint=hint,
)
