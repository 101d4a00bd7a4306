"""What the tests of Kafka Streams applications say shortly: a small one, and how long it stood still."""

from __future__ import annotations

from typing import Any

from rebalsim.domain.scenario import Scenario
from rebalsim.scenario.load import story_of

SECOND = 1_000_000


def scenario_in(text: str) -> Scenario:
    return story_of(text.encode(), "story.yaml").check().scenario()


def application(streams: str, rest: str) -> Scenario:
    """Three instances that read six partitions, and what else the story says."""
    return scenario_in(f"""
topics: {{orders: {{partitions: 6, rate: 600/s}}}}
group:
  members: {{"app-{{n}}": {{count: 3}}}}
  config: {{session.timeout.ms: 10s}}
  streams: {{{streams}}}
{rest}
""")


def longest(done: Any) -> float:
    value: float = done.analysis.measure("longest_pause")
    return value / SECOND
