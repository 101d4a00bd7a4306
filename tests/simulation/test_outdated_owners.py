"""A member that was thrown out and does not know it goes on handling its partitions, beside
their new owner: those records are handled twice.
"""

from __future__ import annotations

import pytest

from rebalsim.analysis.analysis import Analysis
from rebalsim.one_run import run_once
from rebalsim.scenario.load import story_of
from rebalsim.trace import events as ev

SECOND = 1_000_000
RATE = 50  # records a second of each partition
STORY = """
topics: {t: {partitions: 6, rate: 300/s}}
group:
  members: 3
  handler: {per_record: 1ms, commit: %s}
script:
  - {at: 1m, %s}
replay: [eager, cooperative, consumer]
horizon: %s
"""


def told(deed: str, variant: str = "eager", horizon: str = "4m", commit: str = "auto") -> Analysis:
    return run_once(
        story_of((STORY % (commit, deed, horizon)).encode(), "story.yaml").scenario(variant)
    ).analysis


def beside(analysis: Analysis) -> list[ev.HandledBeside]:
    return [event for event in analysis.trace.events if type(event) is ev.HandledBeside]


@pytest.mark.parametrize("variant", ["eager", "cooperative"])
def test_what_is_handled_beside_the_new_owner_counts_as_handled_twice(variant: str) -> None:
    analysis = told("cut: {member: c1, for: 70s}", variant)
    found = beside(analysis)
    assert {event.consumer for event in found} == {"c1"} and len(found) == 2
    for event in found:
        taken = next(
            p.at_us
            for p in analysis.trace.events
            if type(p) is ev.PositionFound
            and p.partition == event.partition
            and p.at_us > 61 * SECOND
        )
        assert event.records == pytest.approx((event.at_us - taken) / SECOND * RATE, abs=2)
    again = sum(
        e.handled - e.offset
        for e in analysis.trace.events
        if type(e) is ev.PositionFound and e.handled > e.offset
    )
    assert analysis.measure("duplicates") == again + sum(event.records for event in found)


def test_who_hears_in_time_handles_nothing_beside_anybody() -> None:
    assert beside(told("cut: {member: c1, for: 20s}")) == []


def test_who_was_frozen_handles_one_more_batch() -> None:
    """poll() returns what was fetched before the answer to its first heartbeat is there:
    max.poll.records and the record at hand.
    """
    assert (
        500 <= sum(event.records for event in beside(told("freeze: {member: c1, for: 70s}"))) <= 510
    )


@pytest.mark.parametrize(
    "deed", ["crash: {member: c1}", "leave: {member: c1}", "hang: {member: c1, for: 30s}"]
)
def test_who_is_gone_or_keeps_its_partitions_handles_nothing_beside_anybody(deed: str) -> None:
    assert beside(told(deed)) == []


def test_what_is_still_going_on_at_the_horizon_is_told_there() -> None:
    analysis = told("cut: {member: c1, for: 10m}", horizon="3m")
    assert [event.at_us for event in beside(analysis)] == [180 * SECOND - 1] * 2
    assert all(event.records > 60 * RATE for event in beside(analysis))
