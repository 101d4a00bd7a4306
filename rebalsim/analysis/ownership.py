"""Who held which partition, from the assigned callback to the end of the revoked or lost one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from rebalsim.analysis.index import Index
from rebalsim.analysis.values import Holding
from rebalsim.domain.callback import Callback
from rebalsim.domain.holding_end import HoldingEnd
from rebalsim.domain.ids import Partition
from rebalsim.trace import events as ev

Holdings = dict[tuple[str, Partition], list[Holding]]


@dataclass(frozen=True, slots=True)
class Change:
    """A consumer began to hold a partition, or stopped (then `holding` has its end)."""

    event: int
    partition: Partition
    holding: Holding
    begins: bool


def changes(index: Index) -> Iterator[Change]:
    """Everything that changes hands, in order of the events."""
    held: dict[str, dict[Partition, Holding]] = {}
    events = index.events
    for number in index.handings:
        event = events[number]
        kind = type(event)
        if kind is ev.CallbackBegan and event.callback == Callback.ASSIGNED:
            mine = held.setdefault(event.consumer, {})
            generation = _generation_at(index, event.consumer, number)
            for p in event.partitions:
                if p not in mine:
                    mine[p] = h = Holding(event.consumer, event.at_us, index.horizon_us, generation)
                    yield Change(number, p, h, True)
        elif kind is ev.CallbackEnded and event.callback != Callback.ASSIGNED:
            mine = held.get(event.consumer, {})
            for p in event.partitions:
                if (gone := mine.pop(p, None)) is not None:
                    gone.ended_us, gone.how = event.at_us, HoldingEnd(event.callback)
                    yield Change(number, p, gone, False)
        elif kind is ev.ConsumerExited or kind is ev.MemberStateChanged:
            # Who joins anew under the consumer protocol has let go of all it had, and of what it
            # had only just been handed no callback says so.
            for p, gone in held.pop(event.consumer, {}).items():
                gone.ended_us, gone.how = (
                    event.at_us,
                    HoldingEnd.EXITED if kind is ev.ConsumerExited else HoldingEnd.LOST,
                )
                yield Change(number, p, gone, False)


def find_holdings(index: Index) -> Holdings:
    """Every holding, by group and partition, each list in order of time; keys sorted."""
    found: Holdings = {}
    for change in changes(index):
        if change.begins:
            found.setdefault(
                (index.group_of[change.holding.consumer], change.partition), []
            ).append(change.holding)
    return dict(sorted(found.items()))


def _generation_at(index: Index, consumer: str, number: int) -> int:
    """The generation or epoch that the consumer's life was in at this event; −1 if none was
    told.
    """
    numbers = index.by_consumer[consumer]
    for place in range(bisect_left(numbers, number) - 1, -1, -1):
        event = index.events[numbers[place]]
        kind = type(event)
        if kind is ev.GenerationJoined or kind is ev.AssignmentReceived:
            return int(event.generation)
        if kind is ev.MemberStateChanged and event.is_of_client:
            return int(event.epoch)
        if kind is ev.ConsumerExited:
            break
    return -1
