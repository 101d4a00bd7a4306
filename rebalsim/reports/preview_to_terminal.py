"""A preview as text: the verdict, what differs, the longest pauses and why, figures, advice."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from operator import attrgetter

from rebalsim.reports.outcomes_told import OUTCOMES
from rebalsim.reports.previewed import Difference, Previewed, budget_told
from rebalsim.reports.terminal_page import glue

WIDTH = 80
ADVICE = "Change first (tried on a day with a crash and a restart)"
# a figure's field → the head of its column
_ONE_VERSION = {"metric": "", "deploy": "this restart", "crash_after": "a crash"}
_TWO_VERSIONS = {
    "metric": "",
    "deploy": "the deploy",
    "restart_before": "restart before",
    "restart_after": "restart after",
    "crash_before": "crash before",
    "crash_after": "crash after",
}


def render(told: Previewed, width: int = WIDTH) -> str:
    lines = [told.title, f"  {_compared(told)}", "", *_wrapped(told.verdict, width, "")]
    lines += _section("Kafka refuses", told.refused, width)
    lines += _section("What differs", map(difference_told, told.differences), width)
    lines += _section("How it is rolled", told.rollouts, width)
    lines += _section("What stands still longest, and why", told.worst, width)
    if told.figures:
        lines += ["", *table(told)]
        lines += _wrapped(told.caption, width, "")
    if told.checked:
        lines += ["", "Budgets"]
        for c in told.checked:
            came_to = f"  ({said})" if (said := budget_told(c)) else ""
            lines += _wrapped(f"{OUTCOMES[c.outcome].sign} {c.name}{came_to}", width, "  ")
            lines += _wrapped(f"→ {c.hint}", width, "    ") if c.hint else []
    lines += _section(ADVICE, told.advice, width)
    lines += _section("Would hurt", told.hurts, width)
    lines += _section("Notes", told.notes, width)
    lines += _section("Assumed, until you measure it", told.assumed, width)
    return "\n".join(lines).rstrip() + "\n"


def _compared(told: Previewed) -> str:
    return f"{told.old} → {told.new}" if told.old else f"{told.new}, as it stands"


def difference_told(d: Difference) -> str:
    where = f"  ({d.where})" if d.where else ""
    return f"{d.of}: {d.what} {d.before} → {d.after}{where}{'; ' + d.note if d.note else ''}"


def table(told: Previewed) -> list[str]:
    """The deploy beside the group's usual day, before and after it."""
    cells = [list(row) for row in columns(told)]
    widths = [max(len(row[n]) for row in cells) for n in range(len(cells[0]))]
    return [
        "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]


def columns(told: Previewed) -> list[tuple[str, ...]]:
    """The table's head and rows; without an old version there is nothing to lay beside."""
    shown = _TWO_VERSIONS if told.old else _ONE_VERSION
    return [tuple(shown.values()), *map(attrgetter(*shown), told.figures)]


def _section(title: str, texts: Iterable[str], width: int) -> Iterator[str]:
    found = list(texts)
    if found:
        yield from ("", title)
        for text in found:
            yield from _wrapped(text, width, "  ")


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    lines = textwrap.wrap(
        glue(text),
        width,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\u00a0", " ") for line in lines]
