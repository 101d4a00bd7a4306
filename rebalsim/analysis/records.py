"""Records delivered twice and records skipped: an owner's position against how far the partition
had been handled by anybody.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rebalsim.analysis.values import Disturbance, Redelivery
from rebalsim.domain.ids import Partition
from rebalsim.domain.position_from import PositionFrom
from rebalsim.trace import events as ev
from rebalsim.trace.trace import Trace


def find_redeliveries(
    trace: Trace, horizon_us: int, group_of: Mapping[str, str], disturbances: Sequence[Disturbance]
) -> list[Redelivery]:
    """Every position that was below or above what had been handled, and what former owners
    handled beside new ones. Where a group begins (by `latest`) is its choice, and skips nothing;
    on a partition that came later, it does: nobody was handed what had arrived there before
    anybody knew of it.
    """
    disturbed = _disturbed(disturbances)
    begun: dict[tuple[str, Partition], None] = {}
    later: dict[str, int] = {}
    known = {topic: facts.partitions for topic, facts in trace.header.topics.items()}
    found: list[Redelivery] = []

    def add(number: int, e: Any, records: int, is_skip: bool, how: PositionFrom) -> None:
        group = group_of.get(e.consumer, "")
        cause = disturbed(group, e.at_us)
        found.append(
            Redelivery(
                e.partition, group, e.at_us, e.consumer, records, is_skip, how, cause, number
            )
        )

    for number, e in enumerate(trace.events):
        kind = type(e)
        if kind is ev.TopicChanged:
            later.setdefault(e.topic, known.get(e.topic, 0))
        elif kind is ev.PositionFound and e.at_us < horizon_us:
            key = (group_of.get(e.consumer, ""), e.partition)
            came_later = e.partition.number >= later.get(e.partition.topic, 1 << 30)
            is_first, handled = key not in begun, e.handled
            begun[key] = None
            if is_first and came_later and handled < 0:
                handled = 0
            is_its_choice = is_first and not came_later and e.offset > handled
            if handled >= 0 and e.offset != handled and not is_its_choice:
                add(number, e, abs(handled - e.offset), e.offset > handled, PositionFrom(e.how))
        elif kind is ev.HandledBeside and e.at_us < horizon_us:
            add(number, e, e.records, False, PositionFrom.BESIDE)
    return found


def _disturbed(disturbances: Sequence[Disturbance]) -> Callable[[str, int], int]:
    """The number of a group's last disturbance that had begun by an instant; −1: none."""
    starts: dict[str, list[int]] = {}
    places: dict[str, list[int]] = {}
    for place, d in enumerate(disturbances):
        starts.setdefault(d.group, []).append(d.started_us)
        places.setdefault(d.group, []).append(place)

    def disturbed(group: str, at_us: int) -> int:
        at = bisect_right(starts.get(group, []), at_us)
        return places[group][at - 1] if at else -1

    return disturbed
