"""Recorded answers of Kafka Streams' task assignors: ours are identical, and an answer that was
tampered with is found out.
"""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rebalsim.cli.verify import command
from rebalsim.verify.recognise import recognise
from rebalsim.verify.streams_vectors import verify

FOLDER = Path(__file__).parents[1] / "reality" / "streams" / "assignors"
FILES = sorted(FOLDER.glob("*.jsonl.gz"))
Chain = dict[str, Any]


def chains(path: Path) -> list[Chain]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def written(path: Path, *lines: Chain) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_recorded_answer_is_identical(path: Path) -> None:
    steps = sum(len(chain["steps"]) for chain in chains(path))
    finding = verify(path)
    assert recognise(path) == finding.kind == "streams-assignors"
    assert finding.ok and finding.details == [] and steps > 60
    assert (finding.document["cases"], finding.document["identical"]) == (steps, steps)


def test_the_recordings_reach_every_corner() -> None:
    steps = [(chain, step) for path in FILES for chain in chains(path) for step in chain["steps"]]
    assert {chain["assignor"] for chain, _ in steps} == {"ha", "sticky", "streams-sticky"}
    clients = [(chain, step) for chain, step in steps if "config" in chain]
    strategies = {c["config"].get("rack.aware.assignment.strategy") for c, _ in clients}
    assert strategies == {None, "min_traffic", "balance_subtopology"}
    assert any("rack.aware.assignment.tags" in chain["config"] for chain, _ in clients)
    assert any(step["end_offset_sums"] is None for _, step in clients)  # the fallback
    asked = [s.get("next_rebalance") for _, step in clients for s in step["assignment"].values()]
    assert 0 in asked and any(asked) and None in asked


@pytest.mark.parametrize("name", ["ha", "sticky", "broker-sticky"])
def test_a_task_in_another_place_is_found(name: str, tmp_path: Path) -> None:
    chain = next(
        c
        for c in chains(FOLDER / f"{name}.jsonl.gz")
        if c.get("config", {}).get("num.standby.replicas", 0) == 0 and len(c["steps"]) > 1
    )
    changed = copy.deepcopy(chain)
    step = next(s for s in changed["steps"] if len(s["members"]) > 1)
    one, other = [m["id"] for m in step["members"]][:2]
    step["assignment"][one], step["assignment"][other] = (
        step["assignment"][other],
        step["assignment"][one],
    )
    finding = verify(written(tmp_path / "changed.jsonl", changed))
    assert not finding.ok and len(finding.document["different"]) == 1
    assert any(one in line for line in finding.details)


def test_a_deadline_that_was_never_told_is_found(tmp_path: Path) -> None:
    chain = copy.deepcopy(chains(FOLDER / "ha.jsonl.gz")[0])
    share = next(iter(chain["steps"][0]["assignment"].values()))
    share["next_rebalance"] = 12345
    assert not verify(written(tmp_path / "changed.jsonl", chain)).ok


@pytest.mark.parametrize(
    "damage",
    [
        lambda chain: chain.update(assignor="best"),
        lambda chain: chain["topics"].clear(),
        lambda chain: chain["steps"][0].pop("members"),
        lambda chain: chain["steps"][0]["members"][0].update(process="nobody"),
        lambda chain: chain.update(steps=[1]),
        lambda chain: chain.update(topics={"t0": 10**9}),
    ],
)
def test_a_broken_file_ends_with_what_is_wrong(damage: Any, tmp_path: Path) -> None:
    chain = copy.deepcopy(chains(FOLDER / "ha.jsonl.gz")[0])
    damage(chain)
    path = written(tmp_path / "broken.jsonl", chain)
    result = CliRunner().invoke(command, [str(path)], standalone_mode=False)
    assert result.return_value == 2 and "Traceback" not in result.output
    assert str(path) in result.output
