"""A sweep's heat map as a picture that needs no script: for a README, a wiki or a pull request. A
panel a variant over the plan's two axes, the other axes as the best point has them.

The page draws the same map with a script, one variant at a time and at any axes; the colours
here are those of its light dress.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rebalsim.domain.answer import Answer, AxisSaid, PointSaid
from rebalsim.domain.metrics import METRICS
from rebalsim.domain.verdict import Outcome
from rebalsim.reports.page_tables import text as text_of
from rebalsim.reports.sweep_words import is_undecided, main_title, main_value, say_metric

_INK, _DIM, _PAPER, _LINE, _NONE = "#1b1f24", "#5b6570", "#ffffff", "#d5dae0", "#e7e9ec"
_GOOD, _UNSURE, _BAD = "#1a7f4b", "#8a6100", "#b3261e"
_RAMP = ("#e8f1fb", "#8fb8e8", "#2f6fbd", "#123a6d")
_WORDS = {
    "pass": _GOOD,
    "fail": _BAD,
    "?": _UNSURE,
    "at once": _GOOD,
    "slowly": _UNSURE,
    "never": _BAD,
}
_CHAR, _ROW, _MARGIN, _WIDEST = 6.6, 26, 16, 1000
_WHAT_SETTLES_IT = (
    "at once: left alone within 30 s of its first disturbance; slowly: later; never: disturbed "
    "again in the last quarter of the story"
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One field of the map: what it says, how strong it is between 0 and 1 (words: none), and
    whether it meets all budgets.
    """

    point: PointSaid
    text: str
    strength: float | None
    meets: bool


def render(answer: Answer) -> str:
    """The picture."""
    listed = [a for a in answer.axes if not a.is_sampled and len(a.labels) > 1]
    named = [a for name in answer.heat for a in listed if a.name == name] or listed[:2]
    if not named:
        return _document(
            520,
            40,
            [_text(_MARGIN, 25, "A heat map needs an axis with listed values.", _DIM)],
            answer.title,
        )
    across, down = named[0], named[1] if len(named) > 1 else None
    anchor = next(iter((*answer.best, *answer.front, *answer.shown)), None)
    others = [a for a in listed if a is not across and a is not down]
    cells = _cells(answer, anchor, across, down, others)
    most = max((len(c.text) for c in cells.values()), default=4)
    wide = max(44, math.ceil(max(most, *(len(label) for label in across.labels)) * _CHAR) + 12)
    rows = down.labels if down else ("",)
    left = max(10, math.ceil(max(len(label) for label in rows) * _CHAR) + 8)
    panel_w, panel_h = left + wide * len(across.labels) + 12, 24 + _ROW * len(rows) + 40
    a_row = max(1, min(len(answer.variants), (_WIDEST - 2 * _MARGIN) // panel_w))
    legend = _legend(answer, anchor, others, list(cells.values()))
    longest = max(
        len(answer.title) * _CHAR * 1.25, max((len(line) for line in legend), default=0) * _CHAR
    )
    width = max(2 * _MARGIN + a_row * panel_w, math.ceil(longest) + 2 * _MARGIN)
    parts = [_text(_MARGIN, 26, answer.title, weight="600", size=14)]
    top = 40
    for place, variant in enumerate(answer.variants):
        x, y = _MARGIN + place % a_row * panel_w, top + place // a_row * panel_h
        parts += _panel(
            answer,
            {k[1:]: c for k, c in cells.items() if k[0] == variant},
            variant,
            across,
            down,
            x,
            y,
            left,
            wide,
        )
    bottom = top + math.ceil(len(answer.variants) / a_row) * panel_h
    parts += [_text(_MARGIN, bottom + 12 + 17 * i, line, _DIM) for i, line in enumerate(legend)]
    return _document(width, bottom + 12 + 17 * len(legend), parts, answer.title)


def _cells(
    answer: Answer,
    anchor: PointSaid | None,
    across: AxisSaid,
    down: AxisSaid | None,
    others: list[AxisSaid],
) -> dict[tuple[str, int, int], Cell]:
    """(variant, place across, place down) → cell, of the points that have the other axes as the
    anchor has them.
    """
    chosen = [
        p
        for p in answer.shown
        if anchor is not None
        and p.scenario == anchor.scenario
        and all(p.digits[a.name] == anchor.digits[a.name] for a in others)
    ]
    values = {id(p): _value(answer, p) for p in chosen}
    shade = _shades([v for v in values.values() if v is not None])
    return {
        (p.variant, p.digits[across.name], p.digits[down.name] if down else 0): _cell(
            answer, p, values[id(p)], shade
        )
        for p in chosen
    }


def _shades(known: list[float]) -> Callable[[float], float]:
    """How far a value lies from the least of these to the most: by its logarithm, where they are
    far apart.
    """
    low, high = min(known, default=0.0), max(known, default=0.0)
    is_log = low > 0 and high / low > 30
    span = math.log(high / low) if is_log else high - low

    def shade(value: float) -> float:
        return (math.log(value / low) if is_log else value - low) / span if span else 0.3

    return shade


def _cell(
    answer: Answer, point: PointSaid, value: float | None, shade: Callable[[float], float]
) -> Cell:
    meets = point.verdict == Outcome.PASS
    if point.verdict == "error":
        return Cell(point, "×", None, meets)
    mark = "? " if is_undecided(point) else ""
    if answer.show == "verdict":
        return Cell(point, mark.strip() or point.verdict, None, meets)
    if answer.show == "settles":
        return Cell(point, point.settles, None, meets)
    if value is None:
        return Cell(point, "", None, meets)
    return Cell(point, f"{mark}{say_metric(_metric(answer), value)}", shade(value), meets)


def _metric(answer: Answer) -> str:
    return answer.show if answer.show in METRICS else answer.main_metric


def _value(answer: Answer, point: PointSaid) -> float | None:
    name = _metric(answer)
    return (
        main_value(answer, point)
        if name == answer.main_metric
        else point.metrics.get(name, (None, None, None))[2]
    )


def _field(
    cell: Cell | None, variant: str, where: str, at: tuple[int, int], wide: int
) -> Iterator[str]:
    """One point's: its colour, what it says when it is pointed at, and its text."""
    x, y = at
    said = f"{where}: not played"
    if cell:
        point = f"point {cell.point.number}-{variant}"
        said = f"{where}: {cell.point.error or cell.text} ({cell.point.verdict}, {point})"
    yield (
        f'<rect x="{x}" y="{y}" width="{wide}" height="{_ROW}" fill="{_color(cell)}" '
        f'stroke="{_PAPER}"><title>{text_of(said)}</title></rect>'
    )
    if cell and cell.text:
        is_light = (cell.strength is not None and cell.strength <= 0.5) or cell.text == "×"
        yield _text(x + wide / 2, y + 17, cell.text, _INK if is_light else _PAPER, "middle")


def _panel(
    answer: Answer,
    cells: dict[tuple[int, int], Cell],
    variant: str,
    across: AxisSaid,
    down: AxisSaid | None,
    x: int,
    y: int,
    left: int,
    wide: int,
) -> list[str]:
    """One variant: its name, the fields with the budget line, and the axes' labels."""
    rows = down.labels if down else ("",)
    top = y + 24
    parts = [_text(x, y + 14, variant, weight="600")] if len(answer.variants) > 1 else []
    for j, label in enumerate(rows):
        parts.append(_text(x + left - 6, top + _ROW * j + 17, label, anchor="end"))
        for i, over in enumerate(across.labels):
            where = f"{across.name} {over}" + (f", {down.name} {label}" if down else "")
            at = x + left + wide * i, top + _ROW * j
            parts += _field(cells.get((i, j)), variant, where, at, wide)
    parts += [
        _text(x + left + wide * i + wide / 2, top + _ROW * len(rows) + 15, label, anchor="middle")
        for i, label in enumerate(across.labels)
    ]
    axes = f"{across.name}" + (f" · down: {down.name}" if down else "")
    parts.append(
        _text(
            x + left + wide * len(across.labels) / 2,
            top + _ROW * len(rows) + 31,
            axes,
            _DIM,
            "middle",
        )
    )
    if answer.budgets:
        parts += _budget_line(cells, len(across.labels), len(rows), x + left, top, wide)
    return parts


def _budget_line(
    cells: dict[tuple[int, int], Cell], columns: int, rows: int, x: int, y: int, wide: int
) -> list[str]:
    """Along every edge between a point that meets all budgets and one that does not."""
    found = []
    for j in range(rows):
        for i in range(columns):
            for di, dj in ((1, 0), (0, 1)):
                here, there = cells.get((i, j)), cells.get((i + di, j + dj))
                if here is None or there is None or here.meets == there.meets:
                    continue
                x1, y1 = x + wide * (i + di), y + _ROW * (j + dj)
                x2, y2 = (x1, y1 + _ROW) if di else (x1 + wide, y1)
                found.append(
                    f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{_BAD}" '
                    'stroke-width="3" stroke-linecap="square"/>'
                )
    return found


def _legend(
    answer: Answer, anchor: PointSaid | None, others: list[AxisSaid], cells: list[Cell]
) -> list[str]:
    """What is drawn, in lines."""
    fixed = ", ".join(f"{a.name} {anchor.at[a.name]}" for a in others) if anchor else ""
    if answer.show == "settles":
        said = [_WHAT_SETTLES_IT]
    elif answer.show == "verdict":
        said = []
    else:
        name = _metric(answer)
        said = [
            main_title(answer).replace("_", " ")
            if name == answer.main_metric
            else f"{name.replace('_', ' ')} (worst seed)"
        ]
    if fixed:
        said.append(f"with {fixed}")
    lines = ["; ".join(said)] if said else []
    if answer.budgets:
        meets = {cell.meets for cell in cells}
        lines.append(
            "the red line parts what meets all budgets from what does not"
            if len(meets) > 1
            else "all of these meet all budgets"
            if True in meets
            else "none of these meets all budgets"
        )
    return lines


def _color(cell: Cell | None) -> str:
    if cell is None:
        return _NONE
    if cell.strength is None:
        return _WORDS.get(cell.text, _NONE)
    at = min(2.999, max(0.0, cell.strength * 3))
    place = int(at)
    a, b = ([int(color[i : i + 2], 16) for i in (1, 3, 5)] for color in _RAMP[place : place + 2])
    return "#" + "".join(
        f"{round(p + (q - p) * (at - place)):02x}" for p, q in zip(a, b, strict=True)
    )


def _text(
    x: float,
    y: float,
    text: str,
    color: str = _INK,
    anchor: str = "start",
    weight: str = "400",
    size: int = 12,
) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" fill="{color}" text-anchor="{anchor}" font-weight="{weight}" '
        f'font-size="{size}">{text_of(text)}</text>'
    )


def _document(width: int, height: int, parts: list[str], title: str) -> str:
    lines = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" '
        'font-family="system-ui,-apple-system,Segoe '
        f'UI,Roboto,sans-serif">\n<title>{text_of(title)}</title>\n'
        f'<rect width="{width}" height="{height}" rx="6" fill="{_PAPER}" '
        f'stroke="{_LINE}"/>\n{lines}\n</svg>\n'
    )
