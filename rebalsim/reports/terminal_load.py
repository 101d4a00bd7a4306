"""Members and lag as two rows above the partitions, where an autoscaler follows the one with the other."""

from __future__ import annotations

from rebalsim.analysis.analysis import Analysis
from rebalsim.analysis.running import at, running
from rebalsim.reports import figures
from rebalsim.reports.timeline import Window

BLOCKS = "▁▂▃▄▅▆▇█"
PLAIN = ".:-=+*#%"  # the same in ASCII
_MANY = "+"  # more members than a digit or a letter can say


def load_rows(a: Analysis, window: Window, is_ascii: bool) -> list[tuple[str, str, str]]:
    """Label, bar and remark of each; none where nothing scales."""
    steps = running(a)
    if not steps:
        return []
    ends = [window.start_us(column + 1) - 1 for column in range(window.columns)]
    counts = [at(steps, end) for end in ends]
    lags = _lags(a, ends)
    least, most = min(counts), max(counts)
    found = [("members", _changes(counts), f"{least} to {most} at once")]
    if lags:
        bar = "".join(_block(lag, max(lags), is_ascii) for lag in lags)
        peak = a.measure("lag_peak")
        found.append(("lag", bar, f"{figures.say('lag_peak', peak)} at its peak" if peak else ""))
    return found


def _changes(counts: list[int]) -> str:
    """The number where it changes, a line where it stays."""
    return "".join(
        "─" if place and count == counts[place - 1] else _sign(count)
        for place, count in enumerate(counts)
    )


def _sign(count: int) -> str:
    """0 … 9, then a … z for 10 … 35."""
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    return digits[count] if count < len(digits) else _MANY


def _block(lag: float, most: float, is_ascii: bool) -> str:
    blocks = PLAIN if is_ascii else BLOCKS
    return blocks[min(len(blocks) - 1, int(lag / most * len(blocks)))] if most else blocks[0]


def _lags(a: Analysis, ends: list[int]) -> list[float]:
    """The highest lag of all partitions within each column."""
    corners = a.lag_book.total(list(a.lag_book.corners))
    found: list[float] = []
    place, last = 0, 0.0
    for end in ends if corners else []:
        most = last
        while place < len(corners) and corners[place][0] <= end:
            last = corners[place][1]
            most = max(most, last)
            place += 1
        found.append(most)
    return found
