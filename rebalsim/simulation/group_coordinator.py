"""The group coordinator: one process for each partition of __consumer_offsets that hosts groups.

It works off its queue one after the other (CoordinatorRuntime): requests, timers that ran out,
writes that the log has. Groups of one partition share the queue, so that one waits while the
other is served; what a rebalance's requests take of it is in costs.py. What is done to a group, and by which rules, is in coordinator.py.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from rebalsim.simulation.desk import Desk
from rebalsim.simulation.engine import Engine, Signal, Steps


class GroupCoordinator:
    """One partition's queue, and who works it off."""

    __slots__ = ("_is_waiting", "_news", "_queue", "desk", "partition")

    def __init__(self, engine: Engine, partition: int) -> None:
        self.partition = partition
        self.desk = Desk()  # how long it is busy with what has come
        self._queue: deque[tuple[Callable[[Any], None], Any]] = deque()
        self._news = Signal(engine)
        self._is_waiting = False
        engine.begin(self.group_coordinator())

    def group_coordinator(self) -> Steps:
        """The next piece of work, or sleep until there is one."""
        while True:
            while not self._queue:
                self._is_waiting = True
                yield self._news
                self._is_waiting = False
            work, subject = self._queue.popleft()
            work(subject)

    def put(self, work: Callable[[Any], None], subject: Any) -> None:
        """This is to be done, when its turn comes."""
        self._queue.append((work, subject))
        if self._is_waiting:
            self._news.give()
