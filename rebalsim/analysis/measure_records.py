"""Measures of records: lag, catching up, ages, delivered twice, skipped."""

from __future__ import annotations

from rebalsim.analysis.findings import Findings
from rebalsim.analysis.lag import age_percentile
from rebalsim.analysis.selecting import (
    Measure,
    is_within,
    once,
    selected_keys,
    selected_pauses,
    selected_rebalances,
    selected_redeliveries,
)
from rebalsim.analysis.values import Value
from rebalsim.domain.metrics import Selection


def _whole(records: float | None) -> int | None:
    """Lag is a fluid; records are not."""
    return None if records is None else round(records)


def _lag_peak(a: Findings, s: Selection) -> Value:
    return _whole(
        max(
            (lag for at, lag in a.lag_book.total(selected_keys(a, s)) if is_within(at, s)),
            default=None,
        )
    )


def _lag_peak_partition(a: Findings, s: Selection) -> Value:
    return _whole(
        max(
            (
                lag
                for key in selected_keys(a, s)
                for at, lag in a.lag_book.corners.get(key, ())
                if is_within(at, s)
            ),
            default=None,
        )
    )


def _lag_at_end(a: Findings, s: Selection) -> Value:
    at = a.horizon_us if s.until_us is None else min(a.horizon_us, s.until_us)
    lags = [
        lag for group, p in selected_keys(a, s) if (lag := a.lag_book.at(group, p, at)) is not None
    ]
    return _whole(sum(lags)) if lags else None


def _catch_up(a: Findings, s: Selection) -> Value:
    if not a.lag_book.corners:
        return None
    return max(
        (t for p in selected_pauses(a, s) if (t := a.lag_book.catch_up_of(p)) is not None),
        default=0,
    )


def _age(percent: float) -> Measure:
    return lambda a, s: age_percentile(
        once(a, "ages", s, lambda: a.lag_book.ages(selected_keys(a, s))), percent
    )


def _twice(a: Findings, s: Selection) -> Value:
    return (
        sum(r.records for r in selected_redeliveries(a, s) if not r.is_skip)
        if a.tells_positions
        else None
    )


def _skipped(a: Findings, s: Selection) -> Value:
    return (
        sum(r.records for r in selected_redeliveries(a, s) if r.is_skip)
        if a.tells_positions
        else None
    )


def _twice_per_rebalance(a: Findings, s: Selection) -> Value:
    twice, rebalances = _twice(a, s), len(selected_rebalances(a, s))
    return None if twice is None else twice / rebalances if rebalances else 0


MEASURES: dict[str, Measure] = {
    "lag_peak": _lag_peak,
    "lag_peak_partition": _lag_peak_partition,
    "lag_at_end": _lag_at_end,
    "time_to_catch_up": _catch_up,
    "duplicates": _twice,
    "duplicates_per_rebalance": _twice_per_rebalance,
    "skipped": _skipped,
    "record_age_p99": _age(99),
    "record_age_max": _age(100),
}
