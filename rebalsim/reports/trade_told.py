"""What variants trade for each other, honestly, and what one alone comes to, as sentences."""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.domain.doing import Doing
from rebalsim.domain.phase import PhaseKind
from rebalsim.reports import figures
from rebalsim.reports.comparison import best_of, bests_of, is_behind
from rebalsim.reports.doings_told import card_of
from rebalsim.reports.names import safe
from rebalsim.reports.report import Report, VariantReport
from rebalsim.words.lists import listed, plural
from rebalsim.words.times import say_duration


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
