"""The queue from which processes are taken, least loaded first (`ConstrainedPrioritySet`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rebalsim.assignors.streams.process import Process
from rebalsim.assignors.streams.tasks import TaskId, process_hash
from rebalsim.domain.java_hash import hash_ordered
from rebalsim.domain.java_heap import JavaPriorityQueue

May = Callable[[Process, TaskId], bool]
Weight = Callable[[Process], tuple[float, tuple[int, int]]]


def by_load(process: Process) -> tuple[float, tuple[int, int]]:
    """All of its tasks for each of its threads, then its id."""
    tasks = len(process.active) + len(process.standby)
    return tasks / len(process.threads), process.order


def by_active_load(process: Process) -> tuple[float, tuple[int, int]]:
    """The same of active tasks alone."""
    return len(process.active) / len(process.threads), process.order


class LeastLoadedQueue:
    """Processes by (load, id). A load is read when the heap compares: one that changes while a
    process is inside moves it only when the process is offered again.
    """

    def __init__(self, may: May, weight: Weight, processes: Iterable[Process]) -> None:
        self._may = may
        self._heap: JavaPriorityQueue[Process] = JavaPriorityQueue(weight)
        self._inside: set[str] = set()
        self._by_name = {process.name: process for process in processes}

    def offer(self, process: Process) -> None:
        """Put a process in, or in its right place if it is inside."""
        if process.name in self._inside:
            self._heap.remove(process)
        self._inside.add(process.name)
        self._heap.offer(process)

    def offer_all(self) -> None:
        """Every process of the group anew, in order of their ids."""
        for process in self._by_name.values():
            self.offer(process)

    def poll(
        self, task: TaskId, also: Callable[[Process], bool] = lambda process: True
    ) -> Process | None:
        """The least loaded process that may have the task; it stays outside until offered."""
        passed: list[str] = []
        found = None
        while (process := self._heap.poll()) is not None:
            self._inside.discard(process.name)
            if self._may(process, task) and also(process):
                found = process
                break
            passed.append(process.name)
        for name in hash_ordered(passed, process_hash) if len(passed) > 1 else passed:
            self.offer(self._by_name[name])
        return found
