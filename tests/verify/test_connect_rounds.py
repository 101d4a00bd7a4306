"""Recorded rounds of Connect workers, answered again from what was on the wire, and what recorded
pauses consist of.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rebalsim.cli.verify import command
from rebalsim.verify.connect_parts import PARTS, Cut, Doings, both_sums, compare, cut, lines
from rebalsim.verify.connect_replay import scenario_of
from rebalsim.verify.connect_rounds import judge_rounds
from rebalsim.verify.connect_traces import compare_parts

FOLDER = Path(__file__).parents[1] / "reality" / "connect" / "traces"
# recording → its rounds, and how many delays that were left were answered
ROUNDS = {
    "scale-out-coop": (9, 0),
    "crash-return-inside-coop": (8, 5),
    "connectors-coop": (13, 0),
    "slow-stop-eager": (7, 0),
}


def recorded(name: str) -> dict[str, Any]:
    with gzip.open(FOLDER / f"{name}.json.gz", "rt", encoding="utf-8") as f:
        document: dict[str, Any] = json.load(f)
        return document


@pytest.mark.parametrize("name", ROUNDS)
def test_every_round_is_answered_as_the_real_leader_did(name: str) -> None:
    document = recorded(name)
    judged = judge_rounds(document, scenario_of(document)[1])
    assert judged.rounds == ROUNDS[name][0] and judged.different == ()
    assert len(judged.delay_errors) == ROUNDS[name][1]
    assert max(judged.delay_errors, default=0) <= 20


def test_another_answer_is_found() -> None:
    document = recorded("scale-out-coop")
    answers = [e for e in document["events"] if e["ev"] == "got" and e.get("work")]
    workers = [e for e in answers if e.get("api") == "SyncGroup" and "task" not in e]
    workers[-1]["work"] = []
    assert len(judge_rounds(document, scenario_of(document)[1]).different) == 1


def test_a_pause_is_cut_into_parts_that_add_up_to_it() -> None:
    for compared in compare_parts(FOLDER / "slow-stop-eager.json.gz"):
        for one in (compared.recorded, compared.ours):
            if one is not None:
                assert set(one.parts) <= set(PARTS)
                assert sum(one.parts.values()) == pytest.approx(one.end - one.start, abs=5)


def test_a_moment_belongs_to_the_first_part_that_is_true_of_it() -> None:
    doings = Doings(
        stops=[(10, 40)], barriers=[(30, 60)], answers=[(60, 65)], delays=[(70, 90)], rounds=[95]
    )
    doings.groups["snk"] = [(20, 35)]
    pauses = [{"what": "in-0", "start": 0, "end": 100}, {"what": "src-0", "start": 0, "end": 100}]
    sink, source = cut(pauses, doings, {"in": ["snk"]})
    assert sink.parts == {
        "sink's group": 15,
        "stop": 15,
        "barrier": 20,
        "assignment": 5,
        "delay": 20,
        "start": 5,
        "notice": 20,
    }
    assert source.parts["stop"] == 30 and "sink's group" not in source.parts


def test_one_of_ours_is_counted_once_beside_however_many_recorded_ones() -> None:
    def pause(start: float, end: float) -> Cut:
        return Cut("src-0", start, end, {"stop": end - start})

    ours, late = pause(1_000, 9_000), pause(20_000, 21_000)
    compared = compare(
        [pause(1_500, 2_500), pause(6_000, 8_000)], [ours, late, pause(30_000, 30_200)]
    )
    assert [one.ours for one in compared] == [ours, ours, late]
    assert both_sums(compared) == ({"stop": 3_000}, {"stop": 9_000})
    told = lines(compared, 9)
    assert told[0].endswith("recorded 2.00 s (stop 2.00); ours 8.00 s (stop 8.00)")
    assert told[1].endswith("recorded none; ours 1.00 s (stop 1.00)") or "as above" in told[1]
    assert sum("as above" in line for line in told) == 1


def test_phases_of_a_recording_are_told_one_by_one() -> None:
    path = str(FOLDER / "slow-stop-eager.json.gz")
    told = CliRunner().invoke(command, [path, "--phases"], standalone_mode=False)
    assert told.return_value == 0
    assert "25 pauses, recorded and ours: sink's group 36.2 s and 36.2 s" in told.output
    assert told.output.count("recorded") == 26
    told = CliRunner().invoke(command, [path, "--phases", "--json"], standalone_mode=False)
    document = json.loads(told.output)
    assert document["kind"] == "phases" and len(document["pauses"]) == 25
    assert document["pauses"][0]["recorded"]["parts"]
