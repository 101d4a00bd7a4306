"""Requests behind others on one connection, and requests that are never answered: neither holds
a client up for ever.
"""

from __future__ import annotations

from typing import Any

from rebalsim.domain.instants import SECOND
from rebalsim.scenario.load import story_of
from rebalsim.simulation.network import Call
from rebalsim.simulation.world import World, play
from rebalsim.trace import events as ev

BUSY = """
topics: {orders: {partitions: 1, rate: 300/s}}
cluster: {log_append: 30ms}
group:
  members: 2
  config: {heartbeat.interval.ms: 1s, session.timeout.ms: 20s, max.poll.records: 100, partition.assignment.strategy: cooperative-sticky}
  handler: {per_record: 8ms, commit: async}
script:
  - {at: 20s, cut: {members: all, for: 5s}}
  - {at: 23s, enforce_rebalance: all}
replay: as-written
horizon: 60s
"""


def test_what_was_held_up_is_answered_in_order_beats_among_commits() -> None:
    """A broker takes up what came over a connection one after the other (SocketServer mutes the
    channel), whatever it is.
    """
    trace = play(
        story_of(BUSY.encode(), "x").scenario(), wire=True
    )  # a client that waits for JoinGroup sends nothing more
    owner = next(
        e.consumer for e in trace.events if type(e) is ev.AssignmentReceived and e.partitions
    )
    held = [
        e
        for e in trace.events
        if type(e) is ev.RequestSent and e.consumer == owner and 21 * SECOND < e.at_us < 25 * SECOND
    ]
    assert {"Heartbeat", "OffsetCommit", "JoinGroup"} == {e.api for e in held}
    numbers = dict.fromkeys(e.number for e in held)
    answered = [
        e.number for e in trace.events if type(e) is ev.ResponseReceived and e.number in numbers
    ]
    assert sorted(answered) == sorted(numbers)
    told = dict.fromkeys(e.number for e in held if e.api != "Heartbeat")
    assert [n for n in answered if n in told] == list(told)
    assert not any(type(e) is ev.CoordinatorLost for e in trace.events)


LOST = """
topics: {orders: 2}
group:
  members: 2
  config: {heartbeat.interval.ms: 1s, session.timeout.ms: 10s, max.poll.interval.ms: 10s, partition.assignment.strategy: cooperative-sticky}
script:
  - {at: 20s, enforce_rebalance: c1}
  - {at: 25s, freeze: {members: c1, for: 60s}}
replay: as-written
horizon: 150s
"""


def test_a_request_whose_time_ran_out_while_its_sender_was_frozen_is_given_up_at_the_thaw() -> None:
    scenario = story_of(LOST.encode(), "x").scenario()
    world = World(scenario, 1, is_wire=False, drive=None)
    host: Any = world.hosts["group"]
    answer = host._send

    def loses_one(call: Call, now: int) -> None:
        if (
            call.api == "JoinGroup"
            and call.consumer.name == "c1"
            and 20 * SECOND < now < 25 * SECOND
        ):
            host._take_next(call, now)
        else:
            answer(call, now)

    host._send = loses_one
    events = world.play().events
    lost = [
        e
        for e in events
        if type(e) is ev.CoordinatorLost and e.consumer == "c1" and e.why == "request timed out"
    ]
    assert [round(e.at_us / SECOND) for e in lost] == [85]
    joined = [e.at_us for e in events if type(e) is ev.GenerationJoined and e.consumer == "c1"]
    assert 85 * SECOND < joined[-1] < 90 * SECOND
