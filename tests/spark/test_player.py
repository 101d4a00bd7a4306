"""The worker function without Spark: a row is what one run measures, and whatever goes wrong is
that run's row.
"""

from __future__ import annotations

import pickle
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from rebalsim.analysis.measure import measure
from rebalsim.domain.errors import BugError, InputError, ProblemsError
from rebalsim.domain.metrics import METRICS
from rebalsim.domain.sweep import Plan
from rebalsim.one_run import run_once
from rebalsim.scenario.grid import even_order
from rebalsim.scenario.load import load_scenario
from rebalsim.spark import player as player_module
from rebalsim.spark.plans import load_plan
from rebalsim.spark.player import (
    Player,
    parse_run_name,
    play_ranks,
    player_for,
    run_name,
    time_limit,
)
from rebalsim.spark.schemas import run_columns


def test_a_row_is_what_run_once_measures_field_by_field(plan: Plan) -> None:
    rows = {r["run"]: r for r in Player(plan).play(9, 3)}
    story = load_scenario(
        "scale-out",
        [
            "group.config.session.timeout.ms=10s",
            "group.config.heartbeat.interval.ms=3s",
            "group.members=2",
        ],
    )
    for variant in ("eager", "cooperative"):
        row = rows[f"9-{variant}-3"]
        run = run_once(story.scenario(variant), 3)
        assert run.analysis is not None
        for name in METRICS:
            assert row[name] == pytest.approx(measure(run.analysis, name), abs=0.5), name
        assert (row["session"], row["heartbeat"], row["members"], row["scenario"]) == (
            10_000_000,
            3_000_000,
            2.0,
            "scale-out",
        )
        assert row["settles"] == "at once"
        assert row["error"] is None and row["consumers"] == 3 and row["topic_partitions"] == 4
        assert row["budgets"][0] == {
            "budget": "longest_pause <= 2s",
            "level": "error",
            "observed": float(row["longest_pause"]),
            "limit": 2e6,
            "excess": row["longest_pause"] - 2e6,
            "verdict": "pass" if row["longest_pause"] <= 2_000_000 else "fail",
        }
        assert row["cost_per_hour"] == pytest.approx(0.1 * row["member_seconds"] / (120 * 1e6))
    assert [b["budget"] for b in rows["9-eager-3"]["budgets"]] == ["longest_pause <= 2s"]
    assert [b["budget"] for b in rows["9-cooperative-3"]["budgets"]] == [
        "longest_pause <= 2s",
        "rebalances <= 2",
    ]
    assert set(rows["9-eager-3"]) == {*(c.name for c in run_columns(plan)), "budgets"}


def test_settings_that_cannot_be_become_a_row_that_says_why(plan: Plan) -> None:
    rows = Player(plan).play(4, 1)  # heartbeat 8s, session 6s
    assert [r["error_kind"] for r in rows] == ["impossible", "impossible"]
    assert "heartbeat.interval.ms 8s is not below session.timeout.ms 6s" in rows[0]["error"]
    assert (
        rows[0]["verdict"] == "error"
        and rows[0]["longest_pause"] is None
        and rows[0]["session"] == 6_000_000
    )


@pytest.mark.parametrize(
    ("error", "kind", "says"),
    [
        (MemoryError(), "memory", "ran out of memory"),
        (BugError("two owners"), "bug", "two owners"),
        (ZeroDivisionError("division by zero"), "crash", "ZeroDivisionError: division by zero"),
        (InputError("no code"), "impossible", "no code"),
    ],
)
def test_whatever_goes_wrong_is_one_row(
    plan: Plan, monkeypatch: pytest.MonkeyPatch, error: Exception, kind: str, says: str
) -> None:
    def fail(scenario: Any, seed: int) -> Any:
        if scenario.variant == "eager":
            raise error
        return run_once(scenario, seed)

    monkeypatch.setattr(player_module, "run_once", fail)
    eager, cooperative = Player(plan).play(9, 1)
    assert (eager["error_kind"], says in eager["error"]) == (kind, True)
    assert cooperative["error"] is None and cooperative["longest_pause"] > 0


def test_an_analysis_that_fails_is_one_row_too(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(analysis: Any) -> Any:
        raise KeyError("orders-3")

    monkeypatch.setattr(player_module.rows, "measured", fail)
    assert [(r["error_kind"], r["error"]) for r in Player(plan).play(9, 1)] == [
        ("crash", "KeyError: 'orders-3'")
    ] * 2


def test_a_run_that_takes_too_long_is_cut(plan_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = load_plan(_with(plan_file, "run_limit: 1s\n"))

    def slow(scenario: Any, seed: int) -> Any:
        while scenario.variant == "eager":
            pass
        return run_once(scenario, seed)

    monkeypatch.setattr(player_module, "run_once", slow)
    began = time.monotonic()
    eager, cooperative = Player(plan).play(9, 1)
    assert 0.9 < time.monotonic() - began < 5
    assert (eager["error_kind"], eager["error"]) == (
        "cut",
        "cut after 1 s on the clock (run_limit)",
    )
    assert cooperative["error"] is None


def test_the_limit_is_over_when_the_run_is() -> None:
    with time_limit(0.05):
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
    time.sleep(0.1)  # and nothing strikes


def test_batches_hold_what_the_ranks_say(plan: Plan) -> None:
    player = Player(plan, with_pauses=True)
    order = even_order(plan.radices, plan.seeds)
    rows = [row for batch in play_ranks(player, order, 0, 20) for row in batch.to_pylist()]
    # Point 2 and 3 (session 6s, heartbeat 3s) are dropped by the condition; 4 cannot be played.
    assert [(r["point"], r["seed"]) for r in rows[::2]] == [
        (p, s) for p in (0, 1, 4) for s in (1, 2, 3, 4)
    ]
    for row in rows:
        for pause in row["each_pause"]:
            spent = sum(
                us
                for name, us in pause.items()
                if name.endswith("_us") and name not in ("started_us", "ended_us")
            )
            assert spent == pause["ended_us"] - pause["started_us"]
    assert sum(len(r["each_pause"]) for r in rows) == sum(r["pauses"] or 0 for r in rows) > 0


def test_a_storm_is_told_from_a_hand_over(tmp_path: Path) -> None:
    path = tmp_path / "storm.yaml"
    path.write_text(
        "scenario: rebalance-storm\naxes: {group.config.max.poll.interval.ms: {as: interval, "
        "values: [5m, 10m]}}\nvariants: cooperative\n"
    )
    player = Player(load_plan(path))
    assert [player.play(p, 1)[0]["settles"] for p in (0, 1)] == ["never", "at once"]


def test_a_plan_that_states_no_budgets_has_none_and_one_that_says_nothing_has_the_scenarios(
    tmp_path: Path,
) -> None:
    path = tmp_path / "plan.yaml"
    for text, count in (("", 3), ("budgets: {}\n", 0), ('budgets: {rebalances: "<= 9"}\n', 1)):
        path.write_text("scenario: scale-out\naxes: {group.members: [2]}\nvariants: eager\n" + text)
        row = Player(load_plan(path)).play(0, 1)[0]
        assert len(row["budgets"]) == count and row["verdict"] == "pass"


def test_a_player_travels_as_its_plan(plan: Plan) -> None:
    player = player_for(plan)
    assert pickle.loads(pickle.dumps(player)) is player
    assert len(pickle.dumps(player)) < 20_000


def test_names_of_runs() -> None:
    assert parse_run_name(run_name(12, "as-written", 3)) == (12, "as-written", 3)
    for bad in ("12", "x-eager-1", "12-eager-x", "12--1", ""):
        with pytest.raises(InputError):
            parse_run_name(bad)


def test_a_path_that_leads_nowhere_is_told_on_its_axis(plan_file: Path) -> None:
    text = plan_file.read_text("utf-8").replace(
        "group.config.heartbeat.interval.ms", "group.config.heartbeat.intervall.ms"
    )
    plan_file.write_text(text, "utf-8")
    with pytest.raises(ProblemsError) as e:
        load_plan(plan_file)
    assert f"{plan_file}:5:3: " in str(e.value) and "heartbeat.interval" in str(e.value)


def test_a_value_that_no_setting_takes_is_told_on_its_axis(plan_file: Path) -> None:
    plan_file.write_text(plan_file.read_text("utf-8").replace("[1, 2]", "[1, many]"), "utf-8")
    with pytest.raises(ProblemsError) as e:
        load_plan(plan_file)
    assert f"{plan_file}:6:3: " in str(e.value) and "many" in str(e.value)


def _with(plan_file: Path, more: str) -> Path:
    plan_file.write_text(plan_file.read_text("utf-8") + more, "utf-8")
    return plan_file
