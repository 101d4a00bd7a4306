"""Tasks of a topology: their names, their partitions, and the order in which Kafka's tables walk
them and the processes that run them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from rebalsim.domain.ids import Partition
from rebalsim.domain.java_hash import hash_ordered, signed
from rebalsim.domain.task_ids import TaskId, task_hash, task_named

__all__ = [
    "LATEST_OFFSET",
    "UNKNOWN_OFFSET",
    "Subtopology",
    "TaskId",
    "Topology",
    "process_hash",
    "process_order",
    "task_hash",
    "task_named",
    "tasks_of",
    "topology_of",
]

LATEST_OFFSET = -2  # reported for a task that is active and running
UNKNOWN_OFFSET = -3  # reported, or computed, where nobody knows


@lru_cache(maxsize=1 << 14)
def process_order(process: str) -> tuple[int, int]:
    """A process id (a UUID) as `UUID.compareTo` sorts it: by its halves, both of them signed."""
    both = int(process.replace("-", ""), 16)
    return signed(both >> 64, 64), signed(both, 64)


@lru_cache(maxsize=1 << 14)
def process_hash(process: str) -> int:
    """`UUID.hashCode`."""
    both = int(process.replace("-", ""), 16)
    folded = (both >> 64) ^ (both & 0xFFFFFFFFFFFFFFFF)
    return signed((folded >> 32) ^ folded)


@dataclass(frozen=True, slots=True)
class Subtopology:
    """A connected part of the topology: the topics that it reads and the topics of its stores."""

    sources: tuple[str, ...]
    changelogs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Topology:
    """All tasks of an application, in the order of Kafka's table of them, with their partitions."""

    inputs: Mapping[TaskId, tuple[Partition, ...]]
    changelogs: Mapping[TaskId, tuple[Partition, ...]]  # of stateful tasks only

    @cached_property
    def tasks(self) -> tuple[TaskId, ...]:
        return tuple(sorted(self.inputs))

    @cached_property
    def stateful(self) -> tuple[TaskId, ...]:
        return tuple(sorted(self.changelogs))

    @cached_property
    def stateless(self) -> tuple[TaskId, ...]:
        return tuple(task for task in self.tasks if task not in self.changelogs)

    @cached_property
    def readers(self) -> Mapping[Partition, TaskId]:
        """The task that reads each partition."""
        return {p: task for task, inputs in self.inputs.items() for p in inputs}


def topology_of(parts: Sequence[Subtopology], topics: Mapping[str, int]) -> Topology:
    """The tasks of these sub-topologies: one for every partition of the source with the most.

    A topic with fewer partitions is read by the first tasks only; whether that is allowed is the
    scenario's affair. A changelog has one partition a task.
    """
    inputs: dict[TaskId, tuple[Partition, ...]] = {}
    changelogs: dict[TaskId, tuple[Partition, ...]] = {}
    for at in _subtopology_order(len(parts)):
        part = parts[at]
        for number in range(max((topics[name] for name in part.sources), default=0)):
            task = TaskId(at, number)
            inputs[task] = tuple(
                Partition(name, number) for name in part.sources if number < topics[name]
            )
            if part.changelogs:
                changelogs[task] = tuple(Partition(name, number) for name in part.changelogs)
    return Topology({task: inputs[task] for task in hash_ordered(inputs, task_hash)}, changelogs)


def _subtopology_order(count: int) -> list[int]:
    """Kafka's table of sub-topologies, keyed by number and the name of a topology (none here)."""
    return hash_ordered(range(count), lambda number: 961 + 31 * number)


def tasks_of(topology: Topology, partitions: Iterable[Partition]) -> list[TaskId]:
    """The tasks that read these partitions; one that nobody reads is left out."""
    readers = topology.readers
    return sorted({readers[p] for p in partitions if p in readers})
