"""The page's parts that need no script: the comparison, sentences, budgets, members, rebalances,
questions, and how to repeat it. All text is escaped.
"""

from __future__ import annotations

import html
from dataclasses import replace
from typing import Any

from rebalsim.domain.budget import Level
from rebalsim.domain.verdict import Outcome
from rebalsim.reports import figures
from rebalsim.reports.alarms_told import alarms_of
from rebalsim.reports.answer_choice import order_said
from rebalsim.reports.answer_told import tell_answer_first, tell_decisive
from rebalsim.reports.comparison import (
    LEAST,
    LOSSES,
    Line,
    alike,
    lines_of,
    say_measured,
    tell_seeds,
)
from rebalsim.reports.difference import Difference, difference
from rebalsim.reports.names import safe
from rebalsim.reports.outcomes_told import SIGNS_OF_PAGES
from rebalsim.reports.page_tables import is_of_a_setting, prose, table, text
from rebalsim.reports.questions import tell_answer
from rebalsim.reports.remedies_told import arrows
from rebalsim.reports.report import Report, VariantReport, notes_of
from rebalsim.reports.sentences import (
    Together,
    recurring,
    tell_none,
    tell_recurring,
    together,
    worth_telling,
)
from rebalsim.reports.trade_told import tell_trade
from rebalsim.words.lists import listed, plural
from rebalsim.words.times import say_duration

MOST_SENTENCES = 6


def lead(report: Report) -> str:
    """The answer in at most four lines; of files held against each other the trade, a sentence each."""
    pairs = [
        replace(report, variants=(report.variants[one], report.variants[other]), pairs=())
        for one, other in report.pairs
    ]
    told = [tell_trade(each) for each in pairs] if pairs else tell_answer_first(report)
    return "".join(f'<p class="lead">{prose(said)}</p>' for said in told if said)


def chain(report: Report) -> str:
    """What led to what, as an incident's logs tell it."""
    told = [
        f"<h3>{prose(heading)}</h3><ul>{''.join(f'<li>{prose(line)}</li>' for line in lines)}</ul>"
        for heading, lines in report.chain
    ]
    return f'<section id="chain"><h2>What led to what</h2>{"".join(told)}</section>' if told else ""


def alarms(report: Report) -> str:
    """What figures hide: the dead, groups that are not stable, records that nobody will read. Of an
    incident what was observed: what its replay assumes is no alarm.
    """
    told = alarms_of(
        report.variants[:1] if report.first else report.variants,
        lambda names: (
            f"{listed([safe(name) for name in names], 9)}{' alike' if len(names) > 1 else ''}"
        ),
    )
    items = [
        "<li "
        f'class="{"bad" if alarm.is_bad else "warn"}">{text(f"{whose}: " if whose else "")}{prose(alarm.text)}</li>'
        for whose, alarm in told
    ]
    return f'<ul id="alarms" class="plain">{"".join(items)}</ul>' if items else ""


def summary(report: Report) -> str:
    """The figures beside each other, or what changed."""
    over = tell_seeds(report)
    if report.is_comparison:
        changes = "".join(
            _changes(difference(report.variants[one], report.variants[other]))
            for one, other in report.pairs
        )
        return changes + (f'<p class="dim">{over}</p>' if over else "")
    rows = []
    for line in lines_of(report):
        rows.append([text(line.title), *(_figure(line, i) for i in range(len(line.texts)))])
    several = len(report.variants) > 1
    better = f"{LEAST} the least of its row. {order_said(report)} " if several else ""
    head = ["", *(text(v.title) for v in report.variants)]
    decisive = tell_decisive(report)
    told = f"<p>{prose(decisive)}</p>" if decisive else ""
    return "<h2>Measured</h2>" + told + table(f"{better}{over}".strip(), head, rows)


def _figure(line: Line, variant: int) -> str:
    """A variant's value; the least of its row is marked, and so is what was lost."""
    value = prose(line.texts[variant])
    if variant in line.best:
        return f'<span class="good">{value} {LEAST}</span>'
    is_loss = line.metric in LOSSES and line.values[variant]
    return f'<span class="warn">{value}</span>' if is_loss else value


_VERDICTS = {
    "better": '<span class="good">better</span>',
    "worse": '<span class="bad">worse</span>',
    "same": '<span class="dim">the same</span>',
    "": "",
}


def _changes(d: Difference) -> str:
    metrics = [
        [
            text(figures.title_of(c.metric)),
            text(say_measured(c.metric, d.before)),
            text(say_measured(c.metric, d.after)),
            _VERDICTS[c.verdict],
        ]
        for c in d.metrics
        if (c.before or c.after) and c.metric != "least_moves"
    ]
    phases = [
        [text(c.phase.value), *_from_to(c.before_us, c.after_us)]
        for c in d.phases
        if not alike(c.before_us, c.after_us)
    ]
    before, after = text(d.before.name), text(d.after.name)
    by_phase = ["phase", before, after, "change"]
    return (
        f'<h2>From {before} to {after}</h2><div class="two"><div>'
        + table("In total", ["", before, after, ""], metrics)
        + "</div><div>"
        + table("By phase, summed over partitions", by_phase, phases, (1, 2, 3))
        + "</div></div>"
        + _changed_partitions(d, before, after)
    )


def _changed_partitions(d: Difference, before: str, after: str) -> str:
    partitions = [
        [text(c.partition), *_from_to(c.before_us, c.after_us), _why_changed(c)]
        for c in d.partitions[:50]
    ]
    if not partitions:
        return ""
    rest = len(d.partitions) - len(partitions)
    note = (
        f'<p class="dim">{plural(rest, "more partition")} changed; '
        f"{plural(d.unchanged, 'partition')} did not.</p>"
        if rest or d.unchanged
        else ""
    )
    head = ["partition", before, after, "change", ""]
    return (
        f"<details><summary>By partition ({len(d.partitions)})</summary>"
        + table("How long each stood still", head, partitions, (1, 2, 3))
        + f"{note}</details>"
    )


def _why_changed(c: Any) -> str:
    if c.is_gone:
        return "only before"
    if c.is_new:
        return "only after"
    return f"mostly {c.main.phase.value}" if c.main else ""


def _from_to(before_us: int, after_us: int) -> list[str]:
    by = after_us - before_us
    told = say_duration(abs(by))
    change = f'<span class="bad">+{told}</span>' if by > 0 else f'<span class="good">−{told}</span>'
    return [*map(say_duration, (before_us, after_us)), change]


def longest(report: Report) -> str:
    """What stood still longest, in sentences; the same sentence of two variants once."""
    found: dict[str, list[tuple[Together, VariantReport]]] = {}
    total = 0
    for v in report.variants:
        groups = recurring(together(v.analysis.pauses))
        total += len(groups)
        for group, others in worth_telling(groups, MOST_SENTENCES):
            found.setdefault(tell_recurring(group, others), []).append((group, v))
    if not found:
        return f"<p>{tell_none(v.analysis for v in report.variants)}</p>"
    items = []
    for said, whom in sorted(found.items(), key=lambda item: -item[1][0][0].length_us)[
        : MOST_SENTENCES * 2
    ]:
        names = [safe(v.name) for _, v in whom]
        whose = (
            f"<strong>{text(' and '.join(names))}{' alike' if len(names) > 1 else ''}:</strong> "
            if len(report.variants) > 1
            else ""
        )
        tips = "".join(
            f'<span class="remedy">→ {prose(arrow)}</span>'
            for arrow in arrows([(group.first, v) for group, v in whom])
        )
        items.append(f"<li>{whose}{prose(said)}{tips}</li>")
    told = sum(len(whom) for whom in found.values())
    rest = (
        f'<p class="dim">and {plural(total - told, "shorter one", "other, shorter ones")}, in '
        "the timelines above.</p>"
        if total > told
        else ""
    )
    return f'<ul class="plain">{"".join(items)}</ul>{rest}'


def budgets(report: Report) -> str:
    """Each with its verdict and its line in the file."""
    if not report.budgets:
        return ""
    rows = []
    for b in report.budgets:
        css, said = SIGNS_OF_PAGES[b.outcome]
        if b.outcome is Outcome.FAIL and b.level == Level.WARN:
            css, said = "warn", "! exceeded (warning)"
        budget, verdict = f"<code>{text(b.text)}</code>", f'<span class="{css}">{said}</span>'
        where = f"line {b.line}" if b.line else ""
        because = text(b.because) if b.outcome is not Outcome.PASS else ""
        rows.append([budget, text(b.variant), verdict, text(b.observed), where, because])
    head = ["budget", "variant", "", "observed", "in the file", ""]
    return (
        "<section "
        f'id="budgets"><h2>Budgets</h2>{table("As the scenario sets them.", head, rows, long=(5,))}</section>'
    )


def questions(report: Report) -> str:
    """The four questions of a group that rebalances too often."""
    rows: dict[str, list[str]] = {}
    for v in report.variants:
        for answer in v.analysis.answers:
            a = tell_answer(answer, v.name)
            css = "warn" if a.is_bad else "dim" if a.answer in ("unknown", "n/a") else ""
            said = f'<span class="{css}">{a.answer}</span>' if css else a.answer
            rows.setdefault(a.question, []).append(f"{said}{'. ' + text(a.text) if a.text else ''}")
    head = ["", *(text(v.name) for v in report.variants)]
    return table(
        "Of a group that rebalances too often.",
        head,
        [[text(q), *cells] for q, cells in rows.items()],
        long=range(1, len(head)),
    )


def how_to_repeat(report: Report) -> str:
    """What repeats it: command, seed, version, digest, the scenario itself."""
    facts = [f"rebalsim {text(report.version)}"] if report.version else []
    facts += [f"seed {report.seed}"] if report.seed is not None else []
    facts += [f"Kafka {text(report.kafka)}"] if report.kafka else []
    facts += [f"scenario {text(report.digest)}"] if report.digest else []
    command = (
        f'<p><code id="command" data-file="{text(report.file)}">{text(report.command)}</code></p>'
    )
    rest = [note for note in notes_of(report) if not is_of_a_setting(note)]
    notes = "".join(f"<p>{prose(note)}</p>" for note in (*report.notes, *rest))
    shown = "".join(c if c in "\n\t" else safe(c) for c in report.scenario)
    scenario = (
        f"<details><summary>The scenario</summary><pre>{html.escape(shown)}</pre></details>"
        if report.scenario
        else ""
    )
    same = (
        " The same scenario, seed and version give the same run, byte by byte."
        if report.seed is not None
        else ""
    )
    return f'{command}<p class="dim">{" · ".join(facts)}.{same}</p>{notes}{scenario}'
