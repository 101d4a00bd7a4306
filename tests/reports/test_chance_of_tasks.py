"""What chance decides of Connect's tasks is told: over seeds with a spread, and beside one run."""

from __future__ import annotations

from pathlib import Path

from rebalsim.one_run import run_once, spread
from rebalsim.reports.chance_told import said_of_chance, said_of_leader
from rebalsim.scenario.load import load_scenario

STORY = """
connect:
  workers: 3
  connectors: {src: {tasks.max: 6}}
script: [{at: 1m, rolling_bounce: {down: 20s, settle: 20s}}]
replay: [cooperative]
horizon: 7m
"""


def test_pauses_of_tasks_are_told_over_seeds_like_those_of_partitions(tmp_path: Path) -> None:
    path = tmp_path / "story.yaml"
    path.write_text(STORY, encoding="utf-8")
    scenario = load_scenario(path).scenario()
    over = spread(scenario, 8)
    longest = over.known("longest_task_pause")
    assert len(longest) == 8
    # the leader's turn ends the delay that runs, and when it comes is chance
    assert longest[-1] > 2 * longest[0] > 0
    assert "longest task pause, task-seconds and worker rebalances differ by chance" in (
        said_of_chance(over, scenario)
    )


def test_beside_one_run_it_says_that_the_next_leader_is_drawn_where_workers_go(
    tmp_path: Path,
) -> None:
    path = tmp_path / "story.yaml"
    path.write_text(STORY, encoding="utf-8")
    scenario = load_scenario(path).scenario()
    assert "who leads after it" in said_of_leader(scenario, run_once(scenario, 1).trace)
    path.write_text(
        STORY.replace("rolling_bounce: {down: 20s, settle: 20s}", "leave: w1"), encoding="utf-8"
    )
    quiet = load_scenario(path).scenario()
    assert said_of_leader(quiet, run_once(quiet, 1).trace) == ""
    path.write_text(STORY.replace("[cooperative]", "[eager]"), encoding="utf-8")
    eager = load_scenario(path).scenario()
    assert said_of_leader(eager, run_once(eager, 1).trace) == ""
