"""What the high-availability assignor makes of moves to processes that are not ready: the task
stays with one that is, and the process it is meant for warms up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rebalsim.assignors.streams.least_loaded import LeastLoadedQueue, by_load
from rebalsim.assignors.streams.process import Process
from rebalsim.assignors.streams.settings import EVERYBODY_IS_CAUGHT_UP, TaskAssignorSettings
from rebalsim.assignors.streams.tasks import TaskId
from rebalsim.domain.java_heap import JavaPriorityQueue

Movement = tuple[int, TaskId, Process]  # caught-up processes, the task, where it is to go


class Movements:
    """One assignment's moves: who is caught up on what, and how many warm-ups are left."""

    def __init__(
        self,
        processes: Sequence[Process],
        tasks: Sequence[TaskId],
        settings: TaskAssignorSettings,
    ) -> None:
        self._processes = processes
        self._budget = settings.max_warmup_replicas
        self._warmups: dict[str, set[TaskId]] = {}
        lag = settings.acceptable_recovery_lag
        all_are = lag == EVERYBODY_IS_CAUGHT_UP
        self._caught_up: dict[TaskId, set[str]] = {
            task: {p.name for p in processes if p.is_caught_up(task, lag, all_are)}
            for task in tasks
        }

    def active(self) -> int:
        """Active tasks that are meant for processes not caught up; how many there were."""
        moves = self._wanted(lambda process: process.active)
        needed = len(moves)
        queue = self._queue() if needed else None
        while queue and (move := moves.poll()) is not None:
            self._move_active(queue, move)
        return needed

    def standby(self) -> int:
        """Standby tasks likewise, warm-ups left alone; how many moved."""
        moves = self._wanted(
            lambda process: process.standby - self._warmups.get(process.name, set())
        )
        moved = 0
        queue = self._queue() if moves else None
        while queue and (move := moves.poll()) is not None:
            moved += self._move_standby(queue, move)
        return moved

    def _queue(self) -> LeastLoadedQueue:
        queue = LeastLoadedQueue(
            lambda process, task: process.name in self._caught_up[task],
            by_load,
            self._processes,
        )
        queue.offer_all()
        return queue

    def _wanted(self, tasks: Callable[[Process], set[TaskId]]) -> JavaPriorityQueue[Movement]:
        moves: JavaPriorityQueue[Movement] = JavaPriorityQueue(lambda move: move[:2])
        for process in self._processes:
            for task in sorted(tasks(process)):
                if not self._is_caught_up(process, task) and self._is_nearer_elsewhere(
                    process, task
                ):
                    moves.offer((len(self._caught_up[task]), task, process))
        return moves

    def _is_caught_up(self, process: Process, task: TaskId) -> bool:
        return process.name in self._caught_up[task]

    def _is_nearer_elsewhere(self, process: Process, task: TaskId) -> bool:
        lag = process.lags[task]
        return any(other.lags[task] < lag for other in self._processes)

    def _move_active(self, queue: LeastLoadedQueue, move: Movement) -> None:
        _, task, target = move
        source = queue.poll(task, lambda process: task in process.standby)
        if source is None:
            source = queue.poll(task)
            if source is None:
                source = self._nearest(task, target)
                if source is None:  # what made it a move is that there is one
                    return
        if task in source.standby:
            source.standby.discard(task)
            source.active.add(task)
            target.active.discard(task)
            target.standby.add(task)
        else:
            self._warm_up(task, source, target)
        queue.offer(source)
        queue.offer(target)

    def _warm_up(self, task: TaskId, source: Process, target: Process) -> None:
        source.active.add(task)
        target.active.discard(task)
        if self._spend():
            target.standby.add(task)
            self._warmups.setdefault(target.name, set()).add(task)

    def _move_standby(self, queue: LeastLoadedQueue, move: Movement) -> int:
        _, task, target = move
        source = queue.poll(task, lambda process: not process.has(task))
        if source is None:
            source = self._nearest(task, target, lambda process: not process.has(task))
        if source is None:
            return 0
        source.standby.add(task)
        if not self._spend():
            target.standby.discard(task)
        queue.offer(source)
        queue.offer(target)
        return 1

    def _spend(self) -> bool:
        self._budget -= 1
        return self._budget >= 0

    def _nearest(
        self,
        task: TaskId,
        target: Process,
        may: Callable[[Process], bool] = lambda process: True,
    ) -> Process | None:
        """The first by lag (then id) that may, of those before the target itself."""
        for process in sorted(self._processes, key=lambda p: (p.lags[task], p.order)):
            if process is target:
                return None
            if may(process):
                return process
        return None
