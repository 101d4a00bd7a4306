"""Recorded answers of Kafka's assignors: ours are identical, and an answer that was tampered
with is found out.
"""

from __future__ import annotations

import copy
import gzip
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rebalsim.assignors.registry import server_assignor
from rebalsim.assignors.server_target import as_recorded
from rebalsim.cli.verify import command
from rebalsim.domain.errors import InputError
from rebalsim.verify import vectors
from rebalsim.verify.vectors import summarise, verify

FOLDER = Path(__file__).parents[1] / "reality" / "assignors"
FILES = sorted(FOLDER.glob("*.jsonl.gz"))
Chain = dict[str, Any]


def chains(name: str) -> list[Chain]:
    with gzip.open(FOLDER / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def written(path: Path, *lines: Chain | str) -> Path:
    path.write_text(
        "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines),
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_recorded_answer_is_identical(path: Path) -> None:
    steps = sum(len(chain["steps"]) for chain in chains(path.name.removesuffix(".jsonl.gz")))
    finding = verify(path)
    assert finding.ok and finding.details == [] and steps > 20
    assert finding.document == {
        "file": str(path),
        "kind": "assignors",
        "cases": steps,
        "identical": steps,
        "different": [],
    }
    assert finding.summary == f"{path}: {steps} of {steps} steps identical to Kafka's"


def test_the_recordings_reach_every_corner() -> None:
    steps = [
        (chain["assignor"], step)
        for path in FILES
        for chain in chains(path.name.removesuffix(".jsonl.gz"))
        for step in chain["steps"]
    ]
    assert {name for name, _ in steps} == {
        "range",
        "roundrobin",
        "sticky",
        "cooperative-sticky",
        "server-range",
        "server-uniform",
    }
    for name in ("sticky", "cooperative-sticky", "range"):
        mine = [step for each, step in steps if each == name]
        assert any("replica_racks" in step for step in mine) and any(
            len(step["members"]) > 60 for step in mine
        )
        assert any(len({tuple(m["topics"]) for m in step["members"]}) > 1 for step in mine)
    assert sum("error" in step for _, step in steps) == 10


@pytest.mark.parametrize(
    "name", ["server-uniform", "server-uniform-wide", "server-uniform-bucket-heads", "server-range"]
)
def test_recorded_targets_are_in_the_order_in_which_the_broker_holds_them(name: str) -> None:
    """The next assignment starts from that order, so a coordinator that runs on needs it right."""
    for chain in chains(name):
        assignor = server_assignor(chain["assignor"])
        recorded = replace(
            assignor,
            assign=lambda *args, of=assignor: {
                m: as_recorded(t) for m, t in of.assign(*args).items()
            },
        )
        for step in chain["steps"]:
            assert vectors._server_answer(recorded, step) == step["assignment"]


@pytest.mark.parametrize(
    "name",
    [
        "range",
        "range-wide",
        "roundrobin",
        "cooperative-sticky",
        "cooperative-sticky-wide",
        "cooperative-sticky-clashes",
    ],
)
def test_the_lists_of_client_assignors_are_in_kafkas_order_too(name: str) -> None:
    for chain in chains(name):
        for step in chain["steps"]:
            if "assignment" in step:
                assert vectors._our_answer(chain["assignor"], step) == step["assignment"]


def test_several_files_are_summed_up() -> None:
    findings = [verify(path) for path in FILES[:2]]
    total = sum(finding.document["cases"] for finding in findings)
    assert summarise(findings) == [
        f"assignors: {total} of {total} steps in 2 files identical to Kafka's"
    ]


# ---------------------------------------------------------------------------------------- tampering


def owners(step: Chain) -> list[str]:
    return [member for member, held in step["assignment"].items() if held]


def lose(step: Chain) -> None:
    step["assignment"][owners(step)[-1]].pop()


def hand_over(step: Chain) -> None:
    giver = owners(step)[0]
    taker = next(member for member in step["assignment"] if member != giver)
    step["assignment"][taker].append(step["assignment"][giver].pop(0))


def swap(step: Chain) -> None:
    one, other = list(step["assignment"])[:2]
    step["assignment"][one], step["assignment"][other] = (
        step["assignment"][other],
        step["assignment"][one],
    )


def double(step: Chain) -> None:
    held = step["assignment"][owners(step)[0]]
    held.append(held[0])


def add_a_stranger(step: Chain) -> None:
    step["assignment"]["stranger"] = []


def forget_a_member(step: Chain) -> None:
    del step["assignment"][list(step["assignment"])[-1]]


def make_nonsense(step: Chain) -> None:
    step["assignment"][owners(step)[0]][0] = "nonsense"


def fail(step: Chain) -> None:
    del step["assignment"]
    step["error"] = "IllegalStateException"


TAMPERINGS = [lose, hand_over, swap, double, add_a_stranger, forget_a_member, make_nonsense, fail]


@pytest.mark.parametrize("tamper", TAMPERINGS, ids=lambda tamper: tamper.__name__)
@pytest.mark.parametrize(
    "name",
    [
        "range",
        "roundrobin",
        "sticky",
        "cooperative-sticky",
        "cooperative-sticky-clashes",
        "server-range",
        "server-uniform",
    ],
)
def test_a_falsified_answer_is_reported(name: str, tamper: Any, tmp_path: Path) -> None:
    chance = random.Random(f"{name} {tamper.__name__}")
    lines = chains(name)[:25]
    spots = [
        (line, step)
        for line, chain in enumerate(lines)
        for step, s in enumerate(chain["steps"])
        if "assignment" in s
        and len(s["assignment"]) > 1
        and owners(s)
        and len({tuple(held) for held in s["assignment"].values()}) > 1
        and s["assignment"][next(iter(s["assignment"]))]
        != s["assignment"][list(s["assignment"])[1]]
    ]
    line, step = chance.choice(spots)
    falsified = copy.deepcopy(lines)
    tamper(falsified[line]["steps"][step])
    finding = verify(written(tmp_path / "falsified.jsonl", *falsified))
    assert not finding.ok
    assert [(d["line"], d["step"]) for d in finding.document["different"]] == [(line + 1, step + 1)]
    assert finding.document["identical"] == finding.document["cases"] - 1
    assert finding.details[0].startswith(f"line {line + 1}, step {step + 1}: ")


def test_a_difference_is_told_with_what_the_members_brought_and_both_answers(
    tmp_path: Path,
) -> None:
    step = {
        "topics": {"t": 4},
        "replica_racks": {"t": [["a"], ["b"], ["a"], ["b"]]},
        "members": [
            {
                "id": "A",
                "instance": "i1",
                "rack": "a",
                "topics": ["t"],
                "owned": ["t-0", "t-1"],
                "owned_generation": 2,
                "user_generation": 1,
            },
            {"id": "B", "topics": [], "owned": [], "owned_generation": -1},
        ],
        "assignment": {"A": ["t-0", "t-1", "t-2", "t-3"], "B": ["odd"]},
    }
    finding = verify(written(tmp_path / "one.jsonl", {"assignor": "roundrobin", "steps": [step]}))
    assert finding.details == [
        "line 1, step 1: roundrobin, topics t×4",
        "  A (static i1, rack a, had t 0-1 of generation 2, user data of 1)",
        "    both  t 0-3",
        "  B (wants nothing)",
        "    Kafka 'odd'   only here: 'odd'",
        "    ours  nothing",
    ]


def test_only_the_first_differences_are_told_but_all_are_counted(tmp_path: Path) -> None:
    lines = chains("range")[:12]
    for chain in lines:
        add_a_stranger(chain["steps"][0])
    finding = verify(written(tmp_path / "many.jsonl", *lines), differences=2)
    assert len(finding.document["different"]) == 12
    assert [d for d in finding.details if d.startswith("line")] == [
        "line 1, step 1: " + finding.details[0].partition(": ")[2],
        *[d for d in finding.details if d.startswith("line 2, ")],
    ]
    assert finding.details[-1] == "… and 10 more"


def test_in_large_groups_only_members_that_differ_are_told(tmp_path: Path) -> None:
    chain = next(c for c in chains("range-wide") if len(c["steps"][0]["members"]) > 30)
    lose(chain["steps"][0])
    finding = verify(written(tmp_path / "large.jsonl", chain))
    assert len(finding.details) == 5
    assert (
        finding.details[-1]
        == f"  … and {len(chain['steps'][0]['members']) - 1} members to which both give the same"
    )


def test_the_command_ends_with_0_1_or_2(tmp_path: Path) -> None:
    good = str(FOLDER / "range.jsonl.gz")
    lines = chains("sticky")[:2]
    add_a_stranger(lines[1]["steps"][0])
    bad = str(written(tmp_path / "bad.jsonl", *lines))
    runs = {
        args: CliRunner().invoke(command, list(args), standalone_mode=False).return_value
        for args in (
            (good,),
            (good, bad),
            (bad, "--json"),
            (good, bad, str(tmp_path / "none.jsonl")),
        )
    }
    assert list(runs.values()) == [0, 1, 1, 2]
    document = json.loads(
        CliRunner().invoke(command, [bad, "--json"], standalone_mode=False).output
    )
    assert list(document) == ["file", "kind", "cases", "identical", "different"]
    assert (
        document["different"][0]["kafka"]["stranger"] == []
        and "stranger" not in document["different"][0]["ours"]
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"assignor":"range","steps":[]}', "no step"),
        ('{"assignor":"best","steps":[{}]}', "no assignor 'best'"),
        ('{"assignor":["range"],"steps":[{}]}', "no assignor"),
        ('{"assignor":"range","steps":[{"topics":{"t":1},"members":[]}]}', "KeyError: 'error'"),
        (
            '{"assignor":"range","steps":[{"topics":{"t":1},"members":[{"id":"a"}],"assignment":{}}]}',
            "line|step 1",
        ),
        ('{"assignor":"range","steps":[7]}', "list of steps"),
        ('{"assignor":"range","steps":{}}', "list of steps"),
        ('{"assignor":"range"', "not a chain|is not JSON"),
        (
            '{"assignor":"server-uniform","steps":[{"topics":{"t":{"id":"x","partitions":1}},"members":[],"assignment":{}}]}',
            "step 1 is not one",
        ),
        (
            '{"assignor":"server-uniform","steps":[{"topics":{"t":{"id":"WEAKDUWU5x1CdwFLqD0rmA","partitions":1}},"members":'
            '[{"id":"a","topics":["t"],"target":["t-5"]}],"assignment":{}}]}',
            "step 1 is not one",
        ),
    ],
)
def test_a_broken_file_is_named_with_its_line(text: str, why: str, tmp_path: Path) -> None:
    path = (
        written(tmp_path / "broken.jsonl", *chains("range")[:1], text)
        if "no step" not in why
        else written(tmp_path / "broken.jsonl", text)
    )
    with pytest.raises(InputError, match=why) as refused:
        verify(path)
    assert str(path) in str(refused.value) and (":2:" in str(refused.value) or "no step" in why)
