"""How long a rebalance waits for clients that have a setting of their own for it: franz-go and sarama."""

from __future__ import annotations

import pytest

from rebalsim.domain.errors import ProblemsError
from rebalsim.scenario.load import story_of
from rebalsim.scenario.story import Story

STORY = """
topics: {orders: 4}
group: {members: 2, client: %s, config: {%s}}
replay: [%s]
"""
SET = "rebalance.timeout.ms: 12s"


def story(client: str, config: str = "", replay: str = "as-written") -> Story:
    return story_of((STORY % (client, config, replay)).encode(), "story.yaml").check()


def waits_us(of: Story, variant: str = "as-written") -> list[int]:
    consumers = of.scenario(variant).groups[0].consumers
    return [c.habits.rebalance_timeout_of(45_000_000, 300_000_000) for c in consumers]


@pytest.mark.parametrize("client", ["sarama", "franz-go"])
def test_it_is_a_minute_unless_it_is_set(client: str) -> None:
    assert waits_us(story(client)) == [60_000_000] * 2
    assert waits_us(story(client, SET)) == [12_000_000] * 2


@pytest.mark.parametrize(
    ("client", "waits"), [("java", "max.poll.interval.ms"), ("aiokafka", "its session")]
)
def test_who_has_none_is_told_what_a_rebalance_waits_for(client: str, waits: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        story(client, SET)
    told = str(caught.value)
    assert f"has no rebalance.timeout.ms: a rebalance waits for {waits} — leave it out" in told


def test_another_client_in_their_place_drops_it_and_says_so() -> None:
    both = story("sarama", SET, "{client: sarama}, {client: java}")
    assert waits_us(both, "sarama") == [12_000_000] * 2
    assert waits_us(both, "java") == [300_000_000] * 2
    said = "rebalance.timeout.ms: 12s is dropped: java has none of its own."
    assert said in both.scenario("java").notes
    assert said not in both.scenario("sarama").notes
