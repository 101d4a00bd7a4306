"""What surprises people about the consumer protocol (KIP-848), where it happened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from rebalsim.domain.membership import Removal
from rebalsim.trace import events as ev
from rebalsim.trace.trace import ConsumerFacts, Trace


class SurpriseKind(StrEnum):
    """Their words stand in `rebalsim/reports/surprises_told.py`."""

    LATE_DETECTION = "late-detection"  # the brokers' session decides when a dead member is missed
    LATE_PICKUP = "late-pickup"  # nobody tells a member when the partitions it waits for are free
    WAITED_INTERVAL = "waited-interval"  # the brokers wait between two assignments
    UNRELEASED_ID = "unreleased-id"  # a static id is kept until its session is over


@dataclass(frozen=True, slots=True)
class Surprise:
    """One of them: when, whose, and what the sentence needs besides."""

    kind: SurpriseKind
    at_us: int
    consumer: str = ""
    others: tuple[str, ...] = ()  # who held what it waited for
    length_us: int = -1  # of the session, or of the heartbeat's interval
    until_us: int = -1
    after_failover: bool = False  # the session began anew with the new coordinator
    came_back: bool = False  # it had lived before


def surprises(trace: Trace) -> tuple[Surprise, ...]:
    """Each kind once, at its first place after the script began (or else at its very first);
    nothing where no member speaks the consumer protocol.
    """
    facts = trace.header.consumers
    found: dict[SurpriseKind, Surprise] = {}
    before: dict[SurpriseKind, Surprise] = {}
    loaded: dict[str, int] = {}
    for e in trace.events:
        if e.at_us == 0 and trace.header.lead_us:
            continue  # this belongs to the time before the story
        if type(e) is ev.CoordinatorMoved and e.is_loaded:
            loaded[e.group] = e.at_us
        if type(e) is ev.ScriptActed and not before:
            before, found = found, {}
        surprise = _in(e, facts, loaded)
        if surprise is not None:
            found.setdefault(surprise.kind, surprise)
    return tuple({**before, **found}.values())


def _in(
    e: ev.TraceEvent, facts: Mapping[str, ConsumerFacts], loaded: Mapping[str, int]
) -> Surprise | None:
    kind = type(e)
    if kind is ev.MemberRemoved and e.why == Removal.SESSION_EXPIRED and _is_new(facts, e):
        return Surprise(
            SurpriseKind.LATE_DETECTION,
            e.at_us,
            e.consumer,
            length_us=facts[e.consumer].at(e.at_us).session_timeout_us,
            after_failover=0 <= e.last_heard_us == loaded.get(e.group, -1),
        )
    if kind is ev.ReleaseAwaited and _is_new(facts, e):
        beat = facts[e.consumer].at(e.at_us).heartbeat_interval_us
        return Surprise(
            SurpriseKind.LATE_PICKUP, e.at_us, e.consumer, tuple(e.owners), length_us=beat
        )
    if kind is ev.IntervalWaited:
        return Surprise(SurpriseKind.WAITED_INTERVAL, e.at_us, until_us=e.until_us)
    if kind is ev.ConsumerExited and e.error.startswith("UnreleasedInstanceId"):
        return Surprise(SurpriseKind.UNRELEASED_ID, e.at_us, e.consumer, came_back=e.life > 1)
    return None


def _is_new(facts: Mapping[str, ConsumerFacts], e: ev.TraceEvent) -> bool:
    return e.consumer in facts and facts[e.consumer].at(e.at_us).uses_consumer_protocol
