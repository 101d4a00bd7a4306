"""What a worker sees of the world: its clock, its threads, its line to the coordinator, its chances
and its recorder. Everything that it does goes through here.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Protocol

from rebalsim.assignors.connect.work import Task
from rebalsim.connect.config_state import ConfigState, Record
from rebalsim.domain.connect import Connector, WorkerConfig
from rebalsim.domain.draws import Draw
from rebalsim.domain.worker_costs import WorkerCosts

NEVER = 1 << 62
Steps = Generator[Any, Any, None]


class Thread(Protocol):
    """One thread's sleep. A process that is frozen wakes when it is thawed."""

    def wait(self, until_us: int) -> Generator[Any, Any, None]:
        """Until that instant, or until somebody wakes it."""

    def wake(self) -> None: ...

    def end(self) -> None:
        """Its process is gone."""


class Running(Protocol):
    """A task that was started."""

    task: Task
    is_leftover: bool  # given up, and not ended

    def stop(self, done: Callable[[], None]) -> None:
        """Ask it to stop; `done` when all of it has ended, which may take for ever."""

    def set_paused(self, is_paused: bool) -> None: ...

    def fail(self) -> None:
        """Its thread dies of an exception."""

    def interrupt(self) -> None:
        """Its thread is interrupted: it ends now."""


class Port(Protocol):
    """A worker's view of the world."""

    name: str
    settings: WorkerConfig
    costs: WorkerCosts
    beat_late: Draw  # how late an idle thread's timer wakes it

    @property
    def now(self) -> int: ...

    @property
    def life(self) -> int:
        """Which process of this worker it is; what belongs to an earlier one is void."""

    def thread(self) -> Thread: ...

    def at(self, at_us: int, then: Callable[[Any], None]) -> None:
        """Call this at that instant, if the process still lives and as soon as it is not frozen."""

    def compute(self, us: int, then: Callable[[Any], None]) -> None:
        """Call this when so much work is done, for which others may be queueing too."""

    def draw(self, purpose: str, what: Draw) -> int: ...

    def jitter(self) -> float:
        """What a backoff is multiplied with."""

    def record(self, event: Any) -> None: ...

    # the group's coordinator

    def has_coordinator(self) -> bool: ...

    def look_up_coordinator(self, then: Callable[[bool], None]) -> None: ...

    def send(self, api: str, request: Any, then: Callable[[Any, Any], None], reason: str) -> Any:
        """To the coordinator; `then` with the call and its answer."""

    def lose_coordinator(self, why: str) -> None: ...

    # the config topic

    def config_state(self) -> ConfigState:
        """As far as this worker's reader has read."""

    def read_config_to_end(self, then: Callable[[], None]) -> None: ...

    def write_config(self, records: list[Record]) -> None: ...

    def ask_leader(self, what: Callable[[Any], None]) -> None:
        """Forward a request to the leader's herder."""

    # tasks

    def launch(self, task: Task, connector: Connector, is_paused: bool, generation: int) -> Running:
        """`generation`: of its connector's task configs."""

    def is_at_work(self) -> None:
        """It has started what the group gave it: who waits for the worker to be ready is told."""

    def fail(self, error: str) -> None:
        """The herder's thread died: the process ends."""

    # exactly-once sources

    def ask_fencing(self, connector: str, done: Callable[[str], None]) -> None:
        """That the former set's producers be shut out, through the herder and the leader."""

    def shut_out(self, connector: str, generation: int) -> None:
        """The producers of all tasks of former sets, wherever they run."""

    def shut_out_copies(self, copy: Any) -> None:
        """Those of all other copies of this task."""

    def ask_whether_wanted(self, task: Task, done: Callable[[int], None]) -> None:
        """Of the herder: the newest generation of the task's configs, −1 if it is not the worker's."""

    def lose_task(self, task: Task) -> None:
        """Its thread died of an exception."""
