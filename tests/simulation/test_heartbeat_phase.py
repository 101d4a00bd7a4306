"""Every seed strikes at another moment between two heartbeats: the script as a whole is played
later, and all that is told in its times goes with it.
"""

from __future__ import annotations

import pytest

from rebalsim.analysis.judge import judge_fact, judge_run, measure_budget, measure_fact
from rebalsim.analysis.judge_selection import selection_of
from rebalsim.domain.instants import MS, SECOND
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script_shift import longest_heartbeat, shift_of
from rebalsim.one_run import is_sampled, run_once, spread
from rebalsim.reports.chance_told import said_of_chance, said_of_phase
from rebalsim.scenario.load import load_scenario, story_of
from rebalsim.scenario.show import show_lines
from rebalsim.simulation.world import play
from rebalsim.trace.events import ScriptActed
from rebalsim.trace.jsonl import lines_for

STORY = """
topics: {orders: {partitions: 4, rate: 40/s}}
group: {members: 2, handler: 1ms}
script:
  - {at: 1m, id: first, scale: 3}
  - {after: first, id: next, delay: 20s, freeze: {members: c0, for: 1s}}
  - {at: 95s, id: last, leave: c1}
  - {when: group is caught-up, id: once, hang: {members: c0, for: 100ms}}
horizon: 2m
"""


def story(extra: str = "", variant: str = "cooperative") -> Scenario:
    return (
        story_of((STORY + extra + f"\nreplay: [{variant}]\n").encode(), "s.yaml")
        .check()
        .scenario(variant)
    )


def acted(scenario: Scenario, seed: int) -> dict[str, int]:
    return {e.action: e.at_us for e in play(scenario, seed=seed).events if type(e) is ScriptActed}


def test_seeds_are_spread_evenly_over_the_interval_and_the_first_is_at_its_beginning() -> None:
    shifts = sorted(shift_of(seed, 3 * SECOND) for seed in range(1, 21))
    assert shift_of(1, 3 * SECOND) == 0 and shifts[-1] < 3 * SECOND
    assert (
        max(b - a for a, b in zip(shifts, [*shifts[1:], 3 * SECOND])) < 300 * MS
    )  # 150 ms each, were there no more seeds to come
    assert [shift_of(seed, 5 * SECOND) for seed in (2, 3, 0, 2**53)] == [
        3_090_169,
        1_180_339,
        1_909_830,
        4_461_099,
    ]


def test_the_script_is_moved_as_a_whole_and_what_has_no_moment_is_not() -> None:
    first, other = acted(story(), 1), acted(story(), 2)
    shift = shift_of(2, 3 * SECOND)
    assert (first["first"], first["last"]) == (60 * SECOND, 95 * SECOND)
    assert {name: other[name] - first[name] for name in ("first", "next", "last")} == dict.fromkeys(
        ("first", "next", "last"), shift
    )
    assert abs(other["once"] - first["once"]) < 100 * MS
    assert (
        play(story(), seed=2).header.shift_us == shift
        and play(story(), seed=1).header.shift_us == 0
    )


def test_the_longest_heartbeat_of_the_variant_counts_and_no_action_falls_behind_the_horizon() -> (
    None
):
    assert longest_heartbeat(story()) == story().shift_within_us == 3 * SECOND
    assert (
        longest_heartbeat(story(variant="consumer"))
        == story(variant="consumer").shift_within_us
        == 5 * SECOND
    )
    quiet = story_of(b"topics: {t: 1}\ngroup: {members: 1}\n", "q.yaml").check().scenario("eager")
    assert (longest_heartbeat(quiet), quiet.shift_within_us) == (3 * SECOND, 0)
    late = story_of(STORY.replace("2m", "96s").encode(), "s.yaml").check().scenario("eager")
    assert late.shift_within_us == 1 * SECOND
    assert all("last" in acted(late, seed) for seed in range(1, 8))


def test_a_story_can_keep_to_its_written_times_under_every_seed() -> None:
    still = story("heartbeat_phase: as-written")
    assert acted(still, 7)["first"] == 60 * SECOND and said_of_phase(still, 7) == ""
    text = (STORY + "heartbeat_phase: as-written").encode()
    assert any(
        "every seed plays it at these times" in line
        for line in show_lines(story_of(text, "s.yaml").check())
    )
    shown = " ".join(
        " ".join(show_lines(story_of((STORY + "seed: 2").encode(), "s.yaml").check())).split()
    )
    assert (
        "heartbeat_phase: by-seed: seed 2 plays it 1s854ms101us later, others up to 3s later"
        in shown
    )


@pytest.mark.slow
def test_one_seed_by_itself_is_that_one_of_many_byte_by_byte() -> None:
    text = STORY + "replay: [consumer]\nruns: 5\n"
    many, alone = (
        story_of(text.encode(), "s.yaml").check().scenario(),
        story_of((text + "seed: 4\n").encode(), "s.yaml").check().scenario(),
    )
    one, other = list(lines_for(play(many, seed=4))), list(lines_for(play(alone)))
    assert one[1:] == other[1:]
    assert (
        spread(many, 5).values["longest_pause"][3]
        == run_once(alone).analysis.summary["longest_pause"]
    )


@pytest.mark.parametrize("variant", ["eager", "cooperative", "consumer"])
def test_tick_by_tick_the_same_comes_out(variant: str) -> None:
    assert list(lines_for(play(story(variant=variant), seed=6))) == list(
        lines_for(play(story(variant=variant), seed=6, plain=True))
    )


def test_facts_and_windows_go_with_the_script() -> None:
    """c1 is there until it is told to leave, at 95 s as written: under each seed, though each
    strikes at another moment.
    """
    scenario = story("""budgets: [{rebalances: "<= 2", from: 59s, until: 94s}, {longest_pause: "<= 1s", from: 0s, until: 1m}]
expect: [at 94990ms: orders-0 owned by c0, at 59990ms: no rebalance, at 115s: group is stable, c1 is gone between 96s and 115s]""")
    for seed in range(1, 8):
        a = run_once(scenario, seed).analysis
        shift = a.header.shift_us
        assert [judge_fact(measure_fact(a, fact)).outcome for fact in scenario.expectations] == [
            "pass"
        ] * 4
        window, start = (selection_of(a, budget) for budget in scenario.budgets)
        assert (window.from_us, window.until_us) == (59 * SECOND + shift, 94 * SECOND + shift)
        assert (start.from_us, start.until_us) == (0, 60 * SECOND + shift)
        assert measure_budget(a, scenario.budgets[0]).value == 2


def test_what_is_asked_at_the_very_end_is_decided_under_each_seed() -> None:
    """The end of what is asked goes with the script, and so the story is played until then."""
    scenario = story(
        """budgets: [{rebalances: "<= 4", from: 59s, until: 2m}]
expect: [at 2m: group is stable, c1 is gone between 96s and 2m]"""
    )
    for seed in range(1, 8):
        a = run_once(scenario, seed).analysis
        assert a.horizon_us == 120 * SECOND + a.header.shift_us
        assert [judge_fact(measure_fact(a, fact)).outcome for fact in scenario.expectations] == [
            "pass"
        ] * 2
        (budget,) = scenario.budgets
        assert judge_run(budget, measure_budget(a, budget)).outcome == "pass"


def test_a_story_that_is_asked_nothing_at_its_end_is_as_long_as_written() -> None:
    for asked in ("", 'budgets: {longest_pause: "<= 1m"}', "expect: [at 1m: group is stable]"):
        assert run_once(story(asked), 3).analysis.horizon_us == 120 * SECOND


def test_a_hand_over_waits_for_a_heartbeat_uniformly_over_the_interval() -> None:
    """[consumer-protocol, a scale-out] One joins: each owner learns at its next beat, and the
    joiner is told at its own; H/2 on average.
    """
    scenario = load_scenario("scale-out", ["replay=[consumer]"]).scenario("consumer")
    longest = []
    for seed in range(1, 21):
        pauses = [
            p for p in run_once(scenario, seed).analysis.pauses if p.started_us >= 60 * SECOND
        ]
        longest.append(max(p.length_us for p in pauses) / SECOND)
    assert min(longest) < 1.0 and max(longest) > 4.6 and 2.0 < sum(longest) / len(longest) < 3.5


def test_a_crash_is_missed_for_a_session_less_the_age_of_the_last_heartbeat() -> None:
    """[classic-protocol] 45 s from the last heartbeat on, which was up to 3 s ago; then until
    the others hear of it, up to 3 s more.
    """
    scenario = load_scenario("crash").scenario("eager")
    detected = [
        max(p.length_us for p in run_once(scenario, seed).analysis.pauses) / SECOND
        for seed in range(1, 21)
    ]
    assert 42.0 <= min(detected) < 44.0 and 46.5 < max(detected) <= 48.1


@pytest.mark.slow
def test_what_is_chance_names_the_phase_of_the_heartbeats() -> None:
    scenario = story(variant="consumer")
    told = said_of_chance(spread(scenario, 4), scenario)
    assert (
        "member ids, races of 100 ms, where between two heartbeats the script strikes: up to "
        "5.00 s later than written" in told
    )
    assert (
        is_sampled(scenario)
        and "seed 3 plays the script 1.18 s later than written"
        in said_of_phase(scenario, 3).lower()
    )
    still = story("heartbeat_phase: as-written", "consumer")
    assert "strikes" not in said_of_chance(spread(still, 4), still)
