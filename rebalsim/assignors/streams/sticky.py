"""Tasks go where they were: the public `StickyTaskAssignor`, and the older one of its kind that the
leader falls back to where it could not learn how far the changelogs reach.

Neither looks at lags: what finds no place where it was is restored cold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rebalsim.assignors.streams.process import Group, Process
from rebalsim.assignors.streams.racks import (
    STATELESS_COSTS,
    Costs,
    RackOptimiser,
    by_subtopology,
    racks_known,
)
from rebalsim.assignors.streams.tasks import TaskId, process_hash, task_hash
from rebalsim.domain.java_hash import copied_set_capacity, hash_ordered, signed


def assign(group: Group) -> bool:
    """The public one. It asks for no probing."""
    dealing = _Dealing(group, keeps=False, is_old=False)
    dealing.deal_active()
    _optimise_active(group)
    dealing.deal_standbys(group.topology.stateful)
    _optimise_standbys(group)
    return False


def assign_as_before(group: Group) -> bool:
    """The fallback (`FallbackPriorTaskAssignor`): every active task stays where it is, and the
    group looks again at a probing rebalance.
    """
    _deal_the_old_way(group, keeps=True)
    return True


def assign_legacy(group: Group) -> bool:
    """`StickyTaskAssignor` as it was up to 2.5, when there was no other: tasks go where they were,
    and nobody warms up.
    """
    _deal_the_old_way(group, keeps=False, hash_of=_old_hash)
    return False


def _old_hash(task: TaskId) -> int:
    """`TaskId.hashCode` up to 2.5."""
    return signed(((task.subtopology << 32) | task.number) % 0xFFFFFFFF)


def _deal_the_old_way(
    group: Group, *, keeps: bool, hash_of: Callable[[TaskId], int] = task_hash
) -> None:
    dealing = _Dealing(group, keeps=keeps, is_old=True)
    dealing.hash_of = hash_of
    dealing.deal_active()
    stateful = [task for task in group.topology.inputs if task in group.topology.changelogs]
    dealing.deal_standbys(hash_ordered(stateful, hash_of))


class _Dealing:
    """One dealing. `keeps` leaves every active task where it is; the old way differs in ties, and
    in what is full.
    """

    hash_of: Callable[[TaskId], int] = staticmethod(task_hash)

    def __init__(self, group: Group, *, keeps: bool, is_old: bool) -> None:
        self._processes = group.processes
        self._topology = group.topology
        self._replicas = group.settings.num_standby_replicas
        self._keeps = keeps
        self._is_old = is_old
        count = len(group.topology.inputs)
        self._most_pairs = count * (count - 1) // 2
        self._pairs: set[tuple[TaskId, TaskId]] = set()
        self._had_active: dict[TaskId, Process] = {}
        self._had_standby: dict[TaskId, list[str]] = {}
        for process in group.processes.values():
            for task in sorted(process.had_active):
                self._had_active[task] = process
            for task in sorted(process.had_standby):
                self._had_standby.setdefault(task, []).append(process.name)
        for task, names in self._had_standby.items():
            self._had_standby[task] = hash_ordered(names, process_hash)

    def deal_active(self) -> None:
        threads = sum(process.capacity for process in self._processes.values())
        quota = len(self._topology.inputs) // threads
        for task in hash_ordered(self._had_active, self.hash_of):
            process = self._had_active[task]
            if task in self._topology.inputs and (self._keeps or _has_room(process, quota)):
                self._give(task, process, "active")
        dealt = {task for process in self._processes.values() for task in process.active}
        left = []
        for task in self._unassigned(dealt):
            found = next((p for p in self._standbys_of(task) if _has_room(p, quota)), None)
            if found is None:
                left.append(task)
            else:
                self._give(task, found, "active")
        everybody = list(self._processes.values())
        if not self._is_old:
            everybody = self._in_set_order(everybody)
        for task in sorted(left):
            self._give(task, self._best(task, everybody), "active")

    def _unassigned(self, dealt: set[TaskId]) -> list[TaskId]:
        every = list(self._topology.inputs)
        ordered = hash_ordered(every, self.hash_of, copied_set_capacity(len(every)))
        return [task for task in ordered if task not in dealt]

    def deal_standbys(self, stateful: Iterable[TaskId]) -> None:
        for task in stateful:
            for _ in range(self._replicas):
                candidates = [p for p in self._processes.values() if not p.has(task)]
                if not candidates:
                    break
                self._give(task, self._best(task, self._in_set_order(candidates)), "standby")

    def _in_set_order(self, processes: Sequence[Process]) -> list[Process]:
        names = hash_ordered([process.name for process in processes], process_hash)
        return [self._processes[name] for name in names]

    def _standbys_of(self, task: TaskId) -> list[Process]:
        return [self._processes[name] for name in self._had_standby.get(task, ())]

    def _give(self, task: TaskId, process: Process, role: str) -> None:
        for other in (*process.active, *process.standby):
            self._pairs.add(_pair(task, other))
        getattr(process, role).add(task)

    def _best(self, task: TaskId, candidates: Sequence[Process]) -> Process:
        if len(candidates) == 1:
            return candidates[0]
        previous = self._had_active.get(task)
        if previous is None or not any(previous is process for process in candidates):
            previous = self._best_standby(task, candidates)
        if previous is None:
            return self._least_loaded(task, candidates)
        if not self._is_full(previous):
            return previous
        standby = self._best_standby(task, candidates)
        if standby is None or self._is_full(standby):
            return self._least_loaded(task, candidates)
        return standby

    def _best_standby(self, task: TaskId, candidates: Sequence[Process]) -> Process | None:
        names = self._had_standby.get(task, [])
        allowed = {process.name for process in candidates}
        ordered = hash_ordered(names, process_hash, copied_set_capacity(len(names)))
        holders = [self._processes[name] for name in ordered if name in allowed]
        return self._least_loaded(task, holders) if holders else None

    def _least_loaded(self, task: TaskId, processes: Sequence[Process]) -> Process:
        found = self._lightest(task, processes, new_pairs_only=True)
        if found is None:
            found = self._lightest(task, processes, new_pairs_only=False)
        assert found is not None
        return found

    def _lightest(
        self, task: TaskId, processes: Sequence[Process], *, new_pairs_only: bool
    ) -> Process | None:
        best: Process | None = None
        for process in processes:
            if process.count == 0:
                return process
            if (best is None or self._has_more_room(process, best)) and (
                not new_pairs_only or self._is_new_pair(task, process)
            ):
                best = process
        return best

    def _has_more_room(self, one: Process, other: Process) -> bool:
        if one.load != other.load:
            return one.load < other.load
        return self._is_old and one.capacity > other.capacity

    def _is_full(self, process: Process) -> bool:
        return process.load >= 1 and any(
            self._has_more_room(other, process) for other in self._processes.values()
        )

    def _is_new_pair(self, task: TaskId, process: Process) -> bool:
        if len(self._pairs) == self._most_pairs:
            return False
        return any(
            _pair(task, other) not in self._pairs for other in (*process.active, *process.standby)
        )


def _pair(one: TaskId, other: TaskId) -> tuple[TaskId, TaskId]:
    return (one, other) if one < other else (other, one)


def _has_room(process: Process, quota: int) -> bool:
    return len(process.active) < process.capacity * quota


def _costs(group: Group) -> Costs | None:
    """Unlike the default assignor, this one looks at racks only where both costs are set."""
    traffic, move = group.settings.traffic_cost, group.settings.non_overlap_cost
    return None if traffic is None or move is None else Costs(traffic, move)


def _optimise_active(group: Group) -> None:
    costs = _costs(group)
    known = racks_known(group, changelogs=False) and racks_known(group, changelogs=True)
    if costs is None or not known:
        return
    topology = group.topology

    def read(task: TaskId) -> tuple[object, ...]:
        return (*topology.inputs[task], *topology.changelogs.get(task, ()))

    stateful = topology.stateful
    stateless = [task for task in topology.tasks if task not in topology.changelogs]
    for tasks, each in ((stateful, costs), (stateless, Costs(*STATELESS_COSTS))):
        optimiser = RackOptimiser(group, list(group.processes.values()), by_subtopology(tasks))
        optimiser.optimise("active", tasks, read, each)  # type: ignore[arg-type]


def _optimise_standbys(group: Group) -> None:
    costs = _costs(group)
    if not group.settings.num_standby_replicas or costs is None:
        return
    if not racks_known(group, changelogs=True):
        return
    stateful = group.topology.stateful
    optimiser = RackOptimiser(group, list(group.processes.values()), by_subtopology(stateful))
    optimiser.optimise_standbys(
        group.topology.changelogs.__getitem__,
        costs,
        lambda source, target, task: True,
        group.settings.rack_aim,
    )
