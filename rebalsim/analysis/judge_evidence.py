"""Which pauses spent a budget: what is shown beneath a broken one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rebalsim.analysis.judge_selection import OF_A_GROUP, selection_of
from rebalsim.analysis.measure_tasks import MEASURES as OF_TASKS
from rebalsim.analysis.measure_tasks import task_pauses
from rebalsim.analysis.selecting import (
    is_within,
    selected_disturbances,
    selected_keys,
    selected_pauses,
    selected_redeliveries,
)
from rebalsim.analysis.values import Disturbance, Pause, Redelivery
from rebalsim.domain.budget import Budget
from rebalsim.domain.metrics import METRICS
from rebalsim.domain.unit import Unit

if TYPE_CHECKING:
    from rebalsim.analysis.analysis import Analysis

_BY_DISTURBANCE = (*OF_A_GROUP, "generations", "rebalancing_share", "members_removed")


def redeliveries_behind(a: Analysis, budget: Budget) -> list[Redelivery]:
    """The selected records that were handled twice, or skipped, the most at once first."""
    found = [
        r
        for r in selected_redeliveries(a, selection_of(a, budget))
        if r.is_skip == (budget.metric == "skipped")
    ]
    return sorted(found, key=lambda r: (-r.records, r.at_us))


def _longest_in_phase(pauses: Sequence[Pause], metric: str) -> list[Pause]:
    """The pauses that spent most in the phase that the metric is of, the longest first."""
    phase = metric.removeprefix("pause_").removeprefix("partition_seconds_").replace("_", "-")
    spent = [(sum(x.length_us for x in p.phases if x.kind.value == phase), p) for p in pauses]
    most = max(length for length, _ in spent)
    return [p for length, p in spent if length == most and length > 0]


def pauses_behind(a: Analysis, budget: Budget) -> list[Pause]:
    """The selected pauses that made the value: those of that length for a percentile, those
    longest in the phase for a phase, else the longest.
    """
    of = task_pauses if budget.metric in OF_TASKS else selected_pauses
    found = of(a, selection_of(a, budget))
    if not found:
        return []
    if budget.metric.startswith(("pause_", "partition_seconds_")):
        return _longest_in_phase(found, budget.metric)
    if budget.metric.startswith("p") and METRICS[budget.metric].unit == Unit.DURATION:
        value = a.measure(budget.metric, selection_of(a, budget))
        if at := [p for p in found if p.length_us == value]:
            return at
    if budget.metric in ("open_pauses", "unsettled"):
        found = [p for p in found if p.is_open] or found
    longest = max(p.length_us for p in found)
    return [p for p in found if p.length_us == longest]


def disturbances_behind(a: Analysis, budget: Budget) -> list[Disturbance]:
    """What set off what is counted, where rebalances and their like are; the longest first.
    Empty for other metrics.
    """
    if budget.metric not in _BY_DISTURBANCE:
        return []
    found = selected_disturbances(a, selection_of(a, budget))
    return sorted(
        found, key=lambda d: (-len(d.rebalances), d.started_us - d.ended_us, d.started_us)
    )


def still_at_the_peak(a: Analysis, budget: Budget) -> tuple[int, list[Pause]]:
    """When lag was highest, and the pauses that it came from: those under way then. Empty for
    other metrics.
    """
    if budget.metric != "lag_peak":
        return -1, []
    selection = selection_of(a, budget)
    corners = [
        (lag, -at)
        for at, lag in a.lag_book.total(selected_keys(a, selection))
        if is_within(at, selection)
    ]
    if not corners:
        return -1, []
    peak = -max(corners)[1]
    return peak, [p for p in selected_pauses(a, selection) if p.started_us < peak <= p.ended_us]
