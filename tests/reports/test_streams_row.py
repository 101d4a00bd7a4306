"""A Kafka Streams application's own state stands in a row above its tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebalsim.cli.main import code_of
from rebalsim.one_run import run_once
from rebalsim.scenario.load import load_scenario

ROOT = Path(__file__).parents[2]


def test_where_not_all_instances_run_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(ROOT / "scenarios" / "streams-crash.yaml")
    code_of(["run", path, "--ascii", "--variant", "as-it-is"])
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  app ")]
    assert len(rows) == 1 and rows[0].endswith("not RUNNING")


def test_other_groups_have_no_such_row() -> None:
    done = run_once(load_scenario(ROOT / "scenarios" / "crash.yaml").scenario())
    assert done.analysis.application_states == []
