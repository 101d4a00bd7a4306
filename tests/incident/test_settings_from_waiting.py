"""What no client prints follows from how long its group waited for it in vain."""

from __future__ import annotations

import pytest

from rebalsim.incident.settings import config_of
from rebalsim.worlds.logs.observation import GroupStory
from rebalsim.worlds.logs.rounds import Round
from rebalsim.worlds.logs.streams import Stream
from rebalsim.worlds.logs.triggers import Trigger, TriggerKind
from rebalsim.worlds.logs.voices import Voice


def story(dialect: str, late_how: str) -> GroupStory:
    waited = Round(
        "g", 2, 5_000_000, Trigger(TriggerKind.JOIN, "m"), joined_us=17_000_000, late_how=late_how
    )
    voice = Voice(Stream("a.log", "a.log"), "a", "g", [], dialect)
    return GroupStory("g", [waited], [voice], [], [], [])


@pytest.mark.parametrize(
    ("dialect", "key"),
    [("sarama", "rebalance.timeout.ms"), ("Java", "max.poll.interval.ms")],
)
def test_a_barrier_that_fell_without_somebody_tells_the_timeout(dialect: str, key: str) -> None:
    found = config_of(story(dialect, "removed"))
    assert [(k, v.split()[0]) for k, v in found.items()] == [(key, "12000")]


def test_a_barrier_that_somebody_left_tells_none() -> None:
    assert config_of(story("sarama", "left")) == {}
