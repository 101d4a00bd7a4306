"""Expectations as facts, on hand-written traces."""

from __future__ import annotations

import pytest
from builders import SECOND, trace

from rebalsim.analysis import analyse
from rebalsim.analysis.judge import judge_fact, measure_fact
from rebalsim.domain.budget import Expectation
from rebalsim.domain.ids import Partition
from rebalsim.trace import events as ev
from rebalsim.trace.trace import Trace

# c1 holds both, c2 joins at 5 and gets p0 at 9; c2 is killed at 50, removed at 80, and c1 has p0
# again at 82
TOLD = (
    "c1(@0 c1+p0,p1@0 c2(@1 g{joined.c2@5 c1-p0@5 g|2.c2@8 g}2@8 c2+p0@9 c2!@50 g%c2@80 "
    "g{session-expired.c2@80 g|3.c1@81 g}3@81 c1+p0@82"
)


def fact(
    kind: str,
    subject: str = "",
    other: str = "",
    start: float | None = None,
    end: float | None = None,
) -> Expectation:
    us = [None if at is None else round(at * SECOND) for at in (start, end)]
    return Expectation(kind, subject, other, from_us=us[0], until_us=us[1], text="x")


def told(asked: Expectation, given: Trace | None = None) -> str:
    """What was the case instead; empty where the fact holds."""
    measured = measure_fact(analyse(given or trace(TOLD)), asked)
    assert measured.problem == ""
    assert judge_fact(measured).outcome == ("fail" if measured.said else "pass")
    return measured.said


def test_an_owner_at_a_moment() -> None:
    assert told(fact("owned-by", "t-0", "c1", 3, 3)) == ""
    assert told(fact("owned-by", "t-0", "c2", 9, 9)) == ""
    assert (
        told(fact("owned-by", "t-0", "c2", 3, 3))
        == "at 3.00 s c1 owned it, from the start until 5.00 s"
    )
    assert (
        told(fact("owned-by", "t-0", "c1", 6, 6))
        == "at 6.00 s nobody owned it, since 5.00 s until 9.00 s"
    )


def test_an_owner_over_a_window_from_a_moment_on_before_one_and_at_the_end() -> None:
    assert told(fact("owned-by", "t-0", "c2", 10, 40)) == ""
    assert told(fact("owned-by", "t-0", "c2", 10, 60)).startswith("at 50.0 s nobody owned it")
    assert told(fact("owned-by", "t-0", "c1", 82)) == ""
    assert told(fact("owned-by", "t-0", "c1", 70)).startswith("at 1 m 10 s nobody owned it")
    assert told(fact("owned-by", "t-0", "c2", None, 20)) == ""  # at some moment before 20 s
    assert (
        told(fact("owned-by", "t-0", "c2", None, 7))
        == "never before 7.00 s; at its end nobody owned it"
    )
    assert told(fact("owned-by", "t-0", "c1")) == "" and "c1 owned it" in told(
        fact("owned-by", "t-0", "c2")
    )


def test_nobody_owns_a_partition() -> None:
    assert told(fact("unowned", "t-0", "", 60, 60)) == ""
    assert told(fact("unowned", "t-0", "", 20, 20)).startswith("at 20.0 s c2 owned it")


def test_no_rebalance_between_two_moments() -> None:
    assert told(fact("no-rebalance", "", "", 10, 79)) == ""
    assert told(fact("no-rebalance", "group", "", 10, 79)) == ""
    assert "rebalanced at 5.00 s (joined, c2), generation 2" in told(
        fact("no-rebalance", "", "", 6, 7)
    )  # one under way counts
    assert "session expired, c2" in told(fact("no-rebalance", "", "", 20))
    assert told(fact("no-rebalance", "", "", 83)) == ""


def test_a_member_is_removed_or_never_is() -> None:
    assert told(fact("removed", "c2")) == "" and told(fact("not-removed", "c1")) == ""
    assert told(fact("removed", "c2", "", None, 70)) == "c2 never was from the start to 1 m 10 s"
    assert told(fact("not-removed", "c2")) == "c2 was removed (session-expired) at 1 m 20 s"
    assert told(fact("removed", "c1")) == "c1 never was"


def test_a_member_is_fenced_or_never_is() -> None:
    given = trace(TOLD)
    given.events.append(ev.Fenced(90 * SECOND, "c2", "Heartbeat", "FENCED_INSTANCE_ID"))
    assert (
        told(fact("fenced", "c2"), given) == "" and told(fact("fenced", "c2", "", 85), given) == ""
    )
    assert (
        told(fact("not-fenced", "c2"), given)
        == "c2 was refused with FENCED_INSTANCE_ID on Heartbeat at 1 m 30 s"
    )
    assert (
        told(fact("not-fenced", "c2", "", None, 80), given) == ""
        and told(fact("fenced", "c1"), given) == "c1 never was"
    )


def test_a_group_is_stable_or_empty() -> None:
    assert told(fact("stable", "group", "", 20, 20)) == "" and told(fact("stable", "group")) == ""
    assert told(fact("stable", "group", "", 6, 6)).startswith(
        "at 6.00 s the group was PreparingRebalance"
    )
    assert told(fact("stable", "group", "", 10, 90)).startswith(
        "at 1 m 20 s the group was PreparingRebalance"
    )
    assert told(fact("empty", "group", "", 20, 20)).startswith("at 20.0 s the group was Stable")


def test_a_member_is_gone() -> None:
    assert told(fact("gone", "c2")) == "" and told(fact("gone", "c2", "", 50, 50)) == ""
    assert told(fact("gone", "c1")).startswith("at 1 m 40 s c1 was there")
    assert told(fact("gone", "c2", "", 20, 20)).startswith("at 20.0 s c2 was there")


@pytest.mark.parametrize(("start", "end"), [(101.0, 101.0), (5.0, 200.0), (None, 101.0)])
def test_a_moment_after_the_end_is_a_problem(start: float | None, end: float | None) -> None:
    assert (
        "is after the end: the story stops at 1 m 40 s"
        in measure_fact(analyse(trace(TOLD)), fact("owned-by", "t-0", "c1", start, end)).problem
    )


def test_the_end_itself_is_the_last_that_was_seen() -> None:
    assert told(fact("owned-by", "t-0", "c1", 100, 100)) == ""


def test_in_several_groups_the_owners_own_group_is_meant() -> None:
    given = trace("c1(@0 c1+p0@0")
    given.header.consumers["x"] = type(given.header.consumers["c1"])("other")
    p = (Partition("t", 0),)
    given.events += [
        ev.ConsumerStarted(SECOND, "x", 1),
        ev.CallbackBegan(2 * SECOND, "x", "assigned", p),
        ev.CallbackEnded(2 * SECOND, "x", "assigned", p),
    ]
    assert (
        told(fact("owned-by", "t-0", "c1", 3, 3), given) == ""
        and told(fact("owned-by", "t-0", "x", 3, 3), given) == ""
    )
