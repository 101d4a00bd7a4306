"""What is advised to the owner of a Kafka Streams application was played: as many standbys as it takes."""

from __future__ import annotations

import pytest
from advised import story_of

from rebalsim.advice.advise import remedies_of

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
