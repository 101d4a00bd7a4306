"""Conversations with a real coordinator of consumer groups: ours says the same, and a recording
that was tampered with is found out.
"""

from __future__ import annotations

import copy
import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tampering import (
    DEEDS,
    Line,
    assert_a_misplaced_line_is_found,
    outputs,
    tampered,
    told_of_second,
)

from rebalsim.cli.verify import command
from rebalsim.domain.errors import BugError, InputError
from rebalsim.verify import consumer_conversations
from rebalsim.verify.consumer_conversations import compare, summarise, verify

SAMPLE = Path(__file__).parents[1] / "reality" / "conversations" / "consumer.jsonl.gz"


@pytest.fixture(scope="module")
def conversations() -> list[Line]:
    with gzip.open(SAMPLE, "rt", encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def written(path: Path, *conversations: Line | str) -> Path:
    path.write_text(
        "".join((c if isinstance(c, str) else json.dumps(c)) + "\n" for c in conversations),
        encoding="utf-8",
    )
    return path


def test_every_conversation_of_the_sample_is_identical() -> None:
    finding = verify(SAMPLE)
    assert finding.ok and finding.details == []
    assert finding.document == {
        "file": str(SAMPLE),
        "kind": "consumer",
        "cases": 165,
        "identical": 165,
        "different": [],
    }


def test_the_sample_meets_what_a_coordinator_can_say(conversations: list[Line]) -> None:
    steps = [line for c in conversations for line in c["steps"]]
    assert {line["error"] for line in steps if "reply" in line} == {
        "NONE",
        "FENCED_MEMBER_EPOCH",
        "UNKNOWN_MEMBER_ID",
        "UNRELEASED_INSTANCE_ID",
        "FENCED_INSTANCE_ID",
        "GROUP_MAX_SIZE_REACHED",
        "INVALID_REQUEST",
        "UNSUPPORTED_ASSIGNOR",
    }
    assert {line["state"] for line in steps if "state" in line} == {
        "Empty",
        "Assigning",
        "Reconciling",
        "Stable",
    }
    assert {state for line in steps if "state" in line for _, _, state in line["changed"]} == {
        "STABLE",
        "UNREVOKED_PARTITIONS",
        "UNRELEASED_PARTITIONS",
        None,
    }
    assert any(line.get("do") == "metadata" for line in steps) and any(
        c["timer_ties"] for c in conversations
    )
    assert {c["config"]["group.consumer.assignment.interval.ms"] for c in conversations} == {
        0,
        1000,
        5000,
    }


def test_regular_expressions_commits_and_fetches_are_identical_too() -> None:
    """Recorded as the sample was, with a driver that also sends these."""
    finding = verify(SAMPLE.with_name("consumer-regexes-and-offsets.jsonl.gz"))
    assert (
        finding.details == [] and finding.document["identical"] == finding.document["cases"] == 80
    )


# ---------------------------------------------------------------------------------------- tampering


@pytest.mark.parametrize(
    "key",
    [
        "t",
        "reply",
        "error",
        "member",
        "epoch",
        "heartbeat_interval_ms",
        "assignment",
        "group_epoch",
        "assignment_epoch",
        "state",
        "changed",
        "target",
    ],
)
def test_a_changed_value_in_an_answer_or_a_state_is_found(
    key: str, conversations: list[Line]
) -> None:
    rng = random.Random(key)
    places = [(c, i) for c in conversations for i in outputs(c) if key in c["steps"][i]]
    for conversation, at in rng.sample(places, min(60, len(places))):
        steps = list(conversation["steps"])
        steps[at] = {**steps[at], key: tampered(steps[at][key], rng)}
        found = compare({**conversation, "steps": steps})
        assert found is not None and found["step"] == at + 1, steps[at]


@pytest.mark.parametrize("what", ["request", "output"])
@pytest.mark.parametrize("deed", DEEDS)
def test_a_line_that_is(deed: str, what: str, conversations: list[Line]) -> None:
    assert_a_misplaced_line_is_found(
        deed,
        what,
        conversations,
        (lambda line: line.get("do") == "heartbeat")
        if what == "request"
        else (lambda line: "do" not in line),
        compare,
    )


def test_an_exchange_taken_out_whole_is_found_by_the_numbers_of_requests(
    conversations: list[Line],
) -> None:
    conversation = conversations[0]
    steps = [line for line in conversation["steps"] if 2 not in (line.get("id"), line.get("reply"))]
    found = compare({**conversation, "steps": steps})
    assert found is not None and found["rebalsim"] == "the request should have id 2, not 3"


def test_a_changed_request_is_found_by_what_follows_from_it(conversations: list[Line]) -> None:
    rng = random.Random(7)
    for conversation in conversations[:60]:
        places = [
            i
            for i, line in enumerate(conversation["steps"])
            if line.get("do") == "heartbeat"
            and line["epoch"] > 0
            and conversation["steps"][i + 1].get("error") == "NONE"
        ]
        if places:
            steps = list(conversation["steps"])
            at = rng.choice(places)
            steps[at] = {**steps[at], "epoch": steps[at]["epoch"] + 1000}
            found = compare({**conversation, "steps": steps})
            assert found is not None and found["step"] == at + 2


@pytest.mark.parametrize(
    "change",
    [
        lambda line: {**line, "epoch": float(line["epoch"])},
        lambda line: {**line, "extra": None},
        lambda line: {key: value for key, value in line.items() if key != "assignment"},
    ],
    ids=["a float", "a key too many", "a key too few"],
)
def test_a_value_that_merely_compares_equal_or_a_key_too_many_or_too_few_is_found(
    change: Callable[[Line], Line], conversations: list[Line]
) -> None:
    conversation = copy.deepcopy(conversations[0])
    at = next(i for i, line in enumerate(conversation["steps"]) if "heartbeat_interval_ms" in line)
    conversation["steps"][at] = change(conversation["steps"][at])
    found = compare(conversation)
    assert found is not None and found["step"] == at + 1


def test_a_changed_list_of_timers_that_met_is_found(conversations: list[Line]) -> None:
    for conversation in conversations[:50]:
        assert compare({**conversation, "timer_ties": [*conversation["timer_ties"], 5]}) is not None
        if conversation["timer_ties"]:
            assert (
                compare({**conversation, "timer_ties": conversation["timer_ties"][1:]}) is not None
            )


def test_another_setting_is_found(conversations: list[Line]) -> None:
    for key, value in (
        ("group.consumer.heartbeat.interval.ms", 4999),
        ("group.consumer.session.timeout.ms", 3000),
        ("group.consumer.max.size", 1),
        ("group.consumer.assignment.interval.ms", 100_000),
    ):
        conversation = next(c for c in conversations if len(c["steps"]) > 150)
        assert (
            compare({**conversation, "config": {**conversation["config"], key: value}}) is not None
        ), key


def test_times_that_run_backwards_are_a_difference(conversations: list[Line]) -> None:
    conversation = copy.deepcopy(conversations[0])
    last = conversation["steps"][-1]["t"]
    early = compare({**conversation, "end": 3})
    assert early is not None and early["rebalsim"].startswith(
        "the recording ends at 3 ms, but it is"
    )
    at = max(i for i, line in enumerate(conversation["steps"]) if "do" in line)
    conversation["steps"][at]["t"] = 1
    found = compare(conversation)
    assert found is not None and last >= found["t"] and "ms already" in found["rebalsim"]


def test_a_contradiction_in_the_rules_is_a_difference_and_no_crash(
    conversations: list[Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise BugError("two owners")

    monkeypatch.setattr(consumer_conversations.rules, "heartbeat", broken)
    found = compare(conversations[0])
    assert found is not None and found["rebalsim"] == "rebalsim contradicts itself: two owners"


# ---------------------------------------------------------------------------------- what is printed


def test_a_difference_is_told_with_the_request_kafkas_answer_and_ours(
    tmp_path: Path, conversations: list[Line]
) -> None:
    false = copy.deepcopy(conversations[3])
    at = next(
        i for i, line in enumerate(false["steps"]) if line.get("error") == "UNKNOWN_MEMBER_ID"
    )
    false["steps"][at]["error"] = "INVALID_REQUEST"
    finding = verify(written(tmp_path / "c.jsonl", conversations[1], false, "", conversations[2]))
    request, kafka, ours = told_of_second(finding, false, at)
    assert (
        '"do": "heartbeat"' in request
        and '"INVALID_REQUEST"' in kafka
        and '"UNKNOWN_MEMBER_ID"' in ours
    )
    assert summarise([finding, finding]) == [
        "consumer-group coordinator, 2 files: 4 of 6 conversations identical"
    ]


def test_only_so_many_differences_are_told(tmp_path: Path, conversations: list[Line]) -> None:
    false = [{**c, "steps": c["steps"][: outputs(c)[-1]]} for c in conversations[:5]]
    finding = verify(written(tmp_path / "c.jsonl", *false), differences=1)
    assert finding.details[0].startswith("line 1 ") and len(finding.document["different"]) == 5
    assert (
        finding.details[-1] == "… and 4 more conversations that differ (--differences N shows more)"
    )


def test_exit_codes_and_json(tmp_path: Path, conversations: list[Line]) -> None:
    good = written(tmp_path / "good.jsonl", conversations[0])
    bad = written(
        tmp_path / "bad.jsonl", {**conversations[0], "steps": conversations[0]["steps"][:-1]}
    )
    broken = written(tmp_path / "broken.jsonl", conversations[0], "{")
    run = CliRunner().invoke
    assert run(command, [str(good)], standalone_mode=False).return_value == 0
    assert run(command, [str(good), str(bad)], standalone_mode=False).return_value == 1
    assert run(command, [str(bad), str(broken)], standalone_mode=False).return_value == 2
    result = run(command, ["--json", str(good), str(bad)], standalone_mode=False)
    first, second = (json.loads(line) for line in result.output.splitlines())
    assert first == {
        "file": str(good),
        "kind": "consumer",
        "cases": 1,
        "identical": 1,
        "different": [],
    }
    assert second["identical"] == 0 and second["different"][0]["line"] == 1


# ------------------------------------------------------------------------------------- broken files


def broken(change: Callable[[Line], Any]) -> Callable[[Line], str]:
    def apply(conversation: Line) -> str:
        made = copy.deepcopy(conversation)
        changed = change(made)
        return json.dumps(made if changed is None else changed)

    return apply


BROKEN: dict[str, Callable[[Line], str]] = {
    "is not JSON": lambda c: json.dumps(c)[:-1],
    "nested too deeply": lambda c: '{"config":' * 100_000,
    "is no JSON object": lambda c: "[]",
    "has no end": broken(lambda c: c.pop("end") and None),
    "has no timer_ties": broken(lambda c: {k: v for k, v in c.items() if k != "timer_ties"}),
    "it must be a list": broken(lambda c: c.update(steps={})),
    "config names the assignors ['sticky']": broken(
        lambda c: c["config"].update({"group.consumer.assignors": ["sticky"]})
    ),
    "config names the assignors []": broken(
        lambda c: c["config"].update({"group.consumer.assignors": []})
    ),
    "config has null for group.consumer.max.size": broken(
        lambda c: c["config"].pop("group.consumer.max.size") and None
    ),
    "config has -1 for": broken(
        lambda c: c["config"].update({"group.consumer.session.timeout.ms": -1})
    ),
    "topic t0 is no JSON object": broken(lambda c: c["topics"].update(t0=None)),
    "topic t0 has partitions true": broken(lambda c: c["topics"]["t0"].update(partitions=True)),
    "topic t0 has -1 partitions": broken(lambda c: c["topics"]["t0"].update(partitions=-1)),
    "topic t0 has the id 'x'": broken(lambda c: c["topics"]["t0"].update(id="x")),
    "step 2 is no JSON object": broken(lambda c: c["steps"].__setitem__(1, 7)),
    'step 2 does "dance"': broken(lambda c: c["steps"][1].update(do="dance")),
    "step 2 has no member": broken(lambda c: c["steps"][1].pop("member") and None),
    'step 2 has epoch "0"': broken(lambda c: c["steps"][1].update(epoch="0")),
    "step 2 has something in topics": broken(lambda c: c["steps"][1].update(topics=[1])),
    'step 2 has "zero" in owned': broken(lambda c: c["steps"][1].update(owned=["zero"])),
    "step 2 has regex 7": broken(lambda c: c["steps"][1].update(regex=7)),
    "step 2 has no partitions": broken(lambda c: c["steps"][1].update(do="commit")),
    "step 1 has no topics": broken(lambda c: c["steps"][0].pop("topics") and None),
}


@pytest.mark.parametrize("message", BROKEN)
def test_a_broken_line_is_told_with_its_place(
    message: str, tmp_path: Path, conversations: list[Line]
) -> None:
    path = written(tmp_path / "c.jsonl", conversations[0], BROKEN[message](conversations[0]))
    with pytest.raises(InputError) as told:
        verify(path)
    assert str(told.value).startswith(f"{path}:2: ") and message in str(told.value)


def test_a_file_without_conversations_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no conversation"):
        verify(written(tmp_path / "c.jsonl", ""))


def test_anything_may_stand_anywhere_and_nothing_is_ever_a_traceback(
    conversations: list[Line],
) -> None:
    rng = random.Random(11)
    odd = [None, True, -1, 10**30, 1.5, "", "x", [], {}, ["a-1"], [[]], {"t": 1}]
    small = min(conversations[:60], key=lambda c: len(json.dumps(c)))
    for _ in range(400):
        conversation = copy.deepcopy(small)
        thing: Any = conversation
        while isinstance(thing, dict | list) and thing:
            keys = sorted(thing) if isinstance(thing, dict) else range(len(thing))
            key = rng.choice(list(keys))
            if not isinstance(thing[key], dict | list) or not thing[key] or rng.random() < 0.2:
                thing[key] = rng.choice(odd)
                break
            thing = thing[key]
        try:
            parsed = consumer_conversations._parse(json.dumps(conversation), "f:1")
            compare(parsed, "f:1")
        except InputError as e:
            assert str(e).startswith("f:1: ")
