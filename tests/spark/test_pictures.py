"""The stock plans' pictures, which docs/planning-on-spark.md shows: every field is there, and fields played
again here say the same. Needs no Spark.
"""

from __future__ import annotations

import re
from dataclasses import replace
from math import ceil
from pathlib import Path

import pytest

from rebalsim.reports.sweep_words import say_busy, say_metric
from rebalsim.spark.plans import Plan, load_plan, stock_plans
from rebalsim.spark.player import Player, player_for
from rebalsim.spark.tables import main_metric

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "scenarios" / "sweeps" / "pictures"
FIELD = re.compile(r"<title>([^<]*): ([^:<]*) \((\w+), point (\d+)-([\w-]+)\)</title>")
GRAVITY = ("at once", "slowly", "never")
pytestmark = pytest.mark.slow


def alone(plan: Plan, variant: str) -> Player:
    """Plays this variant, and no other beside it."""
    return player_for(replace(plan, variants=(variant,)))


@pytest.mark.parametrize("name", sorted(stock_plans()))
def test_a_picture_says_what_is_played(name: str) -> None:
    plan = load_plan(name)
    player = player_for(plan)
    text = (PICTURES / f"{name}.svg").read_text("utf-8")
    fields = FIELD.findall(text)
    shown = [next(a for a in plan.axes if a.name == heat) for heat in plan.heat]
    assert (
        len(fields)
        == len(shown[0].steps) * len(shown[1].steps) * len(plan.variants or player.variants(0))
        and "not played" not in text
    )
    metric = main_metric(plan)
    for where, said, _, point, variant in (fields[0], fields[len(fields) // 2 + 1]):
        labels = player.points.labels(int(point))
        assert where == ", ".join(f"{a.name} {labels[a.name]}" for a in shown)
        rows = [
            row
            for seed in range(plan.first_seed, plan.first_seed + plan.seeds)
            for row in alone(plan, variant).play(int(point), seed)
        ]
        if plan.show == "settles":
            assert said == max((row["settles"] for row in rows), key=GRAVITY.index)
            continue
        values = sorted(row[metric.name] for row in rows)
        rank = ceil((100 if metric.percentile is None else metric.percentile) / 100 * len(values))
        assert said == say_metric(metric.name, values[max(1, rank) - 1]), (name, where, variant)


def test_the_page_shows_every_picture_and_the_command_that_makes_it() -> None:
    page = (ROOT / "docs" / "planning-on-spark.md").read_text("utf-8")
    assert sorted(p.name for p in PICTURES.iterdir()) == sorted(
        f"{name}.svg" for name in stock_plans()
    )
    for name in stock_plans():
        assert f"(../scenarios/sweeps/pictures/{name}.svg)" in page
    assert "rebalsim sweep storm-map --out out/storm-map --svg storm-map.svg" in page


def test_the_pages_answer_is_what_is_played() -> None:
    page = (ROOT / "docs" / "planning-on-spark.md").read_text("utf-8")
    plan = load_plan("planner")
    player = player_for(plan)
    rows = re.findall(
        r"^ +(\d+) +(\d+) +(\d+s) +(\d+) +(\w+) +([\d.]+ s) +([\d,]+)$", page, re.MULTILINE
    )
    assert len(rows) == 3
    for point, members, session, records, variant, pause, lag in rows:
        assert player.points.labels(int(point)) == {
            "members": members,
            "session": session,
            "poll_records": records,
        }
        (played,) = alone(plan, variant).play(int(point), 1)
        assert (
            played["verdict"],
            say_metric("longest_pause", played["longest_pause"]),
            say_metric("lag_peak", played["lag_peak"]),
        ) == ("pass", pause, lag)
        assert say_busy(played["fullest"]) == "90 %"
    (cheaper,) = alone(plan, "cooperative").play(8, 1)
    assert [b["budget"] for b in cheaper["budgets"] if b["verdict"] == "fail"] == [
        "time_to_catch_up <= 5m"
    ]
    assert (
        f"✗ time_to_catch_up <= 5m: {say_metric('time_to_catch_up', cheaper['time_to_catch_up'])}, "
        in page
    )
