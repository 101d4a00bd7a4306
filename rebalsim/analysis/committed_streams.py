"""How far a Kafka Streams application had committed each partition at an instant: the trace tells when
its threads commit, all of a thread's tasks together.
"""

from __future__ import annotations

from collections.abc import Callable

from rebalsim.analysis.analysis import Analysis
from rebalsim.domain.ids import Partition
from rebalsim.trace.events import PositionFound
from rebalsim.trace.streams_events import CommitsMade

Handled = Callable[[Partition, int], int | None]


def committed_by_threads(
    a: Analysis, group: str, at_us: int, handled: Handled
) -> dict[Partition, int]:
    """Each partition's committed offset; partitions without one are left out."""
    made: dict[str, list[CommitsMade]] = {}
    began: dict[Partition, tuple[int, int]] = {}
    for e in a.trace.events:
        if e.at_us > at_us:
            break
        if type(e) is CommitsMade:
            made.setdefault(e.consumer, []).append(e)
        elif type(e) is PositionFound and a.index.group_of.get(e.consumer, group) == group:
            began[e.partition] = (e.at_us, e.offset)
    found: dict[Partition, int] = {}
    for (of, p), holdings in a.holdings.items():
        if of != group:
            continue
        last_us, value = began.get(p, (-1, None))
        for h in holdings:
            instant = _last(made.get(h.consumer, ()), h.started_us, min(h.ended_us, at_us))
            offset = handled(p, instant) if instant > last_us else None
            if offset is not None:
                last_us, value = instant, offset
        if value is not None:
            found[p] = value
    return found


def _last(made: list[CommitsMade] | tuple[()], from_us: int, until_us: int) -> int:
    """The last commit within; -1 if there is none."""
    last_us = -1
    for each in made:
        if each.at_us <= until_us:
            end_us = min(each.last_us, until_us)
            passed = (end_us - each.at_us) // each.every_us if each.every_us else 0
            last_us = max(last_us, each.at_us + passed * each.every_us)
    return last_us if last_us >= from_us else -1
