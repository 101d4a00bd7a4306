"""A check as Markdown: for a pull request, and for GitHub's job summary, where the table of
budgets comes first and the whole is bounded.
"""

from __future__ import annotations

from rebalsim.domain.budget import Level
from rebalsim.domain.verdict import Outcome
from rebalsim.reports.baseline_told import summary_of, tell_change, undecided_said
from rebalsim.reports.check_report import Checked, CheckReport
from rebalsim.reports.check_to_terminal import summary_text
from rebalsim.reports.outcomes_told import EMOJIS
from rebalsim.reports.to_markdown import code_cell, escape
from rebalsim.reports.verdict_told import say_against, say_headroom

MOST_BYTES = 1_000_000  # GitHub drops a job summary above 1 MiB


def render(report: CheckReport, most_bytes: int = MOST_BYTES) -> str:
    """The document; what is kept is left out first where it grows too long."""
    text = "\n".join(_lines(report, with_kept=True)) + "\n"
    if len(text.encode()) > most_bytes:
        text = "\n".join(_lines(report, with_kept=False)) + "\n"
    if len(text.encode()) > most_bytes:
        note = "\n\n… cut here: the whole is in the job's log.\n"
        text = (
            text.encode()[: most_bytes - len(note.encode())]
            .decode("utf-8", "ignore")
            .rsplit("\n", 1)[0]
            + note
        )
    return text


def _lines(report: CheckReport, with_kept: bool) -> list[str]:
    lines = [f"### {report.heading}", "", escape(summary_text(report)), ""]
    found = [c for c in report.checked if with_kept or c.outcome is not Outcome.PASS]
    if found:
        lines += [
            "| | scenario | variant | budget | observed | |",
            "|---|---|---|---|---|---|",
            *map(_row, found),
            "",
        ]
    for c in (c for c in found if c.outcome is not Outcome.PASS):
        hint = [f"  \n→ {escape(c.hint)}"] if c.hint else []
        why = escape(c.because or c.said)
        lines += [f"**{escape(c.place)}** {code_cell(c.name)}: {why}", *hint, ""]
    for story in report.stories:
        lines += [
            f"- ❌ {escape(f'{p.file}:{p.line}')}: {escape(p.message)}"
            for p in story.problems
            if not p.is_warning
        ]
        lines += [f"- 💥 {escape(story.file)}: {escape(story.bug)}"] if story.bug else []
    lines += [f"- ❌ {escape(problem)}" for problem in report.problems]
    return [*lines, *_flips(report), *_comparison(report)]


def _row(c: Checked) -> str:
    sign = "⚠️" if c.outcome is not Outcome.PASS and c.level == Level.WARN else EMOJIS[c.outcome]
    observed = escape(say_against(c)) + (
        f"<br>{escape(c.spread)}" if c.spread.startswith("by chance") else ""
    )
    return (
        f"| {sign} | {escape(c.place)} | {escape(c.variant)} | {code_cell(c.name)} | {observed} "
        f"| {escape(say_headroom(c))} |"
    )


def _flips(report: CheckReport) -> list[str]:
    if report.flips is None:
        return []
    lines = ["", f"#### What if {' '.join(code_cell(o) for o in report.overrides)}", ""]
    if not report.flips:
        return [*lines, "Nothing changes.", ""]
    lines += ["| variant | | before | after | |", "|---|---|---|---|---|"]
    for f in report.flips:
        flip = " → ".join(EMOJIS[outcome] for outcome in f.outcomes)
        lines.append(
            f"| {escape(f.variant)} | {code_cell(f.name)} | {escape(f.before)} | "
            f"{escape(f.after)} | {flip} |"
        )
    return [*lines, ""]


def _comparison(report: CheckReport) -> list[str]:
    comparison = report.comparison
    if comparison is None:
        return []
    lines = ["", f"#### Against {escape(comparison.file)}: {summary_of(comparison)}", ""]
    if comparison.changes:
        lines += [
            "| scenario | variant | metric | before | after | | by phase |",
            "|---|---|---|---|---|---|---|",
        ]
    for change in comparison.changes:
        told = tell_change(change, comparison)
        sign = "🔺 " if told.kind == "regressed" else "✅ " if told.kind == "improved" else ""
        lines.append(
            f"| {escape(change.file)} | {escape(change.variant)} | {escape(told.title)} | "
            f"{escape(told.before)} | {escape(told.after)} | "
            f"{sign}{escape(told.said)} | {escape(told.phases)} |"
        )
    reasons = dict.fromkeys(
        f"- {escape(file)} ({escape(variant)}): {escape(why)}"
        for (file, variant), why in comparison.reasons.items()
        if why
    )
    return [
        *lines,
        "",
        *reasons,
        *(f"- ? {escape(said)}" for said in undecided_said(comparison)),
        *(["- " + escape(file) + ": in the baseline, and not checked" for file in comparison.gone]),
    ]
