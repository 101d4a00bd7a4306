"""A sweep's answer for a pull request or a wiki: the verdict first, the table, what the next
cheaper one breaks, the sensitivity.
"""

from __future__ import annotations

from collections.abc import Iterable

from rebalsim.domain.answer import Answer, PointSaid
from rebalsim.domain.verdict import Outcome
from rebalsim.outside.text import inert_line
from rebalsim.reports.sweep_words import (
    STILL_OPEN,
    cheaper_said,
    falls_behind,
    is_undecided,
    main_title,
    next_said,
    replay_command,
    say_metric,
    say_objective,
    say_point,
    say_settings,
    verdict_sentence,
)

ROWS = 10


def cell(text: str) -> str:
    """Text that a Markdown table and an HTML-minded renderer leave alone."""
    text = inert_line(text)
    for sign in "\\`*_[]<>|&#":
        text = text.replace(sign, f"\\{sign}")
    return text


def render(answer: Answer) -> str:
    lines = [
        f"## {cell(answer.title)}",
        "",
        f"**{verdict_sentence(answer)}** ({answer.runs:,} runs)",
        "",
    ]
    lines += _points(answer)
    if answer.best and answer.next_cheaper:
        lines += _next_cheaper(answer, answer.next_cheaper)
    if answer.tornado:
        lines += ["", f"What moves {cell(main_title(answer))}:", ""]
        lines += [_row(("axis", "lowest at", "mean", "highest at", "mean")), "|" + " --- |" * 5]
        lines += [
            _row(
                (
                    b.axis,
                    b.low_value,
                    say_metric(answer.main_metric, b.low),
                    b.high_value,
                    say_metric(answer.main_metric, b.high),
                )
            )
            for b in answer.tornado
        ]
    if answer.best:
        again = replay_command(answer, answer.best[0], answer.first_seed)
        lines += ["", f"`{again}` plays the first one again."]
    return "\n".join(lines) + "\n"


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(map(cell, cells)) + " |"


def _points(answer: Answer) -> list[str]:
    """The points that meet all budgets, or that nothing else beats."""
    shown = answer.best or answer.front
    if not shown:
        return []
    varying = [a for a in answer.axes if a.is_sampled or len(a.labels) > 1]
    head = ["point", *(a.name for a in varying), "variant", *answer.objectives]
    lines = [_row(head), "|" + " --- |" * len(head)]
    for point in shown[:ROWS]:
        told = (say_objective(answer, i, v) for i, v in enumerate(point.objectives))
        at = (point.at[a.name] for a in varying)
        lines.append(_row((say_point(point), *at, point.variant, *told)))
    if any(map(is_undecided, shown[:ROWS])):
        lines += ["", f"{STILL_OPEN}."]
    if not answer.best:
        none = "Nothing meets all budgets; these are the points that nothing else beats."
        lines += ["", none]
    return lines


def _next_cheaper(answer: Answer, point: PointSaid) -> list[str]:
    settings, saved = cell(say_settings(point)), cell(cheaper_said(answer, point))
    lines = ["", f"{next_said(answer)} ({settings}; {saved}) breaks:", ""]
    lines += [
        f"- ? {cell(b.budget)}: undecided at the horizon"
        if b.verdict == Outcome.INCONCLUSIVE
        else f"- {cell(b.budget)}: {say_metric(b.metric, b.observed)}"
        for b in answer.next_cheaper_budgets
        if b.verdict in (Outcome.FAIL, Outcome.INCONCLUSIVE)
    ]
    return [*lines, f"- {falls_behind(point)}"] if (point.fullest or 0) > 1 else lines
