"""What helps tasks of Kafka Connect: a delay that fits, and rounds that stop only what moves."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import figures, story_of

from rebalsim.advice.advise import remedies_of
from rebalsim.advice.search import Search
from rebalsim.reports.search_told import render_search
from rebalsim.scenario.load import load_scenario

STORY = """
connect:
  workers: 3
  connectors: {jdbc: 6}
script: [{at: 1m, crash: w1}]
replay: [cooperative]
horizon: 8m
budgets: {longest_task_pause: "<= 100s"}
"""
DELAY = "connect.config.scheduled.rebalance.max.delay.ms"


@pytest.mark.slow
def test_the_delay_that_keeps_a_budget_is_found_and_told_by_its_tasks(tmp_path: Path) -> None:
    path = tmp_path / "story.yaml"
    path.write_text(STORY, encoding="utf-8")
    story = load_scenario(path)
    # which worker leads is a matter of the seed, and a leader's work waits for no delay
    found = Search(story, ("cooperative",), over=(DELAY.partition("config.")[2],), seeds=3).run()
    values = {dict(choice.tried.patch.sets)[DELAY] for choice in found.choices}
    # the session, a heartbeat and the delay together
    assert values and values <= {"0s", "10s", "30s", "1m", "90s"} and "1m" in values
    told = "\n".join(render_search("the story", found, story.budgets, [""], "rebalsim run"))
    assert "longest task pause 5 m" in told and "→" in told
    assert "longest pause" not in told  # nobody reads partitions here


@pytest.mark.slow
def test_an_eager_cluster_is_told_to_go_incremental_with_a_delay_that_helps() -> None:
    """Incremental rounds alone would have the work of each restarted worker wait five minutes."""
    story = story_of(
        """
connect:
  workers: 3
  life: {start: 20s}
  config: {connect.protocol: eager}
  connectors: {jdbc: {tasks.max: 6, stop: 2s, start: 1s}}
script: [{at: 1m, rolling_bounce: {down: 5s, settle: 20s}}]
replay: [as-written]
horizon: 7m
"""
    )
    (first, *_) = remedies_of(story)["as-written"]
    assert dict(first.patch.sets) == {"connect.config.connect.protocol": "sessioned", DELAY: "0s"}
    assert first.after["task_seconds"] < first.before["task_seconds"] / 2
    changed = story.with_overrides(first.patch.overrides).check()
    played = figures(changed, "as-written", first.seeds, ("task_seconds", "longest_task_pause"))
    assert {name: first.after[name] for name in played} == played


@pytest.mark.slow
def test_the_delay_that_is_advised_outlasts_the_restarts() -> None:
    """A shorter one has tasks stand still for less, and move twice: the search tells of those."""
    story = story_of(
        """
connect:
  workers: 4
  life: {start: 35s}
  connectors: {jdbc: 8}
script:
  - {at: 1m, rolling_bounce: {members: [w1, w2], down: 10s, settle: 30s}}
  - {at: 9m, crash: {members: w3, restart_after: 9m}}
replay: [cooperative]
horizon: 20m
"""
    )
    remedies = remedies_of(story)["cooperative"]
    delays = {value for one in remedies for path, value in one.patch.sets if path == DELAY}
    assert delays == {"1m"}  # a restart takes 45 seconds
