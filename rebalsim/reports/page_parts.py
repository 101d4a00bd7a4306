"""The page's parts that need no script: the comparison, sentences, budgets, members, rebalances,
questions, and how to repeat it. All text is escaped.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from rebalsim.domain.alarm import AlarmKind
from rebalsim.reports import figures
from rebalsim.reports.alarms_told import alarms_of
from rebalsim.reports.answer_told import order_said, tell_answer_first
from rebalsim.reports.causes_told import tell_trigger
from rebalsim.reports.comparison import (
    LEAST,
    LOSSES,
    alike,
    lines_of,
    say_measured,
    tell_seeds,
    tell_trade,
)
from rebalsim.reports.completions_told import tell_completion
from rebalsim.reports.difference import Difference, difference
from rebalsim.reports.names import natural, safe
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
from rebalsim.reports.terminal_page import glue
from rebalsim.words.lists import listed, plural
from rebalsim.words.times import say_duration, say_instant

MOST_SENTENCES, MOST_MEMBERS, MOST_REBALANCES = 6, 100, 100
_SIGNS = {
    "pass": ("good", "✓ kept"),
    "fail": ("bad", "✗ broken"),
    "inconclusive": ("warn", "? undecided"),
}


def text(value: object) -> str:
    """Anything as text within HTML."""
    return html.escape(safe(str(value)))


def prose(value: object) -> str:
    """A sentence within HTML: a number and its unit stay on one line."""
    return glue(text(value))


def table(
    caption: str,
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    numeric: Sequence[int] = (),
    long: Sequence[int] = (),
) -> str:
    """A table of cells that are HTML already; the first cell of a row is its header."""

    def kind(i: int) -> str:
        return ' class="num"' if i in numeric else ' class="long"' if i in long else ""

    heads = "".join(
        f'<th scope="col"{kind(i) if i in numeric else ""}>{h}</th>' for i, h in enumerate(head)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<th scope="row">{cell}</th>' if i == 0 else f"<td{kind(i)}>{cell}</td>"
            for i, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return (
        "<div "
        f'class="scroll"><table><caption>{caption}</caption><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def lead(report: Report) -> str:
    """The answer in at most four lines; of files held against each other the trade, a sentence each."""
    pairs = [
        replace(report, variants=(report.variants[one], report.variants[other]), pairs=())
        for one, other in report.pairs
    ]
    told = [tell_trade(each) for each in pairs] if pairs else tell_answer_first(report)
    return "".join(f'<p class="lead">{prose(said)}</p>' for said in told if said)


def alarms(report: Report) -> str:
    """What figures hide: the dead, groups that are not stable, records that nobody will read."""
    told = alarms_of(
        report.variants,
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
        cells = [
            f'<span class="good">{text(value)} {LEAST}</span>'
            if i in line.best
            else f'<span class="warn">{text(value)}</span>'
            if line.metric in LOSSES and line.values[i]
            else text(value)
            for i, value in enumerate(line.texts)
        ]
        rows.append([text(line.title), *cells])
    better = (
        f"{LEAST} the least of its row. {order_said(report)} " if len(report.variants) > 1 else ""
    )
    return "<h2>Measured</h2>" + table(
        f"{better}{over}".strip(), ["", *(text(v.title) for v in report.variants)], rows
    )


def _changes(d: Difference) -> str:
    verdicts = {
        "better": '<span class="good">better</span>',
        "worse": '<span class="bad">worse</span>',
        "same": '<span class="dim">the same</span>',
        "": "",
    }
    metrics = [
        [
            text(figures.title_of(c.metric)),
            text(say_measured(c.metric, d.before)),
            text(say_measured(c.metric, d.after)),
            verdicts[c.verdict],
        ]
        for c in d.metrics
        if (c.before or c.after) and c.metric != "least_moves"
    ]
    phases = [
        [text(c.phase.value), *_from_to(c.before_us, c.after_us)]
        for c in d.phases
        if not alike(c.before_us, c.after_us)
    ]
    partitions = []
    for c in d.partitions[:50]:
        why = (
            "only before"
            if c.is_gone
            else "only after"
            if c.is_new
            else f"mostly {c.main.phase.value}"
            if c.main
            else ""
        )
        partitions.append([text(c.partition), *_from_to(c.before_us, c.after_us), why])
    before, after = text(d.before.name), text(d.after.name)
    rest = len(d.partitions) - len(partitions)
    note = (
        f'<p class="dim">{plural(rest, "more partition")} changed; '
        f"{plural(d.unchanged, 'partition')} did not.</p>"
        if rest or d.unchanged
        else ""
    )
    return (
        f'<h2>From {before} to {after}</h2><div class="two"><div>'
        + table("In total", ["", before, after, ""], metrics)
        + "</div><div>"
        + table(
            "By phase, summed over partitions",
            ["phase", before, after, "change"],
            phases,
            (1, 2, 3),
        )
        + "</div></div>"
        + (
            f"<details><summary>By partition ({len(d.partitions)})</summary>"
            + table(
                "How long each stood still",
                ["partition", before, after, "change", ""],
                partitions,
                (1, 2, 3),
            )
            + note
            + "</details>"
            if partitions
            else ""
        )
    )


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
        css, said = _SIGNS[b.outcome]
        if b.outcome == "fail" and b.level == "warn":
            css, said = "warn", "! exceeded (warning)"
        where, because = (
            f"line {b.line}" if b.line else "",
            b.because if b.outcome != "pass" else "",
        )
        rows.append(
            [
                f"<code>{text(b.text)}</code>",
                text(b.variant),
                f'<span class="{css}">{said}</span>',
                text(b.observed),
                where,
                text(because),
            ]
        )
    head = ["budget", "variant", "", "observed", "in the file", ""]
    return (
        "<section "
        f'id="budgets"><h2>Budgets</h2>{table("As the scenario sets them.", head, rows, long=(5,))}</section>'
    )


def members(v: VariantReport) -> str:
    """What each consumer lived through."""
    rows = []
    found = sorted(v.analysis.members, key=lambda m: (m.group, natural(m.consumer)))
    died = {
        alarm.consumers[0]: alarm for alarm in v.analysis.alarms if alarm.kind is AlarmKind.DIED
    }
    for m in found[:MOST_MEMBERS]:
        dead = died.get(m.consumer)
        troubles = [f"died of {dead.why}" if dead.why else "was killed"] if dead is not None else []
        troubles += [f"removed: {', '.join(m.removed)}"] if m.removed else []
        troubles += [f"outlasted max.poll.interval.ms {m.poll_expired} ×"] if m.poll_expired else []
        troubles += [f"fenced {m.fenced} ×"] if m.fenced else []
        counts = (m.lives, m.rebalances, m.assigned, m.revoked, m.lost, m.held_most, m.held_last)
        stood = say_duration(m.paused_us) if m.paused_us else "-"
        rows.append(
            [
                text(m.consumer),
                text(m.instance_id or "-"),
                *map(str, counts),
                stood,
                text("; ".join(troubles)),
            ]
        )
    head = [
        "member",
        "instance id",
        "lives",
        "rebalance-total",
        "assigned",
        "revoked",
        "lost",
        "held at most",
        "at the end",
        "its partitions stood still",
        "trouble",
    ]
    more = (
        f'<p class="dim">and {len(found) - MOST_MEMBERS:,} more members, in --json.</p>'
        if len(found) > MOST_MEMBERS
        else ""
    )
    caption = (
        f"Members: {text(v.title)}. rebalance-total is what each client counts for itself, as its "
        "metric of that name does: with the one in which it joined, and each hand-over."
    )
    return table(caption, head, rows, (2, 3, 4, 5, 6, 7, 8, 9), (10,)) + more


def settings(report: Report) -> str:
    """What members ran with, variant by variant, and what was dropped or refused of it."""
    told = [(v, _settings(v)) for v in report.variants]
    names = list(dict.fromkeys(name for _, found in told for name in found))
    rows = [[text(name), *(text(found.get(name, "-")) for _, found in told)] for name in names]
    dropped = [note for note in notes_of(report) if is_of_a_setting(note)]
    items = "".join(f"<li>{prose(note)}</li>" for note in dropped)
    head = ["", *(text(v.title) for v in report.variants)]
    return table("What members ran with.", head, rows) + (
        f'<ul class="plain">{items}</ul>' if items else ""
    )


def is_of_a_setting(note: str) -> bool:
    """Whether a note is about a Kafka setting: it begins with its name, behind its variants'."""
    return bool(re.match(r"(?:[^:.]+: )?[a-z]+(?:\.[a-z]+)+: ", note))


def _settings(v: VariantReport) -> dict[str, str]:
    """Setting → value; where members differ, each value with how many have it."""
    found: dict[str, Counter[str]] = {}
    for facts in v.analysis.header.consumers.values():
        for name, value in (
            ("protocol", facts.protocol),
            ("partition.assignment.strategy", ", ".join(facts.assignors)),
            ("session.timeout.ms", _said(facts.session_timeout_us)),
            ("heartbeat.interval.ms", _said(facts.heartbeat_interval_us)),
            ("max.poll.interval.ms", _said(facts.max_poll_interval_us)),
            ("max.poll.records", str(facts.max_poll_records) if facts.max_poll_records > 0 else ""),
        ):
            if value:
                found.setdefault(name, Counter())[value] += 1
    return {
        name: next(iter(values))
        if len(values) == 1
        else ", ".join(f"{value} ({count} members)" for value, count in values.most_common(4))
        for name, values in found.items()
    }


def _said(us: int) -> str:
    return say_duration(us) if us > 0 else ""


def rebalances(v: VariantReport) -> str:
    """Every completed round: when, why, how long, whom it waited for."""
    rows = []
    found = v.analysis.rebalances
    for r in found[:MOST_REBALANCES]:
        moved = (
            "-"
            if r.moved < 0
            else f"{r.moved}"
            if r.least < 0
            else f"{r.moved} (at least {r.least})"
        )
        took = "-" if r.felt_us < 0 else say_duration(r.felt_us)
        why = tell_trigger(r.trigger, r.trigger_consumer) + (
            " (the group forms)" if r.is_formation else ""
        )
        began = say_instant(max(r.prepared_us, 0))
        rows.append(
            [
                began,
                str(r.generation),
                text(why),
                took,
                text(tell_completion(r.completed_by)),
                text(r.last or "-"),
                moved,
                text(r.assignor),
            ]
        )
    counters = {r.counter for r in found}
    counted = " or ".join(sorted(counters, reverse=True)) or "generation"
    head = [
        "began",
        counted,
        "because",
        "until all had their callbacks",
        "barrier ended by",
        "last to join",
        "partitions moved",
        "assignor",
    ]
    more = (
        f'<p class="dim">and {len(found) - MOST_REBALANCES:,} more, in --json.</p>'
        if len(found) > MOST_REBALANCES
        else ""
    )
    shares = ", ".join(
        f"{state} {100 * share:.1f} %"
        for of in v.analysis.state_shares.values()
        for state, share in of.items()
    )
    return (
        table(f"Rebalances: {text(v.title)}", head, rows, (1, 3), (2,))
        + more
        + f'<p class="dim">Time by state of the group: {text(shares)}.</p>'
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


def again(report: Report) -> str:
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
