"""The group waits for its last member to join."""

from __future__ import annotations

from rebalsim.analysis.values import Facts
from rebalsim.domain.doing import Doing
from rebalsim.domain.phase import PhaseKind
from rebalsim.domain.timer import Timer
from rebalsim.reports.doings_told import waited_for, was
from rebalsim.reports.phases.card import Look, PhaseCard
from rebalsim.reports.settings_behind import Asked, patience, session
from rebalsim.reports.waits_told import until


def tell(f: Facts, who: str) -> str:
    if f.doing is Doing.INITIAL_DELAY:
        return "waiting out group.initial.rebalance.delay.ms"
    if not f.consumer:
        return "waiting at the barrier for the last member to join"
    if f.doing is Doing.UNAWARE:
        return f"waiting at the barrier for {who}, which did not hear of the rebalance{until(f)}"
    if f.doing is Doing.DEAD and f.timer:  # a new process of that name may be there and well
        return f"waiting at the barrier for {who}'s dead process{until(f)}"
    if f.doing is Doing.JOINING:
        return f"waiting at the barrier for {who} to join"
    said = was(f.doing)
    if not said:
        return f"waiting at the barrier for {who}"
    return f"waiting at the barrier for {who}, which {said}{until(f)}"


def hint(asked: Asked) -> str:
    if asked.timer is Timer.REBALANCE_TIMEOUT:
        return patience(asked.settings)
    return session(asked.settings) if asked.timer is Timer.SESSION else waited_for(asked)


CARD = PhaseCard(
    PhaseKind.BARRIER,
    Look("B", "▓", "yellow", "#d97706", "#a75c14"),
    title="waiting for the last member to join",
    what="All members must join before anything is assigned. The partition's old owner has "
    "given it up, and the group waits for the last: "
    "the report names it and says what it was doing.",
    why="One member is enough: busy with a long batch, in a slow callback, stuck until the "
    "brokers' patience with it is over (its rebalance "
    "timeout: max.poll.interval.ms in Java, a setting of its own in some clients), or dead "
    "until its session runs out. Eager members have stopped "
    "everything by then, so one member's lateness is everybody's pause.",
    shows="GroupStateChanged to PreparingRebalance, MemberRejoined of each, BarrierCompleted "
    "with by (all-joined, timer, removal, "
    "initial-delay) and last.",
    change="Depends on the last one. Busy: lower max.poll.records. Stuck: lower "
    "max.poll.interval.ms. Dead: shorten the session, or use "
    "static ids so that its replacement takes its place. Cold start: "
    "group.initial.rebalance.delay.ms. With cooperative-sticky "
    "the others go on reading while they wait.",
    tell=tell,
    hint=hint,
)
