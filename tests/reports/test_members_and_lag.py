"""Where an autoscaler is at work, members and lag stand as two rows above the partitions."""

from __future__ import annotations

from rebalsim.analysis.running import at, running
from rebalsim.one_run import run_once
from rebalsim.reports.terminal_load import load_rows
from rebalsim.reports.timeline import Window
from rebalsim.scenario.load import story_of

STORY = """
topics: {orders: {partitions: 12, rate: 800/s}}
group:
  members: 2
  handler: {per_record: 2ms, commit: sync-batch}
  life: {start: 5s}
script:
- {at: 10s, autoscale: {lagThreshold: 200, minReplicaCount: 2, maxReplicaCount: 12, pollingInterval: 10s}}
- {at: 2m, set_rate: {topic: orders, rate: 2000/s}}
replay: [eager]
horizon: 5m
"""


def test_members_are_written_where_their_number_changes_and_lag_as_high_as_it_was() -> None:
    analysis = run_once(story_of(STORY.encode(), "s").check().scenario()).analysis
    steps = running(analysis)
    rows = load_rows(analysis, Window(0, 300_000_000, 60), False)
    members, lag = rows
    assert [label for label, _, _ in rows] == ["members", "lag"]
    assert all(len(bar) == 60 for _, bar, _ in rows)
    for column, sign in enumerate(members[1]):
        now = at(steps, (column + 1) * 5_000_000 - 1)
        assert sign == "─" or int(sign, 36) == now
    assert "█" in lag[1] and lag[2] == f"{round(analysis.measure('lag_peak')):,} at its peak"
    assert load_rows(analysis, Window(0, 300_000_000, 60), True)[1][1].isascii()


def test_without_an_autoscaler_there_are_no_such_rows() -> None:
    lines = [line for line in STORY.splitlines() if "autoscale" not in line]
    analysis = run_once(story_of("\n".join(lines).encode(), "s").check().scenario()).analysis
    assert load_rows(analysis, Window(0, 300_000_000, 60), False) == []
