"""Round instants for a ruler, and marks laid beside each other without overlap."""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.domain.instants import HOUR, MINUTE, MS, SECOND
from rebalsim.reports.names import clip
from rebalsim.reports.timeline import Window
from rebalsim.words.times import say_instant

_STEPS = (
    1,
    2,
    5,
    10,
    20,
    50,
    100,
    200,
    500,
    MS,
    2 * MS,
    5 * MS,
    10 * MS,
    20 * MS,
    50 * MS,
    100 * MS,
    200 * MS,
    500 * MS,
    SECOND,
    2 * SECOND,
    5 * SECOND,
    10 * SECOND,
    15 * SECOND,
    30 * SECOND,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    15 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    24 * HOUR,
    48 * HOUR,
    7 * 24 * HOUR,
    14 * 24 * HOUR,
    30 * 24 * HOUR,
)


def step_of(length_us: int, most: int) -> int:
    """The smallest round step that needs at most so many ticks."""
    return next((step for step in _STEPS if length_us // step <= most), _STEPS[-1])


def ticks(window: Window, room: int = 12) -> list[tuple[int, str]]:
    """(column, label) of round instants, a label every `room` columns at most."""
    step = step_of(window.length_us, max(1, window.columns // room))
    first = -(-window.from_us // step) * step
    return [
        (window.column(at), say_instant(at, step)) for at in range(first, window.until_us, step)
    ]


def place(
    labels: Sequence[tuple[int, str]],
    columns: int,
    most_rows: int = 3,
    flips: bool = False,
    ranks: Sequence[int] = (),
) -> list[str]:
    """Labels at their columns, on as many rows as they need. Where there are too many, those of a
    lower rank come first; of what does not fit, the first sign stands where there is room for it,
    and how many these are at the end of a row.

    At the right edge a label is cut, or, with `flips`, written to the left of its first sign.
    """
    return _placed(labels, columns, most_rows, flips, ranks)[0]


def place_clipped(
    labels: Sequence[tuple[int, str]],
    columns: int,
    ranks: Sequence[int],
    widths: Sequence[int],
    is_ascii: bool,
) -> list[str]:
    """Labels placed as `place` does it, but as long as all of the first rank fit: clipped to the
    first of `widths` that leaves none of these out, or else the fewest.
    """
    tried = [
        _placed([(at, clip(text, width, is_ascii)) for at, text in labels], columns, 3, True, ranks)
        for width in widths
    ]
    return min(tried, key=lambda found: found[1])[0]


def _placed(
    labels: Sequence[tuple[int, str]],
    columns: int,
    most_rows: int,
    flips: bool,
    ranks: Sequence[int],
) -> tuple[list[str], int]:
    rows: list[list[str]] = []
    dropped = first = 0
    for rank, column, text in sorted(
        (ranks[i] if ranks else 0, column, text) for i, (column, text) in enumerate(labels)
    ):
        at, shown = column, text
        if column + len(text) > columns:
            if flips and column + 1 >= len(text):
                at, shown = column + 1 - len(text), text[1:] + text[0]
            else:
                shown = text[: max(1, columns - column)]
        if _write(rows, most_rows, at, shown, columns):
            continue
        dropped += 1
        first += not rank
        if flips:
            _write(rows, most_rows, column, text[:1], columns)
    if dropped and rows:
        more = f" +{dropped} more"
        row = next(
            (row for row in reversed(rows) if not "".join(row[columns - len(more) :]).strip()),
            rows[-1],
        )
        row[columns - len(more) :] = list(more)
    return ["".join(row).rstrip() for row in rows], first


def _write(rows: list[list[str]], most_rows: int, at: int, text: str, columns: int) -> bool:
    """The text on the first row with room for it and a blank on either side; False if there is
    none.
    """
    for row in rows:
        if not "".join(row[max(0, at - 1) : at + len(text) + 1]).strip():
            break
    else:
        if len(rows) == most_rows:
            return False
        row = [" "] * columns
        rows.append(row)
    row[at : at + len(text)] = list(text)
    return True
