"""Measures of pauses: their lengths, over pauses and over partitions, and their phases."""

from __future__ import annotations

from rebalsim.analysis.findings import Findings
from rebalsim.analysis.selecting import (
    Measure,
    clipped,
    once,
    selected_keys,
    selected_pauses,
)
from rebalsim.analysis.values import Story, Value
from rebalsim.domain.metrics import PHASES, Selection
from rebalsim.domain.percentiles import percentile


def _longest(a: Findings, s: Selection) -> Value:
    return max((p.ended_us - p.started_us for p in selected_pauses(a, s)), default=0)


def _over_pauses(percent: float) -> Measure:
    def measured(a: Findings, s: Selection) -> Value:
        lengths = once(a, "lengths", s, lambda: sorted(p.length_us for p in selected_pauses(a, s)))
        return percentile(lengths, percent) or 0

    return measured


def _over_partitions(percent: float) -> Measure:
    return lambda a, s: (
        percentile(once(a, "partitions", s, lambda: _longest_by_partition(a, s)), percent) or 0
    )


def _longest_by_partition(a: Findings, s: Selection) -> list[int]:
    """Each partition's longest pause, 0 for those that never stood still; ascending."""
    longest = dict.fromkeys(selected_keys(a, s), 0)
    for p in selected_pauses(a, s):
        key = (p.group, p.partition)
        length = p.ended_us - p.started_us
        if length > longest.get(key, 0):
            longest[key] = length
    return sorted(longest.values())


def _partition_seconds(a: Findings, s: Selection) -> Value:
    return sum(clipped(p, s) for p in selected_pauses(a, s))


def _touched(a: Findings, s: Selection) -> Value:
    return len({(p.group, p.partition) for p in selected_pauses(a, s)})


def _phase_longest(phase: str) -> Measure:
    return lambda a, s: once(a, "phases", s, lambda: _phase_times(a, s)).get(phase, (0, 0))[0]


def _phase_sum(phase: str) -> Measure:
    return lambda a, s: once(a, "phases", s, lambda: _phase_times(a, s)).get(phase, (0, 0))[1]


def _phase_times(a: Findings, s: Selection) -> dict[str, tuple[int, int]]:
    """Phase → the longest that one pause spent in it, and the sum over all; partitions that
    share a story are weighed together.
    """
    weights: dict[int, tuple[Story, int]] = {}
    for p in selected_pauses(a, s):
        story = p.story
        _, weight = weights.get(id(story), (story, 0))
        weights[id(story)] = (story, weight + 1)
    times: dict[str, tuple[int, int]] = {}
    for story, weight in weights.values():
        spent: dict[str, int] = {}
        for phase in story.phases:
            spent[phase.kind] = spent.get(phase.kind, 0) + phase.ended_us - phase.started_us
        for kind, length in spent.items():
            longest, whole = times.get(kind, (0, 0))
            times[kind] = (max(longest, length), whole + length * weight)
    return times


MEASURES: dict[str, Measure] = {
    "longest_pause": _longest,
    **{f"p{p}_pause": _over_pauses(p) for p in (50, 95, 99)},
    **{f"p{p}_partition_pause": _over_partitions(p) for p in (50, 95, 99)},
    "partition_seconds": _partition_seconds,
    "partitions_touched": _touched,
    "pauses": lambda a, s: len(selected_pauses(a, s)),
    "open_pauses": lambda a, s: sum(1 for p in selected_pauses(a, s) if p.is_open),
    **{f"pause_{phase.replace('-', '_')}": _phase_longest(phase) for phase in PHASES},
    **{f"partition_seconds_{phase.replace('-', '_')}": _phase_sum(phase) for phase in PHASES},
}
