"""Standbys and warm-ups of Kafka Streams over time: who copied a task's changelog, from when on the
copy was as far as the task, and how long a task had none that was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rebalsim.analysis.index import Index
from rebalsim.analysis.values import Copy
from rebalsim.domain.ids import Partition
from rebalsim.trace.streams_events import StandbyBegan, StandbyCaughtUp, StandbyEnded
from rebalsim.trace.trace import ConsumerFacts

Read = tuple[str, Partition]  # a partition as a group reads it: two applications may read one
Copies = dict[Read, list[Copy]]


def find_copies(index: Index, consumers: Mapping[str, ConsumerFacts]) -> Copies:
    """By group and input partition of the task, in order of their beginning."""
    open_: dict[tuple[str, str], Copy] = {}
    found: Copies = {}
    for e in index.events:
        if e.at_us >= index.horizon_us:
            break
        if type(e) is StandbyBegan:
            _end(open_, e.consumer, e.task, e.at_us)
            copy = Copy(e.task, e.consumer, e.is_warmup, e.behind, e.at_us, index.horizon_us)
            open_[e.consumer, e.task] = copy
            facts = consumers.get(e.consumer)
            for p in e.partitions:
                found.setdefault((facts.group if facts else "", p), []).append(copy)
        elif type(e) is StandbyCaughtUp and (e.consumer, e.task) in open_:
            open_[e.consumer, e.task].caught_up_us = e.at_us
        elif type(e) is StandbyEnded:
            _end(open_, e.consumer, e.task, e.at_us)
    return found


def _end(open_: dict[tuple[str, str], Copy], consumer: str, task: str, at_us: int) -> None:
    copy = open_.pop((consumer, task), None)
    if copy is not None:
        copy.ended_us = at_us


def warm_stretches(copies: Sequence[Copy]) -> list[tuple[int, int]]:
    """When at least one of these copies was as far as its task."""
    spans = sorted(
        (copy.caught_up_us, copy.ended_us) for copy in copies if copy.caught_up_us is not None
    )
    merged: list[tuple[int, int]] = []
    for started_us, ended_us in spans:
        if merged and started_us <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], ended_us))
        else:
            merged.append((started_us, ended_us))
    return merged


def cold_stretches(
    copies: Mapping[Read, Sequence[Copy]], horizon_us: int
) -> dict[Read, list[tuple[int, int]]]:
    """When a task that ever had a warm copy had none, from its first one on."""
    found = {}
    for read, mine in copies.items():
        warm = warm_stretches(mine)
        ends = [*(started for started, _ in warm[1:]), horizon_us]
        found[read] = [(ended, until) for (_, ended), until in zip(warm, ends) if until > ended]
    return found
