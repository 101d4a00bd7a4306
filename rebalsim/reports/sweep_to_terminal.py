"""A sweep's answer on a terminal: what meets the budgets, cheapest first; what the next cheaper
one breaks; what moves the result.
"""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from rebalsim.domain.answer import Answer, Bar, PointSaid
from rebalsim.domain.verdict import Outcome
from rebalsim.outside.text import inert_line
from rebalsim.reports.sweep_words import (
    STILL_OPEN,
    cheaper_said,
    falls_behind,
    fullest_said,
    is_undecided,
    main_title,
    main_value,
    next_said,
    replay_command,
    say_busy,
    say_kafka_settings,
    say_metric,
    say_money,
    say_objective,
    say_point,
    say_settings,
    verdict_sentence,
)

ROWS = 10
_ASCII = str.maketrans(
    {
        "━": "=",
        "▏": "|",
        "▕": "|",
        "…": "~",
        "·": "-",
        "×": "x",
        "✓": "+",
        "✗": "x",
        "–": "-",
        "→": ">",
        "≤": "<",
        "≥": ">",
        "µ": "u",
    }
)


def render_answer(answer: Answer, console: Console, is_ascii: bool = False) -> None:
    """Print the answer, as wide as the console is."""
    width = console.width

    def say(text: Text | str = "", is_command: bool = False) -> None:
        line = text if isinstance(text, Text) else Text(text)
        if not line.plain.isprintable():  # somebody's names are in it, and not only letters
            line = Text(inert_line(line.plain))
        if is_ascii:
            line = Text(line.plain.translate(_ASCII), spans=line.spans)
        line.rstrip()
        # A command is to be copied: it is never broken into lines.
        console.print(
            line, overflow="fold", no_wrap=len(line) <= width, highlight=False, soft_wrap=is_command
        )

    _heading(answer, say)
    _meeting(answer, say, width)
    if answer.best:
        _first(answer, say)
    if answer.tornado:
        told = "its mean over all points with the value where that is lowest, and highest"
        say()
        say(Text(f"What moves {main_title(answer)}: {told}", style="bold"))
        for line in _tornado(answer, answer.tornado, width):
            say(line)


def _heading(answer: Answer, say: Any) -> None:
    say(Text(answer.title, style="bold"))
    each = " (each variant counts)" if len(answer.variants) > 1 else ""
    say(f"{answer.runs:,} runs over {answer.points:,} points{each} → {answer.out}", is_command=True)
    say()
    say(Text(verdict_sentence(answer), style="bold"))
    for error, count in answer.errors[:3]:
        say(Text(f"  {count:,} × {error}", style="dim"))
    if answer.cut:
        cut = f"  {answer.cut:,} points took longer than the plan's run_limit and were cut"
        say(Text(cut, style="yellow"))


def _meeting(answer: Answer, say: Any, width: int) -> None:
    """The points that meet all budgets, or what nothing else beats."""
    shown = answer.best or answer.front
    if not shown:
        return
    none = "Nothing meets all budgets. What nothing else beats"
    said = "Meeting all budgets" if answer.best else none
    say()
    say(Text(f"{said}, by {', then '.join(answer.objectives)}", style="bold"))
    for line in _table(answer, shown[:ROWS], width):
        say(line)
    if any(map(is_undecided, shown[:ROWS])):
        say(Text(f"  {STILL_OPEN}", style="dim"))
    more = max(len(shown), answer.passing if answer.best else 0) - ROWS
    if more > 0:
        say(Text(f"  and {more:,} more (see the table `points`)", style="dim"))


def _first(answer: Answer, say: Any) -> None:
    """The best point, what saving more would break, and how to see it again."""
    first = answer.best[0]
    say()
    say(Text("The first of them", style="bold"))
    say(f"  {say_kafka_settings(first)}")
    if first.fullest:
        say(f"  {fullest_said(first)}")
    _next_cheaper(answer, say)
    say()
    say("Play the first again:")
    say(f"  {replay_command(answer, first, answer.first_seed)}", is_command=True)


def _next_cheaper(answer: Answer, say: object) -> None:
    assert callable(say)
    point = answer.next_cheaper
    say()
    if point is None:
        say(f"Nothing that breaks a budget would be better in {answer.objectives[0]}.")
        return
    say(
        Text(
            f"{next_said(answer)} ({cheaper_said(answer, point)}) breaks",
            style="bold",
        )
    )
    say(f"  {say_settings(point)}")
    for budget in answer.next_cheaper_budgets:
        if budget.verdict == Outcome.INCONCLUSIVE:
            say(Text(f"  ? {budget.budget}: undecided at the horizon", style="yellow"))
        if budget.verdict != Outcome.FAIL:
            continue
        over = ""
        if budget.observed is not None and budget.limit is not None:
            over = (
                f": {say_metric(budget.metric, budget.observed)}, "
                f"{say_metric(budget.metric, abs(budget.observed - budget.limit))} beyond it"
            )
        seeds = (
            f"; {budget.pass_share * 100:.0f} % of the seeds are within" if point.seeds > 1 else ""
        )
        say(Text(f"  ✗ {budget.budget}{over}{seeds}", style="red"))
    if (point.fullest or 0) > 1:
        say(Text(f"  {falls_behind(point)}", style="red"))


Column = tuple[str, list[str], str]  # title, cells, and the side that they stand at


def _table(answer: Answer, points: tuple[PointSaid, ...], width: int) -> list[Text]:
    """Points as rows: what varies, then what it comes to. Columns that do not fit are left out
    from the least important on.
    """
    varying, aims = _of_axes(answer, points), _of_objectives(answer, points)
    columns = [*varying, *aims, *_of_others(answer, points)]
    columns = _fitted(columns, len(varying) + min(len(aims), 2), width)
    wide = [_wide(title, cells) for title, cells, _ in columns]

    def row(cells: list[str], style: str) -> Text:
        padded = (_pad(cell, room, side) for cell, room, (_, _, side) in zip(cells, wide, columns))
        return Text("  " + "  ".join(padded), style=style)

    titles = row([title for title, _, _ in columns], "dim")
    return [
        titles,
        *(
            row([cells[n] for _, cells, _ in columns], "green" if n == 0 else "")
            for n in range(len(points))
        ),
    ]


def _of_axes(answer: Answer, points: tuple[PointSaid, ...]) -> list[Column]:
    """Which point it is."""
    columns: list[Column] = [("point", [say_point(p) for p in points], "right")]
    if len(answer.scenarios) > 1:
        columns.append(("scenario", [p.scenario for p in points], "left"))
    for axis in answer.axes:
        if axis.is_sampled or len(axis.labels) > 1:
            columns.append((axis.name, [p.at[axis.name] for p in points], "right"))
    if len(answer.variants) > 1:
        columns.append(("variant", [p.variant for p in points], "left"))
    return columns


def _names(answer: Answer) -> list[str]:
    """The metrics of the objectives."""
    return [text.split()[-1].replace("-", "_") for text in answer.objectives]


def _of_objectives(answer: Answer, points: tuple[PointSaid, ...]) -> list[Column]:
    """What it comes to in what was to be made small."""
    columns: list[Column] = []
    names = _names(answer)
    for place, text in enumerate(answer.objectives):
        if names[place] not in [a.name for a in answer.axes]:
            title = "a month" if names[place] == "cost" else text
            cells = [say_objective(answer, place, p.objectives[place]) for p in points]
            columns.append((title, cells, "right"))
    return columns


def _of_others(answer: Answer, points: tuple[PointSaid, ...]) -> list[Column]:
    """What else it comes to, the most important first."""
    columns: list[Column] = []
    names = _names(answer)
    if "cost" not in names and answer.has_costs:
        columns.append(("a month", [say_money(answer, p.cost_per_hour) for p in points], "right"))
    if any(p.fullest for p in points):
        columns.append(("fullest", [say_busy(p.fullest) for p in points], "right"))
    for metric in ("rebalances", "lag_peak", "partition_seconds"):
        if metric not in names:
            cells = [say_metric(metric, p.metrics[metric][1]) for p in points]
            columns.append((metric, cells, "right"))
    return columns


def _fitted(columns: list[Column], keep: int, width: int) -> list[Column]:
    """The columns within so many signs: the last ones go, but for `keep`; then titles are cut."""
    columns = list(columns)
    while len(columns) > keep and _width(columns) > width:
        columns.pop()
    while _width(columns) > width and any(len(title) > 8 for title, _, _ in columns):
        place = max(range(len(columns)), key=lambda i: len(columns[i][0]))
        title, cells, side = columns[place]
        columns[place] = (title[: max(7, len(title) - 4)].rstrip("_…") + "…", cells, side)
    return columns


def _wide(title: str, cells: list[str]) -> int:
    return max(len(title), *(len(c) for c in cells))


def _width(columns: list[Column]) -> int:
    return 2 + sum(_wide(title, cells) + 2 for title, cells, _ in columns) - 2


def _pad(text: str, width: int, side: str) -> str:
    return text.rjust(width) if side == "right" else text.ljust(width)


def _tornado(answer: Answer, bars: tuple[Bar, ...], width: int) -> list[Text]:
    """A bar an axis on one common scale, the widest on top."""
    bars = bars[:8]
    least, most = min(b.low for b in bars), max(b.high for b in bars)
    span = (most - least) or 1.0
    main = answer.main_metric
    lows = [f"{b.low_value} {say_metric(main, b.low)}" for b in bars]
    highs = [f"{say_metric(main, b.high)} {b.high_value}" for b in bars]
    names, left = max(len(b.axis) for b in bars), max(map(len, lows))
    room = max(10, width - names - left - max(map(len, highs)) - 8)
    lines = []
    for bar, low, high in zip(bars, lows, highs, strict=True):
        start = round((bar.low - least) / span * (room - 1))
        end = max(start + 1, round((bar.high - least) / span * (room - 1)) + 1)
        line = Text(f"  {bar.axis.ljust(names)}  {low.rjust(left)} ")
        line.append(" " * start + "━" * (end - start) + " " * (room - end), style="cyan")
        line.append(f" {high}")
        lines.append(line)
    return lines


__all__ = ["main_value", "render_answer"]
