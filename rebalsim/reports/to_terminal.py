"""A report for the terminal: the picture first, then the sentences, then the variants beside
each other. Value → text, of a given width.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rebalsim.analysis.values import Lane, Mark
from rebalsim.domain.budget import Level
from rebalsim.domain.mark_kind import MarkKind
from rebalsim.domain.verdict import Outcome
from rebalsim.reports.alarms_told import alarms_of, uncapital
from rebalsim.reports.answer_choice import order_said
from rebalsim.reports.answer_told import tell_answer_first, tell_decisive
from rebalsim.reports.comparison import LEAST, LOSSES, lines_of, observed_of, tell_seeds
from rebalsim.reports.comparison import Line as Figures
from rebalsim.reports.ink import Line, table
from rebalsim.reports.names import clip, safe
from rebalsim.reports.outcomes_told import STYLED_SIGNS
from rebalsim.reports.questions import Answered, tell_answer
from rebalsim.reports.remedies_told import arrows, arrows_against
from rebalsim.reports.report import Report, VariantReport, notes_of
from rebalsim.reports.sentences import (
    Together,
    recurring,
    tell_none,
    tell_recurring,
    together,
    worth_telling,
)
from rebalsim.reports.terminal_bars import Canvas
from rebalsim.reports.terminal_changes import tell_changes
from rebalsim.reports.terminal_page import Page
from rebalsim.reports.view import View
from rebalsim.words.lists import joined, listed, plural
from rebalsim.words.times import say_duration, say_instant


def render(report: Report, view: View = View()) -> str:  # noqa: B008 (frozen)
    """The whole report."""
    page = Page(view)
    _head(page, report)
    _answer_first(page, report)
    _pictures(page, report)
    _alarms(page, report)
    if report.is_comparison:
        tell_changes(page, report)
        _sentences(page, report)
    else:
        _sentences(page, report)
        _beside(page, report)
    _budgets(page, report)
    _questions(page, report)
    _foot(page, report)
    return page.text()


def picture_of(report: Report, view: View) -> str:
    """The timelines alone."""
    page = Page(view)
    _pictures(page, report)
    return page.text()


# ----------------------------------------------------------------------------------------- the head


def _head(page: Page, report: Report) -> None:
    facts = [f"Kafka {safe(report.kafka)}"] if report.kafka else []
    if report.seed is not None:
        facts.append(f"seed {report.seed}")
    facts.append(f"{say_duration(report.horizon_us)} played")
    title, told = page.plain(safe(report.title) or "rebalsim"), page.plain(" · ".join(facts))
    if len(title) + 2 + len(told) <= page.view.width:
        page.line(Line(title, "bold").pad_to(page.view.width - len(told)).add(told, "dim"))
    else:
        page.wrapped(title, 0, "bold")
        page.line(told, "dim")


def _answer_first(page: Page, report: Report) -> None:
    for i, line in enumerate(tell_answer_first(report)):
        if i == 0:
            page.line()
        page.wrapped(line, 0, "bold" if i == 0 else "", 2)


def _pictures(page: Page, report: Report) -> None:
    view = page.view
    lanes = {
        v.name: [lane for lane in v.analysis.lanes if view.shows(lane)] for v in report.variants
    }
    canvas = Canvas(view, [lane for found in lanes.values() for lane in found], report.horizon_us)
    scripts = [
        [(m.at_us, m.text) for m in v.analysis.marks if m.kind is not MarkKind.REBALANCE]
        for v in report.variants
    ]
    is_shared = all(script == scripts[0] for script in scripts)
    page.line()
    told = list(canvas.ruler())
    if is_shared and report.variants:
        told += canvas.script(report.variants[0].analysis.marks)
    for line in told:
        page.line(line)
    for variant in report.variants:
        page.line(safe(variant.title), "bold")
        marks = None if is_shared else variant.analysis.marks
        for line in _picture(canvas, variant, lanes[variant.name], marks):
            page.line(line)
        if not lanes[variant.name]:
            why = "nothing matches" if variant.analysis.lanes else "nobody ever held one"
            page.line(f"  no partition to show: {why}", "dim")
    for line in canvas.legend():
        page.line(line)


def _picture(
    canvas: Canvas, variant: VariantReport, lanes: Sequence[Lane], marks: Sequence[Mark] | None
) -> Iterator[Line]:
    """One variant's: its script, where it has one of its own, and its groups with their bars."""
    if marks is not None:
        yield from canvas.script(marks)
    groups = list(dict.fromkeys(lane.group for lane in lanes))
    if not variant.analysis.lanes:
        groups = list(variant.analysis.groups)
    is_named = len(groups) > 1
    for group in () if is_named else groups:
        yield from canvas.application(variant, group, False)
    yield from canvas.load(variant)
    for group in groups:
        yield canvas.group(variant, group, is_named)
        if is_named:
            yield from canvas.application(variant, group, True)
        of_group = [lane for lane in lanes if lane.group == group]
        yield from canvas.partitions(of_group, variant.analysis.copies)


# ------------------------------------------------------------------------------------ the sentences


def _alarms(page: Page, report: Report) -> None:
    """What figures hide, before them: the dead, groups that are not stable, records that nobody
    will read.
    """
    for i, (whose, alarm) in enumerate(alarms_of(report.variants, _alike)):
        if i == 0:
            page.line()
        text = f"{whose}: {uncapital(alarm.text)}" if whose else alarm.text
        page.wrapped(f"! {text}", 0, "bold red" if alarm.is_bad else "yellow", 2)


def _sentences(page: Page, report: Report) -> None:
    view = page.view
    found: dict[str, list[tuple[Together, VariantReport]]] = {}
    total = 0
    for variant in report.variants:
        groups = recurring(together(p for p in variant.analysis.pauses if view.shows_pause(p)))
        total += len(groups)
        for group, others in worth_telling(groups, view.most_pauses):
            sentence = tell_recurring(group, others)
            found.setdefault(sentence, []).append((group, variant))
    if not found:
        page.heading(tell_none(v.analysis for v in report.variants))
        return
    page.heading("What stood still longest")
    ordered = sorted(found.items(), key=lambda item: -item[1][0][0].length_us)[
        : view.most_pauses * max(1, len(report.variants) - 1)
    ]
    for sentence, whom in ordered:
        names = [variant.name for _, variant in whom]
        whose = "" if len(report.variants) == 1 else f"{_alike(names)}: "
        page.wrapped(whose + sentence, hanging=2)
        for arrow in arrows([(group.first, variant) for group, variant in whom]):
            page.wrapped("→ " + arrow, 4, "", 2)
    told = sum(len(whom) for _, whom in ordered)
    if total > told:
        page.line(f"  and {plural(total - told, 'shorter one', 'other, shorter ones')}.", "dim")


def _alike(names: Sequence[str]) -> str:
    return joined(map(safe, names)) + (" alike" if len(names) > 1 else "")


# -------------------------------------------------------------------------------- beside each other


def _beside(page: Page, report: Report) -> None:
    heads = [
        Line(clip(page.plain(safe(v.name)), 28, page.view.is_ascii), "bold")
        for v in report.variants
    ]
    rows = [[Line(), *heads]] if len(report.variants) > 1 else []
    for row in lines_of(report):
        rows.append([Line(row.title), *(_cell(page, row, i) for i in range(len(row.texts)))])
    for part in _fitting(rows, page.view.width):
        page.line()
        for line in table(part):
            page.line(line)
    if len(report.variants) > 1:
        page.wrapped(f"{LEAST} the least of its row. {order_said(report)}", 0, "dim")
        page.wrapped(tell_decisive(report), 0)
    if seeds := tell_seeds(report):
        page.wrapped(seeds, 0, "dim")


def _fitting(rows: list[list[Line]], width: int, gap: int = 2) -> list[list[list[Line]]]:
    """The table in as many parts as it takes to fit, each with the first column."""
    if not rows:
        return []
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    parts, taken = [[0]], widths[0]
    for i in range(1, len(widths)):
        if taken + gap + widths[i] > width and len(parts[-1]) > 1:
            parts.append([0])
            taken = widths[0]
        parts[-1].append(i)
        taken += gap + widths[i]
    return [[[row[i] for i in part] for row in rows] for part in parts]


def _cell(page: Page, line: Figures, place: int) -> Line:
    text = page.plain(line.texts[place])
    if place in line.best:
        return Line(f"{text} {LEAST}", "bold green")
    return Line(text, "bold yellow" if line.metric in LOSSES and line.values[place] else "")


# ---------------------------------------------------------------------- budgets, questions, the end


def _budgets(page: Page, report: Report) -> None:
    for i, b in enumerate(report.budgets):
        if i == 0:
            page.heading("Budgets")
        sign, style = STYLED_SIGNS[b.outcome]
        if b.outcome is Outcome.FAIL and b.level == Level.WARN:
            sign, style = "!", "yellow"
        name = f"{safe(b.variant)}: " if b.variant else ""
        observed = f"{safe(observed_of(b, report))} against " if b.observed else ""
        where = f"  (line {b.line})" if b.line else ""
        page.line(
            Line("  ")
            .add(page.plain(sign), style)
            .add(page.plain(f" {name}{observed}{safe(b.text)}{where}"))
        )
        if b.because and b.outcome is not Outcome.PASS:
            page.wrapped(b.because, 4, "dim")
        for arrow in arrows_against(b, report):
            page.wrapped("→ " + arrow, 4, "", 2)


def _questions(page: Page, report: Report) -> None:
    told: dict[tuple[str, str, str], list[tuple[str, Answered]]] = {}
    for variant in report.variants:
        for answer in variant.analysis.answers:
            a = tell_answer(answer, variant.name)
            told.setdefault((a.question, a.answer, a.text), []).append((variant.name, a))
    if not told:
        return
    page.heading("Four questions to a group that rebalances too often")
    for question in dict.fromkeys(key[0] for key in told):
        found = [
            (said, text, told[key])
            for key in told
            for asked, said, text in [key]
            if asked == question
        ]
        if len(found) == 1:
            _answer(page, found[0][0], question, found[0][1], found[0][2][0][1].is_bad)
            continue
        _answer(
            page, "differs", question, "", any(answered[0][1].is_bad for _, _, answered in found)
        )
        for said, text, answered in found:
            names = listed([safe(name) for name, _ in answered], 9)
            page.wrapped(
                f"{names}: {said}. {text}".rstrip(),
                11,
                "yellow" if answered[0][1].is_bad else "dim",
                2,
            )


def _answer(page: Page, said: str, whom: str, text: str, is_bad: bool) -> None:
    """`no  Does one outlast max.poll.interval.ms?`, and what there is to say about it."""
    page.line(Line("  ").add(f"{said:<9}", "yellow" if is_bad else "").add(page.plain(whom)))
    if text:
        page.wrapped(text, 11, "yellow" if is_bad else "dim")


def _foot(page: Page, report: Report) -> None:
    for note in (*report.notes, *notes_of(report)):
        page.line()
        page.wrapped(safe(note), 0, "dim")
    for variant in report.variants:
        broken = variant.analysis.violations
        for v in broken[:3]:
            page.wrapped(
                f"Broken rule {v.rule} at {say_instant(v.at_us)}: {safe(v.text)}", 0, "bold red"
            )
    if report.command:
        page.line()
        page.line(f"Again: {safe(report.command)}", "dim")
