"""The registry, a consumer's choice of protocol, the leader's check, and the user's own code."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from small_groups import members, told

from rebalsim.assignors.callable import load_callable
from rebalsim.assignors.claim import AssignmentFailed
from rebalsim.assignors.cooperative_check import check_cooperative
from rebalsim.assignors.registry import (
    ASSIGNORS,
    by_name,
    client_assignor,
    rebalance_protocol,
    server_assignor,
)
from rebalsim.domain.errors import InputError
from rebalsim.domain.ids import Partition


def test_every_assignor_is_found_by_its_name_and_by_its_java_class() -> None:
    assert list(ASSIGNORS) == [
        "range",
        "roundrobin",
        "sticky",
        "cooperative-sticky",
        "server-range",
        "server-uniform",
    ]
    for name, assignor in ASSIGNORS.items():
        assert by_name(name) is assignor and by_name(assignor.java_class) is assignor
    assert client_assignor("org.apache.kafka.clients.consumer.StickyAssignor").name == "sticky"


def test_a_scenario_names_the_brokers_assignors_as_kafka_does() -> None:
    assert (
        server_assignor("uniform") is ASSIGNORS["server-uniform"]
        and server_assignor("range") is ASSIGNORS["server-range"]
    )
    assert server_assignor("server-range") is ASSIGNORS["server-range"]
    assert server_assignor("uniform").protocols == ("consumer",)


def test_an_unknown_name_says_what_was_meant() -> None:
    with pytest.raises(InputError, match="no assignor 'stickey'; did you mean 'sticky'"):
        by_name("stickey")
    with pytest.raises(InputError, match="runs on the broker"):
        client_assignor("server-uniform")
    with pytest.raises(InputError, match="client's assignor"):
        server_assignor("sticky")


@pytest.mark.parametrize(
    ("names", "protocol"),
    [
        ("range", "eager"),
        ("roundrobin sticky", "eager"),
        ("cooperative-sticky", "cooperative"),
        ("range cooperative-sticky", "eager"),
        ("cooperative-sticky range", "eager"),
    ],
)
def test_a_consumer_rebalances_as_all_of_its_assignors_can(names: str, protocol: str) -> None:
    assert rebalance_protocol(client_assignor(name) for name in names.split()) == protocol


def test_a_consumer_without_a_common_protocol_is_refused(own_code: None) -> None:
    only = load_callable("own_assignors:greedy", "anywhere")
    assert only.protocols == ("cooperative",)
    with pytest.raises(
        InputError,
        match=r"range \(eager\), own_assignors:greedy \(cooperative\) have no rebalance protocol "
        r"in common",
    ):
        rebalance_protocol([client_assignor("range"), only])
    with pytest.raises(InputError, match="no rebalance protocol"):
        rebalance_protocol([])


def test_what_a_member_remembers_depends_on_its_assignor() -> None:
    held = [Partition("t", 0)]
    assert client_assignor("sticky").remember(held, 4) == ((Partition("t", 0),), 4)
    assert client_assignor("cooperative-sticky").remember(held, 4) == (None, 4)
    assert client_assignor("range").remember(held, 4) == (None, None)
    assert client_assignor("cooperative-sticky").fresh == (None, -1) and client_assignor(
        "sticky"
    ).fresh == (None, None)


def test_the_leader_refuses_a_direct_hand_over() -> None:
    p, q = Partition("t", 0), Partition("t", 1)
    with pytest.raises(AssignmentFailed, match="gives t-1 to b while a still owns it"):
        check_cooperative("mine", {"a": [p, q]}, {"a": [p], "b": [q]})
    check_cooperative("mine", {"a": [p, q]}, {"a": [p], "b": []})  # withheld
    check_cooperative("mine", {"a": [p]}, {"a": [p], "b": [q]})  # nobody had it
    check_cooperative(
        "mine", {"a": [p], "b": [p]}, {"a": [p], "b": [q]}
    )  # taken from one that also claimed it, given to nobody


def test_only_cooperative_sticky_is_spared_the_check() -> None:
    assert [
        a.name
        for a in map(client_assignor, ("range", "roundrobin", "sticky", "cooperative-sticky"))
        if not a.is_checked
    ] == ["cooperative-sticky"]


# ------------------------------------------------------------------------------ the user's own code


@pytest.fixture
def own_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "own_assignors.py").write_text(
        dedent("""
        def first_takes_all(topics, members, replica_racks, generation):
            return {members[0].member_id: [(t, n) for t, count in topics.items() for n in range(count)]}

        def greedy(topics, members, replica_racks, generation):
            return {members[-1].member_id: [(t, n) for t, count in topics.items() for n in range(count)]}
        greedy.protocols = ("cooperative",)

        class Holder:
            @staticmethod
            def nested(topics, members):
                return {}

        def odd(topics, members, replica_racks, generation): return {}
        odd.protocols = ("lazy",)
        def raises(topics, members, replica_racks, generation): raise ZeroDivisionError("oh")
        def wrong_type(topics, members, replica_racks, generation): return 7
        def stranger(topics, members, replica_racks, generation): return {"nobody": []}
        def twice(topics, members, replica_racks, generation): return {m.member_id: [("t", 0)] for m in members}
        def beyond(topics, members, replica_racks, generation): return {members[0].member_id: [("t", 99)]}
        def text(topics, members, replica_racks, generation): return {members[0].member_id: ["t0"]}
        number = 3
    """)
    )
    (tmp_path / "broken_assignors.py").write_text("1 / 0\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield
    for name in ("own_assignors", "broken_assignors"):
        sys.modules.pop(name, None)


def test_own_code_runs_only_where_it_is_allowed(own_code: None) -> None:
    with pytest.raises(InputError, match="--allow-code"):
        load_callable("own_assignors:first_takes_all", "")
    assert "own_assignors" not in sys.modules
    own = load_callable("own_assignors:first_takes_all", "anywhere")
    assert (
        own.protocols == ("eager",)
        and own.is_checked
        and own.name == "own_assignors:first_takes_all"
    )
    assert told(own.assign({"t": 2}, members("B", "A", topics="t"))) == {"B": "t-0 t-1", "A": ""}
    assert load_callable("own_assignors:Holder.nested", "anywhere").assign(
        {"t": 1}, members("A", topics="t")
    ) == {"A": []}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("own_assignors:", "not of the form"),
        (":f", "not of the form"),
        ("no_such_module_here:f", "cannot be imported"),
        ("own_assignors:nothing", "has no 'nothing'"),
        ("own_assignors:number", "is a int"),
        ("own_assignors:odd", "which protocols it supports"),
        ("broken_assignors:f", "fails when it is imported .ZeroDivisionError"),
    ],
)
def test_own_code_that_cannot_be_loaded_is_refused(own_code: None, name: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        load_callable(name, "anywhere")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("raises", "raised ZeroDivisionError: oh"),
        ("wrong_type", "answered with a int"),
        ("stranger", "'nobody', which is not in the group"),
        ("twice", "gives t-0 to A and to B"),
        ("beyond", r"gives out \('t', 99\)"),
        ("text", "gives out 't0'"),
    ],
)
def test_own_code_that_answers_wrongly_fails_the_rebalance(
    own_code: None, name: str, why: str
) -> None:
    with pytest.raises(AssignmentFailed, match=why):
        load_callable(f"own_assignors:{name}", "anywhere").assign(
            {"t": 1}, members("A", "B", topics="t")
        )
