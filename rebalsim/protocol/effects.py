"""What a step asks the world to do. Rules return effects; the simulation (or a test, or a
conversation replay) carries them out.

A coordinator's step function takes the group's state, a request or a timer that fired, and the
time; it changes the state it was handed (the caller gives it up: copying a thousand members a
heartbeat would cost more than the heartbeat) and returns effects in the order in which they must
happen. It never reads a clock, draws a number or sends anything itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class Reply:
    """Answer the request with this number. `response` is one of the response classes of the
    messages module.

    `waits`: the answer may leave only when every write that the coordinator's log partition holds
    at this moment is committed
    (heartbeats, leaves and offset look-ups queue behind other groups' writes too,
    CoordinatorRuntime.append); at once if there is none.
    """

    request: int
    response: Any
    waits: bool = False


@dataclass(slots=True)
class SetTimer:
    """Arm the timer with this key (replacing one of the same key), to fire at `due_us`."""

    key: str
    due_us: int


@dataclass(slots=True)
class CancelTimer:
    """Forget the timer with this key, if there is one."""

    key: str


@dataclass(slots=True)
class Append:
    """Write a record to the coordinator's log; when that is done (or failed), step again with
    `written(number, error)`.
    """

    number: int
    what: str  # "group", "assignment", "static member", "offsets", …
    size: int = 0  # bytes, where a limit may bite
    record: Any = None  # what a coordinator that loads the log later will find


@dataclass(slots=True)
class Note:
    """Something worth a trace event that changes nothing: the event's class name in trace.events,
    and its facts.

    Facts carry the names of that class's fields, without at_us and group; where the event names
    a consumer, the fact is `member_id` (and `last`, `leader`, `kicked` are member ids), because
    a coordinator knows members only.
    """

    kind: str
    facts: dict[str, Any]


Effect = Reply | SetTimer | CancelTimer | Append | Note
