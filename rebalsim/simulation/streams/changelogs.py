"""How far everything is: what was produced, handled and committed of each partition, and how long
each task's changelog has become. Fluid between the moments at which somebody starts or stops.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalsim.assignors.streams.tasks import TaskId, Topology
from rebalsim.simulation.streams.application import Application
from rebalsim.simulation.streams.arrivals import Arrivals, arrivals_of


@dataclass(slots=True)
class Progress:
    """One task's: `handled` records at `since_us`; from then on as fast as they come, if it runs."""

    arrivals: Arrivals  # into all its partitions
    writes: float
    first: int  # records of its changelog at the start
    handled: float = 0.0
    since_us: int = 0
    runner: str = ""  # who runs it; a fenced thread that wakes up changes nothing
    committed: float = 0.0
    written: float = 0.0  # records added to the changelog, those written twice as well


class Progresses:
    """Every task's."""

    def __init__(self, application: Application, topology: Topology, begins_us: int = 0) -> None:
        self._begins_us = begins_us
        self._application = application
        self._tasks: dict[TaskId, Progress] = {}
        self.follow(topology)

    def follow(self, topology: Topology) -> None:
        """The tasks are these now, and records come as the application's topics have it: a task
        that is new begins with nothing.
        """
        application = self._application
        for task, inputs in topology.inputs.items():
            if task in self._tasks:
                flows = [application.flow_in(p) for p in inputs]
                self._tasks[task].arrivals = arrivals_of(flows)
                continue
            part = application.parts[task.subtopology]
            stores = list(part.stores.values())
            self._tasks[task] = Progress(
                arrivals_of([application.flow_in(p) for p in inputs]),
                sum(store.writes for store in stores),
                sum(store.records for store in stores),
            )

    def of(self, task: TaskId) -> Progress:
        return self._tasks[task]

    def rate(self, task: TaskId, at_us: int) -> float:
        """Records a second into all its partitions, then."""
        return self._tasks[task].arrivals.rate(at_us - self._begins_us)

    def produced(self, task: TaskId, at_us: int) -> float:
        """Records that came for the task since the beginning."""
        return self._tasks[task].arrivals.come(at_us - self._begins_us)

    def handled(self, task: TaskId, at_us: int) -> float:
        progress = self._tasks[task]
        return self.produced(task, at_us) if progress.runner else progress.handled

    def end(self, task: TaskId, at_us: int) -> int:
        """The end of the task's changelog."""
        progress = self._tasks[task]
        written = progress.written
        if progress.runner:
            come = progress.arrivals.come(at_us - self._begins_us)
            written += (come - progress.handled) * progress.writes
        return progress.first + int(written)

    def start(self, task: TaskId, runner: str, at_us: int, *, again: bool) -> None:
        """The task runs from here on. `again`: from the last commit, so that what came after it is
        handled a second time.
        """
        progress = self._tasks[task]
        if progress.runner:
            self.stop(task, progress.runner, at_us, commits=False)
        if again:
            progress.written += (progress.handled - progress.committed) * progress.writes
        progress.runner = runner
        progress.since_us = at_us

    def stop(self, task: TaskId, runner: str, at_us: int, *, commits: bool) -> None:
        """The task stands still there, cleanly or not."""
        progress = self._tasks[task]
        if progress.runner != runner:
            return
        handled = self.produced(task, at_us)
        progress.written += (handled - progress.handled) * progress.writes
        progress.handled = handled
        progress.runner = ""
        if commits:
            progress.committed = progress.handled

    def commit(self, task: TaskId, runner: str, at_us: int) -> None:
        """A commit on the interval: the running task's records so far."""
        if self._tasks[task].runner == runner:
            self._tasks[task].committed = self.handled(task, at_us)
