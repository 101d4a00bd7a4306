"""`verify --phases`: a recording's pauses against its replay's, a line a file and a table
over all.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rebalsim.cli.main import code_of

TRACES = Path(__file__).parents[1] / "reality" / "traces"
FILES = [str(TRACES / f"{name}.json.gz") for name in ("callbacks-coop", "crash-sticky")]


def test_text_and_json_say_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of(["verify", "--phases", *FILES]) == 0
    *each, whole, head, table = capsys.readouterr().out.rstrip("\n").split("\n", 4)
    assert [line.split(": ")[0] for line in each] == FILES and whole.startswith("2 recordings: ")
    assert code_of(["verify", "--phases", "--json", *FILES]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [d["kind"] for d in told] == ["phases", "phases"] and all(
        d["right"] <= d["found"] <= d["pauses"] for d in told
    )
    assert (
        f" {sum(d['pauses'] for d in told)} pauses, {sum(d['found'] for d in told)} found, "
        f"{sum(d['right'] for d in told)} of the right length" in whole
    )
    rows = {line.split()[0]: line for line in table.split("\n")}
    assert set(rows) == {phase for d in told for phase in d["phases"]} and head.startswith("phase")
    for phase, row in rows.items():
        assert int(row.split()[1]) == sum(d["phases"].get(phase, {"told": 0})["told"] for d in told)


def test_what_has_no_phases_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of(["verify", "--phases", str(TRACES.parent / "assignors" / "range.jsonl.gz")]) == 2
    assert "only traces have phases" in capsys.readouterr().err
