"""What part of an analysis a selection is about: pauses, rounds, disturbances, partitions,
redeliveries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from rebalsim.analysis.findings import Findings
from rebalsim.analysis.values import (
    Disturbance,
    Holding,
    Pause,
    Rebalance,
    Redelivery,
    Span,
    Value,
)
from rebalsim.domain.ids import Partition
from rebalsim.domain.metrics import EVERYTHING, Selection
from rebalsim.trace import events as ev

# what lasts beyond a window that it overlaps: a pause counts whole, and grows after it, too
OF_WHOLE_PAUSES = (
    "longest_pause",
    "p50_pause",
    "p95_pause",
    "p99_pause",
    "p50_partition_pause",
    "p95_partition_pause",
    "p99_partition_pause",
)
Measure = Callable[[Findings, Selection], Value]


def once(analysis: Findings, what: str, selection: Selection, work: Callable[[], Any]) -> Any:
    """What several metrics need, worked out once per selection."""
    key = what if selection is EVERYTHING else (what, selection)
    if key not in analysis.workings:
        analysis.workings[key] = work()
    return analysis.workings[key]


def selected_pauses(a: Findings, s: Selection) -> Sequence[Pause]:
    """The pauses that a selection is about."""
    if s is EVERYTHING or s.is_all:
        return a.partition_pauses
    found: Sequence[Pause] = once(
        a, "pauses", s, lambda: [p for p in a.partition_pauses if fits(a, p, s)]
    )
    return found


def settled_from(a: Findings, group: str) -> int:
    """When the group had settled for the first time; 0 if the trace has not seen it form."""
    return next(
        (
            a.disturbances[r.disturbance].ended_us
            for r in a.rounds_by_group.get(group, ())
            if r.is_formation
        ),
        0,
    )


def fits(a: Findings, p: Pause, s: Selection) -> bool:
    """Is the selection about this pause?"""
    return (
        (not s.topics or p.partition.topic in s.topics)
        and (not s.group or p.group == s.group)
        and (s.from_us is None or p.ended_us > s.from_us)
        and (s.until_us is None or p.started_us < s.until_us)
        and (not s.members or p.owner_before in s.members or p.owner_after in s.members)
        and (
            not s.after_start
            or p.started_us
            >= once(a, f"settled/{p.group}", EVERYTHING, lambda: settled_from(a, p.group))
        )
        and (not s.action or p.cause.action == s.action)
    )


def is_within(at: int, s: Selection) -> bool:
    """Whether an instant is in the selection's window."""
    return (s.from_us is None or at >= s.from_us) and (s.until_us is None or at < s.until_us)


def overlaps(x: Holding | Span, s: Selection) -> bool:
    """Whether it was so at some instant of the selection's window."""
    return (s.from_us is None or x.ended_us > s.from_us) and (
        s.until_us is None or x.started_us < s.until_us
    )


def clipped(p: Pause, s: Selection) -> int:
    """How much of a pause lies in the selection's window."""
    start = p.started_us if s.from_us is None else max(p.started_us, s.from_us)
    end = p.ended_us if s.until_us is None else min(p.ended_us, s.until_us)
    return max(0, end - start)


def selected_rebalances(a: Findings, s: Selection) -> list[Rebalance]:
    """The rounds of a running group (its first settling is none) that a selection is about, by
    the instant of their barrier.
    """
    if s is EVERYTHING:
        return [r for r in a.rebalances if not r.is_formation]
    return [
        r
        for r in a.rebalances
        if not r.is_formation
        and (not s.group or r.group == s.group)
        and is_within(r.barrier_us, s)
        and (not s.action or a.disturbances[r.disturbance].action == s.action)
        and (
            not s.members or any(c in s.members for c in r.joins) or r.trigger_consumer in s.members
        )
    ]


def selected_disturbances(a: Findings, s: Selection) -> list[Disturbance]:
    """The disturbances of a running group that a selection is about."""
    found: list[Disturbance] = once(a, "disturbances", s, lambda: _disturbances(a, s))
    return found


def counted_places(a: Findings) -> list[int]:
    """Places of the disturbances of running groups: all but each group's first settling."""
    forming = {
        r.disturbance for rounds in a.rounds_by_group.values() for r in rounds if r.is_formation
    }
    return [place for place in range(len(a.disturbances)) if place not in forming]


def _disturbances(a: Findings, s: Selection) -> list[Disturbance]:
    return [
        d
        for d in (a.disturbances[place] for place in counted_places(a))
        if (not s.group or d.group == s.group)
        and (not s.action or d.action == s.action)
        and (s.from_us is None or d.ended_us > s.from_us)
        and (s.until_us is None or d.started_us < s.until_us)
        and (not s.members or d.consumer in s.members)
    ]


def selected_keys(a: Findings, s: Selection) -> list[tuple[str, Partition]]:
    """The partitions that a selection is about, those that never stood still too."""
    if s is EVERYTHING or s.is_all:
        return a.partition_keys
    keys = [
        k
        for k in a.partition_keys
        if (not s.topics or k[1].topic in s.topics) and (not s.group or k[0] == s.group)
    ]
    if s.members:
        mine = once(a, "member-keys", s, lambda: _keys_of_members(a, s))
        keys = [k for k in keys if k in mine]
    if s.until_us is not None and s.until_us < a.horizon_us:
        then = once(a, "partitions-then", s, lambda: partitions_before(a, s.until_us or 0))
        keys = [k for k in keys if k[1].number < then.get(k[1].topic, 0) or was_held(a, k, s)]
    return keys


def was_held(a: Findings, key: tuple[str, Partition], s: Selection) -> bool:
    """Whether anybody held the partition before the selection's window was over."""
    return any(s.until_us is None or h.started_us < s.until_us for h in a.holdings.get(key, ()))


def partitions_before(a: Findings, at_us: int) -> dict[str, int]:
    """How many partitions each topic had come to by then: those that it gets later are none of an
    earlier window.
    """
    found = {topic: facts.partitions for topic, facts in a.header.topics.items()}
    for number in a.index.world:
        e = a.index.events[number]
        if type(e) is ev.TopicChanged and e.at_us < at_us and e.partitions:
            found[e.topic] = e.partitions
    return found


def _keys_of_members(a: Findings, s: Selection) -> set[tuple[str, Partition]]:
    """Partitions that the members held within the window, or that stood still there after them or
    before them.
    """
    held = {
        key
        for key, holdings in a.holdings.items()
        if any(h.consumer in s.members and overlaps(h, s) for h in holdings)
    }
    return held | {(p.group, p.partition) for p in selected_pauses(a, replace(s, action=""))}


def selected_redeliveries(a: Findings, s: Selection) -> list[Redelivery]:
    """The redeliveries and skips that a selection is about."""
    return [
        r
        for r in a.redeliveries
        if (not s.topics or r.partition.topic in s.topics)
        and (not s.group or r.group == s.group)
        and is_within(r.at_us, s)
        and (not s.members or r.consumer in s.members)
        and (
            not s.action
            or (r.disturbance >= 0 and a.disturbances[r.disturbance].action == s.action)
        )
    ]
