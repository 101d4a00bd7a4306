"""Budgets against hand-written traces: kept, broken, undecided; narrowed; relative; over seeds.
Seconds and topic `t` as in builders.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from builders import SECOND, trace

from rebalsim.analysis import Analysis, analyse
from rebalsim.analysis.judge import judge_run, judge_variant, measure_budget, over_seeds
from rebalsim.analysis.judge_evidence import disturbances_behind, pauses_behind
from rebalsim.analysis.judge_selection import selection_of, selectors_of
from rebalsim.domain.budget import Budget
from rebalsim.domain.metrics import METRICS
from rebalsim.domain.open_end import OpenEnd, OpenEndKind
from rebalsim.domain.verdict import Measured, RunVerdict
from rebalsim.one_run import run_once
from rebalsim.scenario.load import load_scenario

HANDED_OVER = "c1( c1+p0,p1@0 c2(@1 g{joined.c2@5 c1-p0@5 g|2.c2@8 g}2@8 c2+p0@9".replace(
    "c1( ", "c1(@0 "
)
OPEN = "c1+p0@0 c2+p1@0 c1!@90"


def budget(text: str, **rest: Any) -> Budget:
    """`longest_pause <= 2s`, in seconds for durations and plain numbers otherwise."""
    metric, op, amount = text.split(" ", 2)
    number = float(amount.removesuffix("s")) * (SECOND if amount.endswith("s") else 1)
    return Budget(metric, op, number, text, **rest)


def outcome(analysis: Analysis, asked: Budget, reference: float | None = None) -> str:
    measured = measure_budget(analysis, asked)
    assert not measured.problem, measured.problem
    return judge_run(asked, measured, reference).outcome


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("longest_pause <= 4s", "pass"),
        ("longest_pause < 4s", "fail"),
        ("longest_pause <= 3.999999s", "fail"),
        ("longest_pause >= 4s", "pass"),
        ("longest_pause > 4s", "fail"),
        ("longest_pause == 4s", "pass"),
        ("longest_pause == 5s", "fail"),
        ("partitions_touched <= 1", "pass"),
        ("partitions_touched <= 0", "fail"),
        ("rebalances <= 1", "pass"),
    ],
)
def test_a_budget_is_kept_on_its_side_of_the_limit(text: str, expected: str) -> None:
    assert outcome(analyse(trace(HANDED_OVER)), budget(text)) == expected


def test_what_was_observed_and_the_head_room_are_told() -> None:
    asked = budget("longest_pause <= 5s")
    verdict = judge_run(asked, measure_budget(analyse(trace(HANDED_OVER)), asked))
    assert (verdict.observed, verdict.limit, verdict.headroom) == (
        4 * SECOND,
        5 * SECOND,
        pytest.approx(0.2),
    )
    verdict = judge_run(
        replace(asked, limit=2.0 * SECOND), measure_budget(analyse(trace(HANDED_OVER)), asked)
    )
    assert verdict.outcome == "fail" and verdict.headroom == pytest.approx(-1.0)


def test_a_pause_still_open_counts_so_far_and_breaks_what_it_exceeds() -> None:
    a = analyse(trace(OPEN))
    found = measure_budget(a, budget("longest_pause <= 9s"))
    assert (found.value, found.open_pauses) == (10 * SECOND, 1)
    assert outcome(a, budget("longest_pause <= 9s")) == "fail"


def test_an_open_pause_that_could_still_break_a_budget_leaves_it_undecided() -> None:
    a = analyse(trace(OPEN))
    assert outcome(a, budget("longest_pause <= 30s")) == "inconclusive"
    assert outcome(a, budget("longest_pause >= 5s")) == "pass"  # it cannot shrink
    assert (
        outcome(a, budget("longest_pause <= 30s", members=("c2",))) == "pass"
    )  # another member's partitions


def test_a_window_that_is_over_is_decided() -> None:
    a = analyse(trace(OPEN))
    assert outcome(a, budget("longest_pause <= 30s", until_us=80 * SECOND)) == "pass"
    assert (
        outcome(a, budget("partition_seconds <= 6s", until_us=95 * SECOND)) == "pass"
    )  # clipped to it
    assert (
        outcome(a, budget("longest_pause <= 30s", until_us=95 * SECOND)) == "inconclusive"
    )  # counts whole, and goes on


def test_a_group_that_has_not_settled_leaves_budgets_undecided() -> None:
    a = analyse(trace(HANDED_OVER + " g{joined.c3@95"))
    assert measure_budget(a, budget("rebalances <= 3")).is_unsettled
    assert outcome(a, budget("rebalances <= 3")) == "inconclusive"
    assert outcome(a, budget("rebalances <= 0")) == "fail"


@pytest.mark.parametrize(
    ("text", "rest", "wrong"),
    [
        (
            "rebalances <= 1",
            {"topics": ("t",)},
            "rebalances cannot be narrowed by topics: it can be narrowed by members, window and "
            "action",
        ),
        ("generations <= 1", {"members": ("c1",)}, "generations cannot be narrowed by members"),
        ("first_settle_time <= 5s", {"from_us": 1}, "it is of the whole run"),
        ("lag_at_end <= 5", {"from_us": 1}, "cannot be narrowed by from"),
        (
            "longest_pause <= 1s",
            {"from_us": 100 * SECOND},
            "1 m 40 s is after the end: the story stops at 1 m 40 s",
        ),
        ("longest_pause <= 1s", {"until_us": 101 * SECOND}, "is after the end"),
        ("longest_pause <= 1s", {"from_us": 5 * SECOND, "until_us": 5 * SECOND}, "is empty"),
        (
            "longest_pause <= 1s",
            {"topics": ("u",)},
            "There is no topic u, so a budget on it would never fail — there is t",
        ),
        ("longest_pause <= 1s", {"members": ("c7",)}, "The member 'c7' is never started"),
        ("longest_pause <= 1s", {"action": "deploy"}, "The action 'deploy' never takes place"),
        ("duplicates <= 1", {}, "cannot be told of this run"),
    ],
)
def test_a_selection_that_matches_nothing_is_no_silent_pass(
    text: str, rest: dict[str, Any], wrong: str
) -> None:
    assert wrong in measure_budget(analyse(trace(HANDED_OVER)), budget(text, **rest)).problem


def test_the_limits_of_the_window_are_within_the_story() -> None:
    measured = measure_budget(
        analyse(trace(HANDED_OVER)),
        budget("longest_pause <= 1s", from_us=99 * SECOND, until_us=100 * SECOND),
    )
    assert measured.problem == "" and measured.value == 0


@pytest.mark.parametrize("name", METRICS)
def test_what_a_metric_does_not_heed_makes_no_difference_to_it(name: str) -> None:
    """The table of selectors is that of the measures: narrowed by what it is said to ignore, the
    value stays.
    """
    a = analyse(
        trace(
            HANDED_OVER + " c2!@50 g%c2@80 g{session-expired.c2@80 g|3.c1@81 g}3@81 c1+p0@82",
            source="simulated",
        )
    )
    b = budget(f"{name} <= 1")
    narrowed = {
        "topics": {"topics": ("t",)},
        "members": {"members": ("c2",)},
        "action": {"action": "none"},
        "window": {"from_us": 60 * SECOND},
    }
    for selector, rest in narrowed.items():
        if selector not in selectors_of(name) and not (
            selector == "window" and "until" in selectors_of(name)
        ):
            assert a.measure(name, selection_of(a, replace(b, **rest))) == a.measure(name), (
                f"{name} heeds {selector}"
            )  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "rest"),
    [
        ("longest_pause", {"members": ("c7",)}),
        ("longest_pause", {"action": "none"}),
        ("longest_pause", {"until_us": 20 * SECOND}),
        ("rebalances", {"until_us": 20 * SECOND}),
        ("rebalances", {"action": "none"}),
        ("generations", {"until_us": 20 * SECOND}),
        ("settle_time", {"members": ("c7",)}),
        ("member_seconds", {"members": ("c2",)}),
    ],
)
def test_what_a_metric_heeds_makes_a_difference(name: str, rest: dict[str, Any]) -> None:
    a = analyse(
        trace(HANDED_OVER + " c2!@50 g%c2@80 g{session-expired.c2@80 g|3.c1@81 g}3@81 c1+p0@82")
    )
    assert a.measure(name, selection_of(a, budget(f"{name} <= 1", **rest))) != a.measure(name)


# ---------------------------------------------------------------------------------- relative limits


def test_a_limit_relative_to_another_variant_is_taken_from_its_run_with_the_same_seed() -> None:
    eager, cooperative = analyse(trace(HANDED_OVER)), analyse(trace("c1+p0@0 c1-p0@5 c2+p0@6"))
    asked = (
        Budget(
            "longest_pause",
            "<=",
            0.5,
            "longest_pause <= 0.5 × eager",
            relative_to="eager",
            variant="cooperative",
        ),
    )
    ((_, verdict),) = judge_variant(
        asked, "cooperative", {"eager": eager, "cooperative": cooperative}
    )
    assert (verdict.outcome, verdict.observed, verdict.limit) == ("pass", 1 * SECOND, 2 * SECOND)
    ((_, verdict),) = judge_variant(
        [replace(asked[0], limit=0.2)], "cooperative", {"eager": eager, "cooperative": cooperative}
    )
    assert verdict.outcome == "fail"
    assert judge_variant(asked, "eager", {"eager": eager}) == []  # it is the other variant's


def test_equals_keep_a_limit_of_once_the_other_whatever_floats_do() -> None:
    for factor, other in ((0.29, 100.0), (1.1, 30.0), (1.05, 20.0), (0.7, 10.0)):
        asked = Budget("rebalances", "<=", factor, "rebalances <= x", relative_to="eager")
        assert judge_run(asked, Measured(round(factor * other, 6)), other).outcome == "pass"
        assert judge_run(asked, Measured(round(factor * other, 6) + 0.001), other).outcome == "fail"


def test_a_baseline_that_is_not_there_passes_nothing() -> None:
    asked = Budget("rebalances", "<=", 1.05, "rebalances <= baseline + 5%", relative_to="baseline")
    assert judge_run(asked, Measured(1.0), None).outcome == "inconclusive"
    assert (
        judge_variant([asked], "eager", {"eager": analyse(trace(HANDED_OVER))}, {asked: 1.0})[0][
            1
        ].outcome
        == "pass"
    )


# --------------------------------------------------------------------------------------- over seeds


def run_of(value: float, limit: float = 10, can_grow: bool = False) -> RunVerdict:
    pending = (OpenEnd(OpenEndKind.OPEN_PAUSES, count=1),) if can_grow else ()
    return judge_run(budget(f"rebalances <= {limit}"), Measured(value, pending=pending))


def test_over_seeds_the_worst_decides() -> None:
    verdict = over_seeds([(1, run_of(3)), (2, run_of(12)), (3, run_of(5)), (4, run_of(12))])
    assert (
        verdict.outcome,
        verdict.deciding.seed,
        verdict.deciding.observed,
        verdict.runs,
        verdict.broken,
    ) == ("fail", 2, 12, 4, 2)


def test_over_seeds_a_percentile_is_the_run_at_that_rank() -> None:
    runs = [(seed, run_of(seed)) for seed in range(1, 21)]  # ten of twenty are within 10
    assert (
        over_seeds(runs, 50.0).outcome == "pass" and over_seeds(runs, 50.0).deciding.observed == 10
    )
    assert (
        over_seeds(runs, 51.0).outcome == "fail" and over_seeds(runs, 51.0).deciding.observed == 11
    )
    assert over_seeds(runs, 95.0).deciding.observed == 19


def test_over_seeds_broken_is_graver_than_undecided() -> None:
    assert over_seeds([(1, run_of(1)), (2, run_of(2, can_grow=True))]).outcome == "inconclusive"
    assert over_seeds([(1, run_of(11)), (2, run_of(2, can_grow=True))]).outcome == "fail"
    assert over_seeds([(1, run_of(1)), (2, run_of(2, can_grow=True))], 50.0).outcome == "pass"


# ------------------------------------------------------------------------------------ what spent it


def test_the_pause_that_spent_a_budget_is_found() -> None:
    a = analyse(trace("c1+p0,p1@0 c1-p0@5 c2+p0@9 c1-p1@20 c2+p1@22"))
    assert [str(p.partition) for p in pauses_behind(a, budget("longest_pause <= 1s"))] == ["t-0"]
    assert [
        str(p.partition)
        for p in pauses_behind(a, budget("longest_pause <= 1s", from_us=15 * SECOND))
    ] == ["t-1"]
    assert [str(p.partition) for p in pauses_behind(a, budget("p50_pause <= 1s"))] == ["t-1"]
    assert pauses_behind(a, budget("longest_pause <= 1s", from_us=50 * SECOND)) == []


def test_what_set_off_too_many_rebalances_is_found() -> None:
    a = analyse(trace(HANDED_OVER))
    assert [d.trigger for d in disturbances_behind(a, budget("rebalances <= 0"))] == ["joined"]
    assert disturbances_behind(a, budget("longest_pause <= 0")) == []


def test_a_pause_is_open_for_whom_its_task_is_being_restored_by() -> None:
    """Under the streams protocol the group is settled long before its stores are."""
    story = load_scenario("streams-scale-out")
    scenario = replace(story.scenario("streams"), horizon_us=181_000_000)
    a = run_once(scenario, 0).analysis
    assert outcome(a, budget("longest_pause <= 30s", members=("app-2",))) == "inconclusive"
