"""The whole report as one JSON document for tools: stable keys in a stable order, every time in µs
and named so, unknown is null.

`result_schema.py` holds its JSON Schema; a change of shape is a change of SCHEMA_VERSION.
"""

from __future__ import annotations

import json
from typing import Any

from rebalsim.analysis import Analysis
from rebalsim.analysis.selecting import counted_places
from rebalsim.analysis.values import (
    Alarm,
    Answer,
    Disturbance,
    LagCurve,
    Lane,
    Mark,
    MemberLife,
    Pause,
    Phase,
    Rebalance,
    Redelivery,
    StateSpan,
    Violation,
)
from rebalsim.domain.metrics import METRICS, Metric
from rebalsim.domain.remedy import Remedy
from rebalsim.domain.unit import Unit
from rebalsim.reports.alarms_told import tell_alarm
from rebalsim.reports.answer_told import tell_answer_first
from rebalsim.reports.comparison import Line, lines_of
from rebalsim.reports.difference import PhaseChange, difference
from rebalsim.reports.remedies_told import figures_of, tell_price
from rebalsim.reports.report import BudgetResult, Report, Spread, VariantReport
from rebalsim.reports.trade_told import tell_trade

SCHEMA_VERSION = 1
UNITS = {
    Unit.DURATION: "us",
    Unit.PARTITION_TIME: "partition_us",
    Unit.PER_HOUR: "per_hour",
}
BY_KAFKA_NAME = {m.kafka_name: m for m in METRICS.values() if m.kafka_name}
Json = dict[str, Any]


# so deep a value's parts stand on lines of their own; a pause, a member, a metric is one line
LINES = 4


def render(report: Report) -> str:
    """The document, an item a line, ending in a line break."""
    return _written(document_of(report), 0) + "\n"


def _written(value: Any, depth: int) -> str:
    if depth >= LINES or not value or not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    indent = "\n" + " " * (depth + 1)
    if isinstance(value, dict):
        inner = [
            f"{json.dumps(key, ensure_ascii=False)}: {_written(part, depth + 1)}"
            for key, part in value.items()
        ]
        return "{" + indent + ("," + indent).join(inner) + indent[:-1] + "}"
    return (
        "["
        + indent
        + ("," + indent).join(_written(part, depth + 1) for part in value)
        + indent[:-1]
        + "]"
    )


def document_of(report: Report) -> Json:
    """A report as plain values, ready to become JSON."""
    return {
        "schema_version": SCHEMA_VERSION,
        "rebalsim": report.version,
        "title": report.title,
        "description": report.description,
        "file": report.file,
        "digest": report.digest,
        "kafka": report.kafka,
        "seed": report.seed,
        "command": report.command,
        "horizon_us": report.horizon_us,
        "is_comparison": report.is_comparison,
        "variants": [_variant(v) for v in report.variants],
        "comparison": [_compared(line) for line in lines_of(report)]
        if len(report.variants) > 1
        else [],
        "answer": tell_answer_first(report),
        "trade": tell_trade(report),
        "differences": [_difference(report, one, other) for one, other in report.pairs],
        "budgets": [_budget(b) for b in report.budgets],
        "notes": list(report.notes),
    }


def _compared(line: Line) -> Json:
    values = [_number(value) for value in line.values]
    return {
        "metric": line.metric,
        "values": values,
        "unit": unit_of(METRICS[line.metric]),
        "best": list(line.best),
    }


def _difference(report: Report, one: int, other: int) -> Json:
    d = difference(report.variants[one], report.variants[other])
    return {
        "before": d.before.name,
        "after": d.after.name,
        "metrics": [
            {
                "metric": c.metric,
                "unit": unit_of(METRICS[c.metric]),
                "before": _number(c.before),
                "after": _number(c.after),
                "verdict": c.verdict,
            }
            for c in d.metrics
        ],
        "phases": [_phase_change(c) for c in d.phases],
        "partitions": [
            {
                "partition": c.partition,
                "group": c.group,
                "before_us": c.before_us,
                "after_us": c.after_us,
                "by_us": c.by_us,
                "phases": [_phase_change(p) for p in c.phases],
                "is_new": c.is_new,
                "is_gone": c.is_gone,
            }
            for c in d.partitions
        ],
        "unchanged": d.unchanged,
    }


def _phase_change(c: PhaseChange) -> Json:
    return {
        "kind": c.phase.value,
        "before_us": c.before_us,
        "after_us": c.after_us,
        "by_us": c.by_us,
    }


def unit_of(metric: Metric) -> str:
    """The metric's base unit as tools read it."""
    return UNITS.get(metric.unit, metric.unit.value)


def _number(value: float | None) -> float | int | None:
    """Whole numbers without a point."""
    return None if value is None else int(value) if value == int(value) else value


def _known(us: int) -> int | None:
    """Times and events: −1 is unknown, and here null."""
    return us if us >= 0 else None


def _variant(v: VariantReport) -> Json:
    a = v.analysis
    told = _numbered(v)
    return {
        "name": v.name,
        "heading": v.heading,
        "file": v.file,
        "source": a.header.source,
        "kafka": a.header.kafka,
        "seed": a.header.seed,
        "horizon_us": a.horizon_us,
        "events": len(a.trace.events),
        "metrics": {
            name: {"value": _number(a.measure(name)), "unit": unit_of(m)}
            for name, m in METRICS.items()
        },
        "spread": {name: _spread(v.spread[name]) for name in METRICS if name in v.spread},
        "pauses": [_pause(p, told) for p in a.pauses],
        "partitions": [_lane(lane) for lane in a.lanes],
        "rebalances": [_rebalance(r, told) for r in a.rebalances],
        "disturbances": [_disturbance(a.disturbances[place]) for place in told],
        "first_settlings": [
            _disturbance(d) for place, d in enumerate(a.disturbances) if place not in told
        ],
        "group_states": [_state(s) for spans in a.group_states.values() for s in spans],
        "state_shares": {group: dict(shares) for group, shares in a.state_shares.items()},
        "members": [_member(m) for m in a.members],
        "client_metrics": {
            consumer: {name: _client(name, value) for name, value in found.items()}
            for consumer, found in a.client_metrics.items()
        },
        "lag": [_lag(curve) for curve in a.lag],
        "redeliveries": [_redelivery(r, told) for r in a.redeliveries],
        "answers": [_answer(x) for x in a.answers],
        "marks": [_mark(m) for m in a.marks],
        "alarms": [_alarm(x, a) for x in a.alarms],
        "violations": [_violation(x) for x in a.violations],
        "remedies": [_remedy(r) for r in v.remedies],
        "notes": list(v.notes),
    }


Numbered = dict[int, int]  # the analysis' number of a disturbance → its place in the document


def _numbered(v: VariantReport) -> Numbered:
    """The disturbances that the metric counts; a group's first settling is none of them."""
    return {place: number for number, place in enumerate(counted_places(v.analysis))}


def _remedy(r: Remedy) -> Json:
    """Figures are those of `run` with the patch and these seeds: the middle over so many seeds,
    from the report's own one on.
    """
    found: Json = {"variant": r.variant, "patch": dict(r.patch.sets)}
    if r.patch.script:
        found["script"] = r.patch.script
    found["before"] = {name: _number(value) for name, value in figures_of(r.before).items()}
    found["after"] = {name: _number(value) for name, value in figures_of(r.after).items()}
    found["seeds"] = len(r.seeds)
    if r.price or r.breaks:
        breaks = [f"breaks {text}" for text in r.breaks]
        found["price"] = ", ".join(filter(None, [tell_price(r), *breaks]))
    return found


def _client(name: str, value: float | None) -> Json:
    metric = BY_KAFKA_NAME.get(name)
    return {"value": _number(value), "unit": unit_of(metric) if metric is not None else "count"}


def _spread(s: Spread) -> Json:
    return {
        "least": _number(s.least),
        "median": _number(s.median),
        "p95": _number(s.p95),
        "most": _number(s.most),
        "runs": s.runs,
        "known": s.known,
    }


def _pause(p: Pause, told: Numbered) -> Json:
    return {
        "partition": str(p.partition),
        "group": p.group,
        "started_us": p.started_us,
        "ended_us": p.ended_us,
        "length_us": p.length_us,
        "is_open": p.is_open,
        "kind": p.kind.value,
        "why": p.why,
        "owner_before": p.owner_before,
        "owner_after": p.owner_after,
        "cause": {
            "kind": p.cause.kind,
            "consumer": p.cause.consumer,
            "action": p.cause.action,
            "disturbance": told.get(p.cause.disturbance),
            "evidence": list(p.cause.evidence),
        },
        "phases": [_phase(phase) for phase in p.phases],
    }


def _phase(phase: Phase) -> Json:
    f = phase.facts
    return {
        "kind": phase.kind.value,
        "started_us": phase.started_us,
        "ended_us": phase.ended_us,
        "length_us": phase.length_us,
        "consumer": f.consumer,
        "doing": f.doing,
        "since_us": _known(f.since_us),
        "until_us": _known(f.until_us),
        "timer": f.timer,
        "trigger": f.trigger,
        "heard_us": _known(f.heard_us),
        "left_us": _known(f.left_us),
        "evidence": list(phase.evidence),
    }


def _lane(lane: Lane) -> Json:
    return {
        "partition": str(lane.partition),
        "group": lane.group,
        "paused_us": sum(p.length_us for p in lane.pauses),
        "pauses": len(lane.pauses),
        "owners": [
            {
                "consumer": h.consumer,
                "started_us": h.started_us,
                "ended_us": h.ended_us,
                "generation": _known(h.generation),
                "how": h.how,
            }
            for h in lane.holdings
        ],
    }


def _rebalance(r: Rebalance, told: Numbered) -> Json:
    return {
        "group": r.group,
        "generation": _known(r.generation),
        "trigger": r.trigger,
        "trigger_consumer": r.trigger_consumer,
        "reason": r.reason,
        "prepared_us": _known(r.prepared_us),
        "barrier_us": _known(r.barrier_us),
        "stable_us": _known(r.stable_us),
        "settled_us": _known(r.settled_us),
        "felt_us": _known(r.felt_us),
        "completed_by": r.completed_by,
        "last": r.last,
        "kicked": list(r.kicked),
        "members": r.members,
        "leader": r.leader,
        "assignor": r.assignor,
        "moved": _known(r.moved),
        "least": _known(r.least),
        "is_cooperative": r.is_cooperative,
        "is_formation": r.is_formation,
        "latency_us": dict(sorted(r.latency_us.items())),
        "disturbance": told.get(r.disturbance),
        "evidence": list(r.evidence),
    }


def _disturbance(d: Disturbance) -> Json:
    return {
        "group": d.group,
        "started_us": d.started_us,
        "ended_us": d.ended_us,
        "is_open": d.is_open,
        "trigger": d.trigger,
        "consumer": d.consumer,
        "action": d.action,
        "rebalances": list(d.rebalances),
        "moved": _known(d.moved),
        "least": _known(d.least),
        "evidence": list(d.evidence),
    }


def _state(s: StateSpan) -> Json:
    return {
        "group": s.group,
        "state": s.state,
        "started_us": s.started_us,
        "ended_us": s.ended_us,
        "generation": _known(s.generation),
    }


def _member(m: MemberLife) -> Json:
    return {
        "consumer": m.consumer,
        "group": m.group,
        "instance_id": m.instance_id,
        "lives": m.lives,
        "generations": m.generations,
        "rebalances": m.rebalances,
        "failed_rebalances": m.failed_rebalances,
        "assigned": m.assigned,
        "revoked": m.revoked,
        "lost": m.lost,
        "poll_expired": m.poll_expired,
        "removed": list(m.removed),
        "fenced": m.fenced,
        "held_most": m.held_most,
        "held_last": m.held_last,
        "partition_seconds": m.partition_seconds,
        "paused_us": m.paused_us,
        "spans": [
            {"what": s.what, "started_us": s.started_us, "ended_us": s.ended_us} for s in m.spans
        ],
    }


def _lag(curve: LagCurve) -> Json:
    return {
        "partition": str(curve.partition),
        "group": curve.group,
        "peak": _number(curve.peak),
        "peak_us": curve.peak_us,
        "caught_up_us": _known(curve.caught_up_us),
        "corners": [[at, _number(round(lag, 3))] for at, lag in curve.corners],
    }


def _redelivery(r: Redelivery, told: Numbered) -> Json:
    return {
        "partition": str(r.partition),
        "group": r.group,
        "at_us": r.at_us,
        "consumer": r.consumer,
        "records": r.records,
        "is_skip": r.is_skip,
        "how": r.how,
        "disturbance": told.get(r.disturbance),
        "event": _known(r.event),
    }


def _answer(a: Answer) -> Json:
    figures = dict(sorted(a.figures.items()))
    return {
        "question": a.question,
        "is_yes": a.is_yes,
        "consumers": list(a.consumers),
        "figures": figures,
        "evidence": list(a.evidence),
    }


def _alarm(x: Alarm, a: Analysis) -> Json:
    return {
        "kind": x.kind,
        "group": x.group,
        "at_us": x.at_us,
        "consumers": list(x.consumers),
        "why": x.why,
        "others": list(x.others),
        "back_us": _known(x.back_us),
        "times": x.times,
        "figures": dict(sorted(x.figures.items())),
        "evidence": list(x.evidence),
        "partitions": [str(p) for p in x.partitions],
        "because": x.because,
        "text": tell_alarm(x, a),
    }


def _mark(m: Mark) -> Json:
    return {
        "at_us": m.at_us,
        "kind": m.kind,
        "text": m.text,
        "action": m.action,
        "deed": m.deed,
        "targets": list(m.targets),
        "group": m.group,
        "event": _known(m.event),
    }


def _violation(v: Violation) -> Json:
    return {"rule": v.rule, "at_us": v.at_us, "text": v.text, "evidence": list(v.evidence)}


def _budget(b: BudgetResult) -> Json:
    return {
        "text": b.text,
        "variant": b.variant,
        "outcome": b.outcome,
        "observed": b.observed,
        "limit": b.limit,
        "because": b.because,
        "level": b.level,
        "file": b.file,
        "line": b.line or None,
    }
