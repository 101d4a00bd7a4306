"""The tables of a page: what members lived through and ran with, and the rounds of their groups. All text is
escaped.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from rebalsim.analysis.values import Alarm, MemberLife, Rebalance
from rebalsim.domain.alarm import AlarmKind
from rebalsim.reports.causes_told import tell_trigger
from rebalsim.reports.completions_told import tell_completion
from rebalsim.reports.names import natural, safe
from rebalsim.reports.report import Report, VariantReport, notes_of
from rebalsim.reports.terminal_page import glue
from rebalsim.words.times import say_duration, say_instant

MOST_MEMBERS, MOST_REBALANCES = 100, 100


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

    def cells(row: Sequence[str]) -> str:
        first, *rest = row
        others = (f"<td{kind(i)}>{cell}</td>" for i, cell in enumerate(rest, 1))
        return f'<th scope="row">{first}</th>{"".join(others)}'

    heads = "".join(
        f'<th scope="col"{kind(i) if i in numeric else ""}>{h}</th>' for i, h in enumerate(head)
    )
    body = "".join(f"<tr>{cells(row)}</tr>" for row in rows)
    return (
        "<div "
        f'class="scroll"><table><caption>{caption}</caption><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def members(v: VariantReport) -> str:
    """What each consumer lived through."""
    found = sorted(v.analysis.members, key=lambda m: (m.group, natural(m.consumer)))
    died = {
        alarm.consumers[0]: alarm for alarm in v.analysis.alarms if alarm.kind is AlarmKind.DIED
    }
    rows = [_member(m, died.get(m.consumer)) for m in found[:MOST_MEMBERS]]
    more = (
        f'<p class="dim">and {len(found) - MOST_MEMBERS:,} more members, in --json.</p>'
        if len(found) > MOST_MEMBERS
        else ""
    )
    caption = (
        f"Members: {text(v.title)}. rebalance-total is what each client counts for itself, as its "
        "metric of that name does: with the one in which it joined, and each hand-over."
    )
    return table(caption, _OF_MEMBERS, rows, (2, 3, 4, 5, 6, 7, 8, 9), (10,)) + more


_OF_MEMBERS = (
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
)


def _member(m: MemberLife, dead: Alarm | None) -> list[str]:
    died = f"died of {dead.why}" if dead is not None and dead.why else "was killed"
    told = (
        (dead, died),
        (m.removed, f"removed: {', '.join(m.removed)}"),
        (m.poll_expired, f"outlasted max.poll.interval.ms {m.poll_expired} ×"),
        (m.fenced, f"fenced {m.fenced} ×"),
    )
    troubles = [trouble for is_so, trouble in told if is_so]
    counts = (m.lives, m.rebalances, m.assigned, m.revoked, m.lost, m.held_most, m.held_last)
    return [
        text(m.consumer),
        text(m.instance_id or "-"),
        *map(str, counts),
        prose(say_duration(m.paused_us)) if m.paused_us else "-",
        prose("; ".join(troubles)),
    ]


def settings(report: Report) -> str:
    """What members ran with, variant by variant, and what was dropped or refused of it."""
    told = [(v, _settings(v)) for v in report.variants]
    names = list(dict.fromkeys(name for _, found in told for name in found))
    rows = [[text(name), *(prose(found.get(name, "-")) for _, found in told)] for name in names]
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
    found = v.analysis.rebalances
    rows = [_rebalance(r) for r in found[:MOST_REBALANCES]]
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


def _rebalance(r: Rebalance) -> list[str]:
    least = f" (at least {r.least})" if r.least >= 0 else ""
    why = tell_trigger(r.trigger, r.trigger_consumer)
    return [
        say_instant(max(r.prepared_us, 0)),
        str(r.generation),
        text(why + (" (the group forms)" if r.is_formation else "")),
        "-" if r.felt_us < 0 else say_duration(r.felt_us),
        text(tell_completion(r.completed_by)),
        text(r.last or "-"),
        "-" if r.moved < 0 else f"{r.moved}{least}",
        text(r.assignor),
    ]
