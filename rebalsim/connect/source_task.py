"""A source's task: its start, its polls one after another, and what its stop waits for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rebalsim.assignors.connect.work import Task
from rebalsim.connect.port import Port
from rebalsim.connect.told_in_trace import works
from rebalsim.domain.connect import Connector
from rebalsim.trace.connect_events import (
    TaskFailed,
    TaskPaused,
    TaskResumed,
    TaskStarting,
    TaskStopped,
    TaskStopping,
)


class SourceTask:
    """One copy of a task, on a thread of its own. Its polls are no events: they follow each other
    in their own time, and a stop waits for the one at hand.
    """

    def __init__(self, port: Port, task: Task, connector: Connector, is_paused: bool) -> None:
        self.port = port
        self.task = task
        self.connector = connector
        self.is_paused = is_paused
        self.started_us = -1  # its first poll
        self.is_ended = self.is_failed = self.is_leftover = False
        self.done: Callable[[], None] | None = None
        self._begin()

    def _begin(self) -> None:
        """What comes before its start()."""
        self._enter()

    def _enter(self) -> None:
        port = self.port
        port.record(TaskStarting(port.now, port.name, str(self.task)))
        took = port.draw(f"task-start/{self.task}", self.connector.start)
        port.at(port.now + took, self._started)

    def _started(self, _: Any) -> None:
        if self.is_ended:
            return
        self.started_us = self.port.now
        if self.done is not None:
            self._stops(self.port.now)
        elif not self.is_paused:
            works(self.port, self.task)

    def set_paused(self, is_paused: bool) -> None:
        if is_paused == self.is_paused or self.is_ended:
            return
        self.is_paused = is_paused
        kind = TaskPaused if is_paused else TaskResumed
        self.port.record(kind(self.port.now, self.port.name, str(self.task)))
        if not is_paused:
            works(self.port, self.task)

    def stop(self, done: Callable[[], None]) -> None:
        self.done = done
        if self.is_failed:
            self._ended(None)
        elif self.started_us >= 0:
            poll_us = max(1, self.port.draw(f"poll/{self.task}", self.connector.poll))
            left = -(self.port.now - self.started_us) % poll_us
            self.port.at(self.port.now + left, self._polled)

    def _polled(self, _: Any) -> None:
        """The last poll is over: what it brought is committed, then stop() is called."""
        port, polled = self.port, self.port.now
        took = port.draw("commit", port.costs.commit)
        port.at(polled + took, lambda _: self._stops(polled))

    def _stops(self, polled_us: int) -> None:
        if self.is_ended:
            return
        port = self.port
        port.record(TaskStopping(port.now, port.name, str(self.task), polled_us))
        took = port.draw(f"task-stop/{self.task}", self.connector.stop)
        port.at(port.now + took + port.draw("close", port.costs.close), self._ended)

    def _ended(self, _: Any) -> None:
        if self.is_ended:
            return
        self.is_ended = True
        self.port.record(
            TaskStopped(self.port.now, self.port.name, str(self.task), self.is_leftover)
        )
        if self.done is not None:
            self.done()

    def fail(self) -> None:
        if not self.is_ended and not self.is_failed:
            self.is_failed = True
            self.port.record(TaskFailed(self.port.now, self.port.name, str(self.task)))

    def interrupt(self) -> None:
        self._ended(None)

    def thawed(self) -> None:
        """The process goes on, and the task polls again."""
        is_polling = self.started_us >= 0 and self.done is None
        if is_polling and not self.is_paused and not self.is_failed:
            works(self.port, self.task)
