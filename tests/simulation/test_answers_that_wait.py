"""What waits on a connection: requests behind a parked one at the broker, and answers that
nobody has read at the client.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from simulated_groups import Told, member, play_group, settled

from rebalsim.domain.consumer import AssignorCost
from rebalsim.domain.draws import constantly
from rebalsim.domain.instants import SECOND
from rebalsim.one_run import run_once
from rebalsim.scenario.load import story_of
from rebalsim.trace import events as ev


def slow_leader(*deeds: tuple[float, str, str, int]) -> Told:
    """X joins at 10 s, and the leader M1 computes for 4.5 s: the others' SyncGroups are parked,
    and their beats queue up behind them.
    """
    members = tuple(
        replace(
            member(name, heartbeat_interval_us=SECOND),
            assignor_cost=AssignorCost(constantly(4_500_000.0)),
        )
        for name in ("M1", "M2")
    )
    return play_group(
        members,
        settled(*members),
        30.0,
        later=((replace(members[0], name="X"), 10.0),),
        wire=True,
        deeds=deeds,
    )


def test_beats_that_waited_behind_a_parked_sync_group_are_all_answered_when_it_is() -> None:
    told = slow_leader()
    sent = [
        at for at in told.times(ev.RequestSent, consumer="M2", api="Heartbeat") if 11.5 < at < 15.6
    ]
    synced = told.after(11, ev.ResponseReceived, consumer="M2", api="SyncGroup")
    answered = [
        at
        for at in told.times(ev.ResponseReceived, consumer="M2", api="Heartbeat")
        if 11.5 < at < 15.6
    ]
    assert len(sent) == 4  # nobody waits for an answer before it beats again
    assert sent[-1] < synced == 15.512
    assert answered == [synced] * 4


def test_a_thread_that_looks_now_and_then_takes_one_answer_of_a_connection_at_a_time() -> None:
    """M2's handler is at work when the answers come: its heartbeat thread reads the SyncGroup's
    at one look, and a beat's at each that follows.
    """
    told = slow_leader((12.2, "hang", "M2", 6 * SECOND))
    synced = told.after(11, ev.ResponseReceived, consumer="M2", api="SyncGroup")
    answered = [
        at
        for at in told.times(ev.ResponseReceived, consumer="M2", api="Heartbeat")
        if 11.5 < at < 17
    ]
    looks = [synced, *answered[:4]]
    assert len(looks) == 5
    assert all(0.09 < later - before < 0.11 for before, later in pairwise(looks))


def test_an_answer_that_came_while_nobody_looked_is_read_before_its_time_is_found_to_be_over() -> (
    None
):
    """M2's handler outlasts max.poll.interval.ms: its heartbeat thread sends LeaveGroup and
    looks no more. The answer lies there for 65 s.
    """
    members = tuple(member(name, max_poll_interval_us=20 * SECOND) for name in ("M1", "M2"))
    told = play_group(
        members, settled(*members), 120.0, deeds=((10.0, "hang", "M2", 85 * SECOND),), wire=True
    )
    left = told.after(10, ev.LeaveSent, consumer="M2")
    returned = told.after(10, ev.HandlerReturned, consumer="M2")
    assert returned - left > 60  # twice request.timeout.ms
    assert told.times(ev.CoordinatorLost, consumer="M2") == []
    assert told.after(left, ev.ResponseReceived, consumer="M2", api="LeaveGroup") == returned
    assert (
        told.after(left, ev.RequestSent, consumer="M2", api="JoinGroup") == returned
    )  # at once: the coordinator is known


def test_without_an_answer_the_coordinator_is_given_up_when_somebody_looks_again() -> None:
    story = story_of(
        b"""
topics: {t: {partitions: 6, rate: 200/s}}
group: {members: 3, handler: 1ms, config: {max.poll.interval.ms: 60s}}
script:
  - {at: 62s, hang: {member: c1, for: 100s}}
  - {at: 2m, cut: {member: c1, for: 60s}}
replay: [eager]
horizon: 4m
""",
        "story.yaml",
    )
    told = [
        e
        for e in run_once(story.scenario("eager")).trace.events
        if getattr(e, "consumer", "") == "c1"
    ]
    left = next(e.at_us for e in told if type(e) is ev.LeaveSent)
    returned = next(e.at_us for e in told if type(e) is ev.HandlerReturned)
    lost = [e.at_us for e in told if type(e) is ev.CoordinatorLost]
    assert (
        lost[0] == returned > left + 30 * SECOND
    )  # not when the time was over, but when poll() was called again
