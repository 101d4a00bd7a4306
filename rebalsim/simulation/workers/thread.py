"""A worker's thread asleep: woken by its clock or by another thread, once its process is not
frozen.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Protocol

from rebalsim.simulation.engine import APP, NEVER, Bell, Engine


class Owner(Protocol):
    """The process whose thread it is."""

    engine: Engine
    rank: int
    is_frozen: bool


class WorkerThread:
    """What the port gives the connect room for a thread."""

    __slots__ = ("bell", "is_waiting", "worker")

    def __init__(self, worker: Owner) -> None:
        self.worker = worker
        self.bell = Bell(worker.engine, worker.rank + APP, self.wake)
        self.is_waiting = False

    def wait(self, until_us: int) -> Generator[Any, Any, None]:
        if until_us < NEVER:
            self.bell.set(until_us)
        else:
            self.bell.off()
        self.is_waiting = True
        yield self.bell
        self.is_waiting = False

    def wake(self) -> None:
        """Does nothing unless it waits: whoever wakes it has left word of why."""
        if self.is_waiting and not self.worker.is_frozen:
            self.bell.give()

    def end(self) -> None:
        self.bell.off()
