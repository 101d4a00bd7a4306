"""commitSync() waits for the coordinator, up to default.api.timeout.ms, and its application does
nothing else meanwhile.
"""

from __future__ import annotations

import pytest

from rebalsim.analysis.analysis import Analysis
from rebalsim.one_run import run_once
from rebalsim.proof.seeds import difference
from rebalsim.scenario.load import story_of
from rebalsim.simulation.world import play
from rebalsim.trace import events as ev

SECOND = 1_000_000
STORY = """
topics: {t: {partitions: 6, rate: 200/s}}
group:
  members: 3
  config: {session.timeout.ms: %s}
  handler: {per_record: 1ms, commit: %s}
script:
  - {at: 61s, %s}
replay: [eager]
horizon: 4m
"""


def told(commit: str, deed: str, session: str = "45s") -> Analysis:
    return run_once(
        story_of((STORY % (session, commit, deed)).encode(), "story.yaml").scenario("eager")
    ).analysis


def stuck_in_commit(analysis: Analysis, consumer: str) -> list[tuple[float, float]]:
    """From when to when its commits waited, in seconds."""
    found, began = [], -1
    for event in analysis.trace.events:
        if type(event) is ev.HandlerStuck and event.consumer == consumer:
            assert event.why == "commit"
            began = event.at_us
        elif type(event) is ev.HandlerReturned and event.consumer == consumer:
            found.append((began / SECOND, event.at_us / SECOND))
    return found


def test_a_member_cut_off_from_its_coordinator_waits_in_its_first_commit_until_the_time_for_it_is_over() -> (
    None
):
    analysis = told("sync-batch", "cut: {member: c1, for: 100s}")
    (began, ended), *_ = stuck_in_commit(analysis, "c1")
    assert 61 < began < 61.1
    assert ended - began == pytest.approx(60)  # default.api.timeout.ms
    mine = [
        pause
        for pause in analysis.pauses
        if pause.owner_before == "c1" and pause.started_us < 62 * SECOND
    ]
    assert {str(pause.partition) for pause in mine} == {"t-2", "t-3"}
    assert all(
        45 * SECOND < pause.length_us < 49 * SECOND for pause in mine
    )  # its session, and the others' heartbeats
    duplicates = analysis.measure("duplicates")
    assert (
        duplicates is not None and duplicates <= 20
    )  # what it had not committed, it had hardly begun to handle


def test_a_commit_that_nobody_waits_for_holds_nobody_up() -> None:
    analysis = told("async", "cut: {member: c1, for: 30s}")
    assert stuck_in_commit(analysis, "c1") == []
    assert analysis.measure("longest_pause") == 0


def test_a_cut_that_heals_in_time_ends_the_wait() -> None:
    analysis = told("sync-batch", "cut: {member: c1, for: 20s}")
    (began, ended), *more = stuck_in_commit(analysis, "c1")
    assert (
        began < 61.1 and 81 < ended < 96 and not more
    )  # TCP's own timer, doubled each time, sends again
    assert analysis.measure("duplicates") == 0


def test_while_a_new_coordinator_reads_the_group_everybody_waits_in_a_commit() -> None:
    analysis = told("sync-batch", "coordinator_failover: {load: 4s}")
    for consumer in ("c0", "c1", "c2"):
        (began, ended), *_ = stuck_in_commit(analysis, consumer)
        assert 61 <= began < 61.1 and 65 <= ended < 67


def test_who_waits_in_a_commit_for_longer_than_max_poll_interval_leaves() -> None:
    text = (STORY % ("45s", "sync-batch", "cut: {member: c1, for: 20s}")).replace(
        "config: {", "config: {max.poll.interval.ms: 10s, "
    )
    analysis = run_once(story_of(text.encode(), "story.yaml").scenario("eager")).analysis
    expired = [
        event.at_us / SECOND
        for event in analysis.trace.events
        if type(event) is ev.PollExpired and event.consumer == "c1"
    ]
    assert expired and expired[0] == pytest.approx(71, abs=0.3)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_asleep_and_tick_by_tick_a_commit_that_waits_is_the_same(seed: int) -> None:
    """Few records, so that many polls return empty before the one whose batch is committed:
    max.poll.interval.ms counts from the last of them.
    """
    text = STORY % ("45s", "sync-batch", "cut: {member: c1, for: 50s}")
    text = text.replace("200/s", "3/s").replace("config: {", "config: {max.poll.interval.ms: 20s, ")
    scenario = story_of(text.encode(), "story.yaml").scenario("eager")
    lazy, dense = (play(scenario, seed=seed, plain=plain) for plain in (False, True))
    assert any(type(event) is ev.PollExpired for event in lazy.events)
    assert difference(lazy, dense) == ""
