"""Records delivered twice and records skipped: an owner's position against how far the partition
had been handled by anybody.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence

from rebalsim.analysis.values import Disturbance, Redelivery
from rebalsim.domain.ids import Partition
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
    begun: dict[tuple[str, Partition], None] = {}
    later: dict[str, int] = {}
    starts: dict[str, list[int]] = {}
    places: dict[str, list[int]] = {}
    for place, d in enumerate(disturbances):
        starts.setdefault(d.group, []).append(d.started_us)
        places.setdefault(d.group, []).append(place)
    known = {topic: facts.partitions for topic, facts in trace.header.topics.items()}
    found: list[Redelivery] = []

    def disturbed(group: str, at_us: int) -> int:
        at = bisect_right(starts.get(group, []), at_us)
        return places[group][at - 1] if at else -1

    number = -1
    for e in trace.events:
        number += 1
        kind = type(e)
        if kind is ev.TopicChanged:
            later.setdefault(e.topic, known.get(e.topic, 0))
        elif kind is ev.PositionFound and e.at_us < horizon_us:
            group = group_of.get(e.consumer, "")
            key = (group, e.partition)
            came_later = e.partition.number >= later.get(e.partition.topic, 1 << 30)
            is_first, handled = key not in begun, e.handled
            begun[key] = None
            if is_first and came_later and handled < 0:
                handled = 0
            if (
                handled < 0
                or e.offset == handled
                or (is_first and not came_later and e.offset > handled)
            ):
                continue
            found.append(
                Redelivery(
                    e.partition,
                    group,
                    e.at_us,
                    e.consumer,
                    abs(handled - e.offset),
                    e.offset > handled,
                    e.how,
                    disturbed(group, e.at_us),
                    number,
                )
            )
        elif kind is ev.HandledBeside and e.at_us < horizon_us:
            group = group_of.get(e.consumer, "")
            found.append(
                Redelivery(
                    e.partition,
                    group,
                    e.at_us,
                    e.consumer,
                    e.records,
                    False,
                    "beside",
                    disturbed(group, e.at_us),
                    number,
                )
            )
    return found
