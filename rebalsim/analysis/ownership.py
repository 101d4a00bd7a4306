"""Who held which partition, from the assigned callback to the end of the revoked or lost one."""

from __future__ import annotations

from rebalsim.analysis.index import Index
from rebalsim.analysis.values import Holding
from rebalsim.domain.ids import Partition
from rebalsim.trace import events as ev

Holdings = dict[tuple[str, Partition], list[Holding]]


def find_holdings(index: Index) -> Holdings:
    """Every holding, by group and partition, each list in order of time; keys sorted."""
    found: Holdings = {}
    held: dict[str, dict[Partition, Holding]] = {}
    generation: dict[str, int] = {}
    events = index.events
    for number in index.of_consumers(index.by_consumer):
        event = events[number]
        kind = type(event)
        if kind is ev.CallbackBegan and event.callback == "assigned":
            group, mine = index.group_of[event.consumer], held.setdefault(event.consumer, {})
            for p in event.partitions:
                if p not in mine:
                    mine[p] = h = Holding(event.consumer, event.at_us, index.horizon_us, generation.get(event.consumer, -1), number)
                    found.setdefault((group, p), []).append(h)
        elif kind is ev.CallbackEnded and event.callback != "assigned":
            mine = held.get(event.consumer, {})
            for p in event.partitions:
                if (gone := mine.pop(p, None)) is not None:
                    gone.ended_us, gone.ended_event, gone.how = event.at_us, number, event.callback
        elif kind is ev.ConsumerExited:
            for gone in held.pop(event.consumer, {}).values():
                gone.ended_us, gone.ended_event, gone.how = event.at_us, number, "exited"
            generation.pop(event.consumer, None)
        elif kind is ev.GenerationJoined or kind is ev.AssignmentReceived:
            generation[event.consumer] = event.generation
        elif kind is ev.MemberStateChanged and event.side == "client":
            generation[event.consumer] = event.epoch
    return dict(sorted(found.items()))
