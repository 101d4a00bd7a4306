"""Pauses as CSV, a row each, for spreadsheets. A name that a spreadsheet would take for a
formula is quoted with an apostrophe.
"""

from __future__ import annotations

import csv
import io

from rebalsim.domain.metrics import PHASES
from rebalsim.outside.text import inert_line, no_formula
from rebalsim.reports.report import Report

COLUMNS = (
    "variant",
    "group",
    "partition",
    "started_us",
    "ended_us",
    "length_us",
    "is_open",
    "kind",
    "owner_before",
    "owner_after",
    "cause",
    "cause_consumer",
    "cause_action",
    *(f"{phase.replace('-', '_')}_us" for phase in PHASES),
)


def render(report: Report) -> str:
    """A header line, then every pause of every variant, by beginning."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for v in report.variants:
        for p in v.analysis.pauses:
            spent = dict.fromkeys(PHASES, 0)
            for phase in p.phases:
                spent[phase.kind.value] += phase.length_us
            whose = map(_cell, (v.name, p.group, str(p.partition)))
            when = (p.started_us, p.ended_us, p.length_us, str(p.is_open).lower())
            owners = map(_cell, (p.owner_before, p.owner_after))
            cause = (p.cause.kind, _cell(p.cause.consumer), _cell(p.cause.action))
            writer.writerow([*whose, *when, p.kind.value, *owners, *cause, *spent.values()])
    return out.getvalue()


def _cell(text: str) -> str:
    return no_formula(inert_line(text))
