"""Trace events in words: who, what, and to what effect. One teller a class; a class without one
is told by its fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from rebalsim.domain.ids import Partition
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.kafka_states import KafkaGroupState
from rebalsim.domain.life_end import OUT_OF_GRACE, LifeEnd
from rebalsim.domain.restored_from import RestoredFrom
from rebalsim.reports.names import safe
from rebalsim.trace import events as ev
from rebalsim.trace.events import TraceEvent
from rebalsim.trace.streams_events import (
    CommitsMade,
    ProcessingHeld,
    ProcessingWentOn,
    StoreRestored,
)
from rebalsim.trace.trace import ConsumerFacts
from rebalsim.words.lists import listed, plural
from rebalsim.words.times import say_duration, say_instant

_CONSUMER_STATES = frozenset((KafkaGroupState.ASSIGNING, KafkaGroupState.RECONCILING))
_CLASSIC_REQUESTS = frozenset((KafkaApi.JOIN, KafkaApi.SYNC, KafkaApi.HEARTBEAT, KafkaApi.LEAVE))


@dataclass(frozen=True, slots=True)
class Told:
    """An event as a row: `who` is a consumer, a group, or the script; `name` the event's class
    or request.
    """

    number: int
    at_us: int
    who: str
    name: str
    text: str


def tell_event(number: int, event: TraceEvent, consumers: Mapping[str, ConsumerFacts]) -> Told:
    """The event in words. Who the consumers were decides whether a number is a generation or an
    epoch.
    """
    kind = type(event)
    name = kind.__name__
    if kind in (ev.RequestSent, ev.ResponseReceived):
        name = event.api
    counted = _COUNTED.get(kind)
    text = (
        counted(event, _counter(event, consumers))
        if counted is not None
        else _TELLERS.get(kind, _by_fields)(event)
    )
    return Told(number, event.at_us, _who(event), safe(name), safe(text))


def _counter(event: TraceEvent, consumers: Mapping[str, ConsumerFacts]) -> str:
    """What this event's number counts: the classic protocol has generations, the consumer
    protocol epochs.
    """
    kind = type(event)
    if kind is ev.GroupStateChanged:
        states = {event.before, event.after}
        is_new = bool(states & _CONSUMER_STATES) or states == {
            KafkaGroupState.EMPTY,
            KafkaGroupState.STABLE,
        }  # a classic group has states between these
    elif kind is ev.AssignmentComputed:
        is_new = not event.consumer  # the broker did, and no leader
    elif getattr(event, "api", "") in _CLASSIC_REQUESTS:
        is_new = False
    elif getattr(event, "api", "") == KafkaApi.CONSUMER_HEARTBEAT:
        is_new = True
    else:
        facts = consumers.get(event.consumer)
        is_new = facts is not None and facts.at(event.at_us).uses_consumer_protocol
    return "epoch" if is_new else "generation"


def _who(event: TraceEvent) -> str:
    if type(event) is ev.ScriptActed:
        return "script"
    if type(event) is ev.GroupStateChanged:  # its consumer is only who triggered it
        return safe(event.group)
    who = getattr(event, "consumer", "") or getattr(event, "group", "")
    return safe(who) or "brokers"


def _by_fields(event: TraceEvent) -> str:
    return ", ".join(
        f"{f.name} {getattr(event, f.name)}"
        for f in fields(event)
        if f.name not in ("at_us", "consumer", "group")
    )


def _partitions(partitions: Sequence[Partition] | None) -> str:
    """`orders-0, 1, 2`, `nothing`."""
    if not partitions:
        return "nothing"
    topics: dict[str, list[int]] = {}
    for p in sorted(partitions):
        topics.setdefault(p.topic, []).append(p.number)
    return "; ".join(f"{topic}-{_numbers(numbers)}" for topic, numbers in topics.items())


def _numbers(numbers: list[int]) -> str:
    """`0…3, 7`: what follows each other is told by its ends."""
    spans: list[tuple[int, int]] = []
    for n in numbers:
        if spans and spans[-1][1] == n - 1:
            spans[-1] = spans[-1][0], n
        else:
            spans.append((n, n))
    return ", ".join(
        str(a) if a == b else f"{a}, {b}" if b == a + 1 else f"{a} … {b}" for a, b in spans
    )


def _sent(e: ev.RequestSent, counter: str) -> str:
    extra = [f"{counter} {e.generation}"] if e.generation >= 0 else []
    if e.reason:
        extra.append(f'"{e.reason}"')
    if e.partitions is not None:
        extra.append(_partitions(e.partitions))
    return "→ sent" + (f" ({', '.join(extra)})" if extra else "")


def _received(e: ev.ResponseReceived, counter: str) -> str:
    took = f" after {say_duration(e.at_us - e.sent_at_us)}" if e.sent_at_us >= 0 else ""
    return f"← {e.error or 'ok'}{took}" + (
        f", {counter} {e.generation}" if e.generation >= 0 else ""
    )


def _state(e: ev.GroupStateChanged, counter: str) -> str:
    why = f": {e.trigger}" if e.trigger else ""
    whose = f" ({e.consumer})" if e.consumer else ""
    reason = f', "{e.reason}"' if e.reason else ""
    return f"{e.before} → {e.after}, {counter} {e.generation}{why}{whose}{reason}"


def _barrier(e: ev.BarrierCompleted) -> str:
    last = f", last came {e.last}" if e.last else ""
    kicked = f", without {listed(e.kicked)}" if e.kicked else ""
    leader = f", leader {e.leader}" if e.leader else ""
    return (
        f"generation {e.generation} with {plural(e.members, 'member')} "
        f"({e.by}{last}{kicked}{leader}{f', {e.assignor}' if e.assignor else ''})"
    )


def _removed(e: ev.MemberRemoved) -> str:
    heard = f", last heard of at {say_instant(e.last_heard_us)}" if e.last_heard_us >= 0 else ""
    return f"removed from {e.group}: {e.why}{heard}"


def _computed(e: ev.AssignmentComputed, counter: str) -> str:
    moved = f", {plural(e.moved, 'partition')} moved" if e.moved >= 0 else ""
    least = f" (at least {e.least})" if e.least >= 0 else ""
    return f"{e.assignor} for {counter} {e.generation}{moved}{least}"


def _delivered(e: ev.RecordsDelivered) -> str:
    count = sum(last - first + 1 for first, last, _ in e.batch.values())
    oldest = max((age for _, _, age in e.batch.values()), default=-1)
    return f"{plural(count, 'record')} of {_partitions(list(e.batch))}" + (
        f", the oldest {say_duration(oldest)} old" if oldest >= 0 else ""
    )


def _size(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 1000)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} B"


def _position(e: ev.PositionFound) -> str:
    apart = e.handled - e.offset if e.handled >= 0 else 0
    effect = (
        f": {plural(apart, 'record')} again"
        if apart > 0
        else f": {plural(-apart, 'record')} skipped"
        if apart < 0
        else ""
    )
    return f"{e.partition} from {e.offset} ({e.how}){effect}"


_COUNTED: dict[type, Callable[[Any, str], str]] = {
    ev.RequestSent: _sent,
    ev.ResponseReceived: _received,
    ev.GroupStateChanged: _state,
    ev.AssignmentComputed: _computed,
    ev.AssignmentReceived: lambda e, counter: (
        f"is assigned {_partitions(e.partitions)} in {counter} {e.generation}"
    ),
}
_TELLERS: dict[type, Callable[[Any], str]] = {
    ProcessingHeld: lambda e: f"polls and processes nothing of {_partitions(e.partitions)}",
    ProcessingWentOn: lambda e: "processes again",
    StoreRestored: lambda e: (
        f"state of {e.task} restored"
        + {
            RestoredFrom.CHECKPOINT: " from its checkpoint",
            RestoredFrom.STANDBY: " from a standby",
        }.get(e.how, "")
        + f" in {say_duration(e.at_us - e.began_us) if e.at_us > e.began_us else 'no time'}"
        + f" ({_size(e.bytes)})"
    ),
    ev.ScriptActed: lambda e: f"{e.action}: {e.text}" if e.text else e.action,
    ev.LinkCut: lambda e: (
        "cut off from " + ("all brokers" if e.from_all_brokers else "its coordinator")
    ),
    ev.LinkHealed: lambda e: "connected again",
    ev.TopicChanged: lambda e: (
        f"{e.topic} has {plural(e.partitions, 'partition')}"
        if e.partitions
        else f"{e.topic} is gone"
    ),
    ev.BrokerChanged: lambda e: (
        f"broker {e.broker} {'came back' if e.is_up else 'went down'}"
        + (f" with Kafka {e.kafka}" if e.kafka else "")
    ),
    ev.ConsumerStarted: lambda e: (
        "process started" + (f", for the {_nth(e.life)} time" if e.life > 1 else "")
    ),
    ev.PollingBegan: lambda e: "polls for the first time",
    ev.StopAsked: lambda e: "asked to stop",
    ev.CloseBegan: lambda e: "close() begins",
    ev.CloseEnded: lambda e: "close() returns",
    ev.ConsumerExited: lambda e: (
        "process was killed: its grace was over"
        if e.why == OUT_OF_GRACE
        else {LifeEnd.CLOSED: "process ended", LifeEnd.KILLED: "process was killed"}.get(
            e.how, f"process died of {e.error or 'an error'}"
        )
    ),
    ev.ConsumerFroze: lambda e: "process froze",
    ev.ConsumerThawed: lambda e: "process goes on",
    ev.HandlerStuck: lambda e: (
        f"handler stuck ({e.why})" + (f" on {_partitions(e.partitions)}" if e.partitions else "")
    ),
    ev.HandlerReturned: lambda e: "handler returned",
    ev.CoordinatorFound: lambda e: (
        "found its coordinator" + (f": broker {e.broker}" if e.broker >= 0 else "")
    ),
    ev.CoordinatorLost: lambda e: f"lost its coordinator: {e.why}",
    ev.RejoinRequested: lambda e: f'will join again: "{e.reason}"',
    ev.RebalanceNoticed: lambda e: f"hears of the rebalance ({e.by})",
    ev.GenerationJoined: lambda e: (
        f"joined generation {e.generation}"
        + (" as leader" if e.is_leader else "")
        + (f" ({e.assignor})" if e.assignor else "")
    ),
    ev.CallbackBegan: lambda e: f"{e.callback} {_partitions(e.partitions)}: callback begins",
    ev.CallbackEnded: lambda e: (
        f"{e.callback} {_partitions(e.partitions)}: callback ends"
        + (f" with {e.error}" if e.error else "")
    ),
    ev.PollExpired: lambda e: (
        "max.poll.interval.ms ran out"
        + (f", last poll at {say_instant(e.last_poll_us)}" if e.last_poll_us >= 0 else "")
    ),
    ev.LeaveSent: lambda e: f'leaves: "{e.reason}"' if e.reason else "leaves",
    ev.MemberReset: lambda e: f"forgets its membership: {e.reason}",
    ev.Fenced: lambda e: f"is refused by {e.api}: {e.error}",
    ev.CommitRefused: lambda e: (
        f"commit refused: {e.error}" + (f" ({_partitions(e.partitions)})" if e.partitions else "")
    ),
    ev.PositionFound: _position,
    ev.HandledBeside: lambda e: (
        f"{plural(e.records, 'record')} of {e.partition} handled beside its new owner"
    ),
    ev.RecordsDelivered: _delivered,
    ev.BatchHandled: lambda e: "batch handled",
    ev.BytesFetched: lambda e: (
        f"{e.bytes:,} bytes of {e.partition} fetched from broker {e.broker}"
        + (", across racks" if e.crosses else "")
    ),
    CommitsMade: lambda e: (
        f"commits every {say_duration(e.every_us)} until {say_instant(e.last_us)}"
        if e.every_us
        else "commits"
    ),
    ev.LagMarked: lambda e: f"{e.partition} is {plural(e.records, 'record')} behind",
    ev.MemberAdded: lambda e: f"member of {e.group} ({e.how}): {e.member_id}",
    ev.MemberRejoined: lambda e: f"waits at the barrier of {e.group}",
    ev.MemberRemoved: _removed,
    ev.InitialDelayExtended: lambda e: (
        f"the first rebalance waits for members until {say_instant(e.until_us)}"
    ),
    ev.BarrierCompleted: _barrier,
    ev.AssignmentStored: lambda e: f"assignment of generation {e.generation} stored: stable",
    ev.CoordinatorMoved: lambda e: (
        f"coordinator is broker {e.broker}"
        + ("" if e.is_loaded else ", which still reads the group")
    ),
    ev.EpochBumped: lambda e: (
        f"group epoch {e.epoch}: {e.trigger}" + (f" ({e.consumer})" if e.consumer else "")
    ),
    ev.IntervalWaited: lambda e: (
        f"epoch {e.epoch} is not computed before {say_instant(e.until_us)}"
    ),
    ev.MemberStateChanged: lambda e: f"{e.before} → {e.after}, epoch {e.epoch} ({e.side})",
    ev.ReleaseAwaited: lambda e: (
        f"cannot have {_partitions(e.partitions)} yet: {listed(e.owners)} must let go"
    ),
    ev.PartitionsReleased: lambda e: f"let go of {_partitions(e.partitions)}",
}


def _nth(number: int) -> str:
    return f"{number}{'th' if number % 100 in (11, 12, 13) else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
