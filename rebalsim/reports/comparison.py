"""Variants (or files) side by side: a row a metric with the better one marked, and one sentence that tells the trade honestly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rebalsim.analysis.values import PhaseKind
from rebalsim.domain.instants import say_duration
from rebalsim.domain.metrics import ALERT_PER_HOUR, HEADLINES, METRICS
from rebalsim.reports import figures
from rebalsim.reports.names import listed, plural
from rebalsim.reports.report import Report, VariantReport
from rebalsim.reports.sentences import tell_none

ALIKE = 0.02              # values closer than this share of the larger one are no difference worth marking
_BESIDE = ("least_moves",)            # told beside another metric, not in a row of their own
LOSSES = ("skipped",)                 # what is lost for good: any of it is worth a warning
_OF_PAUSES = ("longest_pause", "p50_partition_pause", "p95_partition_pause", "partition_seconds")
_IF_ANY = ("duplicates", "skipped", "open_pauses")


@dataclass(frozen=True, slots=True)
class Line:
    """One row: the metric, its value per variant in words, and which of them are the better ones (none, where nothing tells them apart)."""

    metric: str
    title: str
    values: tuple[float | None, ...]
    texts: tuple[str, ...]
    best: tuple[int, ...]


def lines_of(report: Report) -> list[Line]:
    """The rows of the summary: the headlines that say anything here."""
    found = []
    alerts = ("rebalances_per_hour", "rebalancing_share") if any(v.analysis.rebalances_too_often for v in report.variants) else ()
    for name in (*HEADLINES, "open_pauses", *alerts):
        if name in _BESIDE:
            continue
        values = tuple(v.analysis.measure(name) for v in report.variants)
        if all(value is None for value in values) or (name in _IF_ANY and not any(values)):
            continue
        texts = tuple(_text(name, value, v) for value, v in zip(values, report.variants))
        found.append(Line(name, figures.title_of(name), values, texts, bests_of(name, values)))
    return found


def _text(name: str, value: float | None, variant: VariantReport) -> str:
    text = figures.say(name, value)
    if value is None:
        return text
    if name in _OF_PAUSES and not variant.analysis.lanes:
        return figures.UNKNOWN                # nobody ever had a partition that could have stood still
    if name == "partitions_touched":
        text += f" of {len(variant.analysis.lanes):,}"
    elif name == "settle_time" and variant.analysis.measure("unsettled"):
        return f"not within {say_duration(variant.analysis.horizon_us)}" if not value else f"over {text}"
    elif name == "moved_partitions":
        least = variant.analysis.measure("least_moves")
        text += f", at least {figures.say('least_moves', least)}" if least is not None and least < value else ""
    elif name == "rebalances_per_hour" and variant.analysis.rebalances_too_often:
        text += f" (alert: {ALERT_PER_HOUR})"
    spread = variant.spread.get(name)
    return text if spread is None else f"{figures.say(name, spread.median)} (p95 {figures.say(name, spread.p95)}, max {figures.say(name, spread.most)})"


def bests_of(name: str, values: Sequence[float | None]) -> tuple[int, ...]:
    """Those that are clearly better than the worst and alike to the best; none where all are alike or unknown."""
    better = METRICS[name].better
    known = [value for value in values if value is not None]
    if better == "neither" or len(known) < 2:
        return ()
    best, worst = (min(known), max(known)) if better == "less" else (max(known), min(known))
    return () if alike(best, worst) else tuple(i for i, value in enumerate(values) if value is not None and alike(value, best))


def best_of(name: str, values: Sequence[float | None]) -> int:
    """The one that is clearly better than all others; −1 where there is none."""
    found = bests_of(name, values)
    return found[0] if len(found) == 1 else -1


def alike(one: float, other: float) -> bool:
    """Whether two values are the same for all that anybody cares."""
    return abs(one - other) <= ALIKE * max(abs(one), abs(other))


# ------------------------------------------------------------------------------------------------ the trade


def tell_trade(report: Report) -> str:
    """What one buys with the one and pays with the other; empty where there is only one, or nothing stood still."""
    if len(report.variants) < 2 or report.is_comparison:
        return ""
    if len(report.variants) > 2:
        return _among_many(report.variants)
    one, other = report.variants
    longest, total = (_pair(report, name) for name in ("longest_pause", "partition_seconds"))
    if longest is None or total is None or not any((*longest, *total)):
        return ""
    by_length, by_sum = best_of("longest_pause", longest), best_of("partition_seconds", total)
    if by_length < 0 and by_sum < 0:
        return f"{one.name} and {other.name} stand still alike: {_length(longest[0])} at the longest, {_sum(total[0])} in sum{_spread_over(report)}."
    if by_length >= 0 and by_sum >= 0 and by_length != by_sum:
        return _torn(report, by_sum, longest, total)
    better = by_sum if by_sum >= 0 else by_length
    return _clear(report, better, longest, total, (by_length, by_sum))


def tell_one(variant: VariantReport) -> str:
    """How much a single run stood still: how many partitions, the longest, the sum."""
    a = variant.analysis
    touched, longest, total = (a.measure(name) for name in ("partitions_touched", "longest_pause", "partition_seconds"))
    if not touched or longest is None or total is None:
        return tell_none([a])
    return (f"{touched:.0f} of {plural(len(a.lanes), 'partition')} stood still, {_length(longest)} at the longest and {_sum(total)} in all, "
            f"over {plural(round(a.measure('rebalances') or 0), 'rebalance')}.")


def _pair(report: Report, name: str) -> tuple[float, float] | None:
    one, other = (v.analysis.measure(name) for v in report.variants[:2])
    return None if one is None or other is None else (one, other)


def _spread_over(report: Report) -> str:
    """How many partitions share it, where that is what tells the two apart."""
    touched = _pair(report, "partitions_touched")
    if touched is None or best_of("partitions_touched", touched) < 0:
        return ""
    few = best_of("partitions_touched", touched)
    one, other = report.variants[few], report.variants[1 - few]
    return f"; but it is {touched[few]:.0f} partitions that do so under {one.name}, and {touched[1 - few]:.0f} under {other.name}"


def _torn(report: Report, by_sum: int, longest: tuple[float, float], total: tuple[float, float]) -> str:
    """One stops less in all, the other's worst partition waits less."""
    less, more = report.variants[by_sum], report.variants[1 - by_sum]
    touched = _pair(report, "partitions_touched")
    on = f" on {touched[by_sum]:.0f} instead of {touched[1 - by_sum]:.0f} partitions" if touched and touched[0] != touched[1] else ""
    sums = f"{_sum(total[by_sum])} instead of {_sum(total[1 - by_sum]).removesuffix(' partition-seconds')}"
    told = (f"{less.name} stops less in all ({sums}{on}), but its worst partition waits longer "
            f"than under {more.name}: {_length(longest[by_sum])} instead of {_length(longest[1 - by_sum])}")
    return f"{told}{_reason(less)}."


def _reason(variant: VariantReport) -> str:
    """Why the longest pause is as long as it is, where a cooperative hand-over's second round makes it so."""
    pause = max(variant.analysis.pauses, key=lambda p: p.length_us, default=None)
    if pause is None:
        return ""
    follow_up = sum(phase.length_us for phase in pause.phases if phase.kind is PhaseKind.FOLLOW_UP)
    if 2 * follow_up < pause.length_us:
        return ""
    return f", because a moved partition waits {say_duration(follow_up)} for a second rebalance, which the others hear of at their next heartbeat"


def _clear(report: Report, better: int, longest: tuple[float, float], total: tuple[float, float], bests: tuple[int, int]) -> str:
    good, bad = report.variants[better], report.variants[1 - better]
    if not total[better]:
        return f"Under {good.name} nothing stood still; under {bad.name} {_sum(total[1 - better])}, {_length(longest[1 - better])} at the longest."
    parts = []
    if bests[1] >= 0:
        parts.append(f"{_sum(total[better])} instead of {_sum(total[1 - better]).removesuffix(' partition-seconds')}")
    if bests[0] >= 0:
        parts.append(f"{_length(longest[better])} instead of {_length(longest[1 - better])} at the longest")
    else:
        parts.append(f"the longest pause is the same, {_length(longest[0])}")
    told = f"{good.name} stands still less than {bad.name}: {', '.join(parts)}"
    touched = _pair(report, "partitions_touched")
    if touched and best_of("partitions_touched", touched) == 1 - better:
        told += f"; yet it stops {touched[better]:.0f} partitions, and {bad.name} only {touched[1 - better]:.0f}{_reason(bad)}"
    rounds = _pair(report, "rebalances")
    if rounds and rounds[better] > rounds[1 - better]:
        told += f"; it needs {plural(round(rounds[better]), 'rebalance')} instead of {rounds[1 - better]:.0f} for it"
    return told + "."


def _among_many(variants: Sequence[VariantReport]) -> str:
    """Who does best, in sum and at the longest; in one sentence where that is the same one."""
    found: dict[tuple[int, ...], list[str]] = {}
    for name, text in (("partition_seconds", "{} partition-seconds in sum"), ("longest_pause", "{} at the longest")):
        values = tuple(v.analysis.measure(name) for v in variants)
        bests = bests_of(name, values)
        if bests:
            found.setdefault(bests, []).append(text.format(figures.say(name, values[bests[0]]).removesuffix(" s" if name == "partition_seconds" else "")))
    told = []
    for bests, said in found.items():
        names = listed([variants[i].name for i in bests], 9)
        if not any(variants[i].analysis.measure("longest_pause") for i in bests):
            told.append(f"Under {names} nothing stood still")
        else:
            told.append(f"{names} {'stands' if len(bests) == 1 else 'stand'} still least: {' and '.join(said)}")
    return "; ".join(told) + "." if told else ""


def _length(us: float) -> str:
    return say_duration(round(us)) if us else "not at all"


def _sum(us: float) -> str:
    return f"{figures.say('partition_seconds', us).removesuffix(' s')} partition-seconds" if us else "nothing"
