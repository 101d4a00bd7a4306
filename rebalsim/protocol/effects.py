"""What a step asks the world to do. Rules return effects; the simulation (or a test, or a conversation replay) carries them out.

A coordinator's step function takes the group's state, a request or a timer that fired, and the time; it changes the state it was
handed (the caller gives it up: copying a thousand members a heartbeat would cost more than the heartbeat) and returns effects in
the order in which they must happen. It never reads a clock, draws a number or sends anything itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class Reply:
    """Answer the request with this number. `response` is one of the response classes of the messages module."""

    request: int
    response: Any


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
    """Write a record to the coordinator's log; when that is done (or failed), step again with `written(number, error)`."""

    number: int
    what: str             # "group", "assignment", "static member", "offsets", …
    size: int = 0         # bytes, where a limit may bite


@dataclass(slots=True)
class Note:
    """Something worth a trace event that changes nothing: what happened, and its facts."""

    kind: str
    facts: dict[str, Any]


Effect = Reply | SetTimer | CancelTimer | Append | Note
