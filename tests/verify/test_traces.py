"""Recordings of real consumers: replayed from what may drive a replay, and met. The figures here
are held, not hoped for.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rebalsim.cli.verify import command
from rebalsim.domain.errors import InputError
from rebalsim.simulation.world import play
from rebalsim.verify import wire
from rebalsim.verify.coin_flips import Flip, flips
from rebalsim.verify.judge import judge, total
from rebalsim.verify.prediction import prediction_of
from rebalsim.verify.replay import scenario_of
from rebalsim.verify.traces import summarise, verify

FOLDER = Path(__file__).parents[1] / "reality" / "traces"


def load(name: str) -> dict[str, Any]:
    with gzip.open(FOLDER / f"{name}.json.gz", "rt", encoding="utf-8") as f:
        document: dict[str, Any] = json.load(f)
    return document


CLASSIC = [
    name
    for name in sorted(p.name.removesuffix(".json.gz") for p in FOLDER.glob("*.json.gz"))
    if load(name)["conf"].get("group.protocol") != "consumer"
]


def replayed(document: dict[str, Any]) -> dict[str, Any]:
    scenario, drive = scenario_of(document)
    return prediction_of(play(scenario, seed=1, wire=True, drive=drive))


@pytest.mark.parametrize("name", CLASSIC)
def test_generations_and_callbacks_are_those_recorded(name: str) -> None:
    document = load(name)
    result = judge(document, replayed(document))
    assert result.generations[0] == result.generations[1]
    assert result.differing == []


@pytest.mark.slow
def test_the_figures() -> None:
    figures = total(judge(document, replayed(document)) for document in map(load, CLASSIC))
    assert figures["recordings"] == len(CLASSIC) >= 9
    assert figures["callback_ms"][0] <= 15 and figures["callback_ms"][1] <= 50
    assert figures["pauses_percent"] >= 97 and figures["events_percent"] >= 96
    assert figures["pause_error_ms"][0] <= 30


@pytest.mark.parametrize(("name", "share"), [("crash-sticky", 1.0), ("storm-eager", 0.99)])
def test_every_message_is_in_its_place(name: str, share: float) -> None:
    document = load(name)
    scenario, drive = scenario_of(document)
    messages, same = wire.compared(document, play(scenario, seed=1, wire=True, drive=drive))
    assert messages > 100 and same >= share * messages


def test_a_falsified_answer_is_the_first_difference() -> None:
    document = load("crash-sticky")
    scenario, drive = scenario_of(document)
    trace = play(scenario, seed=1, wire=True, drive=drive)
    answers = [
        e
        for e in document["events"]
        if e["ev"] == "got" and e["api"] == "Heartbeat" and e["error"] == 0
    ]
    answers[20]["error"] = 25
    found = [d for d in wire.differences(document, trace) if "UNKNOWN_MEMBER_ID" in d.text]
    assert found and found[0].who == answers[20]["member"] and found[0].kind == "heartbeats"


def test_only_what_may_drive_a_replay_does() -> None:
    """What must be predicted is not looked at: deliveries and callbacks of the recording may be
    anything.
    """
    document = load("crash-sticky")
    before = replayed(document)
    document["events"] = [
        e
        for e in document["events"]
        if e["ev"]
        not in ("records", "revoked_begin", "assigned_begin", "lost_begin", "synced", "got")
    ]
    assert replayed(document) == before


def test_what_seeds_disagree_on_is_told() -> None:
    document = load("crash-sticky")
    plain = judge(document, replayed(document))
    assert flips(plain, [plain, plain]) == []
    other = judge(document, {"generations": 7, "callbacks": [], "pauses": []})
    told = flips(plain, [plain, other])
    assert told[0] == Flip("generations", 1, 2)
    assert any(flip.what.startswith("pause of") and flip.right == 1 for flip in told)
    assert any(flip.what.startswith("callbacks of") for flip in told)


@pytest.mark.slow
def test_the_command(tmp_path: Path) -> None:
    files = [str(FOLDER / f"{name}.json.gz") for name in ("crash-sticky", "grow-eager")]
    ran = CliRunner().invoke(
        command, [*files, "--json", "--out", str(tmp_path)], standalone_mode=False
    )
    assert ran.return_value == 0
    told = [json.loads(line) for line in ran.output.splitlines()]
    assert [one["kind"] for one in told] == ["trace", "trace"]
    assert {
        "recordings",
        "generations_right",
        "members_same",
        "callback_ms",
        "pauses_within",
        "events_percent",
        "pause_error_ms",
        "seeds",
    } <= told[0].keys()
    written = json.loads((tmp_path / "crash-sticky.json").read_text(encoding="utf-8"))
    assert (
        total([judge(load("crash-sticky"), written)])["pauses_within"] == told[0]["pauses_within"]
    )


@pytest.mark.slow
def test_in_words() -> None:
    finding = verify(FOLDER / "crash-sticky.json.gz", wire=True)
    assert "generations 2, ours 2" in finding.summary
    assert any(line.startswith("messages as recorded") for line in finding.details)
    lines = summarise([finding, finding])
    assert (
        lines[0].startswith("eager, sticky: generations 2 of 2")
        and lines[-2].startswith("all: ")
        and lines[-1].startswith("  chance allows ")
    )


def test_a_recording_in_which_nobody_joins_is_replayed_as_such() -> None:
    document = load("crash-sticky")
    document["events"] = [
        event
        for event in document["events"]
        if event["ev"] in ("do_kill", "do_freeze", "hang_begin")
    ]
    nothing = {"generations": 0, "callbacks": [], "pauses": [], "commits_refused": 0}
    assert replayed(document) == nothing


@pytest.mark.slow
def test_what_no_seed_gets_right_is_no_matter_of_a_few_ms(tmp_path: Path) -> None:
    document = load("crash-sticky")
    for event in document["events"]:
        if event["ev"] == "joined":
            event["generation"] += 1
    path = tmp_path / "falsified.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    details = verify(path).details
    at = details.index("no few ms decide here: under none of 20 seeds as recorded")
    assert details[at + 1] == "  generations"
    assert not any(line.endswith(" 0 generations") for line in details)


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    cut = tmp_path / "cut.json"
    cut.write_text('{"conf": {}, "events": [\n{"t":1', encoding="utf-8")
    with pytest.raises(InputError, match="is not JSON"):
        verify(cut)
    bare = tmp_path / "bare.json"
    bare.write_text('{"conf": {}, "events": []}', encoding="utf-8")
    with pytest.raises(InputError, match="lacks steps, topics"):
        verify(bare)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"end": float("nan")}, "NaN is no number"),
        ({"conf": "eager"}, "conf is an object"),
        ({"conf": {"x.poll_ms": 0}}, "x.poll_ms: out of bounds"),
        ({"rate_per_partition": 1e300}, "rate_per_partition: out of bounds"),
        ({"topics": {"t": 10**9}}, "topics: out of bounds"),
        ({"events": [{"t": 0, "member": 5, "ev": "go"}]}, "each event has a member and a time"),
        ({"members": "x"}, "members are objects"),
        ({"conf": {"x.poll_ms": 100, "x.revoke_ms": "soon"}}, "x.revoke_ms: out of bounds"),
        ({"kafka": []}, "kafka is a version"),
        ({"topic_ids": {"t": {}}}, "topic_ids are texts"),
        ({"topics": True}, "topics: out of bounds"),
        ({"members": {"c0": {"group.instance.id": []}}}, "a setting is a text or a number"),
        ({"steps": [[1]]}, "is not a recording as its format says"),
        (
            {"events": [{"t": 1e300, "member": "c0", "ev": "go"}]},
            "each event has a member and a time",
        ),
        (
            {"events": [{"t": 5, "member": "x", "ev": "partitions_done", "ms": 9}]},
            "partitions are added to a topic of the header",
        ),
    ],
)
def test_a_recording_that_is_none_or_never_ends_is_refused_and_no_crash(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    path = tmp_path / "broken.json"
    path.write_text(json.dumps({**load("crash-sticky"), **change}), encoding="utf-8")
    with pytest.raises(InputError, match=said):
        verify(path)
