"""Racks: the dealt tasks exchanged between processes so that less is read across racks, while every
process keeps as many as it has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rebalsim.assignors.streams.balance import Role
from rebalsim.assignors.streams.flow import SOURCE, FlowNetwork
from rebalsim.assignors.streams.process import Group, Process
from rebalsim.assignors.streams.tasks import TaskId
from rebalsim.domain.ids import Partition

STATELESS_COSTS = (1, 0)
ROUNDS_OF_STANDBYS = 4

PartitionsOf = Callable[[TaskId], Sequence[Partition]]
MayMove = Callable[[Process, Process, TaskId], bool]


@dataclass(frozen=True, slots=True)
class Costs:
    """What reading a partition across racks costs, and what moving a task does."""

    traffic: int
    move: int


class RackOptimiser:
    """Exchanges tasks under one aim (min_traffic or balance_subtopology); `subtopologies` are the groups that
    balance_subtopology keeps even (all tasks of each, in order).
    """

    def __init__(
        self, group: Group, processes: Sequence[Process], subtopologies: Sequence[Sequence[TaskId]]
    ) -> None:
        self._racks = replicas(group)
        self._aim = group.settings.rack_aim
        self._processes = processes
        self._subtopologies = subtopologies

    def optimise(
        self, role: Role, tasks: Sequence[TaskId], partitions: PartitionsOf, costs: Costs
    ) -> bool:
        """All these tasks over all processes; says whether any moved."""
        if not tasks:
            return False
        groups = self._groups(tasks, self._aim)
        return self._solve(self._processes, role, tasks, groups, partitions, costs)

    def optimise_standbys(
        self, partitions: PartitionsOf, costs: Costs, may_move: MayMove, aim: str
    ) -> None:
        """Pair by pair: what each could give the other is dealt anew between the two."""
        for _ in range(ROUNDS_OF_STANDBYS):
            moved = False
            for one, other in self._pairs():
                mine, theirs = _movable(one, other, may_move), _movable(other, one, may_move)
                if not mine or not theirs:
                    continue
                tasks = sorted(mine + theirs)
                pair = sorted((one, other), key=lambda process: process.order)
                groups = self._groups(tasks, aim)
                moved |= self._solve(pair, "standby", tasks, groups, partitions, costs)
            if not moved:
                return

    def _pairs(self) -> Iterator[tuple[Process, Process]]:
        for at, one in enumerate(self._processes):
            for other in self._processes[at + 1 :]:
                if one.rack != other.rack:
                    yield one, other

    def _groups(self, tasks: Sequence[TaskId], aim: str) -> list[list[TaskId]] | None:
        if aim != "balance_subtopology":
            return None
        wanted = set(tasks)
        return [[task for task in part if task in wanted] for part in self._subtopologies]

    def _solve(
        self,
        processes: Sequence[Process],
        role: Role,
        tasks: Sequence[TaskId],
        groups: Sequence[Sequence[TaskId]] | None,
        partitions: PartitionsOf,
        costs: Costs,
    ) -> bool:
        def cost(task: TaskId, process: Process) -> int:
            apart = sum(process.rack not in self._racks[p] for p in partitions(task))
            moves = task not in getattr(process, role)
            return apart * costs.traffic + (costs.move if moves else 0)

        counts = [sum(task in getattr(process, role) for task in tasks) for process in processes]
        if groups is None:
            network, columns = _plain(processes, role, tasks, counts, cost)
        else:
            network, columns = _even(processes, tasks, groups, counts, cost)
        network.cheapen()
        return _deal(network, processes, role, tasks, columns)


def _movable(source: Process, target: Process, may_move: MayMove) -> list[TaskId]:
    return [
        task
        for task in sorted(source.standby)
        if not target.has(task) and may_move(source, target, task)
    ]


def _plain(
    processes: Sequence[Process],
    role: Role,
    tasks: Sequence[TaskId],
    counts: Sequence[int],
    cost: Callable[[TaskId, Process], int],
) -> tuple[FlowNetwork, dict[TaskId, int]]:
    """min_traffic: source → task → process → sink, beginning with what is dealt."""
    network, first = FlowNetwork(), len(tasks)
    for node, task in enumerate(tasks):
        for column, process in enumerate(processes):
            flow = int(task in getattr(process, role))
            network.add(node, first + column, 1, cost(task, process), flow)
        network.add(SOURCE, node, 1, 0, 1)
    for column, count in enumerate(counts):
        network.add(first + column, first + len(processes), count, 0, count)
    return network, dict.fromkeys(tasks, first)


def _even(
    processes: Sequence[Process],
    tasks: Sequence[TaskId],
    groups: Sequence[Sequence[TaskId]],
    counts: Sequence[int],
    cost: Callable[[TaskId, Process], int],
) -> tuple[FlowNetwork, dict[TaskId, int]]:
    """balance_subtopology: between task and process a node for each sub-topology, which lets no
    more through than the process's share of it; the flow to begin with is the largest.
    """
    network, width = FlowNetwork(), len(processes)
    second = len(tasks) + width * len(groups)
    columns: dict[TaskId, int] = {}
    node = 0
    for number, group in enumerate(groups):
        first = len(tasks) + width * number
        for column, process in enumerate(processes):
            for offset, task in enumerate(group):
                network.add(node + offset, first + column, 1, cost(task, process), 0)
            if group:
                share = math.ceil(counts[column] * 1.0 / len(tasks) * len(group))
                network.add(first + column, second + column, share, 0, 0)
        for task in group:
            network.add(SOURCE, node, 1, 0, 0)
            columns[task] = first
            node += 1
    for column, count in enumerate(counts):
        network.add(second + column, second + width, count, 0, 0)
    network.fill(second + width)
    return network, columns


def _deal(
    network: FlowNetwork,
    processes: Sequence[Process],
    role: Role,
    tasks: Sequence[TaskId],
    columns: Mapping[TaskId, int],
) -> bool:
    """Each task to the process to which its flow leads."""
    moved = False
    owners = {
        task: process for process in processes for task in tasks if task in getattr(process, role)
    }
    for node, task in enumerate(columns):  # in the order of their nodes
        for target in network.flows_to(node):
            process = processes[target - columns[task]]
            if process is not owners[task]:
                getattr(owners[task], role).discard(task)
                getattr(process, role).add(task)
                moved = True
    return moved


def replicas(group: Group) -> dict[Partition, set[str | None]]:
    """The racks of every partition's replicas."""
    return {
        Partition(topic, number): set(racks)
        for topic, rows in (group.replica_racks or {}).items()
        for number, racks in enumerate(rows)
    }


def racks_known(group: Group, *, changelogs: bool) -> bool:
    """Whether every member says its rack (a process one and the same), and every replica has one.

    `changelogs` asks for the changelogs' replicas, otherwise it is the inputs'.
    """
    if group.settings.rack_aim == "none":
        return False
    for process in group.processes.values():
        said = {claim.rack for claim in process.threads}
        if len(said) != 1 or None in said:
            return False
    known = replicas(group)
    tables = group.topology.changelogs if changelogs else group.topology.inputs
    return all(
        known.get(p) and not known[p] & {None, ""} for parts in tables.values() for p in parts
    )


def by_subtopology(tasks: Sequence[TaskId]) -> list[list[TaskId]]:
    """These tasks, sorted, by the sub-topology that they are of."""
    parts: dict[int, list[TaskId]] = {}
    for task in sorted(tasks):
        parts.setdefault(task.subtopology, []).append(task)
    return [parts[number] for number in sorted(parts)]
