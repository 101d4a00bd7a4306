"""Recorded conversations with Kafka's coordinator of streams groups: ours answers the same to the
millisecond, and an answer that was tampered with is found out.
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
from rebalsim.verify.streams_conversations import compare, verify

PATH = Path(__file__).parents[1] / "reality" / "streams" / "conversations" / "streams.jsonl.gz"
Conversation = dict[str, Any]


def conversations() -> list[Conversation]:
    with gzip.open(PATH, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_every_recorded_conversation_is_identical() -> None:
    finding = verify(PATH)
    assert recognise(PATH) == finding.kind == "streams-conversations"
    assert finding.ok and finding.document["identical"] == finding.document["cases"] >= 20


def test_the_recordings_reach_every_corner() -> None:
    steps = [step for each in conversations() for step in each["steps"]]
    statuses = {code for step in steps for code in step.get("status", ())}
    assert statuses >= {1, 2, 3, 4, 5}
    errors = {step["error"] for step in steps if "error" in step}
    assert errors >= {"INVALID_REQUEST", "FENCED_MEMBER_EPOCH", "UNKNOWN_MEMBER_ID"}
    states = {entry[2] for step in steps for entry in step.get("changed", ())}
    assert states == {"STABLE", "UNREVOKED_TASKS", "UNRELEASED_TASKS", None}


def test_the_delay_does_not_end_for_a_group_that_only_one_heartbeat_was_heard_of() -> None:
    """What the broker made of the topology in the group's very first heartbeat is not in its log,
    so the timer finds nothing to hand out: the member's next heartbeat does it.
    """
    lonely = next(each for each in conversations() if each["seed"] == 3000255)
    first = next(step for step in lonely["steps"] if step.get("assignment_epoch") == 2)
    assert first["t"] == 2064 > lonely["config"]["group.streams.initial.rebalance.delay.ms"]
    assert compare(lonely) is None


@pytest.mark.parametrize("key", ["epoch", "status", "active", "error"])
def test_another_answer_is_found(key: str) -> None:
    changed = copy.deepcopy(conversations()[0])
    step = [s for s in changed["steps"] if s.get("active") and "reply" in s][2]
    step[key] = {"epoch": 99, "status": [4], "active": ["0_0", "0_9"], "error": "X"}[key]
    found = compare(changed)
    assert found is not None and found["kafka"] == step


def test_an_assignment_that_came_a_millisecond_later_is_found() -> None:
    changed = copy.deepcopy(conversations()[0])
    next(s for s in changed["steps"] if "target" in s and s["t"] > 0)["t"] += 1
    assert compare(changed) is not None


@pytest.mark.parametrize(
    "damage",
    [
        lambda each: each["config"].pop("group.streams.session.timeout.ms"),
        lambda each: each["subtopologies"][0].update(id="x"),
        lambda each: each["steps"][0].update(do="dance"),
        lambda each: each["steps"][0].update(active=["task"]),
        lambda each: each["steps"][0].pop("member"),
        lambda each: each.update(topics={"t0": -1}),
        lambda each: each.update(steps=["x"]),
    ],
)
def test_a_broken_file_ends_with_what_is_wrong(damage: Any, tmp_path: Path) -> None:
    each = copy.deepcopy(conversations()[0])
    damage(each)
    path = tmp_path / "broken.jsonl"
    path.write_text(json.dumps(each) + "\n", encoding="utf-8")
    result = CliRunner().invoke(command, [str(path)], standalone_mode=False)
    assert result.return_value == 2 and "Traceback" not in result.output
