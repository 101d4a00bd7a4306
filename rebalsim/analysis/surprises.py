"""What surprises people about the consumer protocol (KIP-848), said where it happened: one
sentence each, with the instant and who it was.
"""

from __future__ import annotations

from collections.abc import Mapping

from rebalsim.trace import events as ev
from rebalsim.trace.trace import ConsumerFacts, Trace

SECOND = 1_000_000


def surprises(trace: Trace) -> tuple[str, ...]:
    """Each kind once, at its first place after the script began (or else at its very first);
    nothing where no member speaks the consumer protocol.
    """
    facts = trace.header.consumers
    found: dict[str, str] = {}
    before: dict[str, str] = {}
    loaded: dict[str, int] = {}
    for e in trace.events:
        if type(e) is ev.CoordinatorMoved and e.is_loaded:
            loaded[e.group] = e.at_us
        if type(e) is ev.ScriptActed and not before:
            before, found = found, {}
        _look(e, facts, found, loaded)
    return tuple({**before, **found}.values())


def _look(
    e: ev.TraceEvent,
    facts: Mapping[str, ConsumerFacts],
    found: dict[str, str],
    loaded: Mapping[str, int],
) -> None:
    kind = type(e)
    if (
        kind is ev.MemberRemoved
        and e.why == "session-expired"
        and _is_new(facts, e)
        and "detection" not in found
    ):
        session = facts[e.consumer].at(e.at_us).session_timeout_us
        since = (
            "the new coordinator had loaded the group"
            if 0 <= e.last_heard_us == loaded.get(e.group, -1)
            else "its last heartbeat"
        )
        found["detection"] = (
            f"{e.consumer} was missed at {_at(e.at_us)}, {_span(session)} after {since}: the "
            "brokers' group.consumer.session.timeout.ms "
            "decides that, a client cannot ask for less, and 45 s is the least unless the "
            "brokers' minimum is lowered."
        )
    elif kind is ev.ReleaseAwaited and _is_new(facts, e) and "pickup" not in found:
        beat = facts[e.consumer].at(e.at_us).heartbeat_interval_us
        found["pickup"] = (
            f"{e.consumer} had to wait at {_at(e.at_us)} for partitions that "
            f"{_holders(e.consumer, e.owners)} still held. Nobody tells it when they are "
            f"free: it gets them with its own next heartbeat, up to {_span(beat)} later "
            "(group.consumer.heartbeat.interval.ms)."
        )
    elif kind is ev.IntervalWaited and "interval" not in found:
        found["interval"] = (
            f"A new target was due at {_at(e.at_us)} and could not be worked out before "
            f"{_at(e.until_us)}: the brokers wait "
            "group.consumer.assignment.interval.ms between two (since Kafka 4.3), and then for "
            "anybody's heartbeat."
        )
    elif (
        kind is ev.ConsumerExited
        and e.error.startswith("UnreleasedInstanceId")
        and "unreleased" not in found
    ):
        came, whose = ("came back", "that was killed") if e.life > 1 else ("came", "that has it")
        found["unreleased"] = (
            f"{e.consumer} {came} at {_at(e.at_us)} and was refused: the consumer protocol keeps "
            f"a static id until the session of the one {whose} is "
            "over, where the classic protocol would have put the newcomer in its place."
        )


def _is_new(facts: Mapping[str, ConsumerFacts], e: ev.TraceEvent) -> bool:
    return e.consumer in facts and facts[e.consumer].at(e.at_us).protocol == "consumer"


def _holders(who: str, owners: tuple[str, ...]) -> str:
    """Who is to let go. A process that was started again may wait for the member that it was
    before.
    """
    others = tuple(name for name in owners if name != who)
    return _listed(
        (*others, "the member that it was before") if len(others) < len(owners) else others
    )


def _listed(names: tuple[str, ...]) -> str:
    unique = list(dict.fromkeys(names))
    if len(unique) > 3:
        return f"{', '.join(unique[:2])} and {len(unique) - 2} more"
    return " and ".join(unique) if len(unique) < 3 else f"{unique[0]}, {unique[1]} and {unique[2]}"


def _at(us: int) -> str:
    minutes, rest = divmod(us, 60 * SECOND)
    return f"{minutes}:{rest / SECOND:06.3f}" if minutes else f"{rest / SECOND:.3f} s"


def _span(us: int) -> str:
    return f"{us / SECOND:g} s"
