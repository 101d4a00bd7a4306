"""A report for a pull request: the verdict first, the comparison, what stood still longest, a
small timeline in a code block.
"""

from __future__ import annotations

import re
from dataclasses import replace

from rebalsim.domain.budget import Level
from rebalsim.domain.verdict import Outcome
from rebalsim.reports import figures
from rebalsim.reports.alarms_told import alarms_of
from rebalsim.reports.answer_choice import order_said
from rebalsim.reports.answer_told import tell_answer_first, tell_decisive
from rebalsim.reports.comparison import (
    LEAST,
    LOSSES,
    alike,
    lines_of,
    observed_of,
    say_measured,
    tell_seeds,
)
from rebalsim.reports.difference import difference
from rebalsim.reports.names import safe
from rebalsim.reports.outcomes_told import EMOJIS
from rebalsim.reports.questions import tell_answer
from rebalsim.reports.remedies_told import arrows
from rebalsim.reports.report import Report, notes_of
from rebalsim.reports.sentences import recurring, tell_none, tell_recurring, together, worth_telling
from rebalsim.reports.to_terminal import picture_of
from rebalsim.reports.trade_told import tell_trade
from rebalsim.reports.view import View
from rebalsim.words.lists import listed
from rebalsim.words.times import say_duration

WIDTH, ROWS = 100, 12
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~@])")


def render(report: Report, view: View = View()) -> str:  # noqa: B008 (frozen)
    """The whole comment. Zoom comes from the view; width and colour do not."""
    lines = [
        f"## {escape(report.title) or 'rebalsim'}",
        "",
        *_answer_first(report),
        _verdict(report),
        "",
    ]
    lines += _alarms(report)
    lines += _budgets(report)
    lines += _changes(report) if report.is_comparison else _comparison(report)
    trade = tell_trade(report) if report.is_comparison else ""
    if trade:
        lines += [escape(trade), ""]
    lines += _longest(report, view)
    small = replace(view, width=WIDTH, is_ascii=False, is_coloured=False, most_rows=ROWS)
    picture = picture_of(report, small)
    fence = "`" * max(3, max((len(run) for run in re.findall(r"`+", picture)), default=0) + 1)
    lines += [
        "<details><summary>Timeline</summary>",
        "",
        f"{fence}text",
        picture.strip("\n"),
        fence,
        "",
        "</details>",
        "",
    ]
    bad = [
        f"- {escape(v.name)}: {a.question} **{a.answer}.** {escape(a.text)}".rstrip()
        for v in report.variants
        for x in v.analysis.answers
        if (a := tell_answer(x, v.name)).is_bad
    ]
    lines += [*bad, ""] if bad else []
    notes = [
        f"- {escape(note)}"
        for note in filter(None, (*report.notes, *notes_of(report), tell_seeds(report)))
    ]
    lines += [*notes, ""] if notes else []
    facts = [f"Kafka {escape(report.kafka)}"] if report.kafka else []
    facts += [f"seed {report.seed}"] if report.seed is not None else []
    facts += [f"rebalsim {escape(report.version)}"] if report.version else []
    facts += [f"again: {code(report.command)}"] if report.command else []
    return "\n".join([*lines, f"<sub>{' · '.join(facts)}</sub>"]) + "\n"


def _answer_first(report: Report) -> list[str]:
    lines = [f"- {escape(line)}" for line in tell_answer_first(report)]
    return [*lines, ""] if lines else []


def escape(text: str) -> str:
    """Text that Markdown, HTML within it, and mentions leave alone."""
    shown = _SPECIAL.sub(r"\\\1", safe(text).replace("&", "&amp;"))
    return (
        shown.replace("\\<", "&lt;")
        .replace("\\>", "&gt;")
        .replace("\\@", "&#64;")
        .replace("://", "&#58;//")
    )


def code(text: str) -> str:
    """An inline code span that its content cannot leave."""
    shown = safe(text)
    ticks = "`" * (max((len(run) for run in re.findall(r"`+", shown)), default=0) + 1)
    return f"{ticks} {shown} {ticks}" if "`" in shown else f"`{shown}`"


def _verdict(report: Report) -> str:
    if report.budgets:
        failed = sum(b.outcome is Outcome.FAIL and b.level == Level.ERROR for b in report.budgets)
        unsure = sum(b.outcome is Outcome.INCONCLUSIVE for b in report.budgets)
        if failed:
            return f"❌ **{failed} of {len(report.budgets)} budgets broken**"
        return (
            f"❔ **{unsure} of {len(report.budgets)} budgets undecided**"
            if unsure
            else f"✅ **all {len(report.budgets)} budgets kept**"
        )
    longest = [line.texts for line in lines_of(report) if line.metric == "longest_pause"]
    told = (
        ", ".join(f"{escape(v.name)} {text}" for v, text in zip(report.variants, longest[0]))
        if longest
        else "nothing measured"
    )
    return f"**Longest pause:** {told}"


def _alarms(report: Report) -> list[str]:
    """What figures hide: the dead, groups that are not stable, records that nobody will read."""
    told = alarms_of(
        report.variants,
        lambda names: (
            f"{listed([escape(name) for name in names], 9)}{' alike' if len(names) > 1 else ''}"
        ),
    )
    lines = [
        f"- {'🔴' if alarm.is_bad else '⚠️'} {f'**{whose}:** ' if whose else ''}{escape(alarm.text)}"
        for whose, alarm in told
    ]
    return [*lines, ""] if lines else []


def _budgets(report: Report) -> list[str]:
    if not report.budgets:
        return []
    rows = ["| | budget | observed | |", "|---|---|---|---|"]
    for b in report.budgets:
        where = f"line {b.line}" if b.line else ""
        name = f"{escape(b.variant)}: " if b.variant else ""
        sign = "⚠️" if b.outcome is Outcome.FAIL and b.level == Level.WARN else EMOJIS[b.outcome]
        rows.append(
            f"| {sign} | {name}{code_cell(b.text)} | {escape(observed_of(b, report))} | {where} |"
        )
    return [*rows, ""]


def code_cell(text: str) -> str:
    """A code span within a table, where a pipe would end the cell."""
    return code(text).replace("|", "\\|")


def _comparison(report: Report) -> list[str]:
    lines = [
        "| | " + " | ".join(escape(v.title) for v in report.variants) + " |",
        "|---|" + "---|" * len(report.variants),
    ]
    for line in lines_of(report):
        cells = [
            f"**{escape(text)}** {escape(LEAST)}" if i in line.best else escape(text)
            for i, text in enumerate(line.texts)
        ]
        warned = "⚠️ " if line.metric in LOSSES else ""
        lines.append(f"| {warned}{line.title} | {' | '.join(cells)} |")
    if len(report.variants) < 2:
        return [*lines, ""]
    caption = f"{escape(LEAST)} the least of its row. {order_said(report)}"
    decisive = tell_decisive(report)
    return [*lines, "", caption, "", *([escape(decisive), ""] if decisive else [])]


def _changes(report: Report) -> list[str]:
    lines: list[str] = []
    for one, other in report.pairs:
        d = difference(report.variants[one], report.variants[other])
        lines += [f"| | {escape(d.before.name)} | {escape(d.after.name)} | |", "|---|---|---|---|"]
        for c in d.metrics:
            if (c.before or c.after) and c.metric != "least_moves":
                verdict = {"better": "✅ better", "worse": "🔺 worse"}.get(c.verdict, "")
                before, after = (escape(say_measured(c.metric, v)) for v in (d.before, d.after))
                lines.append(f"| {figures.title_of(c.metric)} | {before} | {after} | {verdict} |")
        told = [
            f"{c.phase.value} {'+' if c.by_us > 0 else '−'}{say_duration(abs(c.by_us))}"
            for c in d.phases
            if not alike(c.before_us, c.after_us)
        ]
        lines += ["", f"By phase: {', '.join(told)}." if told else "No phase changed.", ""]
    return lines


def _longest(report: Report, view: View) -> list[str]:
    found = []
    for v in report.variants:
        whose = f"**{escape(v.name)}:** " if len(report.variants) > 1 else ""
        groups = recurring(together(p for p in v.analysis.pauses if view.shows_pause(p)))
        for group, others in worth_telling(groups, 3):
            found.append(f"- {whose}{escape(tell_recurring(group, others))}")
            found += [f"  - → {escape(arrow)}" for arrow in arrows([(group.first, v)])]
    return [*found, ""] if found else [tell_none(v.analysis for v in report.variants), ""]
