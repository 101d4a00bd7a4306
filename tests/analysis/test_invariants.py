"""Each invariant is broken by hand and found; and the four questions are answered."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import SECOND, trace

from rebalsim.analysis import analyse
from rebalsim.domain.ids import Partition
from rebalsim.trace import events as ev


def rules(text: str, **facts: object) -> list[str]:
    return [v.rule for v in analyse(trace(text, source="simulated", **facts)).violations]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("c1=1@0 c2=1@0 c1+p0@1 c2+p0@2", "two-owners"),
        ("g{joined.c1@0 g|2.c1@1 g{joined.c2@2 g|2.c2@3", "generation-shrank"),
        ("g|3.c1@0 c1=3@0 c1=2@1", "generation-shrank"),
        ("c1=1@0 c1:2@1", "stranger"),
        (
            "g{joined.c1@0 c1j@0 g|1.c1@1 c1=1@1 g}1@2 c1:1@2 c1+p0,p1@2 c1-p1@3 g{joined.c1@5 "
            "c1?@5 c1j@5 g|2.c1@6 c1=2@6 g}2@7 c1:2@7 c1+p2@7",
            "no-owner",
        ),
    ],
)
def test_a_broken_invariant_is_found(text: str, rule: str) -> None:
    assert rules(text) == [rule]


@pytest.mark.parametrize(
    "text",
    [
        "c1=1@0 c2=1@0 c1+p0@1 c1-p0@2 c2+p0@3",  # handed over
        "c1=1@0 c1+p0@1 c2=2@5 c2+p0@6",  # c1 is of an older generation and cannot commit
        "c1=1@0 c2=1@0 c1+p0@1 c1!@2 c2+p0@3",  # dead
        "c1=1@0 c2=1@0 c1+p0@1 g%c1@2 c2+p0@3",  # removed
    ],
)
def test_what_is_no_violation(text: str) -> None:
    assert rules(text) == []


GROWN = (
    "g{joined.c1@0 c1j@0 g|1.c1@1 c1=1@1 g}1@2 c1:1@2 c1+p0,p1@2 t=4@3 g{rejoined.c1@4 c1?@4 "
    "c1j@4 g|2.c1@5 c1=2@5 g}2@6 c1:2@6 c1+p2@6 c1-p2@7 "
    "g{joined.c2@8 c1?@8 c1j@8 c2j@8 g|3.c2@9 c1=3@9 c2=3@9 g}3@10 c1:3@10 c2:3@10 c1+p3@10"
)


@pytest.mark.parametrize(("leader", "broken"), [("c1", ["no-owner"]), ("c2", [])])
def test_a_leader_is_not_blamed_for_partitions_that_it_cannot_know_of(
    leader: str, broken: list[str]
) -> None:
    """p2 came later, and c1 has once given it to somebody; whoever else leads may not have heard
    of it.
    """
    told = trace(GROWN, source="simulated")
    told.header.topics["t"].partitions = 2
    leads = {1: "c1", 2: "c1", 3: leader}
    for n, e in enumerate(told.events):
        if type(e) is ev.BarrierCompleted:
            told.events[n] = replace(e, leader=leads[e.generation])
        elif type(e) is ev.AssignmentReceived and e.generation == 2:
            told.events[n] = replace(
                e, partitions=(Partition("t", 0), Partition("t", 1), Partition("t", 2))
            )
    assert [v.rule for v in analyse(told).violations] == broken


def test_time_may_not_run_back() -> None:
    told = trace("c1=1@5", source="simulated")
    told.events.append(ev.ConsumerFroze(4_000_000, "c1"))
    assert [v.rule for v in analyse(told).violations] == ["time-ran-back"]


def answers(text: str, **facts: object) -> dict[str, bool | None]:
    return {a.question: a.is_yes for a in analyse(trace(text, **facts)).answers}  # type: ignore[arg-type]


def test_an_instance_that_crashes_and_is_back_before_anybody_noticed() -> None:
    assert answers("c1(@0 c1!@10 c1(2@20")["crash-loop"] is True
    assert answers("c1(@0 c1!@10 c1(2@60")["crash-loop"] is False  # 45 s had passed
    assert answers("c1(@0 c1)@10 c1(2@20")["crash-loop"] is False  # it had said goodbye
    assert answers("c1+p0@0", source="logs")["crash-loop"] is None


def test_one_outlasts_max_poll_interval() -> None:
    found = next(
        a
        for a in analyse(trace("c1(@0 c1+p0@1 c1#@5 c1e@30 c1.@70")).answers
        if a.question == "outlasts-poll-interval"
    )
    assert (found.is_yes, found.consumers, found.figures["longest_stuck_us"]) == (
        True,
        ("c1",),
        65_000_000,
    )


def test_two_share_an_instance_id() -> None:
    told = trace("c1(@0 c2(@1")
    for name in ("c1", "c2"):
        told.header.consumers[name].instance_id = "one"
    assert next(
        a for a in analyse(told).answers if a.question == "shared-instance-id"
    ).consumers == ("c1", "c2")


def test_a_member_that_is_refused_four_times_is_fenced_once() -> None:
    told = trace("c1(@0 c2(@1")
    told.events += [
        ev.Fenced(SECOND * at, "c1", "Heartbeat", "FENCED_INSTANCE_ID") for at in (5, 5, 6, 6)
    ]
    assert (
        next(a for a in analyse(told).answers if a.question == "shared-instance-id").figures[
            "times"
        ]
        == 1
    )


def test_whether_the_cooperative_assignor_is_in_use() -> None:
    told = trace("c1=1@0 c2=1@0")
    for name in ("c1", "c2"):
        told.header.consumers[name].assignors = ("range", "cooperative-sticky")
    found = next(a for a in analyse(told).answers if a.question == "cooperative-in-use")
    assert (found.is_yes, found.consumers) == (False, ("c1", "c2"))
    for e in told.events:
        e.assignor = "cooperative-sticky"
    for name in ("c1", "c2"):
        told.header.consumers[name].protocol = "cooperative"
    assert (
        next(a for a in analyse(told).answers if a.question == "cooperative-in-use").is_yes is True
    )
