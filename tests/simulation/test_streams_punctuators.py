"""Punctuators run in the stream thread, for one task after the other: what they keep from running,
and what becomes of a thread that they keep from poll() for too long.
"""

from __future__ import annotations

from itertools import pairwise

import pytest

from rebalsim.analysis.analysis import Analysis
from rebalsim.domain.cause import CauseKind
from rebalsim.domain.errors import ProblemsError
from rebalsim.one_run import run_once
from rebalsim.scenario.load import story_of
from rebalsim.trace import events as ev

STORY = """
topics: {{orders: {{partitions: 6, rate: {rate}}}}}
group:
  members: {{"app-{{n}}": {{count: 2}}}}
  handler: {cost}
  config: {{max.poll.interval.ms: 1m}}
  streams: {{topology: [{{source: orders, store: 100MB, punctuators: [{punctuator}]}}]}}
horizon: 10m
"""


def played(punctuator: str, rate: str = "600/s", cost: str = "0s") -> Analysis:
    text = STORY.format(**locals())
    return run_once(story_of(text.encode(), "called.yaml").check().scenario()).analysis


def test_a_thread_stands_still_while_it_calls_all_its_tasks() -> None:
    a = played("{every: 2m, takes: 2s}")
    stuck = [p for p in a.pauses if p.started_us > 60_000_000]
    assert {p.length_us for p in stuck} == {6_000_000}  # three tasks a thread
    begun = sorted({p.started_us for p in stuck if p.owner_before == "app-0"})
    assert [after - before for before, after in pairwise(begun)] == [120_000_000] * 3
    assert {p.cause.kind for p in stuck if p.cause} == {CauseKind.PUNCTUATOR}
    assert a.measure("poll_expirations") == 0


def test_missed_calls_are_not_made_up() -> None:
    a = played("{every: 10s, takes: 4s}")  # twelve seconds of each ten
    begun = sorted({p.started_us for p in a.pauses if p.owner_before == "app-0"})
    gaps = {after - before for before, after in pairwise(begun) if before > 60_000_000}
    assert gaps == {20_000_000}


def test_one_that_outlasts_the_poll_interval_costs_the_membership() -> None:
    a = played("{every: 3m, takes: 25s}")
    assert (a.measure("poll_expirations") or 0) >= 2


def test_stream_time_stands_still_where_no_records_come() -> None:
    by_clock = played("{every: 2m, takes: 2s}", rate="0/s")
    by_records = played("{every: 2m, takes: 2s, by: stream-time}", rate="0/s")
    kinds = [
        sum(type(e) is ev.HandlerStuck for e in a.trace.events) for a in (by_clock, by_records)
    ]
    assert kinds == [24, 0]
    with_records = played("{every: 2m, takes: 2s, by: stream-time}")
    assert sum(type(e) is ev.HandlerStuck for e in with_records.trace.events) == 24


def test_short_calls_take_of_the_time_that_records_have() -> None:
    """300 a second at 3 ms leave a thread 100 ms of a second; calls of 3 × 30 ms have room, of
    3 × 33.3 ms they have not.
    """
    assert played("{every: 1s, takes: 30ms}", cost="3ms").measure("lag_at_end") == 0
    late = played("{every: 1s, takes: 33.33ms}", cost="3.001ms")
    assert (late.measure("lag_at_end") or 0) > 0
    assert not [e for e in late.trace.events if type(e) is ev.HandlerStuck]


def test_a_punctuator_says_how_often() -> None:
    with pytest.raises(ProblemsError) as refused:
        played("{takes: 2s}")
    assert "every" in str(refused.value)
    with pytest.raises(ProblemsError) as refused:
        played("{every: 0s, takes: 2s}")
    assert "every" in str(refused.value) or "0s" in str(refused.value)
