"""What clients know of topics: asked for again and again, and waited for behind Fetches."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from rebalsim.domain.scenario import Scenario
from rebalsim.proof.seeds import difference
from rebalsim.scenario.load import story_of
from rebalsim.simulation.metadata import Metadata
from rebalsim.simulation.world import play

AGE_US = 6_700_000
WAIT_US = 500_000  # fetch.max.wait.ms


def scenario_of(
    script: str = "",
    *,
    rate: str = "4/s",
    topics: str = "",
    group: str = "",
    config: str = "",
    horizon: str = "60s",
) -> Scenario:
    text = f"""
title: topics
start: cold
cluster: {{brokers: 2, latency: 1ms}}
topics: {{x: {{partitions: 4, rate: {rate}}}{topics}}}
group: {{members: 2, {group} config: {{metadata.max.age.ms: 6700ms{config}}}}}
script: [{script}]
horizon: {horizon}
"""
    story = story_of(text.encode(), "topics.yaml").check()
    return story.scenario(next(iter(story.variants)))


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Who had an answer, and when."""
    told: list[tuple[str, int]] = []
    stands_as_of = Metadata.stands_as_of

    def noted(metadata: Any, us: int) -> None:
        told.append((metadata.consumer.name, us))
        stands_as_of(metadata, us)

    monkeypatch.setattr(Metadata, "stands_as_of", noted)
    return told


def test_every_refresh_is_an_event_of_the_plain_way(answers: list[tuple[str, int]]) -> None:
    play(scenario_of(), plain=True)
    mine = [us for name, us in answers if name == "c0"][2:]  # what it asks at its start is its own
    assert len(mine) >= 6
    assert all(
        AGE_US <= later - before <= AGE_US + WAIT_US + 10_000 for before, later in pairwise(mine)
    )


def test_an_answer_waits_behind_the_fetch_that_is_parked(answers: list[tuple[str, int]]) -> None:
    """With nothing to read, for the rest of fetch.max.wait.ms; with much to read, for the next
    record.
    """

    def delays(rate: str) -> list[int]:
        answers.clear()
        play(scenario_of(rate=rate), plain=True)
        mine = [us for name, us in answers if name == "c1"][2:]
        return [later - before - AGE_US for before, later in pairwise(mine)]

    assert max(delays("0/s")) > 100_000
    assert max(delays("4000/s")) < 20_000


def test_nothing_is_asked_in_quiet_time_where_no_topic_ever_changes(
    answers: list[tuple[str, int]],
) -> None:
    play(scenario_of())
    assert max(us for _, us in answers) < 10_000_000  # at the start


@pytest.mark.parametrize("protocol", ["", ", group.protocol: consumer"])
@pytest.mark.parametrize("rate", ["0/s", "2/s", "40/s"])
@pytest.mark.parametrize(
    ("script", "topics", "group"),
    [
        ("{at: 31s, add_partitions: {topic: x, to: 6}}", "", ""),
        (
            "{at: 31s, create_topic: {topic: y}}",
            ", y: {partitions: 3, rate: 3/s, exists: false}",
            "topics: [x, y],",
        ),
        (
            "{at: 31s, create_topic: {topic: xy}}",
            ", xy: {partitions: 3, rate: 3/s, exists: false}",
            "pattern: 'x.*',",
        ),
    ],
    ids=["grows", "comes", "matches"],
)
def test_who_learns_of_a_topic_learns_of_it_at_the_same_instant_in_quiet_time(
    script: str, topics: str, group: str, rate: str, protocol: str
) -> None:
    scenario = scenario_of(script, rate=rate, topics=topics, group=group, config=protocol)
    for seed in (1, 2):
        quiet, plain = play(scenario, seed=seed), play(scenario, seed=seed, plain=True)
        assert difference(quiet, plain) == ""


def test_who_misses_a_topic_asks_for_it_sooner_and_sooner_no_more(
    answers: list[tuple[str, int]],
) -> None:
    """retry.backoff.ms, twice as long each time, up to retry.backoff.max.ms."""
    missing = ", y: {partitions: 3, rate: 3/s, exists: false}"
    play(scenario_of(topics=missing, group="topics: [x, y],", horizon="12s"), plain=True)
    mine = [us for name, us in answers if name == "c0"]
    waits = [later - before for before, later in pairwise(mine)]
    steps = waits[waits.index(200_000) :]
    assert steps[:5] == [200_000, 400_000, 800_000, 1_000_000, 1_000_000]
