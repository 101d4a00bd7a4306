"""Variants (or files) side by side: a row a metric with the better one marked, and one sentence
that tells the trade honestly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rebalsim.domain.doing import Doing
from rebalsim.domain.metrics import ALERT_PER_HOUR, HEADLINES, HEADLINES_OF_TASKS, METRICS
from rebalsim.domain.phase import PhaseKind
from rebalsim.domain.unit import Better
from rebalsim.reports import figures
from rebalsim.reports.doings_told import card_of
from rebalsim.reports.names import safe
from rebalsim.reports.report import BudgetResult, Report, Spread, VariantReport
from rebalsim.reports.sentences import tell_none
from rebalsim.words.lists import listed, plural
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
    """Those that are clearly better than the worst and alike to the best; none where all are
    alike or unknown.
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


# ---------------------------------------------------------------------------------------- the trade


def tell_trade(report: Report) -> str:
    """What one buys with the one and pays with the other; empty where there is only one, or
    nothing stood still.
    """
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
        sums = _both(*(_sum(value).removesuffix(" partition-seconds") for value in total))
        return (
            f"{one.name} and {other.name} stand still alike: {_both(*map(_length, longest))} at "
            "the longest, "
            f"{sums} partition-seconds in sum{_spread_over(report)}."
        )
    if by_length >= 0 and by_sum >= 0 and by_length != by_sum:
        return _torn(report, by_sum, longest, total)
    better = by_sum if by_sum >= 0 else by_length
    return _clear(report, better, longest, total, (by_length, by_sum))


def tell_one(variant: VariantReport) -> str:
    """How much a single run stood still: how many partitions, the longest, the sum."""
    a = variant.analysis
    touched, longest, total = (
        variant.measure(name)
        for name in ("partitions_touched", "longest_pause", "partition_seconds")
    )
    tasks = tell_tasks(variant)
    if not touched or longest is None or total is None:
        return tasks or tell_none([a])
    return (
        f"{tasks + ' ' if tasks else ''}"
        f"{touched:.0f} of {plural(len(a.partition_keys), 'partition')} stood still, {_length(longest)} "
        f"at the longest and {_sum(total)} in all, "
        f"over {plural(round(variant.measure('rebalances') or 0), 'rebalance')}."
    )


def tell_tasks(variant: VariantReport) -> str:
    """How much Connect's tasks stood still; empty where there are none."""
    longest, total, touched, rounds = (
        variant.measure(name)
        for name in ("longest_task_pause", "task_seconds", "tasks_touched", "worker_rebalances")
    )
    if longest is None or total is None:
        return ""
    count = len(variant.analysis.partitions) - len(variant.analysis.partition_keys)
    if not touched:
        return f"None of {plural(count, 'task')} stood still."
    return (
        f"{touched:.0f} of {plural(count, 'task')} stood still, {_length(longest)} at the longest "
        f"and {figures.say('task_seconds', total)} of tasks in all, over "
        f"{plural(round(rounds or 0), 'round')} of their workers."
    )


def _pair(report: Report, name: str) -> tuple[float, float] | None:
    one, other = (v.measure(name) for v in report.variants[:2])
    return None if one is None or other is None else (one, other)


def _spread_over(report: Report) -> str:
    """How many partitions share it, where that is what tells the two apart."""
    touched = _pair(report, "partitions_touched")
    if touched is None or best_of("partitions_touched", touched) < 0:
        return ""
    few = best_of("partitions_touched", touched)
    one, other = report.variants[few], report.variants[1 - few]
    return (
        f"; but it is {touched[few]:.0f} partitions that do so under {one.name}, and "
        f"{touched[1 - few]:.0f} under {other.name}"
    )


def _torn(
    report: Report, by_sum: int, longest: tuple[float, float], total: tuple[float, float]
) -> str:
    """One stops less in all, the other's worst partition waits less."""
    less, more = report.variants[by_sum], report.variants[1 - by_sum]
    touched = _pair(report, "partitions_touched")
    on = (
        f" on {touched[by_sum]:.0f} instead of {touched[1 - by_sum]:.0f} partitions"
        if touched and touched[0] != touched[1]
        else ""
    )
    sums = (
        f"{_sum(total[by_sum])} instead of "
        f"{_sum(total[1 - by_sum]).removesuffix(' partition-seconds')}"
    )
    told = (
        f"{less.name} stops less in all ({sums}{on}), but its worst partition waits longer "
        f"than under {more.name}: {_length(longest[by_sum])} instead of "
        f"{_length(longest[1 - by_sum])}"
    )
    return f"{told}{reason_of(less)}."


def reason_of(variant: VariantReport) -> str:
    """Why the longest pause is as long as it is, where a cooperative hand-over's second round
    makes it so.
    """
    pause = max(variant.analysis.pauses, key=lambda p: p.length_us, default=None)
    if pause is None:
        return ""
    waits = [phase for phase in pause.phases if phase.kind is PhaseKind.FOLLOW_UP]
    waited = sum(phase.length_us for phase in waits)
    if not waits or 2 * waited < pause.length_us:
        return ""
    heard = max(waits, key=lambda phase: phase.length_us).facts
    if heard.doing is Doing.TORN:
        return (
            f", because under {safe(variant.name)} a moved partition waits "
            f"{say_duration(waited)} for a second rebalance that never comes: "
            f"{safe(heard.consumer)} was restarted in between"
        )
    if heard.doing is Doing.NO_COORDINATOR:
        return (
            f", because under {safe(variant.name)} a moved partition waits "
            f"{say_duration(waited)} for a second rebalance, without a coordinator"
        )
    by_heartbeat = heard.timer or not heard.consumer
    how = (
        "the others hear at their next heartbeat"
        if by_heartbeat
        else f"{safe(heard.consumer)} hears only when {card_of(heard.doing).freed or 'it polls again'}"
    )
    return (
        f", because under {safe(variant.name)} a moved partition waits {say_duration(waited)} "
        f"for a second rebalance, of which {how}"
    )


def _clear(
    report: Report,
    better: int,
    longest: tuple[float, float],
    total: tuple[float, float],
    bests: tuple[int, int],
) -> str:
    good, bad = report.variants[better], report.variants[1 - better]
    if not total[better]:
        return (
            f"Under {good.name} nothing stood still; under {bad.name} {_sum(total[1 - better])}, "
            f"{_length(longest[1 - better])} at the longest."
        )
    parts = []
    if bests[1] >= 0:
        parts.append(
            f"{_sum(total[better])} instead of "
            f"{_sum(total[1 - better]).removesuffix(' partition-seconds')}"
        )
    if bests[0] >= 0:
        parts.append(
            f"{_length(longest[better])} instead of {_length(longest[1 - better])} at the longest"
        )
    else:
        parts.append(f"and alike at the longest, {_both(*map(_length, longest))}")
    told = (
        f"{good.name} stands still less than {bad.name}: "
        f"{', '.join(parts)}{reason_of(bad) if bests[0] >= 0 else ''}"
    )
    touched = _pair(report, "partitions_touched")
    if touched and best_of("partitions_touched", touched) == 1 - better:
        told += (
            f"; yet {good.name} stops {touched[better]:.0f} partitions, and {bad.name} only "
            f"{touched[1 - better]:.0f}"
        )
    rounds = _pair(report, "rebalances")
    if rounds and rounds[better] > rounds[1 - better]:
        told += (
            f"; it needs {plural(round(rounds[better]), 'rebalance')} instead of "
            f"{rounds[1 - better]:.0f} for it"
        )
    return told + "."


def _stands_least(
    variants: Sequence[VariantReport],
    in_sum: Sequence[int],
    at_most: Sequence[int],
    sums: str,
    longest: str,
) -> list[str]:
    """Who stands still least: in sum, and at the longest."""
    first = in_sum or at_most
    if not first:
        return []
    names = _names(variants, first)
    if in_sum and not any(variants[i].measure("longest_pause") for i in in_sum):
        return [f"Under {names} nothing stood still"]
    least = f"{names} {'stands' if len(first) == 1 else 'stand'} still least"
    if in_sum == at_most:
        return [f"{least}: {sums} in sum, {longest} at the longest"]
    if not in_sum:
        return [f"{least} at the longest, {longest}"]
    told = [f"{least} in sum, {sums}"]
    if at_most:
        others, do = _names(variants, at_most), "does" if len(at_most) == 1 else "do"
        told.append(f"at the longest {others} {do}, {longest}")
    return told


def _among_many(variants: Sequence[VariantReport]) -> str:
    """Who does best, in sum and at the longest, and who does with the fewest rebalances what
    others do faster.
    """
    bests, texts = {}, {}
    for name in ("partition_seconds", "longest_pause", "rebalances"):
        values = tuple(v.measure(name) for v in variants)
        bests[name] = bests_of(name, values)
        texts[name] = _texts(name, [values[i] for i in bests[name]])
    in_sum, at_most = bests["partition_seconds"], bests["longest_pause"]
    sums = f"{texts['partition_seconds']} partition-seconds"
    told = _stands_least(variants, in_sum, at_most, sums, texts["longest_pause"])
    quiet = bests["rebalances"]
    if quiet and told and not {*quiet} & {*in_sum, *at_most}:
        worst = max(variants[i].measure("longest_pause") or 0 for i in quiet)
        has = "has" if len(quiet) == 1 else "have"
        told.append(
            f"{_names(variants, quiet)} {has} the fewest rebalances, {texts['rebalances']}, and "
            f"a longest pause of {_length(worst)}"
        )
    told += _behind(variants, in_sum or at_most) if told else []
    return "; ".join(told) + "." if told else ""


def _behind(variants: Sequence[VariantReport], best: Sequence[int]) -> list[str]:
    """The other side of standing still the least: records that wait at the end, where another
    variant has far fewer.
    """
    late = [variants[i] for i in best if is_behind(variants[i])]
    ends = {v.name: v.measure("lag_at_end") or 0 for v in variants}
    least = min(ends, key=lambda name: ends[name])
    if not late or 2 * ends[least] > min(ends[v.name] for v in late):
        return []
    each = listed([f"{ends[v.name]:,.0f} under {v.name}" for v in late], 9)
    return [f"but records wait at the end, {each}, against {ends[least]:,.0f} under {least}"]


def _texts(name: str, values: Sequence[float | None]) -> str:
    """What the best have; they may be as good as each other without being the same."""
    said = [
        figures.say(name, value).removesuffix(" s" if name == "partition_seconds" else "")
        for value in values
    ]
    return listed(list(dict.fromkeys(said)), 9)


def _names(variants: Sequence[VariantReport], places: Sequence[int]) -> str:
    return listed([variants[i].name for i in places], 9)


def _both(one: str, other: str) -> str:
    return one if one == other else f"{one} and {other}"


def _length(us: float) -> str:
    return say_duration(round(us)) if us else "not at all"


def _sum(us: float) -> str:
    return (
        f"{figures.say('partition_seconds', us).removesuffix(' s')} partition-seconds"
        if us
        else "nothing"
    )
