"""Measures of rebalances, disturbances and members."""

from __future__ import annotations

from collections.abc import Callable

from rebalsim.analysis.findings import Findings
from rebalsim.analysis.selecting import (
    Measure,
    is_within,
    selected_disturbances,
    selected_rebalances,
    settled_from,
)
from rebalsim.analysis.values import MemberLife, Value
from rebalsim.domain.doing import Doing
from rebalsim.domain.kafka_states import AT_REST
from rebalsim.domain.metrics import Selection

HOUR = 3_600_000_000


def _generations(a: Findings, s: Selection) -> Value:
    """Unknown where a group had epochs meanwhile: turned back, it goes on counting generations
    from the epoch that it had come to.
    """
    within = [
        r
        for g, rounds in a.rounds_by_group.items()
        for r in rounds
        if r.barrier_us >= 0 and (not s.group or g == s.group) and is_within(r.barrier_us, s)
    ]
    if any(r.is_of_epochs for r in within):
        return None
    return max((r.generation for r in within), default=0)


def _first_settle(a: Findings, s: Selection) -> Value:
    times = [
        d.ended_us - d.started_us
        for place, d in enumerate(a.disturbances)
        if (not s.group or d.group == s.group)
        and any(r.is_formation and r.disturbance == place for r in a.rounds_by_group[d.group])
    ]
    return max(times, default=None)


def _unsettled(a: Findings, s: Selection) -> Value:
    """A group that never got over its first settling counts, too: it is the worst of all."""
    forming = {
        r.disturbance for rounds in a.rounds_by_group.values() for r in rounds if r.is_formation
    }
    never = (
        d
        for place, d in enumerate(a.disturbances)
        if place in forming and d.is_open and (not s.group or d.group == s.group)
    )
    return sum(1 for d in selected_disturbances(a, s) if d.is_open) + sum(1 for _ in never)


def _groups(a: Findings, s: Selection) -> list[str]:
    return [g for g in a.groups if a.rounds_by_group.get(g) and (not s.group or g == s.group)]


def _per_hour(a: Findings, s: Selection) -> Value:
    start = (
        s.from_us
        if s.from_us is not None
        else min((settled_from(a, g) for g in _groups(a, s)), default=0)
    )
    end = a.horizon_us if s.until_us is None else min(a.horizon_us, s.until_us)
    return len(selected_rebalances(a, s)) * HOUR / (end - start) if end > start else None


def _rebalancing(a: Findings, s: Selection) -> Value:
    shares = []
    for group in _groups(a, s):
        start = max(settled_from(a, group), s.from_us or 0)
        end = min(a.horizon_us, s.until_us if s.until_us is not None else a.horizon_us)
        spans = [x for x in a.group_states[group] if x.state not in AT_REST]
        if end > start:
            shares.append(
                sum(max(0, min(x.ended_us, end) - max(x.started_us, start)) for x in spans)
                / (end - start)
            )
    return max(shares, default=None)


def _longest_round(a: Findings, s: Selection) -> Value:
    return max((r.felt_us for r in selected_rebalances(a, s)), default=0)


def _over_members(count: Callable[[MemberLife], int]) -> Measure:
    return lambda a, s: sum(
        count(m)
        for m in a.members
        if (not s.members or m.consumer in s.members) and (not s.group or m.group == s.group)
    )


def _member_seconds(a: Findings, s: Selection) -> Value:
    return sum(
        span.ended_us - span.started_us
        for m in a.members
        if (not s.members or m.consumer in s.members) and (not s.group or m.group == s.group)
        for span in m.spans
        if span.what is not Doing.AWAY
    )


MEASURES: dict[str, Measure] = {
    "rebalances": lambda a, s: len(selected_rebalances(a, s)),
    "disturbances": lambda a, s: len(selected_disturbances(a, s)),
    "generations": _generations,
    "moved_partitions": lambda a, s: sum(d.moved for d in selected_disturbances(a, s)),
    "least_moves": lambda a, s: sum(d.least for d in selected_disturbances(a, s)),
    "moved_over_least": lambda a, s: sum(
        max(0, d.moved - d.least) for d in selected_disturbances(a, s)
    ),
    "settle_time": lambda a, s: max(
        (d.ended_us - d.started_us for d in selected_disturbances(a, s)), default=0
    ),
    "first_settle_time": _first_settle,
    "unsettled": _unsettled,
    "longest_rebalance": _longest_round,
    "rebalances_per_hour": _per_hour,
    "rebalancing_share": _rebalancing,
    "members_removed": _over_members(lambda m: len(m.removed)),
    "poll_expirations": _over_members(lambda m: m.poll_expired),
    "fenced_members": _over_members(lambda m: 1 if m.fenced else 0),
    "member_seconds": _member_seconds,
}
