"""What Kafka Streams adds to what can have happened: stores restored, standbys, and the
application's own state.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalsim.domain.ids import Partition


@dataclass(slots=True)
class StoreRestored:
    """A task's stores are as its changelog: it can be processed from the thread's next turn on.
    `partitions` are the task's inputs. `how`: scratch | checkpoint | standby, where restoration
    began; nothing to restore counts as standby. given-up: the task was taken away before, or the
    story ended. `held_us`: since when all was read that is committed, and its dead owner's transaction
    was waited for; −1 if none was.
    """

    at_us: int
    consumer: str
    task: str
    partitions: tuple[Partition, ...]
    began_us: int
    records: int
    bytes: int
    how: str
    held_us: int = -1


@dataclass(slots=True)
class StandbyBegan:
    """A consumer began to copy a task's changelog; a warm-up is a standby on the way to become
    active.
    """

    at_us: int
    consumer: str
    task: str
    partitions: tuple[Partition, ...]
    behind: int
    is_warmup: bool = False


@dataclass(slots=True)
class StandbyCaughtUp:
    at_us: int
    consumer: str
    task: str
    partitions: tuple[Partition, ...]


@dataclass(slots=True)
class StandbyEnded:
    """It was closed, or turned active."""

    at_us: int
    consumer: str
    task: str
    partitions: tuple[Partition, ...]


@dataclass(slots=True)
class CommitsMade:
    """A thread committed what its tasks had handled; and where `every_us` is no 0, again so far apart,
    the last time at `last_us`.
    """

    at_us: int
    consumer: str
    every_us: int
    last_us: int


@dataclass(slots=True)
class ProcessingHeld:
    """A thread polls on and processes nothing: its group is not ready, or, up to 3.7, not all of its
    own tasks are restored.
    """

    at_us: int
    consumer: str
    partitions: tuple[Partition, ...]


@dataclass(slots=True)
class ProcessingWentOn:
    """It processes again."""

    at_us: int
    consumer: str


@dataclass(slots=True)
class ApplicationStateChanged:
    """KafkaStreams.State of an instance, as its StateListener hears it."""

    at_us: int
    instance: str
    before: str
    after: str


@dataclass(slots=True)
class TasksWithheld:
    """The leader asked for another look: at once (tasks to be given up first), or by probing."""

    at_us: int
    group: str
    generation: int
    probing: bool
    warmups: tuple[str, ...] = ()
