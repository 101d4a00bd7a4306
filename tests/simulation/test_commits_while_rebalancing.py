"""A commit that a classic member makes while its group rebalances is refused by its own client: between
the JoinGroup that it sends and the answer to its SyncGroup it is not STABLE (sendOffsetCommitRequest).
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from rebalsim.proof.seeds import difference
from rebalsim.scenario.load import story_of
from rebalsim.simulation.world import play
from rebalsim.trace import events as ev
from rebalsim.trace.trace import Trace
from rebalsim.verify.judge import judge, total
from rebalsim.verify.prediction import prediction_of
from rebalsim.verify.replay import scenario_of

SECOND = 1_000_000
REALITY = Path(__file__).parents[1] / "reality" / "commits"
STORY = """
topics: {orders: {partitions: 12, rate: 600/s}}
group: {members: 3, handler: {per_record: 1ms, commit: %s, on_error: %s}}
script:
  - {at: 29s, hang: {members: c1, for: 8s}}
  - {at: 30s, join: {names: [n1]}}
replay: [%s]
horizon: 2m
"""


def told(commit: str, on_error: str, variant: str = "cooperative") -> Trace:
    story = story_of((STORY % (commit, on_error, variant)).encode(), "story.yaml").check()
    return play(story.scenario(variant))


def refusals(trace: Trace) -> dict[str, int]:
    counts: dict[str, int] = {}
    for event in trace.events:
        if type(event) is ev.CommitRefused and event.at_us >= 29 * SECOND:
            assert event.error == "RebalanceInProgress"
            counts[event.consumer] = counts.get(event.consumer, 0) + 1
    return counts


@pytest.mark.parametrize("commit", ["sync-batch", "async"])
def test_members_that_wait_at_the_barrier_and_read_on_have_every_commit_refused(
    commit: str,
) -> None:
    """Some seven seconds, fifty rounds of records a second."""
    refused = refusals(told(commit, "retry"))
    assert refused["c0"] > 300 and refused["c2"] > 300


def test_an_application_that_takes_such_exceptions_for_fatal_dies_of_the_first() -> None:
    trace = told("sync-batch", "crash")
    assert refusals(trace) == {"c0": 1, "c1": 1, "c2": 1}
    died = {e.consumer for e in trace.events if type(e) is ev.ConsumerExited and e.how == "fatal"}
    assert died == {"c0", "c1", "c2"}


def test_who_commits_periodically_has_nothing_refused() -> None:
    assert refusals(told("auto", "crash")) == {}


def test_under_eager_nothing_is_read_at_the_barrier_and_so_nothing_refused() -> None:
    """Everything was given up before; only the stuck member's own last batch is yet to commit."""
    assert set(refusals(told("sync-batch", "retry", "eager"))) <= {"c1"}


@pytest.mark.parametrize("name", ["commit-barrier-coop", "scale-out-commit-coop"])
def test_as_many_are_refused_as_a_real_kafka_refused(name: str) -> None:
    with gzip.open(REALITY / f"{name}.json.gz", "rt", encoding="utf-8") as f:
        recording = json.load(f)
    scenario, drive = scenario_of(recording)
    prediction = prediction_of(play(scenario, seed=1, wire=True, drive=drive))
    figures = total([judge(recording, prediction)])
    recorded = figures["commits_refused_recorded"]
    assert recorded > 100
    assert figures["commits_refused"] == pytest.approx(recorded, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("commit", ["sync-batch", "async"])
def test_it_comes_to_the_same_whether_quiet_time_is_skipped_or_not(commit: str) -> None:
    story = story_of((STORY % (commit, "retry", "cooperative")).encode(), "story.yaml").check()
    scenario = story.scenario("cooperative")
    assert difference(play(scenario), play(scenario, plain=True)) == ""
