"""Chains of group changes, the least number of moves, and the command that shows them."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from rebalsim.assignors.claim import AssignmentFailed
from rebalsim.assignors.least_moves import least_moves
from rebalsim.assignors.registry import ASSIGNORS, ClientAssignor, by_name
from rebalsim.assignors.what_if import Change, parse_change, parse_topics, play
from rebalsim.cli.assign import command
from rebalsim.cli.main import code_of
from rebalsim.domain.errors import InputError
from rebalsim.domain.ids import Partition


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(-2, 3), max_size=6), st.integers(1, 4))
def test_the_least_number_of_moves_is_what_trying_everything_finds(
    owners: list[int], count: int
) -> None:
    """Owner -2: nobody; -1: somebody who left; others above the number of members left as well."""
    partitions = [Partition("t", n) for n in range(len(owners))]
    members = [f"m{i}" for i in range(count)]
    before: dict[str, list[Partition]] = {}
    for p, owner in zip(partitions, owners):
        if owner > -2:
            before.setdefault(f"m{owner}" if owner >= 0 else "gone", []).append(p)
    source = {p: member for member, held in before.items() for p in held}
    fewest = min(
        sum(1 for p, member in zip(partitions, chosen) if source.get(p, member) != member)
        for chosen in product(members, repeat=len(partitions))
        if max(map(chosen.count, members)) - min(map(chosen.count, members)) <= 1
    )
    assert least_moves(before, members, partitions) == fewest


def test_partitions_that_are_gone_do_not_count_as_moved() -> None:
    p, q = Partition("t", 0), Partition("old", 0)
    assert least_moves({"a": [p, q]}, ["a"], [p]) == 0
    assert least_moves({"a": [p]}, [], [p]) == 0


def test_a_chain_tells_what_moved_and_what_was_withheld() -> None:
    changes = [Change("+1", joined=("c3",)), Change("-c0", left=("c0",))]
    start, joined, left = play(
        by_name("cooperative-sticky"), {"orders": 12, "payments": 4}, ["c0", "c1", "c2"], changes
    )
    assert {member: len(held) for member, held in start.assignment.items()} == {
        "c0": 6,
        "c1": 5,
        "c2": 5,
    }
    assert (start.rebalances, start.moves, start.stopped, start.imbalance) == (1, (), 0, 1)
    assert (
        joined.rebalances,
        joined.withheld,
        len(joined.moves),
        joined.least,
        joined.stopped,
        joined.imbalance,
    ) == (2, 4, 4, 4, 4, 0)
    assert {move.target for move in joined.moves} == {"c3"}
    assert (left.rebalances, left.withheld, len(left.moves), left.least, left.stopped) == (
        1,
        0,
        4,
        4,
        0,
    )
    assert {move.source for move in left.moves} == {"c0"}


def test_an_eager_group_stops_altogether_even_where_nothing_moves() -> None:
    _, again = play(by_name("sticky"), {"t": 4}, ["a", "b"], [Change("u:1", grown={"u": 1})])
    assert (len(again.moves), again.least, again.stopped, again.rebalances) == (0, 0, 4, 1)
    _, again = play(
        by_name("server-uniform"), {"t": 4}, ["a", "b"], [Change("u:1", grown={"u": 1})]
    )
    assert (len(again.moves), again.stopped) == (0, 0)
    assert sorted(len(held) for held in again.assignment.values()) == [2, 3]


@pytest.mark.parametrize("name", ASSIGNORS)
def test_every_assignor_gives_everything_out_after_every_change(name: str) -> None:
    topics = {"a": 7, "b": 3}
    members = ["x", "y", "z"]
    changes = []
    for text in ("+2", "-y", "-x,+1", "a:9,c:2", "+3,-z"):
        changes.append(parse_change(text, members, topics, 3 + sum(len(c.joined) for c in changes)))
        members = [m for m in members if m not in changes[-1].left] + list(changes[-1].joined)
        topics |= changes[-1].grown
    outcomes = play(by_name(name), {"a": 7, "b": 3}, ["x", "y", "z"], changes)
    for outcome, total in zip(outcomes, (10, 10, 10, 10, 14, 14)):
        everything = [p for held in outcome.assignment.values() for p in held]
        assert len(everything) == len(set(everything)) == total
    assert list(outcomes[-1].assignment) == members


def test_sticky_and_uniform_move_the_least() -> None:
    for name in ("sticky", "cooperative-sticky", "server-uniform"):
        for outcome in play(
            by_name(name),
            {"t": 16},
            [f"m{i}" for i in range(5)],
            [Change("+1", ("n",)), Change("-", (), ("m2",))],
        ):
            assert len(outcome.moves) == outcome.least


def taking(topics, members, replica_racks=None, generation=None):  # type: ignore[no-untyped-def]
    """A cooperative assignor that gives everything to the last member at once."""
    return {
        m.member_id: [Partition(t, n) for t, c in topics.items() for n in range(c)]
        if m is members[-1]
        else []
        for m in members
    }


def starving(topics, members, replica_racks=None, generation=None):  # type: ignore[no-untyped-def]
    """One that always gives the first member the partition it does not have, and takes the
    other.
    """
    return {
        m.member_id: [Partition("t", 0 if Partition("t", 1) in m.owned else 1)]
        if m is members[0]
        else []
        for m in members
    }


def test_an_own_cooperative_assignor_must_let_the_old_owner_revoke_first() -> None:
    own = ClientAssignor("own:taking", "own:taking", ("cooperative",), taking)
    with pytest.raises(
        AssignmentFailed,
        match=r"'own:taking' is cooperative but gives t-0 .and 1 more. to b while a still owns it",
    ):
        play(own, {"t": 2}, ["a"], [Change("+1", joined=("b",))])
    eager = ClientAssignor("own:taking", "own:taking", ("eager",), taking)
    assert [len(o.moves) for o in play(eager, {"t": 2}, ["a"], [Change("+1", joined=("b",))])] == [
        0,
        2,
    ]


def test_an_own_assignor_that_never_comes_to_rest_is_stopped() -> None:
    own = ClientAssignor("own:starving", "own:starving", ("cooperative",), starving)
    with pytest.raises(AssignmentFailed, match="20 rebalances in a row"):
        play(own, {"t": 2}, ["a"], [Change("+1", joined=("b",))])


def test_changes_are_read() -> None:
    assert parse_change("+2", ["c0"], {}, 1) == Change("+2", joined=("c1", "c2"))
    assert parse_change("-c0, +1", ["c0"], {}, 4) == Change("-c0, +1", joined=("c4",), left=("c0",))
    assert parse_change("orders:16", ["c0"], {"orders": 12}, 1) == Change(
        "orders:16", grown={"orders": 16}
    )
    assert parse_topics("a:1, b.c_d-e:20") == {"a": 1, "b.c_d-e": 20}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("-cX", "no member 'cX' that could leave .* the group has a, b"),
        ("-a,-a", "no member 'a'"),
        ("-a,-b", "without members"),
        ("x", "not a change"),
        ("", "changes nothing"),
        ("+0", "changes nothing"),
        ("t:1", "cannot shrink"),
        ("t:x", "not a topic"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused(text: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        parse_change(text, ["a", "b"], {"t": 2}, 2)


# -------------------------------------------------------------------------------------- the command


def run(*args: str) -> Result:
    return CliRunner().invoke(
        command, list(args), env={"COLUMNS": "80"}, standalone_mode=False, catch_exceptions=False
    )


def test_the_command_shows_each_step_within_80_columns() -> None:
    shown = run(
        "--assignor",
        "cooperative-sticky",
        "--topics",
        "orders:12,payments:4",
        "--members",
        "3",
        "--then",
        "+1",
        "--then",
        "-c0",
    )
    assert shown.return_value == 0
    assert max(map(len, shown.output.splitlines())) <= 80
    assert "+1: c3 joins (4 members)" in shown.output
    assert (
        "moved 4, at least 4 · 4 stopped · 2 rebalances (4 withheld in the first)" in shown.output
    )
    assert (
        "moved 4, at least 4 · 0 stopped · 1 rebalance\nimbalance 1 (5 to 6 each)" in shown.output
    )
    assert "c3        4  orders:6,9-11                orders:6,9-11" in shown.output


def test_the_command_compares_all_assignors() -> None:
    shown = run("--compare", "all", "--topics", "orders:12,payments:4", "--then", "+1")
    assert max(map(len, shown.output.splitlines())) <= 80
    rows = {
        line.split()[0]: line.split()[1:]
        for line in shown.output.split("+1: ")[1].splitlines()
        if line.split()[:1] and line.split()[0] in ASSIGNORS
    }
    assert list(rows) == list(ASSIGNORS)
    assert rows["sticky"] == ["4", "4", "16", "1", "0", "4"] and rows["cooperative-sticky"] == [
        "4",
        "4",
        "4",
        "2",
        "0",
        "4",
    ]
    assert rows["server-uniform"] == ["4", "4", "4", "-", "0", "4"] and rows["range"][0] == "9"


def test_the_command_prints_json() -> None:
    document = json.loads(
        run("--topics", "t:3", "--members", "a,b", "--then", "-a", "--json").output
    )
    assert document["topics"] == {"t": 3}
    (played,) = document["assignors"]
    assert (played["assignor"], played["protocol"]) == ("cooperative-sticky", "cooperative")
    assert played["steps"][0]["assignment"] == {"a": ["t-0", "t-2"], "b": ["t-1"]}
    assert played["steps"][1] == {
        "change": "-a",
        "assignment": {"b": ["t-0", "t-1", "t-2"]},
        "moved_at_least": 2,
        "stopped": 0,
        "withheld": 0,
        "imbalance": 0,
        "rebalances": 1,
        "moved": [
            {"partition": "t-0", "from": "a", "to": "b"},
            {"partition": "t-2", "from": "a", "to": "b"},
        ],
    }


@pytest.mark.parametrize(
    "args",
    [
        ["--topics", "t"],
        ["--topics", "t:0"],
        ["--topics", "t:1,t:2"],
        ["--topics", "a/b:1"],
        ["--topics", "t:3", "--assignor", "stiky"],
        ["--topics", "t:3", "--then", "-cX"],
        ["--topics", "t:3", "--members", "0"],
        ["--topics", "t:3", "--members", "a,a"],
        ["--topics", "t:3", "--members", "a,-b"],
        ["--topics", "t:3", "--assignor", "module:function"],
        ["--topics", "t:3", "--compare", "range,x"],
        [],
    ],
)
def test_bad_input_ends_with_a_clear_line_and_2(
    args: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of(["assign", *args]) == 2
    told = capsys.readouterr()
    assert (
        told.out == ""
        and told.err.strip()
        and "Traceback" not in told.err
        and "bug" not in told.err
    )


def test_own_code_is_run_from_the_current_directory_if_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_what_if.py").write_text(
        "def give(topics, members, racks, generation): return {members[0].member_id: [('t', 0)]}\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(__import__("sys").path))
    shown = run(
        "--assignor", "my_what_if:give", "--allow-code", "--topics", "t:1", "--members", "2"
    )
    assert (
        "my_what_if:give (eager), t × 1 partitions" in shown.output
        and "imbalance 1 (0 to 1 each)" in shown.output
    )
