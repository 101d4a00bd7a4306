"""What is advised to the owner of a Kafka Streams application was played: as many standbys as it takes."""

from __future__ import annotations

import pytest
from advised import story_of

from rebalsim.advice.advise import remedies_of
from rebalsim.advice.ladders import keys_for
from rebalsim.advice.search import Search

TWO_DIE = """
topics: {orders: {partitions: 6, rate: 600/s}}
group:
  members: {"app-{n}": {count: 3}}
  config: {session.timeout.ms: 10s}
  streams: {topology: [{source: orders, store: 12GB}], config: {CONFIG}}
script:
  - {at: 5m, crash: app-0}
  - {at: 5m30s, crash: app-1}
horizon: 30m
budgets: {longest_pause: "<= 100s"}
"""


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("num.standby.replicas: 1", ("num.standby.replicas", "1", "2")),
        ("group.protocol: streams", ("streams.num.standby.replicas", "0", "2")),
    ],
)
def test_where_one_standby_is_not_enough_two_are_tried(
    config: str, said: tuple[str, str, str]
) -> None:
    story = story_of(TWO_DIE.replace("CONFIG", config))
    first = remedies_of(story)["as-written"][0]
    turn = first.patch.turns[0]
    assert (turn.setting, turn.before, turn.after) == said
    assert first.after["longest_pause"] < 100e6 < first.before["longest_pause"]


BACK_BEFORE_IT_IS_RESTORED = """
topics: {orders: {partitions: 6, rate: 600/s}}
group:
  members: {"app-{n}": {count: 3}}
  config: {session.timeout.ms: 10s}
  streams: {topology: [{source: orders, store: 40GB}]}
script: [{at: 5m, crash: {members: app-0, restart_after: 30s}}]
horizon: 45m
budgets: {longest_pause: "<= 15s"}
"""


@pytest.mark.slow
def test_standbys_are_proposed_where_a_store_was_restored_in_vain() -> None:
    story = story_of(BACK_BEFORE_IT_IS_RESTORED)
    first = remedies_of(story)["as-written"][0]
    assert first.patch.turns[0].setting == "num.standby.replicas"
    assert first.after["longest_pause"] < 15e6 < 30e6 < first.before["longest_pause"]


@pytest.mark.slow
def test_a_search_turns_kafka_streams_settings() -> None:
    story = story_of(BACK_BEFORE_IT_IS_RESTORED)
    found = Search(story, ["as-written"], over=["num.standby.replicas"], seeds=5).run()
    assert [t.setting for t in found.choices[0].tried.patch.turns] == ["num.standby.replicas"]


@pytest.mark.parametrize(
    ("config", "keys"),
    [
        ("{}", ("num.standby.replicas", "session.timeout.ms")),
        ("{group.protocol: streams}", ("streams.num.standby.replicas",)),
    ],
)
def test_each_protocol_has_settings_of_its_own(config: str, keys: tuple[str, ...]) -> None:
    text = BACK_BEFORE_IT_IS_RESTORED.replace("40GB}]", f"40GB}}], config: {config}")
    scenario = story_of(text.replace("session.timeout.ms: 10s", "")).scenario("as-written")
    group = scenario.groups[0]
    turned = keys_for(group.consumers[0], group.streams)
    assert set(keys) <= set(turned) and "max.poll.records" not in turned
    of_streams = {key for key in turned if key.startswith("streams.")}
    assert bool(of_streams) == (config != "{}")
