"""What changed from one run to another, for the terminal: the metrics, the phases, the
partitions.
"""

from __future__ import annotations

from dataclasses import replace

from rebalsim.reports import figures
from rebalsim.reports.comparison import alike, say_measured, tell_seeds
from rebalsim.reports.difference import Difference, difference
from rebalsim.reports.ink import Line, table
from rebalsim.reports.names import clip, safe
from rebalsim.reports.report import Report
from rebalsim.reports.terminal_page import Page
from rebalsim.reports.trade_told import tell_trade
from rebalsim.words.lists import plural
from rebalsim.words.times import say_duration

_CHANGES = {
    "better": ("better", "green"),
    "worse": ("worse", "red"),
    "same": ("the same", "dim"),
    "": ("", ""),
}


def tell_changes(page: Page, report: Report) -> None:
    """Each pair of a comparison: the metrics, the phases, the partitions."""
    for one, other in report.pairs:
        d = difference(report.variants[one], report.variants[other])
        page.heading(f"From {safe(d.before.name)} to {safe(d.after.name)}")
        rows = [
            [
                Line(f"  {figures.title_of(c.metric)}"),
                Line(page.plain(say_measured(c.metric, d.before))),
                Line("->" if page.view.is_ascii else "→", "dim"),
                Line(page.plain(say_measured(c.metric, d.after))),
                Line(*_CHANGES[c.verdict]),
            ]
            for c in d.metrics
            if (c.before or c.after) and c.metric != "least_moves"
        ]
        for line in table(rows):
            page.line(line)
        told = tell_trade(replace(report, variants=(d.before, d.after), pairs=()))
        if told:
            page.line()
            page.wrapped(told, 2)
        _changed_phases(page, d)
        _changed_partitions(page, d)
    if seeds := tell_seeds(report):
        page.line()
        page.wrapped(seeds, 0, "dim")


def _changed_phases(page: Page, d: Difference) -> None:
    changed = sorted(
        (c for c in d.phases if not alike(c.before_us, c.after_us)), key=lambda c: -abs(c.by_us)
    )
    if not changed:
        return
    page.line()
    page.line("  By phase, summed over partitions", "bold")
    for line in table(
        [[Line(f"  {c.phase.value}"), *_from_to(page, c.before_us, c.after_us)] for c in changed]
    ):
        page.line(line)


def _changed_partitions(page: Page, d: Difference) -> None:
    if not d.partitions:
        return
    page.line()
    page.line("  By partition", "bold")
    rows = []
    for c in d.partitions[: page.view.most_pauses * 2]:
        main = c.main
        why = (
            "only before"
            if c.is_gone
            else "only after"
            if c.is_new
            else f"mostly {main.phase.value}"
            if main is not None
            else ""
        )
        name = clip(page.plain(safe(c.partition)), page.view.width // 4, page.view.is_ascii)
        rows.append([Line(f"  {name}"), *_from_to(page, c.before_us, c.after_us), Line(why)])
    for line in table(rows):
        page.line(line)
    rest = len(d.partitions) - len(rows)
    said = [f"{plural(rest, 'more partition')} changed"] if rest else []
    said += (
        [
            f"{plural(d.unchanged, 'partition')} stayed as "
            f"{'it was' if d.unchanged == 1 else 'they were'}"
        ]
        if d.unchanged
        else []
    )
    if said:
        page.line(f"  {', '.join(said)}", "dim")


def _from_to(page: Page, before_us: int, after_us: int) -> list[Line]:
    """`33.3 s → 3.10 s  −30.2 s`."""
    by = after_us - before_us
    sign = "+" if by > 0 else "-" if page.view.is_ascii else "−"
    told = [say_duration(us) for us in (before_us, after_us, abs(by))]
    return [
        Line(page.plain(told[0])),
        Line("->" if page.view.is_ascii else "→", "dim"),
        Line(page.plain(told[1])),
        Line(page.plain(f"{sign}{told[2]}"), "red" if by > 0 else "green"),
    ]
