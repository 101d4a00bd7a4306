"""What a group was, and when: told by its coordinator alone, since members of both protocols may
be in it.
"""

from __future__ import annotations

from rebalsim.analysis.group_kinds import GroupTold
from rebalsim.analysis.index import Index
from rebalsim.trace import events as ev
from rebalsim.trace.events import TraceEvent
from rebalsim.trace.trace import Trace, TraceHeader


def told(*events: TraceEvent) -> GroupTold:
    return GroupTold(Index(Trace(TraceHeader(), list(events)), 1_000), "g")


def state(at: int, before: str, after: str, trigger: str = "") -> TraceEvent:
    return ev.GroupStateChanged(at, "g", before, after, 1, trigger)


ROAD = (
    state(10, "Empty", "PreparingRebalance", "joined"),
    state(20, "PreparingRebalance", "CompletingRebalance"),
    state(21, "CompletingRebalance", "Stable"),
    state(50, "Stable", "Stable", "regrouped"),
    ev.EpochBumped(50, "g", 2, "joined"),
    state(60, "Assigning", "Stable"),
    state(90, "Assigning", "Stable", "regrouped"),
    state(90, "Stable", "PreparingRebalance", "regrouped"),
)


def test_a_group_is_one_kind_from_one_conversion_to_the_next() -> None:
    group = told(*ROAD)
    assert group.within(0, 1_000) == [(0, False), (50, True), (90, False)]
    assert group.within(30, 45) == [(30, False)]
    assert group.within(55, 95) == [(55, True), (90, False)]
    assert group.within(90, 95) == [(90, False)]


def test_an_empty_group_is_what_its_first_member_makes_of_it() -> None:
    group = told(
        ev.EpochBumped(5, "g", 1, "joined"),
        state(5, "Empty", "Stable"),
        state(40, "Stable", "Empty"),
        state(70, "Empty", "PreparingRebalance"),
    )
    assert group.within(0, 100) == [(0, True), (70, False)]
    assert group.empty_within(0, 100) == [(40, 70)]
    assert (group.is_empty(39), group.is_empty(40), group.is_empty(70)) == (False, True, False)


def test_a_group_without_members_stays_empty_until_the_end() -> None:
    group = told(state(5, "Empty", "PreparingRebalance"), state(40, "PreparingRebalance", "Empty"))
    assert group.empty_within(30, 90) == [(40, 90)]
    assert group.empty_within(50, 90) == [(50, 90)]


def test_who_is_told_nothing_knows_nothing() -> None:
    assert told().within(0, 100) == []
