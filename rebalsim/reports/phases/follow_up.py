"""A cooperative hand-over waits for its second round."""

from __future__ import annotations

from rebalsim.analysis.values import Facts
from rebalsim.domain.doing import Doing
from rebalsim.domain.phase import PhaseKind
from rebalsim.reports.doings_told import of_the_kept, waited_for
from rebalsim.reports.phases.card import Look, PhaseCard
from rebalsim.reports.settings_behind import Asked, heartbeat
from rebalsim.reports.waits_told import heard, until

SLACK_US = 100_000  # messages, and a thread that looks that often


def tell(f: Facts, who: str) -> str:
    if not f.consumer:
        return "waiting for the second rebalance"
    if f.doing is Doing.TORN:
        return (
            f"without a second rebalance: {who} had restarted under its static id before it "
            "could set that off"
        )
    if f.doing is Doing.NO_COORDINATOR:
        return f"waiting for the second rebalance, without a coordinator{until(f)}"
    if f.until_us < 0:
        return f"waiting for the second rebalance, of which {who} had yet to hear"
    return f"waiting for the second rebalance, of which {who} heard{heard(f).removeprefix(',')}"


def hint(asked: Asked) -> str:
    if (kept := of_the_kept(asked)) is not None:
        return kept
    if asked.consumer and not asked.timer:
        return waited_for(asked)
    habits = asked.settings.habits if asked.settings is not None else None
    if (
        habits is not None
        and habits.beats_after_join_us  # whatever its interval is
        and asked.phase.length_us <= habits.beats_after_join_us + SLACK_US
    ):
        return ""
    return heartbeat(asked.settings)


CARD = PhaseCard(
    PhaseKind.FOLLOW_UP,
    Look("F", "▒", "bright_yellow", "#633411", "#d6b02f"),
    title="waiting for the second round of a cooperative hand-over",
    what="A cooperative member has given the partition up after the first round; the new "
    "owner gets it in the next one, which has not "
    "begun for everybody.",
    why="Those that gave something up join again at once. All others hear of the second "
    "round at their next heartbeat, and all "
    "heartbeats started together at the end of the first: nearly a whole "
    "heartbeat.interval.ms passes. A moved partition may so "
    "stand still longer than in an eager rebalance, which in turn stops all the others. It "
    "never comes where a static member was to "
    "set it off and is restarted before that: it takes its old place without a round, and "
    "the partitions are nobody's until "
    "something else rebalances the group.",
    shows="CallbackEnded (revoked) after AssignmentReceived begins it; the second "
    "BarrierCompleted ends it. The heartbeat that was waited "
    "for is a RebalanceNoticed.",
    change="Shorten heartbeat.interval.ms: the phase is about as long as that. Moving fewer "
    "partitions does not shorten it.",
    tell=tell,
    hint=hint,
    label="follow-up (second round)",
)
