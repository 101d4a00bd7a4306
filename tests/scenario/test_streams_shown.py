"""show tells a Kafka Streams application as meant, and nothing of a consumer that it is not."""

from __future__ import annotations

from rebalsim.scenario.load import load_scenario, story_of
from rebalsim.scenario.show import show_lines

STORY = """
topics: {orders: {partitions: 6, rate: 600/s}}
group:
  members: {"app-{n}": {count: 3}}
  config: {session.timeout.ms: 20s}
  streams:
    topology:
      - {source: orders, store: 12GB, writes_to: by-user}
      - {sources: [by-user]}
    config: {num.stream.threads: 2, processing.guarantee: exactly_once_v2}
replay:
  classic: {based_on: as-written}
  streams: {streams: {config: {group.protocol: streams, streams.num.standby.replicas: 1}}}
horizon: 5m
"""


def shown(variant: str) -> dict[str, list[str]]:
    """Each line's words, by the first of them."""
    lines = show_lines(story_of(STORY.encode(), "story.yaml").check(), variant, 120)
    return {words[0]: words[1:] for line in lines if (words := line.split())}


def test_its_topology_and_settings_are_told_with_their_places() -> None:
    lines = "\n".join(show_lines(story_of(STORY.encode(), "story.yaml").check(), "classic", 120))
    assert "reads orders: 6 tasks · store-0 12GB" in lines and "writes to by-user" in lines
    assert "reads by-user: 6 tasks · no state" in lines
    told = shown("classic")
    assert told["num.stream.threads"] == ["2", "line", "10"]
    assert told["num.standby.replicas"][0] == "0"
    assert told["commit.interval.ms"][0] == "100ms"
    assert told["session.timeout.ms"][0] == "20s"


def test_what_a_stream_thread_does_not_heed_is_left_out() -> None:
    told = shown("classic")
    for key in ("partition.assignment.strategy", "handler.commit", "listener.on_revoked"):
        assert key not in told
    assert "streams.num.standby.replicas" not in told


def test_under_the_streams_protocol_the_groups_settings_are_told_and_no_warm_ups() -> None:
    told = shown("streams")
    assert told["streams.num.standby.replicas"][0] == "1"
    for key in ("session.timeout.ms", "max.warmup.replicas", "acceptable.recovery.lag"):
        assert key not in told


def test_other_variants_tell_what_they_change() -> None:
    lines = show_lines(load_scenario("streams-crash"), "", 120)
    after = lines[lines.index("In two-standbys (Streams, high availability):") + 1].split()
    assert after[:2] == ["num.standby.replicas", "2"]
