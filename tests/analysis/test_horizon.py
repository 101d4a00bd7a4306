"""A longer horizon never turns kept into broken, unless the story itself goes on there: over every
metric, every comparison, stock and random stories, cut at many instants. `rebalsim dev horizons` asks
as many more as anybody likes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from rebalsim.analysis import Analysis, analyse
from rebalsim.analysis.judge import (
    judge_fact,
    judge_run,
    measure_budget,
    measure_fact,
    reference_of,
)
from rebalsim.domain.budget import Budget, Expectation
from rebalsim.domain.metrics import METRICS
from rebalsim.domain.scenario import Scenario
from rebalsim.proof.horizons import Tally, try_budgets, try_scenario, try_seed
from rebalsim.proof.random_stories import random_story
from rebalsim.scenario.load import load_scenario, story_of
from rebalsim.simulation.world import play

STOCK = (
    "crash",
    "rebalance-storm",
    "static-membership",
    "subscription-change",
    "scale-out",
    "connect-worker-lost",
    "streams-scale-out",
    "streams-crash",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", STOCK)
def test_a_longer_horizon_breaks_nothing_that_was_kept_in_stock_stories(name: str) -> None:
    story = load_scenario(name)
    for variant in story.variants:
        hold(story.scenario(variant), Random(f"{name} {variant}"), cuts=4)


# stories whose members hardly ever rest, so that each takes five seconds and more
BUSY_SEEDS = (18_003, 18_005, 18_006, 320_017, 320_019)
BUSY = (
    "lag sways from batch to batch, and had not yet shown how far",
    "how old records are sways with it",
    "an id that a static member replaced is still waited for",
    "one answer was late, and lag at the end is all that its last minute tells",
    "when lag was back lies on such a line",
    "partitions that were added within a window were never owned in it",
)


def each(cases: Iterable[Any]) -> list[Any]:
    """The busy ones are asked with the slow tests."""
    return [
        pytest.param(case, marks=pytest.mark.soak if case in (*BUSY, *BUSY_SEEDS) else ())
        for case in cases
    ]


@pytest.mark.slow
@pytest.mark.parametrize("seed", each(range(18_000, 18_012)))
def test_a_longer_horizon_breaks_nothing_that_was_kept_in_random_stories(seed: int) -> None:
    story = story_of(random_story(seed).encode(), f"story {seed}").check()
    hold(story.scenario(story.variants[0]), Random(seed), cuts=3)


# what once was kept and then broken, and why it is open now
OVERTURNED = {
    "lag sways from batch to batch, and had not yet shown how far": (30085, 30157),
    "how old records are sways with it": (30257,),
    "where a disturbance ends is known when it has ended": (30349, 30680),
    "nothing arrives at a topic whose rate was set to 0": (40186,),
    "a process that died is not between two polls": (40266,),
    "an id that a static member replaced is still waited for": (40272,),
    "a static member that comes back by another protocol bumps nothing": (50544,),
    "who was asked to stop leaves when its batch is done": (70132,),
    "who came back by another id leaves its former one in the group": (80202, 90117, 90266),
    "what is open at the end may turn out to have been no pause": (100406,),
    "more comes than is handled, though no more than a second brings waits yet": (101223,),
    "between two batches of a slow handler all looks well": (101678,),
    "a position was found and nothing was read yet": (40525,),
    "lag runs on from its last corner to where the next one comes": (102037,),
    "one answer was late, and lag at the end is all that its last minute tells": (54001005,),
}


@pytest.mark.slow
@pytest.mark.parametrize("why", each(OVERTURNED))
def test_what_was_once_overturned_is_open_or_true(why: str) -> None:
    hold_stories(OVERTURNED[why])


# what was kept and then broken where each horizon is played
PLAYED_ANEW = {
    "lag up to the end runs to where the end is, and is drawn anew": (102037,),
    "when lag was back lies on such a line": (102310,),
    "the end finds a batch half handled, and its records older than any": (102303,),
}


@pytest.mark.slow
@pytest.mark.parametrize("why", each(PLAYED_ANEW))
def test_what_was_overturned_by_another_playing_is_open_or_true(why: str) -> None:
    hold_stories(PLAYED_ANEW[why], form="anew")


def hold_stories(seeds: tuple[int, ...], form: str = "runs") -> None:
    for seed in seeds:
        story = story_of(random_story(seed).encode(), f"story {seed}").check()
        for variant in story.variants:
            hold(story.scenario(variant), Random(seed), 4, form)


# what was kept of a part of the run and then broken: where, and when each was asked
Part = dict[str, Any]
OVERTURNED_IN_PART: dict[str, tuple[int, str, str, Part, tuple[int, int]]] = {
    "what a phase of a pause comes to that a window cuts is known when it ends": (
        300011,
        "partition_seconds_away",
        "<=",
        {"from_us": 114_682_037, "until_us": 147_395_310},
        (303_119_257, 303_120_257),
    ),
    "a window that goes with the script may end beyond the horizon": (
        300019,
        "partition_seconds",
        "<=",
        {"action": "a0", "from_us": 34_300_343, "until_us": 42_824_171},
        (42_963_710, 42_964_710),
    ),
    "the open pauses of a window that is over still end": (
        300005,
        "open_pauses",
        ">=",
        {"from_us": 66_886_650, "until_us": 74_466_311},
        (94_006_282, 104_006_282),
    ),
    "who will have a partition that stands still is not known yet": (
        300085,
        "longest_pause",
        "<=",
        {
            "members": ("c2",),
            "topics": ("orders",),
            "from_us": 35_933_890,
            "until_us": 185_705_773,
        },
        (247_721_909, 307_721_909),
    ),
    "what a member comes to hold later is none of an earlier window": (
        300013,
        "lag_peak",
        "<=",
        {"members": ("j1",), "topics": ("orders",), "from_us": 34_941_429, "until_us": 46_943_337},
        (99_227_065, 109_227_065),
    ),
    "lag at the end of a window lies on a line that is drawn anew": (
        300035,
        "lag_at_end",
        "<=",
        {"topics": ("orders",), "until_us": 374_943},
        (1_000_000, 11_000_000),
    ),
    "a static member's return is none of the round before it": (
        300069,
        "longest_rebalance",
        "<=",
        {"from_us": 2_091_978, "until_us": 124_097_368},
        (166_138_930, 167_138_930),
    ),
    "one partition's peak lies on a line that is drawn anew": (
        400040,
        "lag_peak_partition",
        ">=",
        {"from_us": 239_084_249},
        (468_017_163, 469_017_163),
    ),
    "a target that is called for begins before it is computed": (
        400041,
        "disturbances",
        "<=",
        {"until_us": 881_258},
        (1_000_000, 2_000_000),
    ),
    "a target that an interval puts off is under way since it was called for": (
        59002002,
        "unsettled",
        "<=",
        {"from_us": 157_075, "until_us": 612_711},
        (1_200_000, 2_200_000),
    ),
    "a window of less than a minute has not shown how far lag sways": (
        64001006,
        "lag_peak",
        "<=",
        {"members": ("c1",), "topics": ("orders",), "from_us": 310_023_345},
        (358_893_650, 418_893_650),
    ),
    "what was ready within a pause is known when an application that still starts has polled": (
        68001001,
        "partition_seconds_fetch",
        "==",
        {"members": ("c0",), "until_us": 8_698_761},
        (12_034_837, 13_034_837),
    ),
    "a kept partition's pause ended when its owner was back, as its next record shows": (
        450001,
        "partition_seconds",
        ">=",
        {"members": ("c8",)},
        (127_884_812, 128_884_812),
    ),
    "who is frozen in its handler is between two polls, though out of its group": (
        600049,
        "time_between_poll_max",
        "<=",
        {},
        (125_058_881, 126_058_881),
    ),
    "partitions that were added within a window were never owned in it": (
        300093,
        "longest_pause",
        ">=",
        {"topics": ("mails",), "action": "enforce-rebalance-9", "until_us": 95_522_772},
        (255_953_016, 265_953_016),
    ),
}


# whose stories play for seconds
LONG = (
    "one partition's peak lies on a line that is drawn anew",
    "a target that is called for begins before it is computed",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "why",
    [
        pytest.param(
            why,
            marks=pytest.mark.soak if why in BUSY else pytest.mark.slow if why in LONG else (),
        )
        for why in OVERTURNED_IN_PART
    ],
)
def test_what_was_once_overturned_in_a_part_of_the_run_is_open_or_true(why: str) -> None:
    seed, metric, op, part, (cut, later) = OVERTURNED_IN_PART[why]
    story = story_of(random_story(seed).encode(), "s").check().scenario("as-written")
    trace = play(replace(story, horizon_us=min(story.horizon_us, later + 1_000_000)))
    budget = Budget(metric, op, 0.0, "itself", **part)
    value = measure_budget(analyse(trace, cut), budget).value
    if value is not None:
        budget = replace(budget, limit=round(value, 6))
        outcomes = [
            judge_run(budget, measure_budget(analyse(trace, at), budget)).outcome
            for at in (cut, later)
        ]
        assert outcomes != ["pass", "fail"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(300_200, 300_206))
def test_a_longer_horizon_breaks_nothing_that_was_kept_of_a_part_of_the_run(seed: int) -> None:
    story = story_of(random_story(seed).encode(), "s").check()
    hold(story.scenario(story.variants[0]), Random(seed), 3, "parts")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("factor", "cut", "later"),
    [(1.1, 307_827_793, 367_827_793), (1.1, 180_387_408, 190_387_408)],
)
def test_a_relative_limit_sways_with_what_it_is_relative_to(
    factor: float, cut: int, later: int
) -> None:
    text = random_story(420_050).replace("replay: as-written", "replay: [eager, cooperative]")
    story = story_of(text.encode(), "s").check()
    one, other = (
        play(replace(story.scenario(v), horizon_us=later + 1_000_000))
        for v in ("eager", "cooperative")
    )
    budget = Budget("lag_peak", "<=", factor, "lag_peak", "cooperative")
    outcomes = [
        judge_run(
            budget,
            measure_budget(analyse(one, at), budget),
            measure_budget(analyse(other, at), reference_of(budget)),
        ).outcome
        for at in (cut, later)
    ]
    assert outcomes[0] == "inconclusive", outcomes


@pytest.mark.slow
@pytest.mark.parametrize("seed", each(range(320_009, 320_025)))
def test_a_longer_horizon_breaks_no_fact_that_held(seed: int) -> None:
    story = story_of(random_story(seed).encode(), "s").check()
    hold(story.scenario(story.variants[0]), Random(seed), 4, "facts")


def test_a_window_that_a_seed_had_moved_beyond_the_horizon_kept_its_fact() -> None:
    story = story_of(random_story(53_200_007).encode(), "s").check()
    trace = play(story.scenario(story.variants[0]))
    fact = Expectation("no-rebalance", "", from_us=68_559_351, until_us=71_780_223)
    outcomes = [
        judge_fact(measure_fact(analyse(trace, at), fact)).outcome
        for at in (72_778_163, 73_778_163)
    ]
    assert outcomes[0] == "inconclusive", outcomes


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(330_000, 330_004))
def test_a_longer_horizon_breaks_no_relative_limit_that_was_kept(seed: int) -> None:
    tally = Tally()
    try_seed(seed, "relative", 4, tally)
    assert not tally.overturned, tally.overturned[0]


def hold(scenario: Scenario, random: Random, cuts: int, form: str = "runs") -> None:
    tally = Tally()
    try_scenario(scenario, form, random, cuts, tally)
    assert not tally.overturned, tally.overturned[0]


def nothing_kept_is_broken(at_first: Analysis, later: list[Analysis]) -> None:
    tally = Tally()
    try_budgets(at_first, later, Budget("", "", 0.0, ""), tally)
    assert not tally.overturned, tally.overturned[0]


def test_a_quiet_run_keeps_its_budgets() -> None:
    """The rule is no way of keeping nothing: a settled story is decided."""
    story = load_scenario("crash")
    a = analyse(play(story.scenario("eager")))
    kept = [
        metric
        for metric in METRICS
        if (value := measure_budget(a, budget := Budget(metric, "<=", 0.0, "x")).value) is not None
        and judge_run(
            replace(budget, limit=value + 1e9),
            measure_budget(a, replace(budget, limit=value + 1e9)),
        ).outcome
        == "pass"
    ]
    undecided = {
        m
        for m in METRICS
        if m not in kept and measure_budget(a, Budget(m, "<=", 0.0, "x")).value is not None
    }
    assert undecided == {"member_seconds", "last_rebalance_seconds_ago", "poll_idle_ratio_avg"}


def test_between_two_slow_batches_that_are_far_apart_nothing_is_decided() -> None:
    """A record comes every seven seconds or so, and each of its batches takes four times as long:
    whole pauses lie between them, of which some are longer than the first.
    """
    text = """
topics: {orders: {partitions: 1, rate: 0.15/s}, mails: {partitions: 1, rate: 0.09/s}}
group: {members: 1, handler: 2s, config: {max.poll.records: 100}}
script: [{at: 60s, slow: {members: c0, factor: 4, for: 200s}}]
replay: as-written
horizon: 300s
"""
    trace = play(story_of(text.encode(), "s").check().scenario("as-written"))
    for cut in (68_500_000, 90_000_000, 255_000_000):
        nothing_kept_is_broken(analyse(trace, cut), [analyse(trace, cut + 10_000_000)])


# what was kept in a stock story of Connect or Streams and then broken: its variant, what was asked,
# and when
OVERTURNED_IN_STOCK = {
    "a connector that is created sets off a second round, for its tasks": (
        "connect-new-connector",
        "cooperative",
        "completed_rebalances_total",
        (61_000_000, 71_000_000),
    ),
    "the time since a worker's last rebalance grows": (
        "connect-mixed-upgrade",
        "as-written",
        "time_since_last_rebalance_ms",
        (234_964_968, 235_964_968),
    ),
    "a task that has lost its warm standby goes on without": (
        "streams-crash",
        "as-it-is",
        "longest_without_warm_standby",
        (1_275_382_194, 1_276_382_194),
    ),
    "who withheld tasks has the group rebalance once more": (
        "streams-scale-out",
        "classic",
        "rebalances",
        (1_282_224_758, 1_342_224_758),
    ),
}


@pytest.mark.parametrize("why", OVERTURNED_IN_STOCK)
def test_what_was_once_overturned_in_a_stock_story_is_open(why: str) -> None:
    name, variant, metric, (cut, later) = OVERTURNED_IN_STOCK[why]
    trace = play(load_scenario(name).scenario(variant))
    budget = Budget(metric, "<=", 0.0, "itself")
    value = measure_budget(analyse(trace, cut), budget).value
    assert value is not None
    budget = replace(budget, limit=round(value, 6))
    outcomes = [
        judge_run(budget, measure_budget(analyse(trace, at), budget)).outcome for at in (cut, later)
    ]
    assert outcomes == ["inconclusive", "fail"]


# the same of a part of a stock story: its seed, what was asked of which part, and when
OVERTURNED_IN_PART_OF_STOCK: dict[str, tuple[str, str, Part, tuple[int, int]]] = {
    "a store that is being restored when a window is over counts when it is done": (
        "streams-fourteen-minutes",
        "restored_bytes",
        {"from_us": 703_930_037, "until_us": 997_028_317},
        (1_009_623_088, 1_609_623_088),
    ),
    "a task's pause that began in a window counts whole": (
        "connect-sink-rolls",
        "longest_task_pause",
        {"until_us": 103_229_738},
        (113_163_980, 123_163_980),
    ),
}


@pytest.mark.parametrize("why", OVERTURNED_IN_PART_OF_STOCK)
def test_what_was_once_overturned_in_a_part_of_a_stock_story_is_open(why: str) -> None:
    name, metric, part, (cut, later) = OVERTURNED_IN_PART_OF_STOCK[why]
    story = load_scenario(name).with_overrides([("seed", 2)])
    found = set()
    for variant in story.variants:
        trace = play(story.scenario(variant))
        budget = Budget(metric, "<=", 0.0, "itself", **part)
        value = measure_budget(analyse(trace, cut), budget).value
        assert value is not None
        budget = replace(budget, limit=round(value, 6))
        seen = [
            judge_run(budget, measure_budget(analyse(trace, at), budget)) for at in (cut, later)
        ]
        found.add(tuple(str(verdict.outcome) for verdict in seen))
    assert ("inconclusive", "fail") in found and ("pass", "fail") not in found


def test_what_is_measured_until_an_instant_knows_nothing_of_later() -> None:
    """Of Streams and of autoscalers the events beyond it were counted, too."""
    trace = play(load_scenario("streams-crash").scenario("as-it-is"))
    whole = analyse(trace)
    for metric in ("restored_bytes", "restore_time", "standby_catch_up", "not_running_time"):
        measured = [analyse(trace, at).measure(metric) for at in (1_000_000, whole.horizon_us)]
        assert measured[0] in (None, 0) and measured[1] == whole.measure(metric), metric
    trace = play(load_scenario("autoscaler-oscillates").scenario("swings"))
    assert analyse(trace, 1_000_000).measure("scalings") == 0 < analyse(trace).measure("scalings")
