"""Measures the registry's metrics on an analysis, over all of it or a selection. None means that the trace cannot tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rebalsim.analysis.lag import age_percentile
from rebalsim.analysis.values import Disturbance, MemberLife, Pause, Rebalance, Redelivery, Story
from rebalsim.domain.errors import BugError
from rebalsim.domain.ids import Partition
from rebalsim.domain.metrics import EVERYTHING, METRICS, PHASES, Selection, percentile

if TYPE_CHECKING:
    from rebalsim.analysis.analysis import Analysis

Value = float | int | None
HOUR = 3_600_000_000


def measure(analysis: Analysis, metric: str, selection: Selection = EVERYTHING) -> Value:
    """The metric's value in its base unit (µs, partition-µs, or a plain number)."""
    found = _MEASURES.get(metric)
    if found is None:
        raise BugError(f"The metric {metric} is registered nowhere")
    if selection is EVERYTHING:                     # the usual case: sweeps ask for it millions of times
        known = analysis.measured
        if metric not in known:
            known[metric] = found(analysis, selection)
        return known[metric]
    value: Value = _once(analysis, f"metric {metric}", selection, lambda: found(analysis, selection))
    return value


def _once(analysis: Analysis, what: str, selection: Selection, work: Callable[[], Any]) -> Any:
    """What several metrics need, worked out once per selection."""
    key = what if selection is EVERYTHING else (what, selection)
    if key not in analysis.workings:
        analysis.workings[key] = work()
    return analysis.workings[key]


# ---------------------------------------------------------------------------------------------------- what is selected


def selected_pauses(a: Analysis, s: Selection) -> Sequence[Pause]:
    """The pauses that a selection is about."""
    if s is EVERYTHING or s.is_all:
        return a.pauses
    found: Sequence[Pause] = _once(a, "pauses", s, lambda: [p for p in a.pauses if _fits(p, s)])
    return found


def _fits(p: Pause, s: Selection) -> bool:
    return (
        (not s.topics or p.partition.topic in s.topics)
        and (not s.group or p.group == s.group)
        and (s.from_us is None or p.ended_us > s.from_us)
        and (s.until_us is None or p.started_us < s.until_us)
        and (not s.members or p.owner_before in s.members or p.owner_after in s.members)
        and (not s.action or p.cause.action == s.action)
    )


def _within(at: int, s: Selection) -> bool:
    return (s.from_us is None or at >= s.from_us) and (s.until_us is None or at < s.until_us)


def _clipped(p: Pause, s: Selection) -> int:
    start = p.started_us if s.from_us is None else max(p.started_us, s.from_us)
    end = p.ended_us if s.until_us is None else min(p.ended_us, s.until_us)
    return max(0, end - start)


def selected_rebalances(a: Analysis, s: Selection) -> list[Rebalance]:
    """The rounds of a running group (its first settling is none) that a selection is about, by the instant of their barrier."""
    if s is EVERYTHING:
        return [r for r in a.rebalances if not r.is_formation]
    return [
        r for r in a.rebalances
        if not r.is_formation and (not s.group or r.group == s.group) and _within(r.barrier_us, s)
        and (not s.action or a.disturbances[r.disturbance].action == s.action)
        and (not s.members or any(c in s.members for c in r.joins) or r.trigger_consumer in s.members)
    ]


def selected_disturbances(a: Analysis, s: Selection) -> list[Disturbance]:
    """The disturbances of a running group that a selection is about."""
    found: list[Disturbance] = _once(a, "disturbances", s, lambda: _disturbances(a, s))
    return found


def _disturbances(a: Analysis, s: Selection) -> list[Disturbance]:
    forming = {r.disturbance for rounds in a.rounds_by_group.values() for r in rounds if r.is_formation}
    return [
        d for place, d in enumerate(a.disturbances)
        if place not in forming and (not s.group or d.group == s.group) and (not s.action or d.action == s.action)
        and (s.from_us is None or d.ended_us > s.from_us) and (s.until_us is None or d.started_us < s.until_us)
        and (not s.members or d.consumer in s.members)
    ]


def _keys(a: Analysis, s: Selection) -> list[tuple[str, Partition]]:
    """The partitions that a selection is about, those that never stood still too."""
    if s is EVERYTHING or s.is_all:
        return a.partitions
    keys = [k for k in a.partitions if (not s.topics or k[1].topic in s.topics) and (not s.group or k[0] == s.group)]
    if s.members:
        keys = [k for k in keys if any(h.consumer in s.members for h in a.holdings.get(k, ()))]
    return keys


def _redeliveries(a: Analysis, s: Selection) -> list[Redelivery]:
    return [
        r for r in a.redeliveries
        if (not s.topics or r.partition.topic in s.topics) and (not s.group or r.group == s.group) and _within(r.at_us, s)
        and (not s.members or r.consumer in s.members)
        and (not s.action or (r.disturbance >= 0 and a.disturbances[r.disturbance].action == s.action))
    ]


# ---------------------------------------------------------------------------------------------------- pauses


def _longest(a: Analysis, s: Selection) -> Value:
    return max((p.ended_us - p.started_us for p in selected_pauses(a, s)), default=0)


def _over_pauses(percent: float) -> Callable[[Analysis, Selection], Value]:
    def measured(a: Analysis, s: Selection) -> Value:
        lengths = _once(a, "lengths", s, lambda: sorted(p.length_us for p in selected_pauses(a, s)))
        return percentile(lengths, percent) or 0
    return measured


def _over_partitions(percent: float) -> Callable[[Analysis, Selection], Value]:
    return lambda a, s: percentile(_once(a, "partitions", s, lambda: _longest_by_partition(a, s)), percent) or 0


def _longest_by_partition(a: Analysis, s: Selection) -> list[int]:
    """Each partition's longest pause, 0 for those that never stood still; ascending."""
    longest = dict.fromkeys(_keys(a, s), 0)
    for p in selected_pauses(a, s):
        key = (p.group, p.partition)
        length = p.ended_us - p.started_us
        if length > longest.get(key, 0):
            longest[key] = length
    return sorted(longest.values())


def _partition_seconds(a: Analysis, s: Selection) -> Value:
    return sum(_clipped(p, s) for p in selected_pauses(a, s))


def _touched(a: Analysis, s: Selection) -> Value:
    return len({(p.group, p.partition) for p in selected_pauses(a, s)})


def _phase_longest(phase: str) -> Callable[[Analysis, Selection], Value]:
    return lambda a, s: _once(a, "phases", s, lambda: _phase_times(a, s)).get(phase, (0, 0))[0]


def _phase_sum(phase: str) -> Callable[[Analysis, Selection], Value]:
    return lambda a, s: _once(a, "phases", s, lambda: _phase_times(a, s)).get(phase, (0, 0))[1]


def _phase_times(a: Analysis, s: Selection) -> dict[str, tuple[int, int]]:
    """Phase → the longest that one pause spent in it, and the sum over all; partitions that share a story are weighed together."""
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


# ---------------------------------------------------------------------------------------------------- rebalances


def _generations(a: Analysis, s: Selection) -> Value:
    found = [r.generation for g, rounds in a.rounds_by_group.items() for r in rounds
             if r.completed_by != "computed" and r.barrier_us >= 0 and (not s.group or g == s.group) and _within(r.barrier_us, s)]
    if not found and any(r.completed_by == "computed" for rounds in a.rounds_by_group.values() for r in rounds):
        return None
    return max(found, default=0)


def _first_settle(a: Analysis, s: Selection) -> Value:
    times = [
        d.ended_us - d.started_us for place, d in enumerate(a.disturbances)
        if (not s.group or d.group == s.group) and any(r.is_formation and r.disturbance == place for r in a.rounds_by_group[d.group])
    ]
    return max(times, default=None)


def _settled_from(a: Analysis, group: str) -> int:
    """When the group had settled for the first time."""
    for r in a.rounds_by_group[group]:
        if r.is_formation:
            return a.disturbances[r.disturbance].ended_us
    return 0


def _groups(a: Analysis, s: Selection) -> list[str]:
    return [g for g in a.groups if a.rounds_by_group.get(g) and (not s.group or g == s.group)]


def _per_hour(a: Analysis, s: Selection) -> Value:
    start = s.from_us if s.from_us is not None else min((_settled_from(a, g) for g in _groups(a, s)), default=0)
    end = s.until_us if s.until_us is not None else a.horizon_us
    return len(selected_rebalances(a, s)) * HOUR / (end - start) if end > start else None


def _rebalancing(a: Analysis, s: Selection) -> Value:
    shares = []
    for group in _groups(a, s):
        start = max(_settled_from(a, group), s.from_us or 0)
        end = min(a.horizon_us, s.until_us if s.until_us is not None else a.horizon_us)
        spans = [x for x in a.group_states[group] if x.state not in ("Stable", "Empty", "Dead")]
        if end > start:
            shares.append(sum(max(0, min(x.ended_us, end) - max(x.started_us, start)) for x in spans) / (end - start))
    return max(shares, default=None)


def _longest_round(a: Analysis, s: Selection) -> Value:
    return max((r.felt_us for r in selected_rebalances(a, s)), default=0)


def _over_members(count: Callable[[MemberLife], int]) -> Callable[[Analysis, Selection], Value]:
    return lambda a, s: sum(count(m) for m in a.members if (not s.members or m.consumer in s.members) and (not s.group or m.group == s.group))


def _member_seconds(a: Analysis, s: Selection) -> Value:
    return sum(
        span.ended_us - span.started_us for m in a.members if (not s.members or m.consumer in s.members) and (not s.group or m.group == s.group)
        for span in m.spans if span.what != "away"
    )


# ---------------------------------------------------------------------------------------------------- records


def _whole(records: float | None) -> int | None:
    """Lag is a fluid; records are not."""
    return None if records is None else round(records)


def _lag_peak(a: Analysis, s: Selection) -> Value:
    return _whole(max((lag for at, lag in a.lag_book.total(_keys(a, s)) if _within(at, s)), default=None))


def _lag_peak_partition(a: Analysis, s: Selection) -> Value:
    return _whole(max((lag for key in _keys(a, s) for at, lag in a.lag_book.corners.get(key, ()) if _within(at, s)), default=None))


def _lag_at_end(a: Analysis, s: Selection) -> Value:
    at = a.horizon_us if s.until_us is None else min(a.horizon_us, s.until_us)
    lags = [lag for group, p in _keys(a, s) if (lag := a.lag_book.at(group, p, at)) is not None]
    return _whole(sum(lags)) if lags else None


def _catch_up(a: Analysis, s: Selection) -> Value:
    if not a.lag_book.corners:
        return None
    return max((t for p in selected_pauses(a, s) if (t := a.lag_book.catch_up_of(p)) is not None), default=0)


def _age(percent: float) -> Callable[[Analysis, Selection], Value]:
    return lambda a, s: age_percentile(_once(a, "ages", s, lambda: a.lag_book.ages(_keys(a, s))), percent)


def _twice(a: Analysis, s: Selection) -> Value:
    return sum(r.records for r in _redeliveries(a, s) if not r.is_skip) if a.tells_positions else None


def _skipped(a: Analysis, s: Selection) -> Value:
    return sum(r.records for r in _redeliveries(a, s) if r.is_skip) if a.tells_positions else None


def _twice_per_rebalance(a: Analysis, s: Selection) -> Value:
    twice, rebalances = _twice(a, s), len(selected_rebalances(a, s))
    return None if twice is None else twice / rebalances if rebalances else 0


def _of_clients(name: str) -> Callable[[Analysis, Selection], Value]:
    return lambda a, s: max(
        (v for c, values in a.client_metrics.items() if (not s.members or c in s.members) and (v := values.get(name)) is not None), default=None)


_MEASURES: dict[str, Callable[[Analysis, Selection], Value]] = {
    "longest_pause": _longest,
    **{f"p{p}_pause": _over_pauses(p) for p in (50, 95, 99)},
    **{f"p{p}_partition_pause": _over_partitions(p) for p in (50, 95, 99)},
    "partition_seconds": _partition_seconds,
    "partitions_touched": _touched,
    "pauses": lambda a, s: len(selected_pauses(a, s)),
    "open_pauses": lambda a, s: sum(1 for p in selected_pauses(a, s) if p.is_open),
    **{f"pause_{phase.replace('-', '_')}": _phase_longest(phase) for phase in PHASES},
    **{f"partition_seconds_{phase.replace('-', '_')}": _phase_sum(phase) for phase in PHASES},
    "rebalances": lambda a, s: len(selected_rebalances(a, s)),
    "disturbances": lambda a, s: len(selected_disturbances(a, s)),
    "generations": _generations,
    "moved_partitions": lambda a, s: sum(d.moved for d in selected_disturbances(a, s)),
    "least_moves": lambda a, s: sum(d.least for d in selected_disturbances(a, s)),
    "moved_over_least": lambda a, s: sum(max(0, d.moved - d.least) for d in selected_disturbances(a, s)),
    "settle_time": lambda a, s: max((d.ended_us - d.started_us for d in selected_disturbances(a, s)), default=0),
    "first_settle_time": _first_settle,
    "unsettled": lambda a, s: sum(1 for d in selected_disturbances(a, s) if d.is_open),
    "longest_rebalance": _longest_round,
    "rebalances_per_hour": _per_hour,
    "rebalancing_share": _rebalancing,
    "members_removed": _over_members(lambda m: len(m.removed)),
    "poll_expirations": _over_members(lambda m: m.poll_expired),
    "fenced_members": _over_members(lambda m: 1 if m.fenced else 0),
    "member_seconds": _member_seconds,
    "lag_peak": _lag_peak,
    "lag_peak_partition": _lag_peak_partition,
    "lag_at_end": _lag_at_end,
    "time_to_catch_up": _catch_up,
    "duplicates": _twice,
    "duplicates_per_rebalance": _twice_per_rebalance,
    "skipped": _skipped,
    "record_age_p99": _age(99),
    "record_age_max": _age(100),
    **{m.name: _of_clients(m.kafka_name) for m in METRICS.values() if m.kafka_name},
}

if _MEASURES.keys() != METRICS.keys():
    raise BugError(f"Metrics registered and measured differ: {sorted(_MEASURES.keys() ^ METRICS.keys())}")
