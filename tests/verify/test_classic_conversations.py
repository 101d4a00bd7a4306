"""Conversations with a real coordinator: ours says the same, and a recording that was tampered
with is found out.
"""

from __future__ import annotations

import copy
import gzip
import json
import random
from pathlib import Path

import pytest
from click.testing import CliRunner
from tampering import DEEDS, assert_a_misplaced_line_is_found, outputs, tampered, told_of_second

from rebalsim.cli.verify import command
from rebalsim.domain.errors import InputError
from rebalsim.verify.classic_conversations import compare, summarise, verify

SAMPLE = Path(__file__).parents[1] / "reality" / "conversations" / "classic.jsonl.gz"


@pytest.fixture(scope="module")
def conversations():
    with gzip.open(SAMPLE, "rt", encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def written(path, *conversations):
    path.write_text(
        "".join((c if isinstance(c, str) else json.dumps(c)) + "\n" for c in conversations),
        encoding="utf-8",
    )
    return path


def test_every_conversation_of_the_sample_is_identical():
    finding = verify(SAMPLE)
    assert finding.ok and finding.details == []
    assert finding.document == {
        "file": str(SAMPLE),
        "kind": "classic",
        "cases": 128,
        "identical": 128,
        "different": [],
    }


def test_the_sample_meets_what_a_coordinator_can_say(conversations):
    errors = {line["error"] for c in conversations for line in c["steps"] if "reply" in line}
    assert errors >= {
        "NONE",
        "MEMBER_ID_REQUIRED",
        "UNKNOWN_MEMBER_ID",
        "ILLEGAL_GENERATION",
        "REBALANCE_IN_PROGRESS",
        "FENCED_INSTANCE_ID",
        "INCONSISTENT_GROUP_PROTOCOL",
        "GROUP_MAX_SIZE_REACHED",
        "INVALID_SESSION_TIMEOUT",
        "UNKNOWN_SERVER_ERROR",
        "GROUP_ID_NOT_FOUND",
    }
    assert any(c["timer_ties"] for c in conversations)
    assert any(line.get("skip_assignment") for c in conversations for line in c["steps"])


# ---------------------------------------------------------------------------------------- tampering


@pytest.mark.parametrize(
    "key",
    [
        "t",
        "reply",
        "error",
        "generation",
        "protocol",
        "leader",
        "skip_assignment",
        "order",
        "assignment",
        "state",
    ],
)
def test_a_changed_value_in_an_answer_or_a_state_is_found(key, conversations):
    rng = random.Random(key)
    places = [
        (c, i)
        for c in conversations
        for i in outputs(c)
        if key in c["steps"][i] and c["steps"][i]["t"] > 0
    ]
    for conversation, at in rng.sample(places, min(150, len(places))):
        steps = list(conversation["steps"])
        steps[at] = {**steps[at], key: tampered(steps[at][key], rng)}
        assert compare({**conversation, "steps": steps}) is not None, steps[at]


def test_a_changed_member_id_is_found_where_the_id_was_met_before(conversations):
    rng = random.Random(3)
    met = 0
    for conversation in conversations[:40]:
        seen = set()
        for at, line in enumerate(conversation["steps"]):
            if (
                "reply" in line
                and "member" in line
                and line["member"] in seen
                and line["error"] == "NONE"
            ):
                steps = list(conversation["steps"])
                steps[at] = {**line, "member": tampered(line["member"], rng)}
                assert compare({**conversation, "steps": steps}) is not None, steps[at]
                met += 1
            seen.add(line.get("member"))
    assert met > 100


@pytest.mark.parametrize("what", ["request", "output"])
@pytest.mark.parametrize("deed", DEEDS)
def test_a_line_that_is(deed, what, conversations):
    assert_a_misplaced_line_is_found(
        deed,
        what,
        conversations,
        (lambda line: "do" in line) if what == "request" else (lambda line: "do" not in line),
        compare,
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda line: {**line, "skip_assignment": int(line["skip_assignment"])},
        lambda line: {**line, "generation": float(line["generation"])},
        lambda line: {**line, "extra": None},
        lambda line: {key: value for key, value in line.items() if key != "leader"},
    ],
)
def test_a_value_that_merely_compares_equal_or_a_key_too_many_or_too_few_is_found(
    change, conversations
):
    conversation = copy.deepcopy(conversations[0])
    at = next(i for i, line in enumerate(conversation["steps"]) if "skip_assignment" in line)
    conversation["steps"][at] = change(conversation["steps"][at])
    assert compare(conversation)["step"] == at + 1


def test_a_changed_list_of_timers_that_met_is_found(conversations):
    for conversation in conversations:
        assert compare({**conversation, "timer_ties": [*conversation["timer_ties"], 5]}) is not None
        if conversation["timer_ties"]:
            assert (
                compare({**conversation, "timer_ties": conversation["timer_ties"][1:]}) is not None
            )


def test_another_initial_delay_or_an_earlier_end_is_found(conversations):
    config = {**conversations[0]["config"], "group.initial.rebalance.delay.ms": 2999}
    assert compare({**conversations[0], "config": config}) is not None
    last = conversations[0]["steps"][-1]["t"]
    assert compare({**conversations[0], "end": last - 1}) is not None


# ---------------------------------------------------------------------------------- what is printed


def test_a_difference_is_told_with_the_request_kafkas_answer_and_ours(tmp_path, conversations):
    false = copy.deepcopy(conversations[0])
    at = next(
        i for i, line in enumerate(false["steps"]) if line.get("error") == "UNKNOWN_MEMBER_ID"
    )
    false["steps"][at]["error"] = "NONE"
    finding = verify(written(tmp_path / "c.jsonl", conversations[1], false, "", conversations[2]))
    request, kafka, ours = told_of_second(finding, false, at)
    assert (
        '"do": "sync"' in request
        and '"error": "NONE"' in kafka
        and '"error": "UNKNOWN_MEMBER_ID"' in ours
    )
    assert summarise([finding, finding]) == [
        "classic coordinator, 2 files: 4 of 6 conversations identical"
    ]


def test_only_so_many_differences_are_told(tmp_path, conversations):
    false = [
        {**c, "steps": c["steps"][:-1]} for c in conversations[:5] if "do" not in c["steps"][-1]
    ]
    finding = verify(written(tmp_path / "c.jsonl", *false), differences=1)
    assert (
        finding.details[0].startswith("line 1 ") and "kafka:    nothing more" in finding.details[2]
    )
    assert (
        finding.details[-1]
        == f"… and {len(false) - 1} more conversations that differ (--differences N shows more)"
    )


def test_requests_that_cannot_be_followed_are_a_difference_and_no_crash(conversations):
    def join(at, number, **more):
        return {
            "t": at,
            "id": number,
            "do": "join",
            "member": "",
            "instance": None,
            "client_id": "c",
            "session_ms": 6000,
            "rebalance_ms": 0,
            "protocol_type": "consumer",
            "protocols": [["range", "t"]],
            "reason": None,
        } | more

    base = {
        "config": conversations[0]["config"] | {"group.initial.rebalance.delay.ms": 0},
        "end": 100,
        "timer_ties": [],
    }
    wrong_id = compare({**base, "steps": [join(0, 2)]})
    assert "should have id 1, not 2" in wrong_id["rebalsim"] and wrong_id["kafka"]["id"] == 2
    refused = [
        join(10, 1, session_ms=1),
        {"t": 10, "reply": 1, "error": "INVALID_SESSION_TIMEOUT", "member": ""},
    ]
    assert compare({**base, "steps": refused}) is None
    assert "it is 10 ms already" in compare({**base, "steps": [*refused, join(5, 2)]})["rebalsim"]
    assert "ends at 9 ms" in compare({**base, "end": 9, "steps": refused})["rebalsim"]


def test_timers_that_never_come_to_rest_are_a_difference_and_no_endless_loop(conversations):
    # Two static members come back with a rebalance timeout of 0. When one expires the other is
    # absent from a barrier of 0 ms, which is put off for ever.
    def join(at, number, name, session, rebalance):
        return {
            "t": at,
            "id": number,
            "do": "join",
            "member": "",
            "instance": name,
            "client_id": "c",
            "session_ms": session,
            "rebalance_ms": rebalance,
            "protocol_type": "consumer",
            "protocols": [["range", "t"]],
            "reason": None,
        }

    def answered(at, number, name):
        return {
            "t": at,
            "reply": number,
            "error": "?",
            "member": f"{name}-0000000{number}-0000-4000-8000-000000000000",
        }

    def sync(at, number, member):
        return {
            "t": at,
            "id": number,
            "do": "sync",
            "member": member["member"],
            "instance": None,
            "generation": 1,
            "protocol_type": None,
            "protocol": None,
            "assignments": {},
        }

    joined = [answered(20, 1, "i"), answered(20, 2, "j")]
    steps = [
        join(0, 1, "i", 6000, 900),
        join(5, 2, "j", 20000, 900),
        *joined,
        sync(20, 3, joined[0]),
        sync(21, 4, joined[1]),
        join(30, 5, "i", 6000, 0),
        answered(30, 5, "i"),
        join(31, 6, "j", 20000, 0),
        answered(31, 6, "j"),
    ]
    conversation = {
        "config": conversations[0]["config"] | {"group.initial.rebalance.delay.ms": 10},
        "end": 10_000,
        "timer_ties": [],
        "steps": steps,
    }
    while (found := compare(conversation)) and not isinstance(
        found["rebalsim"], str
    ):  # let our own coordinator fill in the answers
        at, ours = found["step"] - 1, found["rebalsim"]
        is_stub = "reply" in ours and at < len(steps) and steps[at].get("reply") == ours["reply"]
        steps[at : at + is_stub] = [ours]
        assert len(steps) < 40
    assert found["rebalsim"] == "the timers do not come to rest at 6030 ms"


def test_exit_codes_and_json(tmp_path, conversations):
    good = written(tmp_path / "good.jsonl", conversations[0])
    bad = written(
        tmp_path / "bad.jsonl", {**conversations[0], "steps": conversations[0]["steps"][:-1]}
    )
    broken = written(tmp_path / "broken.jsonl", conversations[0], "{")
    run = CliRunner().invoke
    assert [
        run(command, [str(f)], standalone_mode=False).return_value for f in (good, bad, broken)
    ] == [0, 1, 2]
    printed = run(command, ["--json", str(good), str(bad)], standalone_mode=False)
    assert printed.return_value == 1
    assert [json.loads(line)["identical"] for line in printed.output.splitlines()] == [1, 0]


# ---------------------------------------------------------------------------------- malformed lines


BREAKS = {
    "is not JSON": '{"seed": 1, "config"',
    "is not a JSON object": "[1, 2]",
    '"end" is missing': lambda c: c.pop("end"),
    '"end" is -1': lambda c: c.update(end=-1),
    '"config" is missing': lambda c: c.update(config=None),
    'config: "group.max.size" is missing': lambda c: c["config"].pop("group.max.size"),
    '"steps" is missing': lambda c: c.update(steps={}),
    '"timer_ties" is missing': lambda c: c.update(timer_ties=[None]),
    "step 1: is not a JSON object": lambda c: c["steps"].insert(0, 5),
    'step 1: "t" is "soon"': lambda c: c["steps"][0].update(t="soon"),
    'step 1: "t" is true': lambda c: c["steps"][0].update(t=True),
    'step 1: "do" is "dance"': lambda c: c["steps"][0].update(do="dance"),
    'step 1: "do" is ["join"]': lambda c: c["steps"][0].update(do=["join"]),
    'step 1: "instance" is missing': lambda c: c["steps"][0].pop("instance"),
    'step 1: "protocols" is [["range"]]': lambda c: c["steps"][0].update(protocols=[["range"]]),
    'step 1: "rebalance_ms" is -5.5': lambda c: c["steps"][0].update(rebalance_ms=-5.5),
    'step 2: "members" is 3': lambda c: c["steps"][1].update(members=3),
    "step 2: is no request": lambda c: c["steps"].insert(1, {"t": 0}),
    'step 2: "error" is missing': lambda c: c["steps"].insert(1, {"t": 0, "reply": 1}),
    'step 2: "member" is 7': lambda c: c["steps"].insert(
        1, {"t": 0, "reply": 1, "error": "NONE", "member": 7}
    ),
    'step 2: "members" is ["c1"]': lambda c: c["steps"].insert(
        1, {"t": 0, "id": 2, "do": "leave", "members": ["c1"]}
    ),
    'step 2: "assignments" is []': lambda c: c["steps"].insert(
        1,
        {
            "t": 0,
            "id": 2,
            "do": "sync",
            "member": "",
            "instance": None,
            "generation": 1,
            "protocol_type": None,
            "protocol": None,
            "assignments": [],
        },
    ),
}


@pytest.mark.parametrize("message", BREAKS)
def test_a_malformed_line_is_named_with_file_and_line(message, tmp_path, conversations):
    damage = BREAKS[message]
    if isinstance(damage, str):
        broken = damage
    else:
        broken = copy.deepcopy(conversations[0])
        damage(broken)
    path = written(tmp_path / "c.jsonl", conversations[1], broken)
    with pytest.raises(InputError) as error:
        verify(path)
    assert str(error.value).startswith(f"{path}:2: ") and message in str(error.value)


def test_deeply_nested_text_is_no_traceback(tmp_path, conversations):
    path = written(tmp_path / "c.jsonl", conversations[0], "[" * 200_000)
    with pytest.raises(InputError, match=r"c\.jsonl:2: is not JSON"):
        verify(path)
