"""A Kafka Streams application's own state stands in a row above its tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebalsim.cli.main import code_of

ROOT = Path(__file__).parents[2]


def timeline(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    code_of(["run", str(ROOT / "scenarios" / f"{name}.yaml"), "--ascii"])
    return capsys.readouterr().out


def test_where_not_all_instances_run_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    told = timeline("streams-crash", capsys)
    rows = [line for line in told.splitlines() if line.startswith("  app ")]
    assert len(rows) == 3, "a row for each variant"
    assert all("not RUNNING" in row or "RUNNING" in row for row in rows)


def test_other_groups_have_no_such_row(capsys: pytest.CaptureFixture[str]) -> None:
    told = timeline("crash", capsys)
    assert not any(line.startswith("  app ") for line in told.splitlines())
