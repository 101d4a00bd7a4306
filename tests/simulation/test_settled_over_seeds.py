"""A story that begins settled comes to what one comes to whose start was played an hour before: over
many seeds nobody could tell them apart.
"""

from __future__ import annotations

from math import exp, sqrt

import pytest

from rebalsim.analysis import analyse
from rebalsim.domain.metrics import Selection
from rebalsim.scenario.load import story_of
from rebalsim.simulation.world import play

STORY = """
topics: {orders: {partitions: 8, rate: 160/s}}
group: {members: 3, handler: {per_record: 1ms, poll_timeout: 200ms}, config: {%s}}
script: [{at: %s, id: grows, scale: 4}, {after: grows, delay: 40s, crash: c1}]
replay: as-written
horizon: %s
start: %s
"""
WAYS = {
    "eager": "partition.assignment.strategy: [range]",
    "cooperative": "partition.assignment.strategy: [cooperative-sticky]",
    "consumer": "group.protocol: consumer",
}
METRICS = ("longest_pause", "rebalances", "partition_seconds", "settle_time")
MINUTE = 60_000_000


def figures(way: str, start: str, seeds: range) -> dict[str, list[float]]:
    """Each metric under each seed, counted from the first action on."""
    at, horizon = ("1m", "4m") if start == "settled" else ("61m", "64m")
    scenario = story_of((STORY % (WAYS[way], at, horizon, start)).encode(), "s").check().scenario()
    first = MINUTE if start == "settled" else 61 * MINUTE
    found: dict[str, list[float]] = {metric: [] for metric in METRICS}
    for seed in seeds:
        analysis = analyse(play(scenario, seed=seed))
        for metric in METRICS:
            found[metric].append(analysis.measure(metric, Selection(from_us=first)) or 0.0)
    return found


def p_value(some: list[float], others: list[float]) -> float:
    """Kolmogorov's and Smirnov's: how likely two samples of one distribution lie so far apart."""
    apart = max(
        abs(sum(x <= at for x in some) / len(some) - sum(x <= at for x in others) / len(others))
        for at in {*some, *others}
    )
    root = sqrt(len(some) * len(others) / (len(some) + len(others)))
    x = (root + 0.12 + 0.11 / root) * apart
    return (
        1.0
        if x < 0.2
        else 2 * sum((-1) ** (k - 1) * exp(-2 * k * k * x * x) for k in range(1, 101))
    )


def held_against_a_played_start(way: str, count: int) -> dict[str, float]:
    settled = figures(way, "settled", range(1, count + 1))
    played = figures(way, "cold", range(1001, 1001 + count))
    return {metric: p_value(settled[metric], played[metric]) for metric in METRICS}


def test_the_measure_tells_samples_apart_that_differ_and_no_others() -> None:
    ones = [n * 0.618 % 1 for n in range(200)]
    assert p_value(ones, [n * 0.382 % 1 for n in range(200)]) > 0.5
    assert p_value(ones, [0.2 + x for x in ones]) < 0.001


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_few_seeds_do_not_tell_a_settled_start_from_a_played_one(way: str) -> None:
    assert min(held_against_a_played_start(way, 25).values()) >= 0.01


@pytest.mark.soak
@pytest.mark.parametrize("way", WAYS)
def test_two_hundred_seeds_do_not_either(way: str) -> None:
    assert min(held_against_a_played_start(way, 200).values()) >= 0.01


def test_they_would_tell_a_start_that_has_just_been_played() -> None:
    """A minute after its start a group's heartbeats are still together, an hour after they are not:
    that is what the measure must see.
    """
    fresh = STORY % (WAYS["eager"], "1m", "4m", "cold")
    scenario = story_of(fresh.encode(), "s").check().scenario()
    stood = [
        analyse(play(scenario, seed=seed)).measure("partition_seconds", Selection(from_us=MINUTE))
        or 0.0
        for seed in range(1, 51)
    ]
    assert p_value(stood, figures("eager", "settled", range(1, 51))["partition_seconds"]) < 0.01
