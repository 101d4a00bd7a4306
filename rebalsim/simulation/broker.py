"""A broker: a process that serves what clients ask it, in the order in which it comes.

It answers at once where it can: who coordinates a group, what is known of an offset. A Fetch that
finds nothing waits at the broker until a record comes, or fetch.max.wait.ms is over. What a
group's coordinator answers is its own matter (group_coordinator.py), on whichever broker it lives.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from rebalsim.simulation.desk import Desk
from rebalsim.simulation.engine import Engine, Signal, Steps


class Broker:
    """One broker's queue of requests, and who works it off."""

    __slots__ = ("_is_waiting", "_news", "_queue", "answers", "id")

    def __init__(self, engine: Engine, broker: int) -> None:
        self.id = broker
        self.answers = Desk()  # a rebalance's answers leave one after the other
        self._queue: deque[tuple[Callable[[Any], None], Any]] = deque()
        self._news = Signal(engine)
        self._is_waiting = False
        engine.begin(self.broker())

    def broker(self) -> Steps:
        """The next request, or sleep until there is one."""
        while True:
            while not self._queue:
                self._is_waiting = True
                yield self._news
                self._is_waiting = False
            serve, request = self._queue.popleft()
            serve(request)

    def put(self, serve: Callable[[Any], None], request: Any) -> None:
        """A request came."""
        self._queue.append((serve, request))
        if self._is_waiting:
            self._news.give()
