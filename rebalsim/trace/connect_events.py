"""What can have happened in a Kafka Connect cluster beyond what happens in any group: past tense,
one class each. `consumer` is the worker's name.

Who runs which task is also told with a group's own events (CallbackBegan and its like), in which a
task is a partition named by its connector.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class WorkAssigned:
    """A worker took over a round's answer, after stopping what was revoked. `protocol`: default
    (eager) | compatible | sessioned; `delay_us`: so long lost work waits from now on.
    """

    at_us: int
    consumer: str
    generation: int
    protocol: str
    given: tuple[str, ...]
    revoked: tuple[str, ...]
    delay_us: int = 0
    is_config_mismatch: bool = False


@dataclass(slots=True)
class TasksConfigured:
    """The config topic says that the connector has so many tasks from now on (0: it is gone)."""

    at_us: int
    group: str  # of the workers
    connector: str
    tasks: int


@dataclass(slots=True)
class TaskStarting:
    """The task's start() was entered."""

    at_us: int
    consumer: str
    task: str


@dataclass(slots=True)
class TaskStopping:
    """The task's loop has ended, and its stop() was entered; `polled_us` is when it last polled."""

    at_us: int
    consumer: str
    task: str
    polled_us: int = -1


@dataclass(slots=True)
class TaskStopped:
    """All of the task has ended. A `is_leftover` one had been given up before."""

    at_us: int
    consumer: str
    task: str
    is_leftover: bool = False


@dataclass(slots=True)
class TaskCancelled:
    """The task did not stop in time: it was forgotten, and may run on."""

    at_us: int
    consumer: str
    task: str


@dataclass(slots=True)
class TaskFailed:
    """The task's thread died of an exception. Nobody starts it again of himself."""

    at_us: int
    consumer: str
    task: str


@dataclass(slots=True)
class TaskPaused:
    at_us: int
    consumer: str
    task: str


@dataclass(slots=True)
class TaskResumed:
    at_us: int
    consumer: str
    task: str


@dataclass(slots=True)
class ConnectorStarted:
    """A connector's own start() was entered."""

    at_us: int
    consumer: str
    connector: str


@dataclass(slots=True)
class ConnectorEnded:
    """A connector's own stop() was entered."""

    at_us: int
    consumer: str
    connector: str


@dataclass(slots=True)
class ConfigLagged:
    """The worker had not read the config that the round was meant for, and did not in time."""

    at_us: int
    consumer: str
