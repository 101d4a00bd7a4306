"""Round instants for a ruler, and marks laid beside each other without overlap."""

from __future__ import annotations

from collections.abc import Iterable

from rebalsim.domain.instants import HOUR, MINUTE, MS, SECOND
from rebalsim.reports.timeline import Window

_STEPS = (
    1, 2, 5, 10, 20, 50, 100, 200, 500, MS, 2 * MS, 5 * MS, 10 * MS, 20 * MS, 50 * MS, 100 * MS, 200 * MS, 500 * MS,
    SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 15 * SECOND, 30 * SECOND, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE,
    HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR, 48 * HOUR, 7 * 24 * HOUR, 14 * 24 * HOUR, 30 * 24 * HOUR,
)


def step_of(length_us: int, most: int) -> int:
    """The smallest round step that needs at most so many ticks."""
    return next((step for step in _STEPS if length_us // step <= most), _STEPS[-1])


def ticks(window: Window, room: int = 12) -> list[tuple[int, str]]:
    """(column, label) of round instants, a label every `room` columns at most."""
    step = step_of(window.length_us, max(1, window.columns // room))
    first = -(-window.from_us // step) * step
    return [(window.column(at), say_instant(at, step)) for at in range(first, window.until_us, step)]


def say_instant(at_us: int, precision_us: int = MS) -> str:
    """`41 s`, `1:05`, `1:05.250`, `2:00:00`: as exact as needed for steps of that precision."""
    if at_us < 0:
        return "−" + say_instant(-at_us, precision_us)
    digits = 0 if precision_us >= SECOND else 3 if precision_us >= MS else 6
    if at_us < MINUTE:
        return f"{at_us / SECOND:.{digits}f} s" if digits else f"{at_us // SECOND} s"
    whole, part = divmod(at_us, SECOND)
    tail = f".{part:06d}"[: digits + 1] if digits else ""
    if at_us < HOUR:
        return f"{whole // 60}:{whole % 60:02d}{tail}"
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}{tail}"


def place(labels: Iterable[tuple[int, str]], columns: int, most_rows: int = 3, flips: bool = False) -> list[str]:
    """Labels at their columns, on as many rows as they need (what does not fit at all is counted at the end of the last row).

    At the right edge a label is cut, or, with `flips`, written to the left of its first sign.
    """
    rows: list[list[str]] = []
    ends: list[int] = []
    dropped = 0
    for column, text in labels:
        if column + len(text) > columns:
            if flips and column + 1 >= len(text):
                column, text = column + 1 - len(text), text[1:] + text[0]
            else:
                text = text[: max(1, columns - column)]
        i = next((i for i, end in enumerate(ends) if column >= end), len(rows))
        if i == most_rows:
            dropped += 1
            continue
        if i == len(rows):
            rows.append([" "] * columns)
            ends.append(0)
        rows[i][column : column + len(text)] = list(text)
        ends[i] = column + len(text) + 1
    lines = ["".join(row).rstrip() for row in rows]
    if dropped and lines:
        more = f" +{dropped} more"
        lines[-1] = lines[-1][: columns - len(more)] + more
    return lines
