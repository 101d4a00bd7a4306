"""KIP-392: a client with a rack is sent by the leader to the replica nearby, and has to ask the
leader first.
"""

from __future__ import annotations

from itertools import pairwise

import pytest

from rebalsim.analysis import analyse
from rebalsim.analysis.analysis import Analysis
from rebalsim.scenario.load import story_of
from rebalsim.simulation.world import play
from rebalsim.trace import events as ev

SECOND, MS = 1_000_000, 1_000
NEAR, FAR = 1 * MS, 20 * MS  # one way
STORY = """
cluster: {brokers: 2, racks: [a, b], latency: 1ms, cross_rack: 20ms%s}
topics: {t: {partitions: 2, rate: %s, replicas: 2, backlog: 1000}}
group:
  members: [{name: c, rack: %s}]
  config: {client.rack: "{rack}", auto.offset.reset: earliest, metadata.max.age.ms: 60s%s}
  handler: %s
replay: as-written
horizon: 10m
%s
"""
SELECTOR = ", config: {replica.selector.class: RackAwareReplicaSelector}"


def told(
    rack: str,
    selector: str = SELECTOR,
    *,
    handler: str = "0ms",
    script: str = "",
    rate: str = "100/s",
    protocol: str = "",
) -> Analysis:
    text = STORY % (selector, rate, rack, protocol, handler, script)
    analysis = analyse(play(story_of(text.encode(), "story").check().scenario()))
    assert analysis.violations == []
    return analysis


def waited(analysis: Analysis, partition: int) -> int:
    """From the known position to the first records."""
    events = analysis.trace.events
    found = next(
        e.at_us for e in events if type(e) is ev.PositionFound and e.partition.number == partition
    )
    first = next(
        e.at_us
        for e in events
        if type(e) is ev.RecordsDelivered and any(p.number == partition for p in e.batch)
    )
    return first - found


def crossed(analysis: Analysis, since: float, until: float) -> set[bool]:
    """Did partition 1's bytes cross racks, as they are told in this time?"""
    return {
        e.crosses
        for e in analysis.trace.events
        if type(e) is ev.BytesFetched
        and e.partition.number == 1
        and since * SECOND < e.at_us <= until * SECOND
    }


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["", ", group.protocol: consumer"])
def test_the_first_fetch_goes_to_the_leader_and_brings_nothing(protocol: str) -> None:
    """Partition 1's leader is in the other rack. Asked first, it answers at once; the records
    come from nearby, a round trip later.
    """
    plain, sent = told("a", "", protocol=protocol), told("a", protocol=protocol)
    assert waited(plain, 1) >= 2 * FAR
    assert waited(sent, 1) >= waited(plain, 1) + 2 * NEAR
    assert crossed(plain, 0, 600) == {True}
    assert crossed(sent, 0, 600) == {False}


def test_who_is_near_the_leader_is_not_sent_elsewhere() -> None:
    assert waited(told("a"), 0) < 2 * FAR


def test_a_replica_that_goes_down_is_left_for_the_leader_and_found_again() -> None:
    """Broker 0 is near, and follows partition 1."""
    analysis = told("a", script="script:\n  - {at: 2m, broker_restart: {broker: 0, down: 60s}}")
    assert crossed(analysis, 119, 121) == {False}  # until then from nearby
    assert crossed(analysis, 121, 180.1) == {True}  # all there is while it is down
    assert crossed(analysis, 180.1, 600) == {
        False
    }  # the leader's rejoin because racks are as before again takes part of it


def test_the_leader_is_asked_again_when_the_metadata_would_be_too_old() -> None:
    """A member that never keeps up: its Fetches are all told, and every minute one goes to the
    leader.
    """
    analysis = told("a", handler="{per_record: 20ms}")
    asked = [
        e.at_us
        for e in analysis.trace.events
        if type(e) is ev.BytesFetched and e.partition.number == 1
    ]
    apart = [after - before for before, after in pairwise(asked[1:])]
    assert len(asked) >= 6 and all(60 * SECOND <= us <= 72 * SECOND for us in apart[:-1])
