"""Nothing is advised that was not played: every remedy of every stock story, of the world's and of
random ones is what it claims to be.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import advised
import pytest
from advised import DEPLOY, deploy, hold, story_of

from rebalsim.advice import advise, trial
from rebalsim.advice.advise import Advisor, remedies_of
from rebalsim.advice.proposals import proposals
from rebalsim.analysis.analysis import Analysis
from rebalsim.domain.remedy import Patch, Turn
from rebalsim.domain.scenario import Scenario
from rebalsim.one_run import Run, run_once
from rebalsim.proof.random_stories import random_story
from rebalsim.scenario.load import load_scenario

ROOT = Path(__file__).parents[2]
STORIES = sorted(ROOT.glob("scenarios/*.yaml")) + sorted(ROOT.glob("scenarios/world/*.yaml"))
FEW = 6_000  # events a variant: enough for small stories, and quick


@pytest.fixture(autouse=True)
def _remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that advice has played is not played again to hold it to what it claims: the same
    scenario and seed are the same run, which other tests hold. Had advice played another scenario
    than its patch makes, that one would not be found here, and be played.
    """
    kept: dict[tuple[Scenario, int], Run] = {}

    def once(scenario: Scenario, seed: int) -> Run:
        if (scenario, seed) not in kept:
            kept[scenario, seed] = run_once(scenario, seed)
        return kept[scenario, seed]

    for room in (advised, advise, trial):
        monkeypatch.setattr(room, "run_once", once)


@pytest.mark.slow
@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_every_remedy_of_a_stock_story_is_what_it_claims(path: Path) -> None:
    story = load_scenario(path)
    first = story.variants[:2]
    for variant, remedies in remedies_of(story, FEW * len(first), first).items():
        for remedy in remedies[:1]:
            hold(story, variant, remedy)


@pytest.mark.soak
@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_with_the_usual_number_of_events_too(path: Path) -> None:
    story = load_scenario(path)
    for variant, remedies in remedies_of(story).items():
        for remedy in remedies:
            hold(story, variant, remedy)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 10, 5))
def test_every_remedy_of_a_random_story_is_what_it_claims(first: int) -> None:
    for seed in range(first, first + 5):
        _hold_random(seed, 8_000)


@pytest.mark.soak
@pytest.mark.parametrize("first", range(0, 100, 10))
def test_every_remedy_of_a_hundred_random_stories(first: int) -> None:
    for seed in range(first, first + 10):
        _hold_random(seed, 100_000)


def _hold_random(seed: int, events: int) -> None:
    story = story_of(random_story(seed))
    for variant, remedies in remedies_of(story, events).items():
        for remedy in remedies:
            hold(story, variant, remedy)


# ------------------------------------------------------------------------------- the deploy's story


@pytest.mark.slow
@pytest.mark.parametrize("session", ["30s", "36s", "60s"])
def test_a_session_that_outlasts_the_restart_is_not_said_to_be_too_short(session: str) -> None:
    """Whatever is advised for the restarts of 25 s was played: no longer session than 30 s."""
    story = story_of(DEPLOY, f"group.config.session.timeout.ms={session}")
    [remedies] = remedies_of(story, 40_000).values()
    for remedy in remedies:
        hold(story, "cooperative", remedy)


@pytest.mark.slow
def test_a_stuck_handler_of_a_static_member_is_helped_by_both_limits() -> None:
    [remedies] = remedies_of(deploy(), 60_000).values()
    best = remedies[0]
    assert best.patch.turns[0].setting == "max.poll.interval.ms"
    assert best.after["longest_pause"] < 0.7 * best.before["longest_pause"]
    assert best.price[0] == "rebalances"
    hold(deploy(), "cooperative", best)


# ------------------------------------------------------------------------------------- how it works


def test_more_events_are_no_other_answer_and_none_is_no_answer() -> None:
    story = load_scenario("scale-out")
    assert remedies_of(story, 0) == dict.fromkeys(story.variants, ())
    some, more = remedies_of(story, 20_000), remedies_of(story, 10_000_000)
    assert some == more and any(some.values())


def test_what_cannot_be_tried_over_five_seeds_is_not_advised() -> None:
    story = load_scenario("scale-out")
    remedies = remedies_of(story, 2_500)
    assert all(len(r.seeds) >= 5 for found in remedies.values() for r in found)
    assert not any(remedies_of(story, 700).values())


def test_runs_that_were_played_anyway_change_no_answer() -> None:
    """They cost as many events as if they had been played for the advice."""
    story = load_scenario("scale-out")
    known = Advisor(story, 5_000)
    for variant in story.variants:
        for seed in range(1, 25):
            known.saw(variant, seed, run_once(story.scenario(variant), seed).analysis)
    assert known.remedies() == remedies_of(story, 5_000)


@pytest.mark.slow
def test_the_same_advice_in_any_process() -> None:
    code = (
        "from rebalsim.advice.advise import remedies_of\n"
        "from rebalsim.scenario.load import load_scenario\n"
        "print(remedies_of(load_scenario('crash'), 30_000))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            cwd=ROOT,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(said) == 1 and "session.timeout.ms" in said.pop()


def test_a_change_that_puts_the_story_off_beyond_the_horizon_is_no_remedy() -> None:
    """A deploy that waits longer in between has fewer pauses by the end, and helps nobody."""
    from rebalsim.advice.judging import outcome_of
    from rebalsim.advice.trial import ACTED, Played, Purse, changed

    played = Played(deploy(), "cooperative")
    path = "script.0.rolling_bounce.settle"
    slower = changed(played, Patch((Turn("settle", "0s", "5m"),), ((path, "5m"),)))
    assert slower is not None
    for one in (played, slower):
        one.play(1, Purse(10**9))
    assert slower.figures[1][ACTED] < played.figures[1][ACTED]
    assert outcome_of(played, slower, (1,), ("longest_pause", "partition_seconds")) is None


def test_a_budget_that_breaks_in_bad_seeds_alone_is_told_so() -> None:
    from rebalsim.advice.judging import IN_BAD_SEEDS, outcome_of
    from rebalsim.advice.trial import Played

    story = story_of(DEPLOY + 'budgets: {rebalances: "<= 5"}\n')
    [budget] = story.scenario("cooperative").budgets

    def played(pause: float, rebalances: list[float]) -> Played:
        figures = {
            seed: {"longest_pause": pause, "rebalances": many, "kept": 1.0, "acted": 1.0}
            for seed, many in enumerate(rebalances)
        }
        return Played(story, "cooperative", (budget,), figures=figures)

    before = played(60e6, [1.0] * 20)
    seldom = outcome_of(before, played(6e6, [2.0] * 17 + [9.0] * 3), range(20), ("longest_pause",))
    always = outcome_of(before, played(6e6, [9.0] * 20), range(20), ("longest_pause",))
    assert seldom is not None and seldom.breaks == (f"{budget.text} {IN_BAD_SEEDS}",)
    assert always is not None and always.breaks == (budget.text,)


def test_longer_rounds_are_a_price_of_shorter_pauses_and_no_reason_against_them() -> None:
    """As after a crash of an incident: the session ends earlier, while heartbeats are due later."""
    from rebalsim.advice.judging import outcome_of
    from rebalsim.advice.trial import Played

    def played(pause: float, lost: float, share: float) -> Played:
        told = {"longest_pause": pause, "partition_seconds": lost, "rebalancing_share": share}
        return Played(deploy(), "cooperative", figures={1: {**told, "kept": 1.0, "acted": 1.0}})

    before, wanted = played(10.7e6, 24.8e6, 0.024), ("longest_pause", "partition_seconds")
    shorter = outcome_of(before, played(6.2e6, 15.5e6, 0.057), (1,), wanted)
    assert shorter is not None and shorter.price == ("rebalancing_share",)
    assert outcome_of(before, played(6.2e6, 24.8e6, 0.057), (1,), wanted) is None


def test_a_patch_that_makes_no_story_is_passed_over() -> None:
    from rebalsim.advice.trial import Played, changed

    played = Played(deploy(), "cooperative")
    assert changed(played, Patch((), (("group.config.session.timeout.ms", "nonsense"),))) is None
    assert changed(played, Patch((), (("group.config.session.timeout.ms", "1m"),))) is None


def test_a_new_family_is_a_new_file() -> None:
    """Every file among the proposals is asked, and each says what it is for."""
    from rebalsim.advice import proposals as room

    found = {family.__name__.rsplit(".", 1)[1] for family in room._families()}
    files = {path.stem for path in Path(str(room.__file__)).parent.glob("*.py")} - {"__init__"}
    assert found == files and all(family.__doc__ for family in room._families())
    assert callable(proposals)


@pytest.mark.slow
def test_a_remedy_that_breaks_another_budget_says_so() -> None:
    text = DEPLOY + 'budgets: {longest_pause: "<= 60s", rebalances: "<= 2"}\n'
    [remedies] = remedies_of(story_of(text), 60_000).values()
    assert remedies
    for remedy in remedies:
        changed = deploy().with_overrides(remedy.patch.overrides)
        rebalances = [
            run_once(changed.scenario("cooperative"), seed).analysis.measure("rebalances") or 0
            for seed in remedy.seeds
        ]
        assert remedy.breaks or max(rebalances) <= 2


CRASH_AND_RESTART = """\
title: A pod dies and comes back, later all are restarted
start: settled
topics: {orders: {partitions: 12, rate: 100/s}}
group:
  members: {"orders-{n}": {count: 4}}
  handler: {per_record: 1ms, commit: sync-batch}
  life: {start: 20s}
script:
  - {at: 60s, crash: {member: orders-0, restart_after: 6s}}
  - {at: 270s, rolling_bounce: {as: deployment, surge: 1, ready_after: 20s}}
replay: [as-written]
horizon: 10m
"""


@pytest.mark.slow
def test_a_change_that_several_pauses_ask_for_is_played_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played: list[tuple[Scenario, int | None]] = []

    def counted(scenario: Scenario, seed: int | None = None) -> Run:
        assert (scenario, seed) not in played
        played.append((scenario, seed))
        return run_once(scenario, seed)

    monkeypatch.setattr(trial, "run_once", counted)
    assert any(remedies_of(story_of(CRASH_AND_RESTART), 60_000).values()) and len(played) > 20


def test_what_could_not_be_confirmed_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that takes a large share of the events leaves none to try a change over seeds."""
    story = story_of(DEPLOY)
    one = trial.Played(story, story.variants[0])
    one.keep(story.seed, run_once(story.scenario(story.variants[0]), story.seed).analysis)
    begun: list[int | None] = []

    def counted(scenario: Scenario, seed: int | None = None) -> Run:
        begun.append(seed)
        return run_once(scenario, seed)

    monkeypatch.setattr(trial, "run_once", counted)
    few = 5 * one.costs[story.seed]
    assert not any(remedies_of(story, few, story.variants[:1]).values()) and len(begun) < 2


DEAR_VARIANT = """\
topics: {orders: {partitions: 4, rate: 40/s}}
group:
  members: 2
  handler: 1ms
  group.instance.id: "{name}"
script:
  - {at: 1m, id: hang, hang: {members: c1, for: 6m}}
replay: [eager, consumer]
horizon: 9m
"""


@pytest.mark.slow
def test_a_variant_whose_runs_are_dear_is_tried_with_what_helped_another_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its share of the events is too small to try anything; as many again are enough for one."""
    story = story_of(DEAR_VARIANT)
    price = 1_000

    def dear(scenario: Scenario, analysis: Analysis) -> int:
        return price if scenario.groups[0].consumers[0].config.uses_consumer_protocol else 10

    monkeypatch.setattr(trial, "cost_of", dear)
    found = remedies_of(story, 6 * price)
    assert found["eager"] and len(found["consumer"]) == 1
    (remedy,) = found["consumer"]
    turned = {turn for other in found["eager"] for turn in other.patch.turns}
    assert turned.issuperset(remedy.patch.turns) and remedy.of.partition
    hold(story, "consumer", remedy)
    assert not remedies_of(story, 4 * price)["consumer"]
