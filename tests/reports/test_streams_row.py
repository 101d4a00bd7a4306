"""A Kafka Streams application's own state stands in a row above its tasks."""

from __future__ import annotations

import json
import re
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
    assert done.analysis.application_states == {}


@pytest.mark.slow
def test_standbys_follow_thinly_beneath_their_task(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(ROOT / "scenarios" / "streams-crash.yaml")
    code_of(["run", path, "--ascii", "--variant", "two-standbys"])
    lines = capsys.readouterr().out.splitlines()
    lane = next(n for n, line in enumerate(lines) if line.startswith("  orders-1"))
    assert lines[lane + 1].lstrip().startswith("standby") and "." * 20 in lines[lane + 1]
    assert any("standby, caught up" in line for line in lines)


@pytest.mark.slow
def test_the_page_has_them_and_the_application_s_state(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    path = str(ROOT / "scenarios" / "streams-crash.yaml")
    code_of(["run", path, "--variant", "two-standbys", "--html", str(page)])
    text = page.read_text(encoding="utf-8")
    held = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert held is not None and "Thinly beneath a task" in text
    data = json.loads(held[1])
    variant = data["variants"][0]
    states = {data["texts"][state] for state, _, _ in variant["apps"][0][1]}
    assert states == {"RUNNING", "REBALANCING"} and variant["copies"]
