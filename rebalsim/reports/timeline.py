"""Lays intervals onto columns, once, for the terminal and the page alike, and folds partitions
whose rows came out equal.

A column shows what filled most of it, but a pause never vanishes: one that fills less than half
of its column still leaves a nick there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rebalsim.analysis.values import Copy, Lane, Pause, StateSpan
from rebalsim.domain.bar_piece import BarPiece
from rebalsim.reports.palette import BRIEF, CONSUMING, LOOKS, PIECES, STATE_LOOKS, UNOWNED

STABLE = "─"
COPYING, FOLLOWING = "c", "f"  # a standby
# up to so many rows partitions are told apart by their owners too; beyond, by their pauses alone
DISTINCT_OWNERS = 12


@dataclass(frozen=True, slots=True)
class Window:
    """What part of the run is shown, on how many columns."""

    from_us: int
    until_us: int
    columns: int

    @property
    def length_us(self) -> int:
        return max(1, self.until_us - self.from_us)

    def column(self, at_us: int) -> int:
        """The column in which that instant lies, held within the window."""
        return min(
            self.columns - 1, max(0, (at_us - self.from_us) * self.columns // self.length_us)
        )

    def start_us(self, column: int) -> int:
        """The first instant of a column."""
        return self.from_us - (-column * self.length_us // self.columns)

    def holds(self, at_us: int) -> bool:
        return self.from_us <= at_us < self.until_us

    def overlaps(self, started_us: int, ended_us: int) -> bool:
        return started_us < self.until_us and ended_us > self.from_us


@dataclass(slots=True)
class Row:
    """A partition's bar: a code a column, who consumed from which column on, its pauses within
    the window, and who looks the same.
    """

    lane: Lane
    codes: str
    owners: tuple[tuple[int, str], ...]
    pauses: tuple[Pause, ...]
    alike: list[Lane] = field(default_factory=list)

    @property
    def paused_us(self) -> int:
        return sum(p.length_us for p in self.pauses)

    @property
    def longest(self) -> Pause | None:
        return max(self.pauses, key=lambda p: p.length_us, default=None)


def lay_out(lanes: Iterable[Lane], window: Window) -> list[Row]:
    """A row for each lane that has anything within the window."""
    known: dict[int, tuple[str, tuple[tuple[int, str], ...]]] = {}
    rows = []
    for lane in lanes:
        if lane.like in known:  # an equal bar was laid out already
            codes, owners = known[lane.like]
        else:
            codes, owners = _codes_of(lane, window), _owners_of(lane, window)
            if lane.like >= 0:
                known[lane.like] = codes, owners
        rows.append(
            Row(
                lane,
                codes,
                owners,
                tuple(p for p in lane.pauses if window.overlaps(p.started_us, p.ended_us)),
            )
        )
    return rows


def fold(rows: Sequence[Row]) -> list[Row]:
    """The first of all equal rows, with the others in `alike`; by bar and owners, or by bar
    alone where owners tell too many apart.
    """
    folded = _fold(rows, by_owners=True)
    return folded if len(folded) <= DISTINCT_OWNERS else _fold(rows, by_owners=False)


def _fold(rows: Sequence[Row], by_owners: bool) -> list[Row]:
    first: dict[tuple[str, str, tuple[tuple[int, str], ...]], Row] = {}
    for row in rows:
        key = (row.lane.group, row.codes, row.owners if by_owners else ())
        if key in first:
            first[key].alike.append(row.lane)
        else:
            first[key] = Row(row.lane, row.codes, row.owners, row.pauses)
    return list(first.values())


def choose(rows: Sequence[Row], most: int) -> list[Row]:
    """At most so many rows, those that stood still longest, in their old order."""
    if len(rows) <= most:
        return list(rows)
    worst = sorted(range(len(rows)), key=lambda i: (-rows[i].paused_us, i))[:most]
    return [rows[i] for i in sorted(worst)]


def _codes_of(lane: Lane, window: Window) -> str:
    pieces: list[tuple[int, int, str]] = []
    for s in lane.segments:
        if not window.overlaps(s.started_us, s.ended_us):
            continue
        code = (
            PIECES[s.what].code
            if s.what in PIECES
            else LOOKS[s.phase].letter
            if s.phase is not None
            else "?"
        )
        pieces.append((s.started_us, s.ended_us, code))
    return fill(pieces, window, quiet=(UNOWNED, CONSUMING), brief=BRIEF)


def codes_of_states(spans: Iterable[StateSpan], window: Window) -> str:
    """The group's lane: a letter a column, stable where nothing happened."""
    known = [s for s in spans if window.overlaps(s.started_us, s.ended_us)]
    pieces = [
        (s.started_us, s.ended_us, STATE_LOOKS[s.state][0] if s.state in STATE_LOOKS else "?")
        for s in known
    ]
    return fill(pieces, window, quiet=(UNOWNED, "E", "X", STABLE), brief=BRIEF)


def tracks(copies: Sequence[Copy]) -> list[list[Copy]]:
    """Copies on as few lines as there are at a time, each line in order of time."""
    found: list[list[Copy]] = []
    for copy in sorted(copies, key=lambda copy: (copy.started_us, copy.consumer)):
        free = next((track for track in found if track[-1].ended_us <= copy.started_us), None)
        if free is None:
            found.append([copy])
        else:
            free.append(copy)
    return found


def codes_of_copies(track: Sequence[Copy], window: Window) -> str:
    """A letter a column: copying, or following."""
    pieces = []
    for copy in track:
        caught_up_us = copy.ended_us if copy.caught_up_us is None else copy.caught_up_us
        pieces += [
            (copy.started_us, caught_up_us, COPYING),
            (caught_up_us, copy.ended_us, FOLLOWING),
        ]
    return fill(pieces, window, quiet=(UNOWNED, FOLLOWING), brief=COPYING)


def fill(
    pieces: Sequence[tuple[int, int, str]], window: Window, quiet: Sequence[str], brief: str
) -> str:
    """A code a column out of consecutive (start, end, code). What is not quiet wins a column
    from half of it on, and leaves a nick below that.
    """
    cells: list[str] = [UNOWNED] * window.columns
    shared: dict[int, dict[str, int]] = {}
    for started_us, ended_us, code in pieces:
        begin, end = max(started_us, window.from_us), min(ended_us, window.until_us)
        if begin >= end:
            continue
        first, last = window.column(begin), window.column(end - 1)
        for column in {first: None, last: None}:
            overlap = min(end, window.start_us(column + 1)) - max(begin, window.start_us(column))
            times = shared.setdefault(column, {})
            times[code] = times.get(code, 0) + overlap
        cells[first + 1 : last] = [code] * max(0, last - first - 1)
    for column, times in shared.items():
        cells[column] = _winner(
            times, window.start_us(column + 1) - window.start_us(column), quiet, brief
        )
    return "".join(cells)


def _winner(times: dict[str, int], width_us: int, quiet: Sequence[str], brief: str) -> str:
    loud = {code: t for code, t in times.items() if code not in quiet and t > 0}
    if loud:
        return (
            max(loud, key=lambda code: loud[code]) if 2 * sum(loud.values()) >= width_us else brief
        )
    return max(times, key=lambda code: times[code])


def _owners_of(lane: Lane, window: Window) -> tuple[tuple[int, str], ...]:
    """Where in the window somebody (else) begins to consume."""
    found: list[tuple[int, str]] = []
    for s in lane.segments:
        if (
            s.what is BarPiece.CONSUMING
            and window.overlaps(s.started_us, s.ended_us)
            and (not found or found[-1][1] != s.consumer)
        ):
            found.append((window.column(s.started_us), s.consumer))
    return tuple(found)


def runs(codes: str) -> list[tuple[int, int, str]]:
    """Consecutive equal codes as (first column, how many, code)."""
    found: list[tuple[int, int, str]] = []
    start = 0
    for column in range(1, len(codes) + 1):
        if column == len(codes) or codes[column] != codes[start]:
            found.append((start, column - start, codes[start]))
            start = column
    return found
