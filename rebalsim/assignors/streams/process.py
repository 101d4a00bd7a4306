"""A process while its group's tasks are dealt: what it had, how far behind it is, what it gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rebalsim.assignors.streams.settings import TaskAssignorSettings
from rebalsim.assignors.streams.tasks import (
    LATEST_OFFSET,
    UNKNOWN_OFFSET,
    TaskId,
    Topology,
    process_hash,
    process_order,
    tasks_of,
)
from rebalsim.domain.ids import Partition
from rebalsim.domain.java_hash import JavaHashMap


@dataclass(frozen=True, slots=True)
class ThreadClaim:
    """One stream thread's subscription as the leader reads it.

    `offset_sums` tells of every task whose state the thread has: the sum of its changelogs'
    offsets, -2 for an active one that is running, -3 where it cannot tell.
    """

    member_id: str
    process: str
    owned: tuple[Partition, ...] = ()
    offset_sums: Mapping[TaskId, int] = field(default_factory=dict)
    rack: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Process:
    """All threads of one process (Kafka's `ClientState`); active and standby are what is dealt."""

    name: str
    rack: str | None
    tags: Mapping[str, str]
    threads: list[ThreadClaim] = field(default_factory=list)
    owners: dict[Partition, str] = field(default_factory=dict)  # partition → the member that had it
    had_active: set[TaskId] = field(default_factory=set)
    had_standby: set[TaskId] = field(default_factory=set)
    lags: Mapping[TaskId, int] = field(default_factory=dict)  # of every stateful task
    active: set[TaskId] = field(default_factory=set)
    standby: set[TaskId] = field(default_factory=set)
    order: tuple[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self.order = process_order(self.name)

    @property
    def capacity(self) -> int:
        return len(self.threads)

    @property
    def count(self) -> int:
        return len(self.active) + len(self.standby)

    @property
    def load(self) -> float:
        return (len(self.active) + len(self.standby)) / len(self.threads)

    def has(self, task: TaskId) -> bool:
        return task in self.active or task in self.standby

    def is_caught_up(self, task: TaskId, acceptable: int, all_are: bool) -> bool:
        lag = self.lags[task]
        return all_are or lag == LATEST_OFFSET or 0 <= lag <= acceptable


@dataclass(frozen=True, slots=True)
class Group:
    """What a task assignor is given: the processes in the order of the leader's table."""

    processes: Mapping[str, Process]
    topology: Topology
    settings: TaskAssignorSettings
    replica_racks: Mapping[str, Sequence[Sequence[str | None]]] | None = None

    @property
    def in_order(self) -> list[Process]:
        """The processes by their ids, as Java compares them."""
        return sorted(self.processes.values(), key=lambda process: process.order)


def processes_of(
    claims: Sequence[ThreadClaim], topology: Topology, end_offset_sums: Mapping[TaskId, int] | None
) -> dict[str, Process]:
    """The claims gathered by process, in the order of the leader's table of processes.

    Without end offsets nobody knows a lag, but for the tasks that run.
    """
    table: JavaHashMap[str, Process] = JavaHashMap(process_hash)
    for claim in claims:
        process = table.get(claim.process)
        if process is None:
            process = Process(claim.process, claim.rack, claim.tags)
            table.put(claim.process, process)
        process.threads.append(claim)
        process.owners.update(dict.fromkeys(claim.owned, claim.member_id))
    ends = _ends(topology, end_offset_sums)
    for process in table.values():
        _recall(process, topology, ends)
    return dict(table.items())


def _ends(topology: Topology, known: Mapping[TaskId, int] | None) -> dict[TaskId, int]:
    if known is None:
        return dict.fromkeys(topology.changelogs, UNKNOWN_OFFSET)
    return {task: known.get(task, 0) for task in topology.changelogs}


def _recall(process: Process, topology: Topology, ends: Mapping[TaskId, int]) -> None:
    """What the process had, and its lag on every stateful task."""
    process.had_active.update(tasks_of(topology, process.owners))
    owned = set(process.had_active)
    told: dict[TaskId, int] = {}
    for claim in process.threads:  # where two threads tell of one task, the later one counts
        told.update(claim.offset_sums)
    lags = dict(ends)
    for task, offset in told.items():
        if task in lags:
            lags[task] = _lag(offset, ends[task])
        if task not in owned:
            (process.had_active if offset == LATEST_OFFSET else process.had_standby).add(task)
    process.lags = lags


def _lag(offset: int, end: int) -> int:
    if offset in (LATEST_OFFSET, UNKNOWN_OFFSET):
        return offset
    return end if end < offset else end - offset  # ahead of the end: taken for worthless
