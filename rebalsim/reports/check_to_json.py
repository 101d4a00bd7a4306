"""A check as one JSON document for tools: stable keys, base units, unknown is null. `ok` true
means that nothing is broken, wrong or open.
"""

from __future__ import annotations

import json
import math
from typing import Any

from rebalsim.analysis.baseline import Change
from rebalsim.domain.metrics import METRICS
from rebalsim.domain.verdict import Ending
from rebalsim.reports.check_report import Checked, CheckReport, Comparison, Flip, StoryChecked
from rebalsim.reports.to_json import unit_of

SCHEMA_VERSION = 1
Json = dict[str, Any]


def render(report: CheckReport) -> str:
    """The document, indented, ending in a line break."""
    return json.dumps(document_of(report), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def document_of(report: CheckReport) -> Json:
    """A check's report as plain values, ready to become JSON."""
    return {
        "schema_version": SCHEMA_VERSION,
        "rebalsim": report.version,
        "ok": report.ending is Ending.PASS,
        "ending": report.ending,
        "is_cut_short": report.is_cut_short,
        "overrides": list(report.overrides),
        "skipped": list(report.skipped),
        "problems": list(report.problems),
        "stories": [_story(s) for s in report.stories],
        "what_if": None if report.flips is None else [_flip(f) for f in report.flips],
        "baseline": None if report.comparison is None else _compared(report.comparison),
    }


def _flip(f: Flip) -> Json:
    return {
        "file": f.file,
        "variant": f.variant,
        "name": f.name,
        "before": f.before,
        "after": f.after,
        "outcome_before": f.outcome_before,
        "outcome_after": f.outcome_after,
        "line": f.line or None,
    }


def _compared(comparison: Comparison) -> Json:
    return {
        "file": comparison.file,
        "rebalsim": comparison.rebalsim,
        "max_regression": comparison.max_regression,
        "gone": list(comparison.gone),
        "undecided": [
            {"file": file, "variant": variant, "metrics": list(names)}
            for (file, variant), names in comparison.undecided.items()
        ],
        "changes": [_change(c, comparison) for c in comparison.changes],
    }


def _change(c: Change, comparison: Comparison) -> Json:
    return {
        "file": c.file,
        "variant": c.variant,
        "metric": c.metric,
        "before": _number(c.before),
        "after": _number(c.after),
        "kind": c.kind,
        "share": _number(c.share) if math.isfinite(c.share) else None,
        "is_too_much": comparison.is_too_much(c),
        "phases": [
            {"phase": phase, "before_us": round(before), "after_us": round(after)}
            for phase, before, after in c.phases
        ],
        "because": comparison.reasons.get((c.file, c.variant), ""),
    }


def _story(story: StoryChecked) -> Json:
    return {
        "file": story.file,
        "title": story.title,
        "ending": story.ending,
        "has_budgets": story.has_budgets,
        "runs": story.runs,
        "problems": [
            {
                "line": p.line,
                "column": p.column,
                "level": "warning" if p.is_warning else "error",
                "message": p.message,
            }
            for p in story.problems
        ],
        "bug": story.bug or None,
        "notes": list(story.notes),
        "budgets": [_checked(c) for c in story.checked],
    }


def _checked(c: Checked) -> Json:
    unit = unit_of(METRICS[c.metric]) if c.metric in METRICS else None
    return {
        "name": c.name,
        "variant": c.variant,
        "outcome": c.outcome,
        "level": c.level,
        "line": c.line,
        "column": c.column,
        "metric": c.metric or None,
        "op": c.op or None,
        "unit": unit,
        "observed": _number(c.observed),
        "limit": _number(c.limit),
        "headroom": _number(c.headroom),
        "said": c.said,
        "because": c.because,
        "hint": c.hint,
        "open_pauses": c.open_pauses,
        "is_unsettled": c.is_unsettled,
        "runs": c.runs,
        "broken": c.broken,
        "spread": c.spread,
        "seed": c.seed,
        "again": c.again,
    }


def _number(value: float | None) -> float | int | None:
    return None if value is None else int(value) if value == int(value) else round(value, 9)
