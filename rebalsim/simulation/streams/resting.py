"""Rest: while a group is settled a member's beats can change nothing, and are not played. When
something comes up they are made up: when the last one arrived, and when the next one is due.

The phase is arithmetic: beats go an interval (and a timer's lateness) apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Rouse = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Beats:
    """The beats of a member at rest: the first that is left out, and how far apart they go."""

    first_us: int
    every_us: int

    def made_up(self, now_us: int, latency_us: int) -> tuple[int, int]:
        """When the last one left, and when the next one leaves; one that would still be under way
        leaves now instead.
        """
        left_out = max(0, (now_us - self.first_us) // self.every_us + 1)
        next_us = self.first_us + left_out * self.every_us
        last_us = next_us - self.every_us
        if left_out and last_us + latency_us >= now_us:
            return last_us - self.every_us, now_us
        return last_us, next_us


class RestRoom:
    """The members of one group that rest, and how to rouse each."""

    def __init__(self) -> None:
        self._rouse: dict[str, tuple[str, int, Rouse]] = {}
        self._timers: set[str] = set()

    def enter(self, member_id: str, timer: str, due_us: int, rouse: Rouse) -> None:
        """`timer` is the member's session timer, which stays off meanwhile; when it was due."""
        self._rouse[member_id] = (timer, due_us, rouse)
        self._timers.add(timer)

    def leave(self, member_id: str) -> tuple[str, int]:
        """The member's session timer, and when that was due as it came to rest."""
        timer, due_us, _ = self._rouse.pop(member_id)
        self._timers.discard(timer)
        return timer, due_us

    def holds(self, timer: str) -> bool:
        return timer in self._timers

    def rouse_all(self) -> None:
        for _, _, rouse in list(self._rouse.values()):
            rouse()
