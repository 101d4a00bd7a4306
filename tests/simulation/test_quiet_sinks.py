"""A sink's consumer polls for as long as offset.flush.interval.ms, a minute: its quiet time is
skipped all the same, under either protocol.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rebalsim.domain.scenario import Scenario
from rebalsim.proof.seeds import difference
from rebalsim.scenario.load import load_scenario
from rebalsim.simulation.world import play

STORY = """
topics: {{orders: {{partitions: 6, rate: 120/s}}}}
connect:
  workers: 3
  consumer: {{group.protocol: {protocol}}}
  config: {{scheduled.rebalance.max.delay.ms: 15s}}
  connectors:
    src: {{tasks.max: 3}}
    snk: {{topics: [orders], tasks.max: 3}}
script:
  - {{at: 40s, rolling_bounce: {{members: [w1], down: 5s}}}}
start: cold
horizon: {horizon}
"""


def sinks(tmp_path: Path, protocol: str, horizon: str) -> Scenario:
    path = tmp_path / "story.yaml"
    path.write_text(STORY.format(protocol=protocol, horizon=horizon), encoding="utf-8")
    return load_scenario(path).scenario()


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_sinks_come_to_the_same_whether_quiet_time_is_skipped_or_not(
    tmp_path: Path, protocol: str
) -> None:
    story = sinks(tmp_path, protocol, "100s")
    assert difference(play(story), play(story, plain=True)) == ""


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_an_hour_of_sinks_costs_little_more_than_its_workers_beats(
    tmp_path: Path, protocol: str
) -> None:
    short, long = (play(sinks(tmp_path, protocol, horizon)).work for horizon in ("5m", "65m"))
    of_beats = 3 * 1_200 * 6  # three workers, a beat every three seconds, of some six entries each
    assert long - short < 2 * of_beats
