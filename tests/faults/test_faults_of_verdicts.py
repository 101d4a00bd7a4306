"""Greens that nothing supported: each was found, each is a test named by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rebalsim.analysis.judge import judge_fact, judge_run, measure_budget, measure_fact
from rebalsim.analysis.selecting import selected_disturbances
from rebalsim.cli.main import code_of
from rebalsim.domain.budget import Budget
from rebalsim.domain.metrics import EVERYTHING, METRICS
from rebalsim.domain.open_end import OpenEnd, OpenEndKind
from rebalsim.domain.percentiles import percentile, rank_of
from rebalsim.domain.verdict import Measured
from rebalsim.one_run import run_once
from rebalsim.scenario.load import load_scenario, story_of
from rebalsim.spark import rows

STORY: dict[str, str] = {
    "topics": "{orders: {partitions: 4, rate: 100/s}}",
    "group": "{members: 3}",
    "replay": "[as-written]",
    "horizon": "5m",
}


def story(**changed: str) -> str:
    return "".join(f"{key}: {value}\n" for key, value in {**STORY, **changed}.items())


def checked(folder: Path, capsys: Any, **changed: str) -> tuple[int, str]:
    (folder / "s.yaml").write_text(story(**changed), "utf-8")
    code = code_of(["check", str(folder / "s.yaml"), "--width", "200"])
    return code, " ".join(capsys.readouterr().out.split())


ALL = (
    "{longest_pause: '<= 10s', rebalances: '<= 3', time_to_catch_up: '<= 5m', lag_peak: '<= 9', "
    "duplicates: '== 0', settle_time: '<= 1m', generations: '<= 9', poll_expirations: '== 0'}"
)
NEVER_FORMED = {
    "cut_for_longer_than_the_story": (
        {"script": "[{at: 0s, cut: {members: all, for: 10m, from: brokers}}]"},
        3,
    ),
    "broker_down_from_the_start": (
        {"script": "[{at: 0s, broker_restart: {broker: 0, down: 10m}}]"},
        3,
    ),
    "nobody_at_all": ({"group": "{members: 0}"}, 1),
}


@pytest.mark.parametrize("fault", NEVER_FORMED)
def test_a_group_that_never_formed_kept_every_budget(
    fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed, code = NEVER_FORMED[fault]
    found, said = checked(
        tmp_path, capsys, budgets=ALL, expect="[no rebalance after 30s]", **changed
    )
    assert found == code and "✓" not in said
    assert "Nothing was measured: nobody in group ever owned a partition within 5 m" in said
    assert ("A longer horizon decides" in said) == (code == 3)


def test_one_group_of_two_that_never_formed_kept_the_budgets_of_both(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s.yaml").write_text(
        story().replace("group: {members: 3}", "groups: {a: {members: 2}, b: {members: 0}}")
        + "budgets: {longest_pause: '<= 10s'}\n",
        "utf-8",
    )
    assert code_of(["check", str(tmp_path / "s.yaml")]) == 1
    assert "nobody in b ever owned" in " ".join(capsys.readouterr().out.split())


def test_a_member_that_never_owned_a_partition_kept_its_budget(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    budget = "{longest_pause: {limit: '<= 1s', member: c5}}"
    code, said = checked(tmp_path, capsys, group="{members: 6}", budgets=budget)
    assert code == 1 and "c5 never owned a partition" in said


@pytest.mark.parametrize(
    "asked", ["longest_pause: '<= 60s'", "pauses: <= 9", "duplicates: <= 9", "lag_peak: <= 9"]
)
def test_a_topic_that_nobody_subscribes_to_kept_its_budget(
    asked: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = checked(
        tmp_path,
        capsys,
        topics="{orders: {partitions: 4, rate: 10/s}, other: {partitions: 2, rate: 5/s}}",
        group="{members: 2, topics: [orders]}",
        budgets=f"[{{{asked}, topics: [other]}}]",
    )
    assert code == 1 and "nobody ever owned other-0" in told


def test_a_window_before_anybody_owned_anything_kept_its_budget(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    budget = "{longest_pause: {limit: '<= 1s', until: 100ms}}"
    code, said = checked(tmp_path, capsys, budgets=budget)
    assert code == 1 and "nobody ever owned orders-0" in said


GONE = {
    "a_dead_member": ("[{at: 1m, crash: c0}]", "longest_pause: '<= 9m', member: c0, from: 2m"),
    "a_dead_members_rebalances": (
        "[{at: 1m, crash: c0}]",
        "rebalances: '<= 9', member: c0, from: 2m",
    ),
    "who_was_not_there_yet": (
        "[{at: 4m, scale: 4}]",
        "longest_pause: '<= 9m', member: c3, from: 1m, until: 2m",
    ),
    "a_deleted_topic": (
        "[{at: 10s, delete_topic: other}]",
        "longest_pause: '<= 30m', topics: [other], from: 15m",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", GONE)
def test_a_window_kept_the_budget_of_what_was_gone_in_it(
    fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script, asked = GONE[fault]
    code, told = checked(
        tmp_path,
        capsys,
        topics="{orders: {partitions: 4, rate: 10/s}, other: {partitions: 2, rate: 5/s}}",
        horizon="20m",
        script=script,
        budgets=f"[{{{asked}}}]",
    )
    assert code == 1 and "Nothing was measured" in told


def test_a_groups_first_settling_broke_an_expectation_of_no_rebalance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = checked(tmp_path, capsys, expect="[no rebalance before 3m]")
    assert code == 0, told


@pytest.mark.slow
def test_an_epoch_that_was_overtaken_lasted_until_the_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two joined within two seconds: the epoch of the first was never stable, and long gone."""
    for fact, expected in (
        ("no rebalance after 60s", 0),
        ("no rebalance between 19s and 22s", 1),
    ):
        code, told = checked(
            tmp_path,
            capsys,
            group="{members: 2, config: {group.protocol: consumer}}",
            script="[{at: 20s, join: 1}, {at: 21500ms, join: 1}]",
            expect=f"[{fact}]",
        )
        assert code == expected, told


def test_a_relative_budget_was_kept_against_what_was_still_open(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its limit would have come down: the shares of a run fall with time."""
    code, told = checked(
        tmp_path,
        capsys,
        replay="[eager, cooperative]",
        script="[{at: 1m, crash: c1}]",
        budgets="[{rebalances_per_hour: '<= 2 × eager', variant: cooperative}]",
    )
    assert code == 3 and "eager, which it is held against, was not decided" in told


def test_a_relative_budget_was_open_for_ever_against_a_group_that_never_formed() -> None:
    budget = Budget("longest_pause", "<=", 2.0, "longest_pause <= 2 × eager", "eager")
    never = OpenEnd(OpenEndKind.NO_GROUP_OWNED)
    assert judge_run(budget, Measured(5.0), Measured(None, unowned=never)).outcome == "fail"
    may_come = Measured(None, pending=(never,), unowned=never)
    assert judge_run(budget, Measured(5.0), may_come).outcome == "inconclusive"


@pytest.mark.parametrize("changed", [{"horizon": "75s"}, {"group": "{members: 0}", "script": "[]"}])
def test_what_the_horizon_cut_was_an_improvement_on_the_baseline(
    changed: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, baseline = tmp_path / "s.yaml", str(tmp_path / "b.json")
    path.write_text(story(script="[{at: 1m, crash: c0}]"), "utf-8")
    against = ["check", str(path), "--baseline", baseline, "--max-regression", "5%"]
    assert code_of(["check", str(path), "--save-baseline", baseline]) == 0
    assert code_of(against) == 0
    path.write_text(story(**{"script": "[{at: 1m, crash: c0}]", **changed}), "utf-8")
    capsys.readouterr()
    assert code_of(against) == 3
    said = " ".join(capsys.readouterr().out.split())
    assert "undecided, for a longer horizon could still make it worse: longest pause" in said
    assert code_of(against[:4]) == 0  # only told, nothing judged


OVERLOADED = {
    "topics": "{orders: {partitions: 4, rate: 1000/s}}",
    "group": "{members: 2, handler: 5ms}",
    "script": "[{at: 60s, crash: c1}]",
}


def test_catching_up_that_never_ends_was_kept_until_the_horizon_was_long(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for horizon, code in (("300s", 3), ("600s", 1)):
        found, said = checked(
            tmp_path,
            capsys,
            **OVERLOADED,
            horizon=horizon,
            budgets="{time_to_catch_up: '<= 5m'}",
        )
        assert found == code, said


@pytest.mark.slow
def test_run_showed_a_tick_beside_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.yaml").write_text(
        story(**{**OVERLOADED, "replay": "[eager, cooperative]"}), "utf-8"
    )
    code_of(["run", str(tmp_path / "s.yaml")])
    lines = capsys.readouterr().out.splitlines()
    over = [line for line in lines if line.startswith("time to catch up")]
    assert over and "over" in over[0] and "✓" not in over[0]


def test_a_sweep_took_what_is_open_for_met() -> None:
    made = story_of(story(**OVERLOADED, budgets="{time_to_catch_up: '<= 5m'}").encode(), "s")
    scenario = made.scenario("as-written")
    run = run_once(scenario)
    judged = rows.judged(scenario.budgets, (), "as-written", {"as-written": run.analysis})
    assert rows.overall(judged) == "inconclusive"


def test_recommend_took_what_is_open_for_met(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = NEVER_FORMED["cut_for_longer_than_the_story"][0]
    text = story(**changed, budgets="{longest_pause: '<= 10s'}")
    (tmp_path / "s.yaml").write_text(text, "utf-8")
    code_of(["recommend", str(tmp_path / "s.yaml"), "--events", "3000"])
    said = " ".join(capsys.readouterr().out.split())
    assert "? longest_pause <= 10s: undecided at best" in said and "✓" not in said
    assert "As it is, as-written: nobody ever held a partition — ?" in said


def test_a_dead_member_whose_session_runs_on_kept_the_count_of_rebalances() -> None:
    text = story(
        group="{members: 6}", script="[{at: 4m50s, crash: c5}]", budgets="{rebalances: '== 0'}"
    )
    made = story_of(text.encode(), "s")
    for horizon, outcome in (("5m", "inconclusive"), ("10m", "fail")):
        scenario = made.with_overrides([f"horizon={horizon}"]).scenario("as-written")
        (budget,) = scenario.budgets
        a = run_once(scenario).analysis
        assert judge_run(budget, measure_budget(a, budget)).outcome == outcome


def test_a_fact_that_goes_on_was_kept_while_a_session_ran() -> None:
    text = story(
        group="{members: 6}",
        script="[{at: 4m50s, crash: c5}]",
        expect="[no rebalance after 1m, c5 is never removed]",
    )
    scenario = story_of(text.encode(), "s").scenario("as-written")
    a = run_once(scenario).analysis
    for fact in scenario.expectations:
        assert judge_fact(measure_fact(a, fact)).outcome == "inconclusive"


def test_a_settled_story_is_still_decided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = checked(
        tmp_path,
        capsys,
        script="[{at: 1m, crash: c1}]",
        budgets="{longest_pause: '<= 2m', rebalances: '<= 3', lag_peak: '<= 99999', "
        "time_to_catch_up: '<= 5m', duplicates: '<= 99999'}",
        expect="[no rebalance after 3m]",
    )
    assert code == 0, said


def test_p55_of_100_seeds_was_rank_55_here_and_56_there() -> None:
    assert rank_of(55, 100) == 55
    assert [rank_of(p, n) for p, n in ((0, 7), (100, 7), (95, 20), (99.9, 1000), (1, 1000))] == [
        1,
        7,
        19,
        999,
        10,
    ]
    for count in range(1, 120):
        for percent in range(101):
            exact = max(1, -(-percent * count // 100))
            assert rank_of(percent, count) == exact
            assert percentile(range(1, count + 1), percent) == exact


def test_jsons_disturbances_counted_the_first_settling_too() -> None:
    from rebalsim.reports.report import VariantReport
    from rebalsim.reports.to_json import _variant

    a = run_once(load_scenario("scale-out").scenario("eager")).analysis
    told: Any = _variant(VariantReport("eager", a, "", "x"))
    assert len(told["disturbances"]) == a.measure("disturbances") == 1
    assert len(told["disturbances"]) == len(selected_disturbances(a, EVERYTHING))
    assert len(told["first_settlings"]) == 1
    assert {r["disturbance"] for r in told["rebalances"]} == {None, 0}


def test_a_daily_rate_went_flat_after_400_periods() -> None:
    text = story(
        topics="{orders: {partitions: 1, rate: {daily: {low: 1/s, high: 9/s, period: 1m}}}}",
        horizon="10h",
    )
    (topic,) = story_of(text.encode(), "s").scenario("as-written").topics
    late = {step.per_second for step in topic.rate if step.at_us > 9 * 3_600_000_000}
    assert min(late) < 2 and max(late) > 8


@pytest.mark.parametrize("metric", METRICS)
def test_a_metric_that_was_not_measured_never_keeps(metric: str) -> None:
    made = story_of(story(group="{members: 0}").encode(), "s").scenario("as-written")
    a = run_once(made).analysis
    for op in ("<=", "==", ">="):
        budget = Budget(metric, op, 0.0, f"{metric} {op} 0")
        assert judge_run(budget, measure_budget(a, budget)).outcome == "fail"


def test_tightening_two_budgets_on_one_line_was_a_bug(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(
        story(script="[{at: 1m, crash: c1}]", budgets="{longest_pause: '<= 3m', pauses: '<= 99'}"),
        "utf-8",
    )
    assert code_of(["check", str(path), "--update"]) == 0
    assert "<= 3m" not in path.read_text("utf-8") and "<= 99" not in path.read_text("utf-8")
    assert code_of(["check", str(path)]) == 0


IGNORED = {
    "restored_bytes": ({"topics": ("orders",)}, {"action": "crash-1"}),
    "standby_catch_up": ({"topics": ("orders",)}, {"action": "crash-1"}),
    "longest_not_running": ({"topics": ("orders",)}, {"members": ("app-1",)}),
    "longest_without_warm_standby": ({"topics": ("orders",)}, {"members": ("app-1",)}),
    "scalings": ({"topics": ("orders",)}, {"members": ("app-1",)}),
    "worker_rebalances": ({"topics": ("orders",)},),
}


@pytest.mark.parametrize("metric", IGNORED)
def test_a_part_that_a_metric_ignores_was_judged_as_the_whole(metric: str) -> None:
    a = run_once(load_scenario("streams-crash").scenario("as-it-is")).analysis
    for part in IGNORED[metric]:
        narrowed = Budget(metric, "<=", 1e18, "x", **part)  # type: ignore[arg-type]
        assert "cannot be narrowed by" in measure_budget(a, narrowed).problem
        assert judge_run(narrowed, measure_budget(a, narrowed)).outcome == "inconclusive"
