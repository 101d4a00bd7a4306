"""Stock plans, and plans that travel: whatever a plan names, a sweep's folder holds it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from rebalsim.domain.errors import InputError, ProblemsError
from rebalsim.spark.bundle import (
    bundle_of,
    dumps,
    order_as_json,
    order_from_json,
    plan_of,
    refuse_to_go_on,
)
from rebalsim.spark.plans import load_plan, stock_plans
from rebalsim.spark.player import player_for
from rebalsim.spark.probe import _factors


@pytest.mark.parametrize("name", sorted(stock_plans()))
def test_stock_plans_can_be_played_and_travel(name: str) -> None:
    plan = load_plan(name)
    assert plan.budgets and plan.objectives and plan.title and len(plan.heat) == 2
    assert plan_of(json.loads(dumps(bundle_of(plan)))) == plan
    player = player_for(plan)
    for point in (0, plan.points // 2, plan.points - 1):
        for variant in player.variants(point):
            assert player.scenario(point, variant).horizon_us > 0


def test_there_is_a_stock_plan_for_every_question() -> None:
    assert sorted(stock_plans()) == [
        "autoscaler",
        "connect-delay",
        "heartbeat-handover",
        "planner",
        "rolling-bounce-pods",
        "scale-out-size",
        "session-timeout",
        "storm-map",
    ]


def test_what_is_no_plan_is_said_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'storm-map'"):
        load_plan("storm-mapp")
    with pytest.raises(InputError, match="is a folder"):
        load_plan(tmp_path)
    with pytest.raises(ProblemsError, match="This is a scenario, not a plan"):
        load_plan(Path(__file__).parents[2] / "scenarios" / "scale-out.yaml")
    if os.geteuid() != 0:
        locked = tmp_path / "locked.yaml"
        locked.write_text("axes: {}")
        locked.chmod(0)
        with pytest.raises(InputError, match="cannot be read"):
            load_plan(locked)


def test_a_variant_that_no_story_has_and_a_baseline_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(
        "scenario: scale-out\naxes: {group.members: [2]}\nvariants: [eager, cooperativ]\n"
    )
    with pytest.raises(InputError, match="did you mean 'cooperative'"):
        load_plan(path)
    path.write_text(
        'scenario: scale-out\naxes: {group.members: [2]}\nbudgets: {longest_pause: "<= baseline"}\n'
    )
    with pytest.raises(InputError, match="a sweep has no baseline"):
        load_plan(path)


def test_two_scenarios_of_one_name_are_refused(tmp_path: Path) -> None:
    story = (Path(__file__).parents[2] / "scenarios" / "scale-out.yaml").read_text("utf-8")
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.yaml").write_text(story, "utf-8")
    path = tmp_path / "plan.yaml"
    path.write_text("scenario: [a/x.yaml, b/x.yaml]\naxes: {group.members: [2]}\n")
    with pytest.raises(ProblemsError, match="Two scenarios would be called 'x'"):
        load_plan(path)


def test_another_format_is_refused() -> None:
    with pytest.raises(InputError, match=r"written by rebalsim 9\.9"):
        plan_of({"schema_version": 3, "rebalsim": "9.9"})


def test_a_sweep_of_the_older_form_can_be_read_and_not_gone_on_with() -> None:
    plan = load_plan("heartbeat-handover")
    began = bundle_of(plan)
    refuse_to_go_on(began, plan, "out")
    older = {**began, "schema_version": 1}
    del older["columns"]
    assert plan_of(older).points == plan.points
    for other, who in (
        (older, f"an older state of rebalsim {began['rebalsim']}"),
        ({**began, "columns": began["columns"][:-1]}, "an older state"),
        ({**began, "rebalsim": "0.0.9"}, r"begun by rebalsim 0\.0\.9"),
    ):
        with pytest.raises(InputError, match=f"{who}.*--overwrite"):
            refuse_to_go_on(other, plan, "out")


def test_orders_travel() -> None:
    from rebalsim.scenario.grid import Order

    order = Order((2, 3), 4, ((1.0, 1.5), (1.0, 2.0, 600.25)), 0.0123)
    assert order_from_json(json.loads(json.dumps(order_as_json(order)))) == order


def test_costs_between_timed_values_lie_on_a_line_of_logs() -> None:
    plan = load_plan("heartbeat-handover")
    axis = plan.axes[1]  # members 2, 5, 10
    factors = _factors(axis, 3, {0: 0.001, 2: 0.016})
    assert factors[0] == 1.0 and factors[2] == pytest.approx(16.0) and 3 < factors[1] < 7
    assert _factors(axis, 3, {0: 0.010, 2: 0.012}) == (1.0, 1.0, 1.0)
