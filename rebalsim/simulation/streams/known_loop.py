"""What a recording knows of a stream thread's loop and chance would draw: when the poll in which it
got its tasks was over, when each of them was open, and, under the streams protocol, when it came by
to take over what its consumer had been told. A story knows nothing of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rebalsim.assignors.streams.tasks import TaskId


@dataclass(frozen=True, slots=True)
class Recorded:
    """Of one life of a thread, counted from each assignment (µs): `polls` by assignment, in order,
    None where another came first; `openings` by task, each time it was opened. `takeovers` are
    counted from what the consumer was told.
    """

    polls: Sequence[int | None] = ()
    openings: Mapping[TaskId, Sequence[int]] = field(default_factory=dict)
    takeovers: Sequence[int | None] = ()


class KnownLoop:
    """Tells them one after another, as they are asked for; None where nothing is known."""

    def __init__(self, recorded: Recorded | None = None) -> None:
        known = recorded or Recorded()
        self._polls = list(known.polls)
        self._takeovers = list(known.takeovers)
        self._openings = {task: list(each) for task, each in known.openings.items()}

    def taken_over_after(self) -> int | None:
        return self._takeovers.pop(0) if self._takeovers else None

    def poll_over_after(self) -> int | None:
        return self._polls.pop(0) if self._polls else None

    def peek(self, task: TaskId) -> int:
        """The same of a task to be opened, 0 where nothing is known; it stays to be told."""
        left = self._openings.get(task)
        return left[0] if left else 0

    def opened_after(self, task: TaskId) -> int | None:
        left = self._openings.get(task)
        return left.pop(0) if left else None
