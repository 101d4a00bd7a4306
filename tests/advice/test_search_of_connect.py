"""The search for a delay that keeps a budget of Kafka Connect's tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

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


@pytest.mark.long
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
