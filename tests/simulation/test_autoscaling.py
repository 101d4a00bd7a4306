"""Autoscalers: KEDA's and the HPA's formulas row by row, and what they do in a story."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rebalsim.analysis import analyse
from rebalsim.domain.autoscaling import Autoscale, Policy
from rebalsim.domain.instants import MINUTE, SECOND
from rebalsim.scenario.load import story_of
from rebalsim.scenario.story import Story
from rebalsim.simulation.autoscaling.hpa import Behaviour, wanted_by_lag, wanted_by_load
from rebalsim.simulation.autoscaling.keda import lag_of
from rebalsim.simulation.world import play
from rebalsim.trace.events import ScriptActed

KEDA = Autoscale("g", lag_threshold=10, most=100)


@pytest.mark.parametrize(
    ("deed", "total"),
    [
        (KEDA, 30),  # 400 behind on 3 partitions: cut to 3 × threshold
        (replace(KEDA, allows_idle=True), 400),
        (replace(KEDA, limits_to_lagging=True), 20),  # only two of them lag
        (replace(KEDA, limits_to_lagging=True, allows_idle=True), 20),
    ],
)
def test_more_pods_than_partitions_are_never_asked_for(deed: Autoscale, total: float) -> None:
    lag = lag_of({0: 500, 1: 100, 2: 7}, {0: 200, 1: 0, 2: 7}, deed)
    assert (lag.total, lag.seen) == (total, 400)


@pytest.mark.parametrize(("earliest", "seen"), [(False, 1), (True, 50)])
def test_what_nobody_committed_counts_one_or_the_whole_log(earliest: bool, seen: float) -> None:
    assert lag_of({0: 50}, {}, replace(KEDA, resets_to_earliest=earliest)).seen == seen


@pytest.mark.parametrize(
    ("total", "current", "wanted"),
    [
        (30, 3, 3),
        (32, 3, 3),
        (34, 3, 4),
        (27, 3, 3),
        (26, 3, 3),
        (20, 3, 2),
        (0, 3, 0),
        (95, 1, 10),
    ],
)
def test_an_average_value_divides_and_a_tenth_is_let_be(
    total: float, current: int, wanted: int
) -> None:
    assert wanted_by_lag(total, current, KEDA) == wanted


def test_a_value_multiplies_and_climbs_while_any_lag_stays() -> None:
    deed = replace(KEDA, is_value=True)
    assert wanted_by_lag(20, 3, deed) == 6
    assert wanted_by_lag(20, 6, deed) == 12


def test_load_keeps_each_pod_as_busy_as_is_wanted() -> None:
    deed = replace(KEDA, cpu_target=0.5)
    assert wanted_by_load(0.9, 4, deed) == 8
    assert wanted_by_load(0.52, 4, deed) == 4


def test_the_way_up_is_four_pods_or_as_many_again_whichever_is_more() -> None:
    behaviour = Behaviour(replace(KEDA, least=1))
    assert behaviour.decided(0, 2, 50) == 6
    behaviour.changed(0, 4)
    assert behaviour.decided(10 * SECOND, 6, 50) == 6  # within the same period
    assert behaviour.decided(16 * SECOND, 6, 50) == 12


def test_the_way_down_waits_for_the_most_of_its_window() -> None:
    behaviour = Behaviour(KEDA)
    behaviour.decided(0, 8, 8)
    assert behaviour.decided(1 * MINUTE, 8, 2) == 8
    assert behaviour.decided(5 * MINUTE + SECOND, 8, 2) == 2


def test_a_policy_without_anything_to_take_stops_a_direction() -> None:
    behaviour = Behaviour(replace(KEDA, down=(Policy(percent=0),), down_window_us=0))
    assert behaviour.decided(0, 8, 1) == 8


def test_bounds_hold_whatever_is_wanted() -> None:
    behaviour = Behaviour(replace(KEDA, least=2, most=4, down_window_us=0))
    assert behaviour.decided(0, 3, 90) == 4
    assert behaviour.decided(MINUTE, 3, 0) == 2


STORY = """
topics: {orders: {partitions: 6, rate: "200/s"}}
group:
  members: 2
  config: {max.poll.records: 50, auto.commit.interval.ms: 500}
  handler: {per_record: 8ms}
  listener: {on_revoked: 4s}
  life: {start: 5s}
script:
  - at: 1m
    id: scaler
    autoscale: {lagThreshold: THRESHOLD, minReplicaCount: 2, maxReplicaCount: 5, scaleDownStabilization: 30s}
  - {at: 2m, rolling_bounce: {members: c0, down: 5s}}
replay: [eager]
horizon: 12m
"""


def story(threshold: int, **changed: str) -> Story:
    text = STORY.replace("THRESHOLD", str(threshold))
    for old, new in changed.items():
        text = text.replace(old, new)
    return story_of(text.encode(), "story").check()


def test_a_threshold_below_a_rebalance_swings_and_one_above_it_is_calm() -> None:
    low = analyse(play(story(100).scenario("eager")))
    high = analyse(play(story(3000).scenario("eager")))
    assert (low.measure("oscillates") or 0) >= 2 and (low.measure("scalings") or 0) >= 3
    assert high.measure("scalings") == 0 and high.measure("oscillates") == 0


def test_under_the_consumer_protocol_a_scaler_sees_commits_too() -> None:
    scenario = story(100, **{"replay: [eager]": "replay: [consumer]"}).scenario("consumer")
    said = [text for _, text in _scalings(play(scenario))]
    assert said and "lag 1," in said[0]


@pytest.mark.slow
def test_the_plain_way_tells_the_same_scalings() -> None:
    scenario = story(100).scenario("eager")
    quiet, plain = play(scenario), play(scenario, plain=True)
    assert _scalings(quiet) and _scalings(quiet) == _scalings(plain)


def _scalings(trace: object) -> list[tuple[int, str]]:
    return [
        (e.at_us, e.text)
        for e in trace.events  # type: ignore[attr-defined]
        if type(e) is ScriptActed and e.kind == "Autoscale"
    ]


@pytest.mark.slow
def test_a_group_of_none_wakes_for_its_first_record_and_sleeps_after_the_cooldown() -> None:
    text = STORY.replace("THRESHOLD", "100").replace("minReplicaCount: 2", "minReplicaCount: 0")
    text = text.replace("maxReplicaCount: 5", "maxReplicaCount: 5, cooldownPeriod: 1m")
    text = text.replace("  - {at: 2m, rolling_bounce: {members: c0, down: 5s}}\n", "")
    text = text.replace(
        'rate: "200/s"', "rate: [{at: 0s, rate: 20/s}, {at: 4m, rate: 0/s}, {at: 9m, rate: 20/s}]"
    )
    told = _scalings(play(story_of(text.encode(), "story").check().scenario("eager")))
    said = [t for _, t in told]
    assert any("to 0: idle for the cooldown" in t for t in said), said
    assert any(t.startswith("scale 0 to 1") for t in said), said


def test_lint_finds_a_threshold_under_a_rebalance_and_a_window_too_short() -> None:
    from rebalsim.lint.registry import check

    found = {p.rule for p in check(story(100))}
    assert {"lag-threshold-under-a-rebalance", "scale-down-before-settled"} <= found
    calm = story(5000, **{"scaleDownStabilization: 30s": "scaleDownStabilization: 5m"})
    assert "lag-threshold-under-a-rebalance" not in {p.rule for p in check(calm)}
