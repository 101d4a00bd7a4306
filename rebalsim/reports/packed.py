"""Rows of whole numbers as a short text: each number as its difference from the one above it, in
digits of base 44 that need no separator.

A page's data are tens of thousands of such numbers, and as JSON they would be most of it.
page/1-words.js reads them back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

BASE = 44
# the first half ends a number, the second half goes on with it
DIGITS = "".join(c for c in map(chr, range(33, 127)) if c not in "\"'\\<>&")


def pack(rows: Iterable[Sequence[int]]) -> str:
    """Each row: how many numbers, then each less the one above it (nought where there is none)."""
    found: list[str] = []
    above: Sequence[int] = ()
    for row in rows:
        found.append(_written(len(row)))
        for place, number in enumerate(row):
            step = number - (above[place] if place < len(above) else 0)
            found.append(_written(2 * step if step >= 0 else -2 * step - 1))
        above = row
    return "".join(found)


def _written(number: int) -> str:
    number, digit = divmod(number, BASE)
    text = DIGITS[digit]
    while number:
        number, digit = divmod(number, BASE)
        text = DIGITS[BASE + digit] + text
    return text
