"""Measured numbers as people read them: a unit of the registry and a value in, a few characters
out. Unknown is `-`.
"""

from __future__ import annotations

from rebalsim.domain.instants import SECOND
from rebalsim.domain.metrics import METRICS, Metric
from rebalsim.domain.unit import Unit
from rebalsim.words.times import say_duration

UNKNOWN = "-"
MOST_DECIMALS = 6  # that two values are told apart by

# What people call the headlines; other metrics go by their registered name.
TITLES = {
    "longest_pause": "longest pause",
    "p50_partition_pause": "p50 over partitions",
    "p95_partition_pause": "p95 over partitions",
    "partition_seconds": "partition-seconds",
    "task_seconds": "task-seconds",
    "partitions_touched": "partitions touched",
    "rebalances": "rebalances",
    "generations": "generations",
    "moved_partitions": "partitions moved",
    "least_moves": "had to move",
    "lag_peak": "lag at its peak",
    "lag_at_end": "lag at the end",
    "time_to_catch_up": "time to catch up",
    "duplicates": "duplicates",
    "skipped": "skipped, never read",
    "settle_time": "time to settle",
    "first_settle_time": "time to begin",
    "open_pauses": "still open",
    "rebalances_per_hour": "rebalances an hour",
    "rebalancing_share": "time spent rebalancing",
}


def title_of(name: str) -> str:
    """The metric as a row of a table is headed."""
    return TITLES.get(name, name.replace("_", " "))


def say(name: str, value: float | None) -> str:
    """The metric's value in words."""
    return UNKNOWN if value is None else say_as(METRICS[name], value)


def say_change(name: str, before: float | None, after: float | None) -> str:
    """`0.2 % → 0.3 %`: two values of the metric, with as many decimals as tell them apart."""
    said, then = say(name, before), say(name, after)
    if said == then and before is not None and after is not None:
        if before == after:
            return f"{said} as before"
        for decimals in range(1, MOST_DECIMALS + 1):
            said, then = (_exactly(METRICS[name], value, decimals) for value in (before, after))
            if said != then:
                break
    return f"{said} → {then}"


def _exactly(metric: Metric, value: float, decimals: int) -> str:
    if metric.unit == Unit.SHARE:
        return f"{100 * value:.{decimals}f} %"
    if metric.unit in (Unit.DURATION, Unit.PARTITION_TIME):
        return f"{value / SECOND:,.{decimals}f} s"
    return f"{value:,.{decimals}f}"


def say_as(metric: Metric, value: float) -> str:
    """A value in the metric's unit."""
    if metric.unit == Unit.DURATION:
        return say_duration(round(value))
    if metric.unit == Unit.PARTITION_TIME:
        seconds = value / SECOND
        return (
            f"{seconds:,.0f} s"
            if seconds >= 100
            else f"{seconds:.1f} s"
            if seconds >= 10
            else f"{seconds:.2f} s"
            if seconds
            else "0 s"
        )
    if metric.unit == Unit.SHARE:
        return f"{100 * value:.1f} %" if value < 0.1 else f"{100 * value:.0f} %"
    if metric.unit == Unit.PER_HOUR:
        return f"{value:.1f}"
    return f"{round(value):,}" if metric.unit == Unit.RECORDS else say_number(value)


def say_number(value: float) -> str:
    """`42,000`, `1.5`."""
    return f"{round(value):,}" if value == round(value) or abs(value) >= 100 else f"{value:.1f}"
