"""Each partition's bar: who consumed it when, and the phases of its pauses; equal bars are told
once (`like`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from rebalsim.analysis.ownership import Holdings
from rebalsim.analysis.values import Holding, Lane, Pause, Segment
from rebalsim.domain.bar_piece import BarPiece
from rebalsim.domain.ids import Partition
from rebalsim.trace.trace import TopicFacts


def partition_keys(
    holdings: Holdings,
    pauses: Sequence[Pause],
    topics: Mapping[str, TopicFacts],
    of_tasks: Set[str] = frozenset(),
) -> list[tuple[str, Partition]]:
    """Every partition that a group ever held, could have held (same topic) or missed, sorted. A
    group `of_tasks` has no topics: what stands there for one is a connector.
    """
    keys = dict.fromkeys((*holdings, *((p.group, p.partition) for p in pauses)))
    for group, topic in {(group, p.topic): None for group, p in keys}:
        facts = topics.get(topic) if group not in of_tasks else None
        keys.update(
            ((group, Partition(topic, n)), None)
            for n in range(facts.partitions if facts is not None else 0)
        )
    return sorted(keys)


def find_lanes(
    holdings: Holdings,
    pauses: Sequence[Pause],
    topics: Mapping[str, TopicFacts],
    horizon_us: int,
    of_tasks: Set[str] = frozenset(),
) -> list[Lane]:
    """A lane for every partition, sorted by group and partition."""
    paused: dict[tuple[str, Partition], list[Pause]] = {}
    for pause in pauses:
        paused.setdefault((pause.group, pause.partition), []).append(pause)
    lanes: list[Lane] = []
    seen: dict[tuple[object, ...], int] = {}
    for group, partition in partition_keys(holdings, pauses, topics, of_tasks):
        held = tuple(holdings.get((group, partition), ()))
        stood = tuple(paused.get((group, partition), ()))
        segments = _segments(held, stood, horizon_us)
        look = [(s.what, s.started_us, s.ended_us, s.consumer, s.phase) for s in segments]
        like = seen.setdefault((group, *look), len(lanes))
        lanes.append(Lane(partition, group, held, stood, segments, like))
    return lanes


def _segments(
    held: tuple[Holding, ...], stood: tuple[Pause, ...], horizon_us: int
) -> tuple[Segment, ...]:
    """From left to right without holes: unowned until first held, then consuming between the
    phases of the pauses, and unowned once nobody holds it.
    """
    if not held and not stood:
        return (Segment(BarPiece.UNOWNED, 0, horizon_us),) if horizon_us > 0 else ()
    at = min([h.started_us for h in held[:1]] + [p.started_us for p in stood[:1]])
    segments = [Segment(BarPiece.UNOWNED, 0, at)] if at > 0 else []
    for pause in stood:
        if pause.started_us > at:
            segments.append(Segment(BarPiece.CONSUMING, at, pause.started_us, pause.owner_before))
        for phase in pause.phases:
            if phase.ended_us > at:
                segments.append(
                    Segment(
                        BarPiece.PAUSED,
                        max(at, phase.started_us),
                        phase.ended_us,
                        phase.facts.consumer,
                        phase.kind,
                        pause,
                    )
                )
        at = max(at, pause.ended_us)
    return (*segments, *_after(at, held, stood, horizon_us))


def _after(
    at: int, held: tuple[Holding, ...], stood: tuple[Pause, ...], horizon_us: int
) -> Iterator[Segment]:
    """What comes behind the last pause."""
    if at < horizon_us:
        last = held[-1].consumer if held else stood[-1].owner_after
        until = max(at, max((h.ended_us for h in held), default=horizon_us))
        if until > at:
            yield Segment(BarPiece.CONSUMING, at, until, last)
        if until < horizon_us:
            yield Segment(BarPiece.UNOWNED, until, horizon_us)
