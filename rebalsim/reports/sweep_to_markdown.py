"""A sweep's answer for a pull request or a wiki: the verdict first, the table, what the next
cheaper one breaks, the sensitivity.
"""

from __future__ import annotations

from rebalsim.domain.answer import Answer
from rebalsim.outside.text import inert_line
from rebalsim.reports.sweep_words import (
    cheaper_said,
    falls_behind,
    main_title,
    replay_command,
    say_metric,
    say_objective,
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
    shown = answer.best or answer.front
    if shown:
        varying = [a for a in answer.axes if a.is_sampled or len(a.labels) > 1]
        head = ["point", *(a.name for a in varying), "variant", *answer.objectives]
        lines += ["| " + " | ".join(cell(h) for h in head) + " |", "|" + " --- |" * len(head)]
        for point in shown[:ROWS]:
            row = [
                str(point.number),
                *(point.at[a.name] for a in varying),
                point.variant,
                *(say_objective(answer, i, v) for i, v in enumerate(point.objectives)),
            ]
            lines.append("| " + " | ".join(cell(c) for c in row) + " |")
        if not answer.best:
            lines += [
                "",
                "Nothing meets all budgets; these are the points that nothing else beats.",
            ]
    if answer.best and answer.next_cheaper:
        lines += [
            "",
            f"The next cheaper one ({cell(say_settings(answer.next_cheaper))}; "
            f"{cell(cheaper_said(answer, answer.next_cheaper))}) breaks:",
            "",
        ]
        lines += [
            f"- {cell(b.budget)}: {say_metric(b.metric, b.observed)}"
            for b in answer.next_cheaper_budgets
            if b.verdict == "fail"
        ]
        lines += (
            [f"- {falls_behind(answer.next_cheaper)}"]
            if (answer.next_cheaper.fullest or 0) > 1
            else []
        )
    if answer.tornado:
        lines += [
            "",
            f"What moves {cell(main_title(answer))}:",
            "",
            "| axis | lowest at | mean | highest at | mean |",
            "| --- | --- | --- | --- | --- |",
        ]
        lines += [
            "| "
            + " | ".join(
                cell(c)
                for c in (
                    b.axis,
                    b.low_value,
                    say_metric(answer.main_metric, b.low),
                    b.high_value,
                    say_metric(answer.main_metric, b.high),
                )
            )
            + " |"
            for b in answer.tornado
        ]
    if answer.best:
        lines += [
            "",
            f"`{replay_command(answer, answer.best[0], answer.first_seed)}` plays the first one "
            "again.",
        ]
    return "\n".join(lines) + "\n"
