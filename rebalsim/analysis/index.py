"""Where in the trace to look: the numbers of the events that concern each consumer and each group, so that no later part walks the whole again.

Deliveries, positions, lag and handled batches are left out: they are many, and only a few parts want them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TypeVar

from rebalsim.trace import events as ev
from rebalsim.trace.events import TraceEvent
from rebalsim.trace.trace import Trace

BULK = (ev.RecordsDelivered, ev.BatchHandled, ev.LagMarked, ev.PositionFound, ev.BytesFetched)
_SKIPPED = frozenset(BULK)
_WORLD = frozenset((ev.ScriptActed, ev.TopicChanged, ev.BrokerChanged))
_OF_GROUP = frozenset((
    ev.GroupStateChanged, ev.MemberAdded, ev.MemberRejoined, ev.MemberRemoved, ev.InitialDelayExtended, ev.BarrierCompleted, ev.AssignmentStored,
    ev.CoordinatorMoved, ev.EpochBumped, ev.IntervalWaited, ev.ReleaseAwaited, ev.PartitionsReleased, ev.AssignmentComputed,
))

T = TypeVar("T")


def starting(values: Sequence[T], place: int) -> Iterator[T]:
    """The values from that place on, without a copy."""
    return (values[i] for i in range(place, len(values)))


class Index:
    """Event numbers by consumer, by group, and of the world; each list ascending."""

    __slots__ = ("by_consumer", "by_group", "events", "group_of", "horizon_us", "new_protocol", "world")

    def __init__(self, trace: Trace, horizon_us: int) -> None:
        self.events: list[TraceEvent] = trace.events
        self.horizon_us = horizon_us
        self.new_protocol: dict[str, None] = {}                # who speaks the consumer protocol; empty name: the coordinator told of epochs
        self.by_consumer: dict[str, list[int]] = {}
        self.by_group: dict[str, list[int]] = {}
        self.world: list[int] = []
        self.group_of = {name: facts.group for name, facts in trace.header.consumers.items()}
        by_consumer, by_group, world, group_of = self.by_consumer, self.by_group, self.world, self.group_of
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
                by_group.setdefault(event.group, []).append(number)
                if kind is ev.AssignmentComputed or kind is ev.GroupStateChanged:
                    continue
                if kind is ev.EpochBumped:
                    self.new_protocol[""] = None
            elif kind is ev.MemberStateChanged and event.side == "client":
                self.new_protocol[event.consumer] = None
            consumer = getattr(event, "consumer", "")
            if consumer:
                found = by_consumer.get(consumer)
                if found is None:
                    found = by_consumer[consumer] = []
                    group_of.setdefault(consumer, getattr(event, "group", only_group))
                found.append(number)

    def groups(self) -> list[str]:
        """Every group that anything is known of, by name."""
        return sorted({**dict.fromkeys(self.by_group), **dict.fromkeys(self.group_of.values())})

    def members_of(self, group: str) -> list[str]:
        """The group's consumers, by name."""
        return sorted(name for name, of in self.group_of.items() if of == group)

    def of_group(self, group: str) -> list[int]:
        """The events of the coordinator and of all the group's consumers, in order."""
        numbers: list[int] = list(self.by_group.get(group, ()))
        for consumer in self.members_of(group):
            numbers += self.by_consumer.get(consumer, ())
        return sorted(dict.fromkeys(numbers))

    def since(self, numbers: list[int], at_us: int) -> Iterator[int]:
        """Those of `numbers` whose events were at or after that instant. No slice: one for each pause of a long trace would cost its square."""
        return starting(numbers, self.first_at(numbers, at_us))

    def first_at(self, numbers: list[int], at_us: int) -> int:
        """The place in `numbers` of the first event at or after that instant."""
        return bisect_left(numbers, at_us, key=lambda n: self.events[n].at_us)
