"""The assignment is computed, stored and handed out."""

from __future__ import annotations

from rebalsim.analysis.values import Facts
from rebalsim.domain.doing import Doing
from rebalsim.domain.phase import PhaseKind
from rebalsim.reports.doings_told import of_the_kept, waited_for, was
from rebalsim.reports.phases.card import Look, PhaseCard
from rebalsim.reports.settings_behind import Asked
from rebalsim.reports.waits_told import until

LONG_US = 500_000  # a shorter one is made of messages, which no assignor saves


def tell(f: Facts, who: str) -> str:
    if f.doing is Doing.DEAD_LEADER:
        return f"for the assignment, which {who}'s dead process (the leader) was to make"
    if f.doing is Doing.DEAD_OWNER:
        whose = f"{who}'s" if f.consumer else "a"
        return f"in the hands of {whose} dead process, which was given it"
    if f.doing is Doing.NO_COORDINATOR:
        return f"for the assignment, without a coordinator{until(f)}"
    said = was(f.doing)
    if f.consumer and said:
        return f"for the assignment, while {who} {said}{until(f)}"
    return "for the assignment to be computed and handed out"


def hint(asked: Asked) -> str:
    if (kept := of_the_kept(asked)) is not None:
        return kept
    if asked.doing is not Doing.ASSIGNING:
        return waited_for(asked)
    if asked.phase.length_us < LONG_US:
        return ""
    return "A cheaper assignor, or the consumer protocol (the broker computes), shortens it."


CARD = PhaseCard(
    PhaseKind.ASSIGNMENT,
    Look("a", "░", "bright_blue", "#3f13b5", "#a78bfa"),
    title="the leader computes, and the assignment comes back",
    what="The barrier is complete. The group's leader runs the assignor, sends the result "
    "with SyncGroup, the coordinator writes it to its "
    "log, and each member gets its part.",
    why="Usually milliseconds. With thousands of members and partitions the assignor takes "
    "seconds, and when it takes longer than "
    "request.timeout.ms the others give up and join again. A leader inside a long batch "
    "(cooperative) does not even begin. A process "
    "that died while its JoinGroup was parked stays a member until its session ends: it may "
    "lead, and then nobody assigns (the others' "
    "SyncGroups run into request.timeout.ms), or be given partitions that nobody reads. And "
    "while the coordinator moves, nothing is assigned.",
    shows="From BarrierCompleted over AssignmentComputed and AssignmentStored to "
    "AssignmentReceived.",
    change="A cheaper assignor, fewer topics per group; the consumer protocol, where the "
    "broker "
    "computes. State the cost in assignor_cost.",
    tell=tell,
    hint=hint,
)
