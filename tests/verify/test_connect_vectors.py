"""Recorded answers of Connect's assignors: ours are identical, and a tampered answer is found."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rebalsim.cli.verify import command
from rebalsim.domain.errors import InputError
from rebalsim.verify.connect_assignors import verify

FOLDER = Path(__file__).parents[1] / "reality" / "connect" / "assignors"


def chains(name: str) -> list[dict[str, Any]]:
    with gzip.open(FOLDER / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize(("name", "rounds"), [("incremental", 486), ("eager", 82)])
def test_every_recorded_answer_is_identical(name: str, rounds: int) -> None:
    finding = verify(FOLDER / f"{name}.jsonl.gz")
    assert finding.ok and finding.details == []
    assert finding.document["kind"] == "connect-assignors"
    assert (finding.document["cases"], finding.document["identical"]) == (rounds, rounds)


def test_the_recordings_reach_the_delay_its_end_and_a_config_mismatch() -> None:
    steps = [step for chain in chains("incremental") for step in chain["steps"]]
    assert any(step["delay"] for step in steps) and any(step["error"] for step in steps)
    assert any("scheduled" in step["why"] for step in steps)
    assert any(share["revoked_tasks"] for s in steps for share in s["assignment"].values())


@pytest.mark.parametrize("part", ["delay", "offset", "given", "revoked"])
def test_an_answer_that_was_tampered_with_is_told(tmp_path: Path, part: str) -> None:
    chain = next(c for c in chains("incremental") if c["steps"][0]["config"])
    step = chain["steps"][0]
    share = next(iter(step["assignment"].values()))
    if part in ("delay", "offset"):
        step[part] += 1
    else:
        share["tasks" if part == "given" else "revoked_tasks"].append("nowhere-7")
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(chain) + "\n", encoding="utf-8")
    result = CliRunner().invoke(command, [str(path)], standalone_mode=False)
    assert result.return_value == 1
    assert "line 1, round 1" in result.output and "Kafka" in result.output


@pytest.mark.parametrize(
    "broken",
    [
        '{"assignor": "incremental", "steps": [{}]}',
        '{"assignor": "incremental", "steps": 7}',
        '{"assignor": "eager", "steps": [{"why": 3, "members": []}]}',
    ],
)
def test_a_broken_file_is_told_with_its_line(tmp_path: Path, broken: str) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(broken + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"answers\.jsonl:1: "):
        verify(path)
