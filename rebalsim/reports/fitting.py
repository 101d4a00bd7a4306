"""Sentences that come in several lengths, and the fullest choice of them that fits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from rebalsim.reports.names import ascii_of
from rebalsim.reports.terminal_page import wrapped_lines

Forms = Sequence[str]  # of one sentence, from the fullest to the shortest; empty: left out


def fitting(parts: Sequence[Forms], width: int, most: int) -> list[str]:
    """One form of each part, so that all together take no more than so many lines of that width:
    nothing is left out that could be said shorter, and later parts are shortened and left out first. What is
    too long at its shortest is cut.
    """
    choices = product(*(range(len(forms)) for forms in parts))
    ranked = sorted(choices, key=lambda places: _loss(parts, places))
    for places in ranked:
        lines = [forms[place] for forms, place in zip(parts, places) if forms[place]]
        if height(lines, width) <= most:
            return lines
    return [_cut(next((f for f in forms[::-1] if f), ""), width * most // 2) for forms in parts[:1]]


def height(lines: Sequence[str], width: int) -> int:
    """How many lines they take, each beginning a new one, in Unicode or in ASCII."""
    return max(
        sum(len(wrapped_lines(plain(line), width, 0, 2)) for line in lines)
        for plain in (str, ascii_of)
    )


def _loss(
    parts: Sequence[Forms], places: tuple[int, ...]
) -> tuple[int, tuple[bool, ...], int, tuple[int, ...]]:
    left_out = tuple(not forms[place] for forms, place in zip(parts, places))
    return sum(left_out), left_out, sum(places), places


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
