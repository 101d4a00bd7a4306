"""An application's topology as its members send it, and what the broker makes of it: how many
partitions its internal topics need, which are missing, and how many tasks there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MISSING_SOURCE_TOPICS, INCORRECTLY_PARTITIONED, MISSING_INTERNAL_TOPICS = 1, 2, 3

Counts = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class SentSubtopology:
    """A part of the topology. Its co-partition groups are sets of its sources and repartition
    sources that have to have as many partitions.
    """

    number: int
    sources: tuple[str, ...] = ()
    repartition_sources: tuple[str, ...] = ()
    repartition_sinks: tuple[str, ...] = ()
    changelogs: tuple[str, ...] = ()
    copartitioned: tuple[frozenset[str], ...] = ()

    @property
    def inputs(self) -> tuple[str, ...]:
        return (*self.sources, *self.repartition_sources)


@dataclass(frozen=True, slots=True)
class StreamsTopology:
    """All of it; two with one epoch must be equal."""

    epoch: int
    subtopologies: tuple[SentSubtopology, ...]

    @property
    def topics(self) -> frozenset[str]:
        """All topics that must exist for this topology."""
        return frozenset(
            name for part in self.subtopologies for name in (*part.inputs, *part.changelogs)
        )


@dataclass(frozen=True, slots=True)
class Configured:
    """What the brokers' metadata makes of a topology: ready, or what is wrong."""

    problem: int | None = None
    tasks: Mapping[int, int] = field(default_factory=dict)  # by sub-topology, ids sorted as texts
    to_create: Counts = field(default_factory=dict)

    @property
    def is_ready(self) -> bool:
        return self.problem is None


class _Mismatch(Exception):
    """Topics that must have equally many partitions have not."""


def configure(topology: StreamsTopology, topics: Counts) -> Configured:
    """Look at the topics that exist (`InternalTopicManager.configureTopics`)."""
    if any(name not in topics for part in topology.subtopologies for name in part.sources):
        return Configured(MISSING_SOURCE_TOPICS)
    try:
        decided = _decide(topology, topics)
        missing = _missing(topics, decided)
    except _Mismatch:
        return Configured(INCORRECTLY_PARTITIONED)
    known = {**decided, **topics}
    parts = sorted(topology.subtopologies, key=lambda part: str(part.number))
    tasks = {part.number: max(known[name] for name in part.inputs) for part in parts}
    return Configured(MISSING_INTERNAL_TOPICS if missing else None, tasks, missing)


def _decide(topology: StreamsTopology, topics: Counts) -> dict[str, int]:
    """The partitions of repartition topics and changelogs."""
    decided = _repartition_topics(topology, topics)
    flexible = {name for part in topology.subtopologies for name in part.repartition_sources}
    for part in topology.subtopologies:
        for together in part.copartitioned:
            decided.update(_copartition(together, flexible, {**decided, **topics}))
    known = {**decided, **topics}
    for part in topology.subtopologies:
        most = max((known[name] for name in part.inputs), default=0)
        decided.update(dict.fromkeys(part.changelogs, most))
    return decided


def _repartition_topics(topology: StreamsTopology, topics: Counts) -> dict[str, int]:
    """As many as the most among the sources of whoever writes to it; chains take several rounds."""
    wanted = {name for part in topology.subtopologies for name in part.repartition_sources}
    decided: dict[str, int] = {}
    while True:
        before = len(decided)
        for name in sorted(wanted - decided.keys()):
            known = {**topics, **decided}
            counts = [
                known[source]
                for part in topology.subtopologies
                if name in part.repartition_sinks
                for source in part.inputs
                if source in (decided if source in wanted else known)
            ]
            if counts:
                decided[name] = max(counts)
        if len(decided) == before:
            break
    if wanted - decided.keys():
        raise _Mismatch
    return decided


def _copartition(together: frozenset[str], flexible: set[str], known: Counts) -> dict[str, int]:
    """What the flexible ones of a co-partition group get: as many as the others have, which must
    agree; among themselves, the most.
    """
    fixed = sorted({known[name] for name in together - flexible})
    if len(fixed) > 1:
        raise _Mismatch
    mine = sorted(together & flexible)
    if not mine:
        return {}
    count = fixed[0] if fixed else max(known[name] for name in mine)
    return dict.fromkeys(mine, count)


def _missing(topics: Counts, decided: Counts) -> dict[str, int]:
    """Internal topics that do not exist; one that does must have what was decided."""
    if any(name in topics and topics[name] != count for name, count in decided.items()):
        raise _Mismatch
    return {name: count for name, count in decided.items() if name not in topics}
