"""How far everything is: what was produced, handled and committed of each partition, and how long
each task's changelog has become. Fluid between the moments at which somebody starts or stops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import ceil

from rebalsim.assignors.streams.tasks import TaskId, Topology
from rebalsim.simulation.engine import NEVER
from rebalsim.simulation.streams.application import Application
from rebalsim.simulation.streams.arrivals import Arrivals, arrivals_of


@dataclass(slots=True)
class Progress:
    """One task's: `handled` records at `planned_us`, and if it runs, so many a µs from then on (None:
    as fast as they come).
    """

    arrivals: Arrivals  # into all its partitions
    writes: float
    first: int  # records of its changelog at the start
    record_us: float = 0.0  # what processing a record takes
    handled: float = 0.0
    planned_us: int = 0
    speed: float | None = 0.0
    reached: float = 0.0  # how far it was ever handled
    since_us: int = 0  # when its runner began
    runner: str = ""  # who runs it; a fenced thread that wakes up changes nothing
    committed: float = 0.0
    written: float = 0.0  # records added to the changelog, those written twice as well
    sent: float = 0.0  # records handed on to whoever reads after it


class Progresses:
    """Every task's."""

    def __init__(
        self,
        application: Application,
        topology: Topology,
        begins_us: int = 0,
        marked: Callable[[TaskId, int, float], None] | None = None,
    ) -> None:
        """`marked` is told a task's lag wherever that turns."""
        self._begins_us = begins_us
        self._marked = marked
        self.turned: Callable[[TaskId], None] | None = None  # told who handles records otherwise
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
                self._turn(task)
                continue
            part = application.parts[task.subtopology]
            stores = list(part.stores.values())
            self._tasks[task] = Progress(
                arrivals_of([application.flow_in(p) for p in inputs]),
                sum(store.writes for store in stores),
                sum(store.records for store in stores),
                part.record_us,
            )

    def flow(self, topology: Topology, tasks: Iterable[TaskId]) -> None:
        """Records come to these tasks otherwise from now on, to many of them alike."""
        application, same = self._application, dict[tuple[tuple[str, int], ...], Arrivals]()
        for task in tasks:
            inputs = topology.inputs[task]
            alike = tuple([(p.topic, application.born.get(p, 0)) for p in inputs])
            if alike not in same:
                same[alike] = arrivals_of([application.flow_in(p) for p in inputs])
            self._tasks[task].arrivals = same[alike]
            self._turn(task)

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
        if not progress.runner:
            return progress.handled
        come = progress.arrivals.come(at_us - self._begins_us)
        spent_us = at_us - progress.planned_us
        if spent_us < 0:
            return min(come, progress.handled)
        if progress.speed is None:
            return come
        return min(come, progress.handled + progress.speed * spent_us)

    def lag(self, task: TaskId, at_us: int) -> float:
        """Records that came and are not handled."""
        return max(0.0, self.produced(task, at_us) - self.handled(task, at_us))

    # ------------------------------------------------------------------------- what a task hands on

    def _turn(self, task: TaskId) -> None:
        if self.turned is not None:
            self.turned(task)

    def sent(self, task: TaskId, at_us: int) -> float:
        """Records that it handed on until then."""
        progress = self._tasks[task]
        if not progress.runner:
            return progress.sent
        return progress.sent + self._beyond(progress, self.handled(task, at_us))

    def pace(self, task: TaskId, at_us: int) -> float:
        """Records a second that it hands on from then on."""
        progress = self._tasks[task]
        if not progress.runner or self._goes_over_again(task, at_us):
            return 0.0
        return self.rate(task, at_us) if progress.speed is None else progress.speed * 1e6

    def paces_until(self, task: TaskId, at_us: int) -> int:
        """How long it does so by itself: until its records come otherwise, or until it is through
        with what it goes over again.
        """
        progress = self._tasks[task]
        if not progress.runner:
            return NEVER
        if progress.speed and self._goes_over_again(task, at_us):
            return at_us + ceil((progress.reached - self.handled(task, at_us)) / progress.speed)
        return self.changes_after(task, at_us) if progress.speed is None else NEVER

    def _goes_over_again(self, task: TaskId, at_us: int) -> bool:
        """What was handled before an aborted transaction was seen by nobody, and is counted once."""
        once, progress = self._application.exactly_once, self._tasks[task]
        return once and self.handled(task, at_us) < progress.reached

    def _beyond(self, progress: Progress, handled: float) -> float:
        """How many of the records up to there it had not handed on."""
        since = progress.handled
        if self._application.exactly_once:
            since = max(since, progress.reached)
        return max(0.0, handled - since)

    # ---------------------------------------------------------------------------------------- lag

    def mark(self, task: TaskId, at_us: int) -> None:
        if self._marked is not None:
            self._marked(task, at_us, self.lag(task, at_us))

    def mark_all(self, at_us: int) -> None:
        for task in self._tasks:
            self.mark(task, at_us)

    def changes_after(self, task: TaskId, at_us: int) -> int:
        """When its records begin to come at another rate."""
        steps = self._tasks[task].arrivals.steps
        return next((at for at, _ in steps if at > at_us - self._begins_us), NEVER)

    def go_on(self, task: TaskId, at_us: int, speed: float | None) -> bool:
        """So fast from here on, if it runs; whether that is another speed than before."""
        progress = self._tasks[task]
        if not progress.runner:
            return False
        was = progress.speed
        self._note_handled(
            progress, self.produced(task, at_us) if speed is None else self.handled(task, at_us)
        )
        progress.speed, progress.planned_us = speed, at_us
        self._turn(task)
        return was != speed

    def catch_up(self, task: TaskId, at_us: int) -> None:
        """Its records cost nothing: all that came is handled at once, and from here on as it comes."""
        progress = self._tasks[task]
        come, handled = progress.arrivals.come(at_us - self._begins_us), self.handled(task, at_us)
        if self._marked is not None:
            self._marked(task, at_us, max(0.0, come - handled))
        if progress.runner:
            self._note_handled(progress, come)
            progress.speed, progress.planned_us = None, at_us
            self._turn(task)
            handled = come
        if self._marked is not None:
            self._marked(task, at_us, max(0.0, come - handled))

    def _note_handled(self, progress: Progress, handled: float) -> None:
        progress.sent += self._beyond(progress, handled)
        progress.written += (handled - progress.handled) * progress.writes
        progress.handled = handled
        progress.reached = max(progress.reached, handled)

    def end(self, task: TaskId, at_us: int) -> int:
        """The end of the task's changelog."""
        progress = self._tasks[task]
        written = progress.written
        if progress.runner:
            written += (self.handled(task, at_us) - progress.handled) * progress.writes
        return progress.first + int(written)

    def start(self, task: TaskId, runner: str, at_us: int, *, again: bool) -> None:
        """The task is somebody's from here on, who goes on with it when its records come. `again`:
        from the last commit, so that what came after it is handled a second time.
        """
        progress = self._tasks[task]
        if progress.runner:
            self.stop(task, progress.runner, at_us, commits=False)
        if again:
            progress.handled = progress.committed
        progress.runner, progress.speed = runner, 0.0
        progress.since_us = progress.planned_us = at_us
        self._turn(task)

    def stop(self, task: TaskId, runner: str, at_us: int, *, commits: bool) -> None:
        """The task stands still there, cleanly or not."""
        progress = self._tasks[task]
        if progress.runner != runner:
            return
        self._note_handled(progress, self.handled(task, at_us))
        progress.runner = ""
        self._turn(task)
        self.mark(task, at_us)
        if commits:
            progress.committed = progress.handled

    def commit(self, task: TaskId, runner: str, at_us: int) -> None:
        """A commit on the interval: the running task's records so far."""
        if self._tasks[task].runner == runner:
            self._tasks[task].committed = self.handled(task, at_us)
