"""A check for the terminal: a line a budget, beneath a broken one the pause that spent it and where
the budget stands; then a summary.

Errors in the files are counted here and told on stderr, which the command does.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rebalsim.domain.budget import Level
from rebalsim.domain.errors import Problem
from rebalsim.domain.verdict import Ending, Outcome
from rebalsim.reports.check_report import Checked, CheckReport, Comparison, StoryChecked
from rebalsim.reports.ink import Line, table
from rebalsim.reports.names import ascii_of, clip, safe
from rebalsim.reports.outcomes_told import OUTCOMES, STYLED_SIGNS
from rebalsim.reports.verdict_told import say_against, say_headroom, say_runs
from rebalsim.reports.view import View
from rebalsim.words.lists import plural


def render(report: CheckReport, view: View = View()) -> str:  # noqa: B008 (frozen)
    """The whole text."""
    page = _Page(view)
    for story in report.stories:
        _story(page, story)
    _flips(page, report)
    _comparison(page, report)
    page.line(_summary(page, report))
    return "".join(page.lines)


class _Page:
    def __init__(self, view: View) -> None:
        self.view = view
        self.lines: list[str] = []

    def plain(self, text: str) -> str:
        return ascii_of(safe(text)) if self.view.is_ascii else safe(text)

    def line(self, line: Line) -> None:
        self.lines.append(line.written(self.view.is_coloured) + "\n")

    def wrapped(self, text: str, indent: int, style: str = "") -> None:
        for part in textwrap.wrap(
            self.plain(text),
            max(40, self.view.width),
            initial_indent=" " * indent,
            subsequent_indent=" " * (indent + 2),
            break_on_hyphens=False,
            break_long_words=False,
        ):
            self.line(Line(part, style))


def _problems(page: _Page, problems: Sequence[Problem]) -> None:
    """The warnings whole; how many errors there are, for these have been told."""
    for problem in (p for p in problems if p.is_warning):
        for part in str(problem).split("\n"):
            page.line(Line(f"  {page.plain(part)}"))
    if errors := sum(not p.is_warning for p in problems):
        told = f" {plural(errors, 'error')}, told on stderr"
        page.line(Line("  ").add(page.plain("✗"), "red").add(told, "red"))


def _story(page: _Page, story: StoryChecked) -> None:
    has_news = story.checked or story.problems or story.notes
    if story.has_budgets and story.ending is Ending.PASS and not has_news:
        return  # --only meant others
    title = f"  {page.plain(story.title)}" if story.title else ""
    page.line(Line(page.plain(story.file), "bold").add(title, "dim"))
    _problems(page, story.problems)
    if story.bug:
        page.wrapped(f"rebalsim contradicts itself here: {story.bug}", 2, "bold red")
    has_variants = len({c.variant for c in story.checked}) > 1
    said: dict[str, Checked] = {}
    for line, c in zip(table([_row(page, c, has_variants) for c in story.checked]), story.checked):
        page.line(line)
        _reason(page, c, said)
    for note in story.notes:
        page.wrapped(f"note: {note.removeprefix(story.file + ': ')}", 2, "dim")
    page.line(Line())


def _row(page: _Page, c: Checked, has_variants: bool) -> list[Line]:
    sign, style = (
        ("!", "yellow")
        if c.outcome is Outcome.FAIL and c.level == Level.WARN
        else STYLED_SIGNS[c.outcome]
    )
    width = max(20, page.view.width - 30)
    first = (
        Line("  ")
        .add(page.plain(sign), style)
        .add(f" {page.plain(c.variant)}" if has_variants else "")
    )
    observed = page.plain(say_against(c)) if c.metric else ""
    return [
        first,
        Line(clip(page.plain(c.name), width, page.view.is_ascii)),
        Line(observed, style if c.outcome is not Outcome.PASS else ""),
        Line(page.plain(say_headroom(c)), "dim"),
    ]


def _reason(page: _Page, c: Checked, said: dict[str, Checked]) -> None:
    """What spent it, and where the budget stands; a reason that was given for another budget is
    not given twice.
    """
    if c.spread.startswith("by chance"):
        page.wrapped(f"{c.spread}.", 6, "dim")
    if c.outcome is Outcome.PASS:
        return
    if not c.metric:
        page.wrapped(f"{c.said}.", 6)
    if c.because:
        first = said.setdefault(c.because, c)
        page.wrapped(
            c.because
            if first is c
            else "For the same reason as line "
            f"{first.line}{f' ({first.variant})' if first.variant != c.variant else ''}.",
            6,
        )
        c = c if first is c else replace(c, hint="")
    if c.hint:
        page.wrapped(f"→ {c.hint}", 6, "dim")
    if runs := say_runs(c):
        page.wrapped(runs, 6, "dim")
    page.wrapped(f"at {c.place} · again: {c.again}", 6, "dim")


# --------------------------------------------------------------------------- what if, and baselines


def _flips(page: _Page, report: CheckReport) -> None:
    if report.flips is None:
        return
    page.line(Line(page.plain(f"What if {' '.join(report.overrides)}"), "bold"))
    if not report.flips:
        page.line(Line("  nothing changes"))
    rows = []
    for f in report.flips:
        style = OUTCOMES[f.outcomes[-1]].style if f.is_flipped else ""
        said = f" {_arrow(page)} ".join(OUTCOMES[outcome].word for outcome in f.outcomes)
        where = f"{f.file}:{f.line}" if f.line else f.file
        row = [
            Line(f"  ~ {page.plain(f.variant)}"),
            Line(page.plain(f.name)),
            Line(page.plain(f"{f.before} → {f.after}")),
            Line(page.plain(said), style),
        ]
        rows.append([*row, Line(page.plain(where), "dim")] if f.is_flipped else row)
    for line in table(rows):
        page.line(line)
    flipped = sum(f.is_flipped for f in report.flips)
    count = plural(flipped, "budget") if flipped else "No budget"
    page.line(Line(f"  {count} would flip.", "bold"))
    page.line(Line())


def _arrow(page: _Page) -> str:
    return "->" if page.view.is_ascii else "→"


def _comparison(page: _Page, report: CheckReport) -> None:
    comparison = report.comparison
    if comparison is None:
        return
    # few checks have one, and each pays for what it imports
    from rebalsim.reports.baseline_told import summary_of, undecided_said

    head = Line(page.plain(f"Against {comparison.file}: {summary_of(comparison)}"), "bold")
    page.line(head.add(page.plain(f"  (rebalsim {comparison.rebalsim})"), "dim"))
    for file, variant in dict.fromkeys((c.file, c.variant) for c in comparison.changes):
        why = comparison.reasons.get((file, variant), "")
        because = page.plain(f"  because {why}") if why else ""
        page.line(Line("  ").add(page.plain(f"{file} · {variant}")).add(because, "dim"))
        mine = (c for c in comparison.changes if (c.file, c.variant) == (file, variant))
        for line in table([_change(page, change, comparison) for change in mine]):
            page.line(line)
    for said in undecided_said(comparison):
        page.line(Line(page.plain(f"  ? {said}"), "yellow"))
    for file in comparison.gone:
        page.line(Line(page.plain(f"  - {file}: in the baseline, and not checked"), "dim"))
    page.line(Line())


def _change(page: _Page, change: Any, comparison: Comparison) -> list[Line]:
    from rebalsim.reports.baseline_told import tell_change

    told = tell_change(change, comparison)
    worse = "bold red" if told.is_too_much else "red"
    style = {"improved": "green", "regressed": worse}.get(told.kind, "dim")
    between = " → ".join(each for each in (told.before, told.after) if each)
    too_much = f"  more than {100 * (comparison.max_regression or 0):g} %"
    said = told.said + (too_much if told.is_too_much else "")
    return [
        Line(f"    {told.sign} {page.plain(told.title)}"),
        Line(page.plain(between)),
        Line(page.plain(said), style),
        Line(page.plain(told.phases), "dim"),
    ]


# ------------------------------------------------------------------------------------------ the end


def summary_text(report: CheckReport) -> str:
    """`3 scenarios: 10 budgets kept, 1 broken, 1 undecided.`"""
    found = report.checked
    counts = [
        (sum(c.outcome is Outcome.PASS for c in found), "kept"),
        (sum(c.is_broken for c in found), "broken"),
        (sum(c.is_open for c in found), "undecided"),
        (
            sum(c.level == Level.WARN and c.outcome is not Outcome.PASS for c in found),
            "only warned of",
        ),
        (sum(s.ending is Ending.INVALID for s in report.stories), "invalid"),
        (sum(s.ending is Ending.BUG for s in report.stories), "not judged because of a bug"),
    ]
    told = []
    for count, word in counts:
        if count:
            unit = "file" if word in ("invalid", "not judged because of a bug") else "budget"
            told.append(f"{plural(count, unit)} {word}")
    if (compared := report.comparison) is not None:
        worse = sum(map(compared.is_too_much, compared.changes))
        told += [f"{plural(worse, 'metric')} worse than the baseline allows"] if worse else []
        still_open = sum(map(len, compared.undecided.values()))
        told += [f"{plural(still_open, 'metric')} undecided"] if still_open else []
    return (
        f"{plural(len(report.stories), 'scenario')}: "
        f"{', '.join(told) if told else 'nothing to judge'}."
    )


def _summary(page: _Page, report: CheckReport) -> Line:
    style = {Ending.PASS: "green", Ending.INCONCLUSIVE: "yellow"}.get(report.ending, "bold red")
    rest = ["stopped at the first that failed (--fail-fast)"] if report.is_cut_short else []
    rest += [f"{plural(len(report.skipped), 'plan')} passed over"] if report.skipped else []
    rest += [f"{report.seconds:.1f} s"] if report.seconds else []
    return Line(page.plain(summary_text(report)), style).add(
        page.plain(f"  {' · '.join(rest)}") if rest else "", "dim"
    )
