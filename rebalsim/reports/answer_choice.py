"""Which variant to take, and what told it apart: budgets, where there are any; else the longest
pause, then partition-seconds, then rebalances.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from rebalsim.domain.budget import Level
from rebalsim.domain.metrics import HEADLINES_OF_TASKS
from rebalsim.domain.remedy import Remedy
from rebalsim.domain.verdict import Outcome
from rebalsim.reports.comparison import alike
from rebalsim.reports.report import Report, VariantReport

ORDER = ("longest_pause", "partition_seconds", "rebalances")
BUDGETS = "budgets"
Values = Callable[[int, str], float | None]  # of a variant's place, and a metric


@dataclass(frozen=True, slots=True)
class Step:
    """What one look told: by which metric (or `budgets`), and who was left behind by it."""

    by: str
    behind: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The variants that are alike and better than the others, and what told them apart."""

    places: tuple[int, ...]
    steps: tuple[Step, ...] = ()  # empty where nothing tells them apart


def choose(report: Report) -> Choice:
    """Who breaks the fewest budgets, and leaves the fewest undecided; among these by the stated
    order.
    """
    variants = report.variants
    broken = [(len(broken_by(report, v)), len(undecided_in(report, v))) for v in variants]
    left = [i for i, count in enumerate(broken) if count == min(broken)]
    behind = tuple(i for i in range(len(variants)) if i not in left)
    first = (Step(BUDGETS, behind),) if behind else ()
    rest = _by_order(left, metrics_of(report), lambda i, metric: variants[i].measure(metric))
    return Choice(rest.places, (*first, *rest.steps))


def metrics_of(report: Report) -> tuple[str, ...]:
    """What decides after the budgets, in its order."""
    of_tasks = any(v.analysis.worker_groups for v in report.variants)
    return (*HEADLINES_OF_TASKS[:2], *ORDER) if of_tasks else ORDER


def order_said(report: Report) -> str:
    """What decides between variants, in its order."""
    of_tasks = any(v.analysis.worker_groups for v in report.variants)
    first = "longest task pause, task-seconds, then as for partitions: " if of_tasks else ""
    is_cured = cure_of(report) is not None
    of_changes = " Of changes that keep all budgets the smallest is taken." if is_cured else ""
    return (
        f"Variants are chosen by budgets, then by {first}longest pause, partition-seconds and "
        f"rebalances.{of_changes}"
    )


def _by_order(places: Sequence[int], metrics: Sequence[str], value_of: Values) -> Choice:
    left, steps = list(places), []
    for metric in metrics:
        values = [value_of(i, metric) for i in left]
        known = [value for value in values if value is not None]
        if len(known) < len(values) or len(left) == 1:
            break
        best = [i for i, value in zip(left, known) if alike(value, min(known))]
        if len(best) < len(left):
            steps.append(Step(metric, tuple(i for i in left if i not in best)))
            left = best
    return Choice(tuple(left), tuple(steps))


def seeds_alike(report: Report, chosen: Choice) -> tuple[int, int]:
    """Under how many seeds the same would be taken, of how many; among those that the budgets
    leave, for these were judged over all seeds already.
    """
    seeds = min((len(v.by_seed.seeds) for v in report.variants), default=0)
    behind = {i for step in chosen.steps if step.by == BUDGETS for i in step.behind}
    left = [i for i in range(len(report.variants)) if i not in behind]
    same = 0
    for n in range(seeds):
        found = _by_order(left, metrics_of(report), partial(_under, report, n))
        is_within = bool(chosen.steps) and set(found.places) <= set(chosen.places)
        same += is_within or set(found.places) >= set(chosen.places)
    return same, seeds


def _under(report: Report, n: int, place: int, metric: str) -> float | None:
    values = report.variants[place].by_seed.values.get(metric, ())
    return values[n] if n < len(values) else None


def broken_by(report: Report, v: VariantReport) -> list[str]:
    """The budgets that this variant breaks, as the file says them."""
    return _budgets(report, v, Outcome.FAIL)


def undecided_in(report: Report, v: VariantReport) -> list[str]:
    """The budgets that a longer horizon decides in this variant, as the file says them."""
    return _budgets(report, v, Outcome.INCONCLUSIVE)


def _budgets(report: Report, v: VariantReport, outcome: Outcome) -> list[str]:
    return [
        b.text
        for b in report.budgets
        if b.outcome is outcome and b.level == Level.ERROR and b.variant in ("", v.name)
    ]


def cure_of(report: Report) -> Remedy | None:
    """Where every variant breaks a budget: the tried change with which all are kept; the smallest
    one, as a search for the smallest change takes it, then by the stated order.
    """
    if not report.variants or not all(broken_by(report, v) for v in report.variants):
        return None
    cures = [r for v in report.variants for r in v.remedies if r.keeps_budgets]
    return min(cures, key=lambda r: rank_of_change(r.cost, r.after), default=None)


def best_remedy(variants: Sequence[VariantReport]) -> Remedy | None:
    """The one that brings the longest pause down the most, and breaks no budget."""
    found = [r for v in variants for r in v.remedies if "longest_pause" in r.gains and not r.breaks]
    return min(found, key=lambda r: (r.after["longest_pause"], len(r.price)), default=None)


def rank_of_change(cost: float, after: Mapping[str, float]) -> tuple[float, ...]:
    """The smallest change first: how far it turns and what it makes worse; then the stated order,
    in which what differs by little is alike. Whoever takes one of several changes that keep all
    budgets takes it by this.
    """
    values = [after.get(metric, 0.0) for metric in ORDER]
    return (round(cost, 3), *(float(f"{value:.1e}") for value in values))
