"""A run as a row: what was measured, how its budgets came out, its pauses. The only place where
an analysis becomes columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rebalsim.analysis import Analysis
from rebalsim.analysis.judge import judge_fact, judge_variant, measure_fact
from rebalsim.analysis.measure import measure
from rebalsim.analysis.selecting import selected_disturbances
from rebalsim.domain.budget import Budget, Expectation, Level
from rebalsim.domain.metrics import EVERYTHING, METRICS, PHASES
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import Join, Scale
from rebalsim.domain.sweep import Costs
from rebalsim.domain.verdict import Outcome, RunVerdict
from rebalsim.lint.facts import alike, busy_share, work_of
from rebalsim.spark.schemas import type_of

_WHOLE = {name: type_of(metric) == "long" for name, metric in METRICS.items()}
_HOUR_US = 3_600_000_000
AT_ONCE_US = 30_000_000


def measured(analysis: Analysis) -> dict[str, float | int | None]:
    """Every metric of the registry; None where this trace cannot tell."""
    found: dict[str, float | int | None] = {}
    for name, is_whole in _WHOLE.items():
        value = measure(analysis, name)
        found[name] = None if value is None else round(value) if is_whole else float(value)
    return found


def consumers_in(scenario: Scenario) -> int:
    """Consumers of the story: those it begins with, and those its script lets join."""
    names = {c.name: None for g in scenario.groups for c in g.consumers}
    for action in scenario.script:
        if isinstance(action.deed, Join):
            names |= {c.name: None for c in action.deed.consumers}
        elif isinstance(action.deed, Scale):
            have = next(
                (len(g.consumers) for g in scenario.groups if g.name == action.deed.group), 0
            )
            names |= {c.name: None for c in action.deed.joiners[: max(0, action.deed.to - have)]}
    return len(names)


def fullest(scenario: Scenario) -> float:
    """How busy the fullest member is by arithmetic alone, before anything happens: why too few
    members cannot do.
    """
    starting = [c for g in scenario.groups for c in g.consumers if c.starts_at is not None]
    return max(
        (
            busy_share(scenario, same[0])
            for _, same in alike(
                starting, lambda c: (work_of(c), c.handler, c.config.max_poll_records)
            )
        ),
        default=0.0,
    )


def cost_per_hour(
    costs: Costs,
    metrics: Mapping[str, float | int | None],
    crossed_bytes: float | None,
    horizon_us: int,
) -> float | None:
    """Money an hour of this story costs; None where nothing costs anything."""
    if not costs.is_stated or horizon_us <= 0:
        return None
    hours = horizon_us / _HOUR_US
    member_hours = float(metrics.get("member_seconds") or 0) / _HOUR_US
    return (
        member_hours * costs.member_hour + (crossed_bytes or 0.0) / 1e9 * costs.cross_zone_gb
    ) / hours


def settles(analysis: Analysis) -> str:
    """Whether a storm of rebalances ends: at once, slowly, or not within the story."""
    found = selected_disturbances(analysis, EVERYTHING)
    if not found:
        return "at once"
    last = max(found, key=lambda d: d.ended_us)
    if last.is_open or last.started_us >= analysis.horizon_us * 3 // 4:
        return "never"
    return "at once" if last.ended_us - min(d.started_us for d in found) <= AT_ONCE_US else "slowly"


def judged(
    budgets: Iterable[Budget],
    facts: Iterable[Expectation],
    variant: str,
    analyses: Mapping[str, Analysis],
) -> list[dict[str, Any]]:
    """The variant's budgets and facts as they came out in this run, as `rebalsim check` would
    judge them.
    """
    found = [
        _judged(budget.text, budget.level.value, verdict)
        for budget, verdict in judge_variant(budgets, variant, analyses)
    ]
    for fact in facts:
        if not fact.variant or fact.variant == variant:
            found.append(
                _judged(
                    fact.text, fact.level.value, judge_fact(measure_fact(analyses[variant], fact))
                )
            )
    return found


def _judged(text: str, level: str, verdict: RunVerdict) -> dict[str, Any]:
    return {
        "budget": text,
        "level": level,
        "observed": verdict.observed,
        "limit": verdict.limit,
        "excess": verdict.excess,
        "verdict": verdict.outcome.value,  # a text, for Spark knows no enums
    }


def overall(judged_: Sequence[Mapping[str, Any]]) -> str:
    """Several verdicts as one; a budget that only warns breaks nothing."""
    verdicts = [j["verdict"] for j in judged_ if j["level"] == Level.ERROR]
    worst = (Outcome.FAIL, Outcome.INCONCLUSIVE)
    return next((one.value for one in worst if one in verdicts), Outcome.PASS.value)


def pauses_of(analysis: Analysis) -> list[dict[str, Any]]:
    """Every pause with its phases, in order."""
    rows: list[dict[str, Any]] = []
    for pause in analysis.pauses:
        spent = dict.fromkeys(PHASES, 0)
        for phase in pause.phases:
            spent[phase.kind.value] += phase.length_us
        rows.append(
            {
                "topic": pause.partition.topic,
                "partition": pause.partition.number,
                "started_us": pause.started_us,
                "ended_us": pause.ended_us,
                "is_open": pause.is_open,
                "why": pause.why,
                "cause": pause.cause.kind,
                "owner_before": pause.owner_before,
                "owner_after": pause.owner_after,
                **{f"{phase.replace('-', '_')}_us": us for phase, us in spent.items()},
            }
        )
    return rows
