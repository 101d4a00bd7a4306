"""How records arrive at a partition: a fluid in closed form, of which whole records can be counted
at any instant.

Record n is there from the instant at which the fluid reaches n (the first with the flow's first
drop). No event per record: who wants to know asks how many have come by a time, or when the next
one comes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from math import ceil, floor, sqrt
from typing import Any

from rebalsim.simulation.engine import NEVER

_EPSILON = 1e-7


class Flow:
    """One partition's arrivals: pieces of constant or linearly changing rate, and a backlog that
    lay there before.
    """

    __slots__ = (
        "_at",
        "_backlog",
        "_count",
        "_number",
        "_pieces",
        "_starts",
        "_when",
        "backlog",
        "is_flowing_since",
    )

    def __init__(self, backlog: int = 0) -> None:
        self.backlog = self._backlog = backlog
        self._starts: list[int] = [0]
        self._pieces: list[tuple[int, float, float, float]] = [
            (0, 0.0, 0.0, 0.0)
        ]  # from, fluid so far, per µs, change per µs²
        self.is_flowing_since = NEVER
        self._at = self._count = self._number = (
            self._when
        ) = -1  # the last answers: whole topics share one flow and ask the same

    def copy(self) -> Flow:
        """Another one of the same kind."""
        other = Flow(self.backlog)
        other._starts, other._pieces, other.is_flowing_since = (
            list(self._starts),
            list(self._pieces),
            self.is_flowing_since,
        )
        return other

    def change(
        self,
        at_us: int,
        per_second: float,
        until_us: int | None = None,
        then_per_second: float = 0.0,
    ) -> None:
        """From this instant on so many records a second; with `until_us` the rate goes in a
        straight line to another one by then.
        """
        self._at = self._number = -1
        per_us = per_second / 1e6
        slope = (
            0.0
            if until_us is None or until_us <= at_us
            else (then_per_second - per_second) / 1e6 / (until_us - at_us)
        )
        fluid = self._fluid(at_us)
        if self._starts[-1] == at_us:
            self._starts.pop()
            self._pieces.pop()
        self._starts.append(at_us)
        self._pieces.append((at_us, fluid, per_us, slope))
        if self.is_flowing_since == NEVER and (per_us > 0 or slope > 0):
            self.is_flowing_since = at_us

    def is_like(self, other: Flow) -> bool:
        """Do the records of both come at the very same instants? So do those of partitions that
        share a topic's rate evenly.
        """
        return self is other or (
            self._pieces == other._pieces
            and self._backlog == other._backlog
            and self.is_flowing_since == other.is_flowing_since
        )

    @property
    def told(self) -> tuple[Any, ...]:
        """All that was said of it: the same of two flows that are alike."""
        return (*self._pieces, self._backlog, self.is_flowing_since)

    def delay(self, us: int) -> None:
        """Everything that was said so far happens so much later."""
        self._at = self._number = -1
        if us > 0:
            pieces = (
                self._pieces
                if self._pieces[0][2:] == (0.0, 0.0)
                else [(0, 0.0, 0.0, 0.0), *self._pieces]
            )
            self._pieces = [
                pieces[0],
                *[(start + us, fluid, per_us, slope) for start, fluid, per_us, slope in pieces[1:]],
            ]
            self._starts = [piece[0] for piece in self._pieces]
            if self.is_flowing_since < NEVER:
                self.is_flowing_since += us

    def cut(self, at_us: int) -> None:
        """What was said about times from this instant on no longer holds."""
        self._at = self._number = -1
        while len(self._starts) > 1 and self._starts[-1] > at_us:
            self._starts.pop()
            self._pieces.pop()
        if self.is_flowing_since > at_us:
            self.is_flowing_since = NEVER

    def _fluid(self, at_us: int) -> float:
        start, fluid, per_us, slope = self._pieces[bisect_right(self._starts, at_us) - 1]
        past = at_us - start
        return fluid + past * (per_us + slope * past / 2)

    def count(self, at_us: int) -> int:
        """Records that have arrived by this instant (and with it)."""
        if at_us == self._at:
            return self._count
        self._at = at_us
        if at_us < self.is_flowing_since:
            self._count = self._backlog
        elif at_us >= self._starts[-1]:
            start, fluid, per_us, slope = self._pieces[-1]
            past = at_us - start
            self._count = (
                self._backlog + 1 + floor(fluid + past * (per_us + slope * past / 2) + _EPSILON)
            )
        else:
            self._count = self._backlog + 1 + floor(self._fluid(at_us) + _EPSILON)
        return self._count

    def rate_at(self, at_us: int) -> float:
        """Records per µs just now."""
        start, _, per_us, slope = self._pieces[max(0, bisect_right(self._starts, at_us) - 1)]
        return per_us + slope * (at_us - start)

    def when(self, number: int) -> int:
        """The instant at which this record (they count from 0) arrives; NEVER if it does not."""
        if number != self._number:
            self._number, self._when = number, self._found(number)
        return self._when

    def _found(self, number: int) -> int:
        wanted = number - self._backlog
        if wanted < 0:
            return 0
        if wanted == 0:
            return self.is_flowing_since
        pieces = self._pieces
        at = max(
            0, bisect_left(pieces, wanted - _EPSILON, key=_fluid_of) - 1
        )  # the fluid passes it in this piece, or a later one
        while at < len(pieces):
            found = _passes(pieces[at], wanted)
            if found < NEVER and (at + 1 == len(pieces) or found <= pieces[at + 1][0]):
                for _ in range(3):  # rounding
                    if self.count(found) > number:
                        break
                    found += 1
                else:
                    at += 1
                    continue
                while found > 0 and self.count(found - 1) > number:
                    found -= 1
                return found
            at += 1
        return NEVER

    def is_even_after(self, at_us: int) -> bool:
        """Has it one rate from this instant on?"""
        start, _, per_us, slope = self._pieces[-1]
        return slope == 0.0 and per_us > 0.0 and at_us >= max(start, self.is_flowing_since)

    def next_after(self, at_us: int) -> int:
        """When the next record after this instant arrives."""
        return self.when(self.count(at_us))


def _fluid_of(piece: tuple[int, float, float, float]) -> float:
    return piece[1]


def _passes(piece: tuple[int, float, float, float], wanted: float) -> int:
    """When the piece, were it to go on for ever, brings the fluid up to this; NEVER if it
    does not.
    """
    start, fluid, per_us, slope = piece
    missing = wanted - fluid
    if missing <= _EPSILON:
        return start
    if slope == 0.0:
        return start + ceil(missing / per_us - _EPSILON) if per_us > 0 else NEVER
    under = per_us * per_us + 2 * slope * missing
    if under >= 0 and (root := (sqrt(under) - per_us) / slope) >= 0:
        return start + ceil(root - _EPSILON)
    return NEVER
