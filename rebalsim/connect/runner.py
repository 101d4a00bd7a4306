"""What runs in a worker: its connectors and tasks, how they are started and stopped, and what
becomes of a task that does not stop (the class Worker of Connect).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rebalsim.assignors.connect.work import Task, Work
from rebalsim.connect.config_state import ConfigState
from rebalsim.connect.pool import THREADS, Job, bounded, run_all
from rebalsim.connect.port import Port, Running, Steps, Thread
from rebalsim.connect.told_in_trace import began, ended
from rebalsim.domain.callback import Callback
from rebalsim.domain.connect import PAUSED, STARTED, Connector
from rebalsim.trace.connect_events import ConnectorEnded, ConnectorStarted, TaskCancelled

EXECUTOR_PATIENCE_US = 1_000_000  # threads are given so long before they are interrupted
Then = Callable[[], None]
_Started = Callable[[Connector], None]  # what is told of a connector that has started


class Runner:
    """Connectors and tasks of one process."""

    def __init__(self, port: Port, thread: Thread) -> None:
        self.port = port
        self.thread = thread
        self.connectors: dict[str, Connector] = {}
        self.working: dict[str, None] = {}  # connectors that were started
        self.tasks: dict[Task, Running] = {}
        self.leftovers: list[Running] = []  # given up, and not ended

    # ------------------------------------------------------------------------------------- starting

    def start(
        self, connectors: Iterable[str], tasks: Sequence[Task], config: ConfigState, then: _Started
    ) -> Steps:
        """Launch this work; the threads that it runs in go on by themselves. `then` is told of
        each connector that has started.
        """
        fresh = [task for task in tasks if task not in self.tasks]  # "already exists" is an error
        jobs = [self._connector_job(name, config, then) for name in connectors]
        jobs += [self._task_job(task, config) for task in fresh]
        if fresh:
            began(self.port, Callback.ASSIGNED, fresh)
        yield from run_all(self.port, self.thread, jobs)
        if fresh:
            ended(self.port, Callback.ASSIGNED, fresh)

    def _connector_job(self, name: str, config: ConfigState, then: _Started) -> Job:
        def begin(done: Then) -> None:
            state = config.connectors.get(name)
            if state is not None:
                self.start_connector(state.connector, state.target, then)
            done()

        return begin

    def start_connector(self, connector: Connector, target: str, then: _Started) -> None:
        """On a thread of its own: a slow start() holds nobody up. One that is paused or stopped is
        there, and not started.
        """
        port = self.port
        self.connectors[connector.name] = connector
        if target != STARTED:
            return

        def starts(_: object) -> None:
            if self.connectors.get(connector.name) is not connector:
                return
            self.working[connector.name] = None
            port.record(ConnectorStarted(port.now, port.name, connector.name))
            took = port.draw(f"connector-start/{connector.name}", connector.connector_start)
            port.at(port.now + took, started)

        def started(_: object) -> None:
            if self.connectors.get(connector.name) is connector:
                then(connector)

        port.compute(port.draw("make-connector", port.costs.make_connector), starts)

    def _end_connector(self, name: str) -> None:
        if name in self.working:
            del self.working[name]
            self.port.record(ConnectorEnded(self.port.now, self.port.name, name))

    def _task_job(self, task: Task, config: ConfigState) -> Job:
        port = self.port

        def begin(done: Then) -> None:
            state = config.connectors.get(task.connector)
            if state is None:
                done()
                return

            def launched(_: object) -> None:
                self.tasks[task] = port.launch(
                    task, state.connector, state.target == PAUSED, state.generation
                )
                done()

            port.compute(port.draw("launch", port.costs.launch), launched)

        return begin

    # ------------------------------------------------------------------------------------- stopping

    def stop(self, work: Work, threads: int = THREADS) -> Steps:
        """Stop this work and wait for it: each is one job of the pool, with its own patience."""
        mine = [task for task in work.tasks if task in self.tasks]
        jobs = [self._connector_stop(name) for name in work.connectors]
        jobs += [self._task_stop(task) for task in mine]
        if not jobs:
            return
        began(self.port, Callback.REVOKED, mine)
        yield from run_all(self.port, self.thread, jobs, threads)
        ended(self.port, Callback.REVOKED, mine)

    def stop_together(self, tasks: Iterable[Task]) -> Steps:
        """Ask all of them at once, and wait for all of them together."""
        mine = Work((), tuple(task for task in tasks if task in self.tasks))
        yield from self.stop(mine, max(1, len(mine.tasks)))

    def stop_connectors(self, names: Iterable[str]) -> Steps:
        yield from self.stop(Work(tuple(names)))

    def _connector_stop(self, name: str) -> Job:
        def begin(done: Then) -> None:
            self.connectors.pop(name, None)
            self._end_connector(name)
            done()

        return begin

    def _task_stop(self, task: Task) -> Job:
        running = self.tasks.pop(task)
        port = self.port

        def stop(done: Then) -> None:
            def ended_at_last() -> None:
                if running in self.leftovers:
                    self.leftovers.remove(running)
                    self.thread.wake()
                done()

            running.stop(ended_at_last)

        def give_up() -> None:
            running.is_leftover = True
            self.leftovers.append(running)
            port.record(TaskCancelled(port.now, port.name, str(task)))

        return bounded(port, stop, port.settings.task_shutdown_graceful_timeout_us, give_up)

    def end_leftovers(self) -> Steps:
        """At the end of the process: who does not end by itself is interrupted."""
        until = self.port.now + EXECUTOR_PATIENCE_US
        while self.leftovers and self.port.now < until:
            yield from self.thread.wait(until)
        for leftover in list(self.leftovers):
            leftover.interrupt()

    # ---------------------------------------------------------------------------------- other deeds

    def set_target(self, connector: Connector, target: str, then: _Started) -> None:
        """What runs here of this connector is paused, or goes on; the connector itself stops
        meanwhile.
        """
        for task, running in self.tasks.items():
            if task.connector == connector.name:
                running.set_paused(target != STARTED)
        if connector.name not in self.connectors:
            return
        if target != STARTED:
            self._end_connector(connector.name)
        elif connector.name not in self.working:
            self.start_connector(connector, target, then)
        else:
            then(connector)

    def fail(self, task: Task) -> None:
        """Its thread dies of an exception; it stays in the list, and nobody starts it again."""
        running = self.tasks.get(task)
        if running is not None:
            running.fail()
            began(self.port, Callback.LOST, (task,))
            ended(self.port, Callback.LOST, (task,))
