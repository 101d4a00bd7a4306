"""What the pages show of a notebook runs: `python spark` blocks, in a session named `spark`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rebalsim.cli.main import code_of

ROOT = Path(__file__).parents[2]
MARK = "```python spark\n"


def blocks(page: str) -> list[str]:
    """The page's blocks for a notebook."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    return [rest.partition("```")[0] for rest in text.split(MARK)[1:]]


def test_every_page_with_a_notebook_is_played_here() -> None:
    pages = {p.name for p in (ROOT / "docs").glob("*.md") if MARK in p.read_text("utf-8")}
    assert pages == {"planning-on-spark.md", "last-night.md"}


@pytest.mark.spark
def test_logs_are_read_as_tables(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import rebalsim.spark

    rebalsim.spark.register(spark)
    (tmp_path / "logs").symlink_to(ROOT / "scenarios" / "incidents" / "stuck-last-night")
    monkeypatch.chdir(tmp_path)
    (block,) = blocks("last-night.md")
    names: dict[str, Any] = {"spark": spark}
    exec(block.replace('"logs/"', repr(str(tmp_path / "logs"))), names)
    pauses = names["pauses"]
    assert {"group", "partition", "start"} & set(pauses.columns) and pauses.count() > 0


@pytest.mark.spark
def test_a_plan_is_a_table_and_a_what_if_a_query(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert code_of(["init", "ours", "--from", "planner"]) == 0
    # with one point and one variant that the block asks for, and one of each that it does not
    plan = tmp_path / "ours.yaml"
    text = plan.read_text("utf-8")
    fewer = text.replace("[60, 64, 67, 72, 80, 100, 134, 200]", "[72, 80]")
    fewer = fewer.replace("[10s, 45s]", "[10s]").replace("[50, 500]", "[50]")
    fewer = fewer.replace("[eager, cooperative, static, consumer]", "[eager, cooperative]")
    assert len(text) - len(fewer) > 50
    plan.write_text(fewer, "utf-8")
    (block,) = blocks("planning-on-spark.md")
    exec(block.replace('"ours.yaml"', repr(str(tmp_path / "ours.yaml"))), {"spark": spark})
    told = capsys.readouterr().out
    assert "max(longest_pause)" in told and told.count("cooperative") >= 5
