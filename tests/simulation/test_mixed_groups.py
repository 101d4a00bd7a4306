"""The road: classic and new members in one group, there and back, and brokers that are upgraded
under a consumer group.
"""

from __future__ import annotations

from functools import lru_cache

import pytest

from rebalsim.analysis import analyse
from rebalsim.scenario.load import load_scenario
from rebalsim.simulation.world import play
from rebalsim.trace import events as ev
from rebalsim.trace.trace import Trace

STORIES = ("migration-to-consumer", "broker-upgrade-to-4.3")


@lru_cache(maxsize=4)
def played(name: str, plain: bool = False) -> Trace:
    return play(load_scenario(name).scenario(), seed=1, plain=plain)


@pytest.mark.parametrize("name", STORIES)
def test_no_invariant_is_broken_on_the_road(name: str) -> None:
    assert not analyse(played(name)).violations


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(STORIES[0], marks=pytest.mark.soak), pytest.param(STORIES[1])]
)
def test_whether_quiet_is_slept_through_or_not_changes_nothing(name: str) -> None:
    assert [repr(event) for event in played(name, True).events] == [
        repr(event) for event in played(name).events
    ]


def test_the_first_new_member_turns_the_group_and_the_last_one_to_leave_turns_it_back() -> None:
    trace = played("migration-to-consumer")
    turned = [e for e in trace.events if type(e) is ev.GroupStateChanged and "onverted" in e.reason]
    assert [e.reason for e in turned] == [
        "Converted the classic group to a consumer group.",
        "Converted the consumer group to a classic group.",
    ]
    first_new = next(
        e
        for e in trace.events
        if type(e) is ev.MemberStateChanged and e.side == "client" and e.after == "JOINING"
    )
    assert 0 <= turned[0].at_us - first_new.at_us < 100_000


def test_a_classic_member_of_a_consumer_group_goes_on_reading_while_it_rejoins() -> None:
    trace = played("migration-to-consumer")
    began = next(
        e.at_us
        for e in trace.events
        if type(e) is ev.GroupStateChanged and "to a consumer group" in e.reason
    )
    revoked = [
        e
        for e in trace.events
        if type(e) is ev.CallbackBegan
        and e.callback == "revoked"
        and began < e.at_us < began + 10_000_000
    ]
    assert revoked
    assert all(len(e.partitions) <= 2 for e in revoked)


def test_a_new_broker_version_counts_when_its_coordinator_has_loaded_the_group() -> None:
    trace = played("broker-upgrade-to-4.3")
    epochs = [e for e in trace.events if type(e) is ev.EpochBumped]
    waited = [e for e in trace.events if type(e) is ev.IntervalWaited]
    assert epochs[0].epoch == 1  # before 4.3 a group begins at epoch 0
    assert waited
    assert all(e.at_us > 240_000_000 for e in waited)  # the assignment interval is new in 4.3
