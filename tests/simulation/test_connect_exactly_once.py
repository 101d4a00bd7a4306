"""exactly.once.source.support: former copies of a source's tasks are shut out before new ones begin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rebalsim.analysis.analysis import Analysis
from rebalsim.domain.alarm import AlarmKind
from rebalsim.domain.errors import ProblemsError
from rebalsim.one_run import run_once
from rebalsim.scenario.load import load_scenario
from rebalsim.trace.connect_events import TaskFailed, TaskStarting

STORY = """
connect:
  workers: 3
  config: {{exactly.once.source.support: {support}, scheduled.rebalance.max.delay.ms: 10s}}
  connectors:
    src: {{tasks.max: 6}}
script: {script}
replay: [cooperative]
horizon: 4m
"""
FREEZE = "[{at: 1m, freeze: {members: w1, for: 40s}}]"
RECONFIGURE = "[{at: 1m, reconfigure_connector: {connector: src, tasks.max: 6}}]"
AT_US = 60_000_000


def played(tmp_path: Path, support: str, script: str) -> Analysis:
    path = tmp_path / "story.yaml"
    path.write_text(STORY.format(support=support, script=script), encoding="utf-8")
    analysis: Analysis = run_once(load_scenario(path).scenario()).analysis
    assert analysis.violations == []
    return analysis


def of_kind(analysis: Analysis, kind: type) -> list[Any]:
    return [e for e in analysis.trace.events if type(e) is kind and e.at_us >= AT_US]


def ran_twice(analysis: Analysis) -> bool:
    return any(a.kind is AlarmKind.HELD_TWICE for a in analysis.alarms)


def test_a_frozen_workers_copies_fail_as_it_thaws_and_do_not_run_beside_the_new_ones(
    tmp_path: Path,
) -> None:
    without = played(tmp_path, "disabled", FREEZE)
    assert ran_twice(without) and not of_kind(without, TaskFailed)
    enabled = played(tmp_path, "enabled", FREEZE)
    assert not ran_twice(enabled)
    failed = of_kind(enabled, TaskFailed)
    assert len(failed) == 2 and {e.consumer for e in failed} == {"w1"}
    assert all(e.at_us >= AT_US + 40_000_000 for e in failed)


@pytest.mark.parametrize("tasks", [1, 6])
def test_new_tasks_wait_for_the_leader_to_shut_out_the_former_set(
    tmp_path: Path, tasks: int
) -> None:
    script = RECONFIGURE.replace("6", str(tasks))
    slow, plain = (played(tmp_path, how, script) for how in ("enabled", "disabled"))
    first, before = (min(e.at_us for e in of_kind(a, TaskStarting)) for a in (slow, plain))
    assert 60_000 < first - before < 300_000
    assert len(of_kind(slow, TaskStarting)) == len(of_kind(plain, TaskStarting)) == tasks
    assert not of_kind(slow, TaskFailed)


def test_preparing_changes_nothing_yet(tmp_path: Path) -> None:
    preparing, plain = (played(tmp_path, how, FREEZE) for how in ("preparing", "disabled"))
    assert preparing.trace.events == plain.trace.events


def test_a_standalone_workers_settings_are_refused_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "story.yaml"
    for line in ("mode: standalone", "config: {offset.storage.file.filename: /offsets}"):
        path.write_text(f"connect:\n  {line}\n  workers: 1\nhorizon: 1m\n", encoding="utf-8")
        with pytest.raises(ProblemsError, match="standalone worker: one process and no group"):
            load_scenario(path)
