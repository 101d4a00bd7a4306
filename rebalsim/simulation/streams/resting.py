"""Rest: while a group is settled a member's beats can change nothing, and are not played. When
something comes up they are made up: when the last one arrived, and when the next one is due.

The phase is arithmetic: beats go an interval (and a timer's lateness) apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

EndRest = Callable[[], None]


class MadeUp(NamedTuple):
    """When the last beat left that has arrived, when one that is under way did, and when the next one
    leaves.
    """

    last_us: int
    under_way_us: int | None
    next_us: int


@dataclass(frozen=True, slots=True)
class Beats:
    """The beats of a member at rest: the first that is left out, and how far apart they go."""

    first_us: int
    every_us: int

    def made_up(self, now_us: int, latency_us: int, *, goes_first: bool = False) -> MadeUp:
        """What became of them until now. `goes_first`: one that arrives now does so before whatever
        else happens now.
        """
        left_out = max(0, (now_us - self.first_us) // self.every_us + 1)
        next_us = self.first_us + left_out * self.every_us
        last_us = next_us - self.every_us
        if left_out and last_us + latency_us + (not goes_first) > now_us:
            return MadeUp(last_us - self.every_us, last_us, next_us)
        return MadeUp(last_us, None, next_us)


class Guest(NamedTuple):
    """One that rests: where its beats stand among those of one instant, its session timer, which stays
    off meanwhile, and when that was due.
    """

    rank: int
    timer: str
    due_us: int
    end_rest: EndRest


class RestRoom:
    """The members of one group that rest, and how to end the rest of each."""

    def __init__(self) -> None:
        self._guests: dict[str, Guest] = {}
        self._timers: set[str] = set()

    def enter(self, member_id: str, guest: Guest) -> None:
        self._guests[member_id] = guest
        self._timers.add(guest.timer)

    def leave(self, member_id: str) -> Guest:
        guest = self._guests.pop(member_id)
        self._timers.discard(guest.timer)
        return guest

    def holds(self, timer: str) -> bool:
        return timer in self._timers

    def end_all(self) -> None:
        """In the order of their beats: several may be under way."""
        for guest in sorted(self._guests.values()):
            guest.end_rest()
