"""What happened to a Streams application, in past tense: facts, one class each. Nobody changes them;
they are not frozen because a run makes hundreds, and a frozen one takes three times as long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rebalsim.assignors.streams.tasks import TaskId


@dataclass(slots=True)
class InstanceChanged:
    """An instance's process: started, closing, closed, killed, froze, thawed."""

    at_us: int
    instance: str
    life: int
    what: str
    threads: int = 0  # that it starts with; a deploy may change them


@dataclass(slots=True)
class ApplicationStateChanged:
    """KafkaStreams.State, as a StateListener sees it."""

    at_us: int
    instance: str
    before: str
    after: str


@dataclass(slots=True)
class LagTurned:
    """So many records of a task have come and are not handled; from here its lag runs otherwise."""

    at_us: int
    task: TaskId
    records: float


@dataclass(slots=True)
class ThreadStateChanged:
    at_us: int
    instance: str
    thread: int
    before: str
    after: str


@dataclass(slots=True)
class TasksAssigned:
    """A thread was given its tasks, whether they changed or not."""

    at_us: int
    instance: str
    thread: int
    generation: int
    active: tuple[TaskId, ...]
    standby: tuple[TaskId, ...]


@dataclass(slots=True)
class AssignmentMade:
    """The leader (or the broker) decided; `probing` asks for another look later."""

    at_us: int
    generation: int
    probing: bool
    stable: bool
    warmups: tuple[TaskId, ...] = ()


@dataclass(slots=True)
class TaskChanged:
    """A task at an instance: created, restoring, restored, running, suspended, closed, lost;
    standby, recycled. `left` is what remains of its changelog, `how` its role; `first_us` is how
    long after it began to run its first records come. One that is taken up tells how many of its
    records were handled before, by whomever, and how many of these come again: (−1, 0) else.
    """

    at_us: int
    instance: str
    thread: int
    task: TaskId
    what: str
    left: int = 0
    how: str = ""
    first_us: int = 0
    handled: float = -1.0
    again: float = 0.0


@dataclass(slots=True)
class RebalanceStarted:
    """A member asks to join (classic), or the group epoch rose; `why` in the client's words."""

    at_us: int
    instance: str
    thread: int
    why: str


@dataclass(slots=True)
class MemberGone:
    """The broker took a member out: session, rebalance timeout, left."""

    at_us: int
    instance: str
    thread: int
    why: str


@dataclass(slots=True)
class ThreadBusy:
    """A thread came back from what it does between two rounds of its tasks (giving up, taking over,
    opening): `tasks` are those that it ran before and runs on.
    """

    at_us: int
    instance: str
    thread: int
    since_us: int
    tasks: tuple[TaskId, ...]


@dataclass(slots=True)
class Refused:
    """Something that cannot be played on: a thread died, an instance shut down."""

    at_us: int
    instance: str
    why: str
    error: str  # the exception's name


@dataclass(slots=True)
class Heard:
    """What a consumer's client or the coordinator did, in the words of trace events: the event's
    class and its facts. `instance` is empty for the coordinator.
    """

    at_us: int
    instance: str
    thread: int
    kind: str
    facts: dict[str, Any]


Happening = (
    InstanceChanged
    | ApplicationStateChanged
    | LagTurned
    | ThreadStateChanged
    | TasksAssigned
    | AssignmentMade
    | TaskChanged
    | RebalanceStarted
    | MemberGone
    | ThreadBusy
    | Refused
    | Heard
)
