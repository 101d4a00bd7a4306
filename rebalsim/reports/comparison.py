"""Variants (or files) side by side: a row a metric with the better one marked. The sentence on what
they trade for each other is in `trade_told.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rebalsim.domain.metrics import ALERT_PER_HOUR, HEADLINES, HEADLINES_OF_TASKS, METRICS
from rebalsim.domain.unit import Better
from rebalsim.reports import figures
from rebalsim.reports.report import BudgetResult, Report, Spread, VariantReport
from rebalsim.words.times import say_duration

LEAST = "*"  # marks the least of a row; ✓ and ✗ are for budgets alone
ALIKE = 0.02  # values closer than this share of the larger one are no difference worth marking
_BESIDE = ("least_moves",)  # told beside another metric, not in a row of their own
# lag at the end is told from a twentieth of its peak and ten records a partition on
BEHIND_SHARE, BEHIND_EACH = 20, 10
OTHER_START_US = 1_000_000
LOSSES = ("skipped",)  # what is lost for good: any of it is worth a warning
_OF_PAUSES = ("longest_pause", "p50_partition_pause", "p95_partition_pause", "partition_seconds")
# beside the headlines of tasks, where there are Connect's workers and nothing else
_ALSO_OF_WORKERS = ("generations", "settle_time")
_IF_ANY = ("duplicates", "skipped", "open_pauses")


@dataclass(frozen=True, slots=True)
class Line:
    """One row: the metric, its value per variant in words, and which of them are the better ones
    (none, where nothing tells them apart).
    """

    metric: str
    title: str
    values: tuple[float | None, ...]
    texts: tuple[str, ...]
    best: tuple[int, ...]


def lines_of(report: Report) -> list[Line]:
    """The rows of the summary: the headlines that say anything here."""
    found = []
    alerts = (
        ("rebalances_per_hour", "rebalancing_share")
        if any(v.analysis.rebalances_too_often for v in report.variants)
        else ()
    )
    for name in (*_with_end(report), "open_pauses", *alerts):
        if name in _BESIDE:
            continue
        values = tuple(v.measure(name) for v in report.variants)
        if all(value is None for value in values) or (name in _IF_ANY and not any(values)):
            continue
        texts = tuple(_text(name, v.analysis.measure(name), v) for v in report.variants)
        compared = tuple(
            None if _is_unfinished(name, v) else value for value, v in zip(values, report.variants)
        )
        found.append(
            Line(name, figures.title_of(name), values, texts, _bests(name, values, compared))
        )
    return found


def _is_unfinished(name: str, v: VariantReport) -> bool:
    """Whether what the metric waits for had not come about in the end: then it is no less than
    anybody else's, whatever it came to until then.
    """
    if name == "settle_time":
        return bool(v.analysis.measure("unsettled"))
    if name != "time_to_catch_up" or (value := v.analysis.measure(name)) is None:
        return False
    return (
        is_behind(v)
        if not value
        else any(v.analysis.lag_book.is_behind(p) for p in v.analysis.pauses)
    )


def _bests(
    name: str, values: Sequence[float | None], compared: Sequence[float | None]
) -> tuple[int, ...]:
    """The better ones among those that came to an end; all of them, where others did not."""
    ended = [value for value in compared if value is not None]
    if len(ended) < sum(value is not None for value in values) and ended:
        best = min(ended)
        return tuple(
            i for i, value in enumerate(compared) if value is not None and alike(value, best)
        )
    return bests_of(name, compared)


def _with_end(report: Report) -> list[str]:
    """The headlines, and beside the highest lag the last one, where somebody is behind at the
    end: fewer pauses are no cure for that. And how long the group took to begin, where variants
    differ in that.
    """
    names = list(HEADLINES)
    if any(v.analysis.worker_groups for v in report.variants):
        has_partitions = any(v.analysis.partition_keys for v in report.variants)
        names = [
            *HEADLINES_OF_TASKS,
            *(n for n in names if has_partitions or n in _ALSO_OF_WORKERS),
        ]
    if any(is_behind(v) for v in report.variants):
        names.insert(names.index("lag_peak") + 1 if "lag_peak" in names else 0, "lag_at_end")
    starts = [v.analysis.measure("first_settle_time") for v in report.variants]
    known = [start for start in starts if start is not None]
    if known and max(known) - min(known) >= OTHER_START_US:
        names.append("first_settle_time")
    return names


def nouns_of_lanes(report: Report) -> str:
    """What stands still in it: partitions, Connect's tasks, or both."""
    nouns = {
        "tasks": any(v.analysis.worker_groups for v in report.variants),
        "partitions": any(v.analysis.partition_keys for v in report.variants),
    }
    return " and ".join(noun for noun, is_there in nouns.items() if is_there) or "partitions"


def is_behind(v: VariantReport) -> bool:
    """Whether there is lag to speak of when the observation ends."""
    peak, end = v.analysis.measure("lag_peak"), v.analysis.measure("lag_at_end")
    return (
        peak is not None
        and end is not None
        and end >= max(peak / BEHIND_SHARE, BEHIND_EACH * len(v.analysis.lanes))
    )


def _text(name: str, value: float | None, variant: VariantReport) -> str:
    text = figures.say(name, value)
    if value is None:
        return text
    if name in _OF_PAUSES and not variant.analysis.lanes:
        return figures.UNKNOWN  # nobody ever had a partition that could have stood still
    if name == "partitions_touched":
        text += f" of {len(variant.analysis.partition_keys):,}"
    elif name == "settle_time" and variant.analysis.measure("unsettled"):
        return (
            f"not within {say_duration(variant.analysis.horizon_us)}"
            if not value
            else f"over {text}"
        )
    elif name == "time_to_catch_up" and _is_unfinished(name, variant):
        if not value:
            # nobody stood still, and yet there was a backlog all along
            return f"not within {say_duration(variant.analysis.horizon_us)}"
        text = f"over {text}"  # it had not, when the observation ended
    elif name == "moved_partitions":
        least = variant.analysis.measure("least_moves")
        text += (
            f", at least {figures.say('least_moves', least)}"
            if least is not None and least < value
            else ""
        )
    elif name == "rebalances_per_hour" and variant.analysis.rebalances_too_often:
        text += f" (alert: {ALERT_PER_HOUR})"
    spread = variant.spread.get(name)
    return text if spread is None else _say_spread(name, spread)


def say_measured(name: str, variant: VariantReport) -> str:
    """The metric in words, with its spread where it was measured over several seeds."""
    spread = variant.spread.get(name)
    return (
        figures.say(name, variant.analysis.measure(name))
        if spread is None
        else _say_spread(name, spread)
    )


def observed_of(budget: BudgetResult, report: Report) -> str:
    """What a budget was judged by; with its seed, where the table beside it says another figure,
    for it is of several seeds.
    """
    metric = budget.text.split(" ", 1)[0]
    beside = [
        figures.say(metric, v.spread[metric].median)
        for v in report.variants
        if budget.variant in ("", v.name) and metric in v.spread
    ]
    if beside and budget.observed not in beside:
        return f"{budget.observed} with seed {budget.seed}"
    return budget.observed


def _say_spread(name: str, spread: Spread) -> str:
    median, p95, most = (
        figures.say(name, value) for value in (spread.median, spread.p95, spread.most)
    )
    return median if median == p95 == most else f"{median} (p95 {p95}, max {most})"


def tell_seeds(report: Report) -> str:
    """How figures with a spread are to be read, and what beside them is of one run alone; empty
    where there are none.
    """
    seeds = max((s.runs for v in report.variants for s in v.spread.values()), default=0)
    if not seeds:
        return ""
    alone = (
        f" Phases and partitions are those of seed {report.seed}."
        if report.is_comparison and report.seed is not None
        else ""
    )
    return (
        f"Middle, p95 and highest value over {seeds} seeds, or one where they are the same.{alone}"
    )


def bests_of(name: str, values: Sequence[float | None]) -> tuple[int, ...]:
    """The places of the values that are clearly better than the worst and alike to the best; none
    where all are alike or unknown.
    """
    better = METRICS[name].better
    known = [value for value in values if value is not None]
    if better == Better.NEITHER or len(known) < 2:
        return ()
    best, worst = (min(known), max(known)) if better == Better.LESS else (max(known), min(known))
    return (
        ()
        if alike(best, worst)
        else tuple(i for i, value in enumerate(values) if value is not None and alike(value, best))
    )


def best_of(name: str, values: Sequence[float | None]) -> int:
    """The one that is clearly better than all others; −1 where there is none."""
    found = bests_of(name, values)
    return found[0] if len(found) == 1 else -1


def alike(one: float, other: float) -> bool:
    """Whether two values are the same for all that anybody cares."""
    return abs(one - other) <= ALIKE * max(abs(one), abs(other))
