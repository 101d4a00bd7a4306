"""Where in the trace to look: the numbers of the events that concern each consumer and each group,
so that no later part walks the whole again.

Deliveries, positions, lag and handled batches are left out: they are many, and only a few parts
want them. Numbers are kept as machine words: a trace of millions of events has as many of them
as it has events.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import compress
from typing import TypeAlias, TypeVar

from rebalsim.domain.kafka_states import KafkaClientState
from rebalsim.trace import events as ev
from rebalsim.trace.connect_events import (
    ConnectorEnded,
    ConnectorStarted,
    TaskStarting,
    TaskStopped,
    TaskStopping,
)
from rebalsim.trace.events import TraceEvent
from rebalsim.trace.streams_events import TasksWithheld
from rebalsim.trace.trace import Trace

BULK = (ev.RecordsDelivered, ev.BatchHandled, ev.LagMarked, ev.PositionFound, ev.BytesFetched)
_SKIPPED = frozenset(BULK)
_WORLD = frozenset((ev.ScriptActed, ev.TopicChanged, ev.BrokerChanged))
_OF_GROUP = frozenset(
    (
        ev.GroupStateChanged,
        ev.MemberAdded,
        ev.MemberRejoined,
        ev.MemberRemoved,
        ev.InitialDelayExtended,
        ev.BarrierCompleted,
        ev.AssignmentStored,
        ev.CoordinatorMoved,
        ev.EpochBumped,
        ev.IntervalWaited,
        ev.ReleaseAwaited,
        ev.PartitionsReleased,
        ev.AssignmentComputed,
        TasksWithheld,
    )
)
_HANDINGS = frozenset((ev.CallbackBegan, ev.CallbackEnded, ev.ConsumerExited))

T = TypeVar("T")
Numbers: TypeAlias = "array[int]"
NOTHING: Numbers = array("i")


def merged(lists: Sequence[Numbers]) -> Numbers:
    """All the numbers of several ascending lists, each once, in order. Ticked off, not sorted:
    that would need many times the memory.
    """
    if len(lists) == 1:
        return lists[0]
    ticks = bytearray(1 + max((numbers[-1] for numbers in lists if numbers), default=-1))
    for numbers in lists:
        for number in numbers:
            ticks[number] = 1
    return array("i", compress(range(len(ticks)), ticks))


def starting(values: Sequence[T], place: int) -> Iterator[T]:
    """The values from that place on, without a copy."""
    return (values[i] for i in range(place, len(values)))


_OF_TASKS = frozenset((TaskStarting, TaskStopping, TaskStopped))
_TOLD_BY_TASKS = _OF_TASKS | {ConnectorStarted, ConnectorEnded, ev.RecordsDelivered}


class Index:
    """Event numbers by consumer, by group, and of the world; each list ascending."""

    __slots__ = (
        "_of_group",
        "_own_of",
        "by_consumer",
        "by_group",
        "events",
        "group_of",
        "handings",
        "horizon_us",
        "new_protocol",
        "world",
    )

    def __init__(self, trace: Trace, horizon_us: int) -> None:
        self.events: Sequence[TraceEvent] = trace.events
        self.horizon_us = horizon_us
        # who speaks the consumer protocol; empty name: the coordinator told of epochs
        self.new_protocol: dict[str, None] = {}
        self.by_consumer: dict[str, Numbers] = {}
        self.by_group: dict[str, Numbers] = {}
        self._of_group: dict[str, Numbers] | None = None
        self._own_of: dict[str, Numbers] = {}
        # callbacks that were handed partitions, exits, joins anew: what ownership follows from
        self.handings: Numbers = array("i")
        self.world: list[int] = []
        self.group_of = {name: facts.group for name, facts in trace.header.consumers.items()}
        by_consumer, by_group, world, handings, group_of = (
            self.by_consumer,
            self.by_group,
            self.world,
            self.handings,
            self.group_of,
        )
        only_group = next(iter(dict.fromkeys(group_of.values())), "")
        number = -1
        for event in trace.events:
            number += 1
            kind = type(event)
            if kind in _SKIPPED:
                continue
            if event.at_us >= horizon_us:
                break
            if kind in _WORLD:
                world.append(number)
                continue
            if kind in _OF_GROUP:
                found = by_group.get(event.group)
                if found is None:
                    found = by_group[event.group] = array("i")
                found.append(number)
                if kind is ev.AssignmentComputed or kind is ev.GroupStateChanged:
                    continue
                if kind is ev.EpochBumped:
                    self.new_protocol[""] = None
            elif kind is ev.MemberStateChanged and event.is_of_client:
                self.new_protocol[event.consumer] = None
                if event.after == KafkaClientState.JOINING:
                    handings.append(number)
            consumer = getattr(event, "consumer", "")
            if consumer:
                found = by_consumer.get(consumer)
                if found is None:
                    found = by_consumer[consumer] = array("i")
                    group_of.setdefault(consumer, getattr(event, "group", only_group))
                found.append(number)
                if kind in _HANDINGS and (kind is ev.ConsumerExited or event.partitions):
                    handings.append(number)

    def groups(self) -> list[str]:
        """Every group that anything is known of, by name."""
        return sorted({**dict.fromkeys(self.by_group), **dict.fromkeys(self.group_of.values())})

    def members_of(self, group: str) -> list[str]:
        """The group's consumers, by name."""
        return sorted(name for name, of in self.group_of.items() if of == group)

    def of_group(self, group: str) -> Numbers:
        """The events of the coordinator and of all the group's consumers, in order."""
        if self._of_group is None:
            self._of_group = self._by_whole_group()
        return self._of_group.get(group, NOTHING)

    def own_of(self, consumer: str) -> Numbers:
        """The consumer's events without those of single tasks: a worker that runs forty tells as
        many in each round, and no other task's pause follows from them.
        """
        found = self._own_of.get(consumer)
        if found is None:
            found = numbers = self.by_consumer.get(consumer, NOTHING)
            events = self.events
            if any(type(events[n]) in _OF_TASKS for n in numbers):
                rest = (n for n in numbers if type(events[n]) not in _TOLD_BY_TASKS)
                found = array("i", rest)
            self._own_of[consumer] = found
        return found

    def _by_whole_group(self) -> dict[str, Numbers]:
        several = {group: [numbers] for group, numbers in self.by_group.items()}
        for consumer, numbers in self.by_consumer.items():
            several.setdefault(self.group_of[consumer], []).append(numbers)
        return {group: merged(lists) for group, lists in several.items()}

    def since(self, numbers: Sequence[int], at_us: int) -> Iterator[int]:
        """Those of `numbers` whose events were at or after that instant. It makes no slice: one for
        each pause of a long trace would cost the square of its length.
        """
        return starting(numbers, self.first_at(numbers, at_us))

    def first_at(self, numbers: Sequence[int], at_us: int) -> int:
        """The place in `numbers` of the first event at or after that instant."""
        return bisect_left(numbers, at_us, key=lambda n: self.events[n].at_us)

    def last_of(self, consumer: str, at_us: int, *kinds: type) -> int:
        """The consumer's last event of these kinds up to that instant; −1 if there was none."""
        numbers = self.by_consumer.get(consumer, NOTHING)
        for place in range(self.first_at(numbers, at_us + 1) - 1, -1, -1):
            if type(self.events[numbers[place]]) in kinds:
                return numbers[place]
        return -1
