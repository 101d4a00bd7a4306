"""A longer horizon never turns kept into broken, unless the story itself goes on there: over every
metric, every comparison, stock and random stories, cut at many instants.

A trace up to an instant tells nearly what a story with that horizon would have told, so one playing
serves many horizons. Nearly: at its own horizon the simulation marks how far everybody has come, in
the middle of batches, too. So some stories are played anew for each of their horizons.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from random import Random

import pytest

from rebalsim.analysis import Analysis, analyse
from rebalsim.analysis.judge import judge_run, measure_budget
from rebalsim.domain.budget import Budget
from rebalsim.domain.metrics import METRICS
from rebalsim.domain.scenario import Scenario
from rebalsim.proof.random_stories import random_story
from rebalsim.scenario.load import load_scenario, story_of
from rebalsim.simulation.world import play
from rebalsim.trace import events as ev
from rebalsim.trace.trace import Trace

OPS = ("<=", "==", ">=")
LATER_US = (1_000, 1_000_000, 10_000_000, 60_000_000)
STOCK = ("crash", "rebalance-storm", "static-membership", "subscription-change", "scale-out")
# what the script, faults and rates do: the story goes on where one of these follows
GOES_ON = (
    ev.ScriptActed,
    ev.LinkCut,
    ev.LinkHealed,
    ev.TopicChanged,
    ev.BrokerChanged,
    ev.ConsumerStarted,
    ev.ConsumerFroze,
    ev.ConsumerThawed,
    ev.StopAsked,
)


@pytest.mark.parametrize("name", STOCK)
def test_a_longer_horizon_breaks_nothing_that_was_kept_in_stock_stories(name: str) -> None:
    story = load_scenario(name)
    for variant in story.variants:
        hold(story.scenario(variant), Random(f"{name} {variant}"), cuts=4)


@pytest.mark.plain
@pytest.mark.parametrize("seed", range(18_000, 18_012))
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
}


@pytest.mark.plain
@pytest.mark.parametrize("why", OVERTURNED)
def test_what_was_once_overturned_is_open_or_true(why: str) -> None:
    hold_stories(OVERTURNED[why])


# what was kept and then broken where each horizon is played
PLAYED_ANEW = {
    "lag up to the end runs to where the end is, and is drawn anew": (102037,),
    "when lag was back lies on such a line": (102310,),
    "the end finds a batch half handled, and its records older than any": (102303,),
}


@pytest.mark.plain
@pytest.mark.parametrize("why", PLAYED_ANEW)
def test_what_was_overturned_by_another_playing_is_open_or_true(why: str) -> None:
    hold_stories(PLAYED_ANEW[why], is_played_anew=True)


def hold_stories(seeds: tuple[int, ...], is_played_anew: bool = False) -> None:
    for seed in seeds:
        story = story_of(random_story(seed).encode(), f"story {seed}").check()
        for variant in story.variants:
            hold(story.scenario(variant), Random(seed), 4, is_played_anew)


def hold(scenario: Scenario, random: Random, cuts: int, is_played_anew: bool = False) -> None:
    trace = play(scenario)

    def observed(until_us: int) -> Analysis:
        if is_played_anew:
            return analyse(play(replace(scenario, horizon_us=until_us)))
        return analyse(trace, until_us)

    goes_on = instants_of(trace)
    wanted = [random.randrange(1, scenario.horizon_us) for _ in range(cuts)]
    wanted += [at + random.choice(LATER_US) for at in random.sample(goes_on, min(2, len(goes_on)))]
    for cut in wanted:
        place = bisect_left(goes_on, cut)
        end = goes_on[place] if place < len(goes_on) else scenario.horizon_us
        later = [observed(at) for back in LATER_US if (at := cut + back) < end]
        if later and cut < scenario.horizon_us:
            nothing_kept_is_broken(observed(cut), later)


def nothing_kept_is_broken(at_first: Analysis, later: list[Analysis]) -> None:
    for metric in METRICS:
        for op in OPS:
            budget = Budget(metric, op, 0.0, f"{metric} {op} itself")
            value = measure_budget(at_first, budget).value
            if value is None:
                continue
            budget = replace(budget, limit=round(value, 6))
            if judge_run(budget, measure_budget(at_first, budget)).outcome != "pass":
                continue
            for longer in later:
                found = measure_budget(longer, budget)
                if found.value is not None:
                    assert judge_run(budget, found).outcome != "fail", (
                        f"{metric} {op} {value} was kept at {at_first.horizon_us} µs and is "
                        f"{found.value} at {longer.horizon_us} µs"
                    )


def instants_of(trace: Trace) -> list[int]:
    acted = {e.at_us for e in trace.events if type(e) in GOES_ON}
    steps = {at for facts in trace.header.topics.values() for at, _, _ in facts.rates or ()}
    return sorted(acted | steps)


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
