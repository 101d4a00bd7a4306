"""What the brokers' log refuses or takes too long for: a group's record over message.max.bytes,
a write over offsets.commit.timeout.ms.
"""

from __future__ import annotations

from typing import Any

import pytest

from rebalsim.proof.seeds import difference
from rebalsim.scenario.load import story_of
from rebalsim.simulation.world import play
from rebalsim.trace import events as ev
from rebalsim.trace.trace import Trace

STORY = """
kafka: "%(kafka)s"
cluster: {log_append: %(log)s, config: {%(config)s}}
topics: {orders: {partitions: %(partitions)s, rate: 60/s}}
group:
  members: %(members)s
  config: {partition.assignment.strategy: [%(assignor)s], %(client)s}
  handler: {per_record: 1ms, commit: %(commit)s}
replay: as-written
horizon: 2m
"""


def scenario_of(**said: Any) -> Any:
    usual = {
        "kafka": "4.3",
        "log": "1ms",
        "config": "",
        "partitions": 4,
        "members": 2,
        "assignor": "range",
        "client": "",
        "commit": "auto",
    }
    return story_of((STORY % {**usual, **said}).encode(), "story.yaml").scenario()


def played(**said: Any) -> Trace:
    return play(scenario_of(**said))


def refused(trace: Trace) -> set[str]:
    return {
        e.error
        for e in trace.events
        if type(e) is ev.ResponseReceived and e.api == "SyncGroup" and e.error
    }


def is_stable(trace: Trace) -> bool:
    states = [e.after for e in trace.events if type(e) is ev.GroupStateChanged]
    return bool(states and states[-1] == "Stable")


@pytest.mark.parametrize("kafka", ["3.9", "4.3"])
def test_a_group_whose_record_is_larger_than_the_brokers_take_fails_every_sync(kafka: str) -> None:
    trace = played(kafka=kafka, config="message.max.bytes: 10")
    assert "UNKNOWN_SERVER_ERROR" in refused(trace) and not is_stable(trace)
    died = [(e.how, e.error) for e in trace.events if type(e) is ev.ConsumerExited]
    assert died and set(died) == {("fatal", "UnknownServerException")}
    assert not any(type(e) is ev.AssignmentStored for e in trace.events)


def test_it_is_the_members_and_their_partitions_that_make_a_record_large() -> None:
    """Each member has some 120 bytes with its ids and its subscription, and 4 for each of its
    partitions.
    """
    assert is_stable(played(config="message.max.bytes: 600"))
    for larger in ({"members": 5}, {"partitions": 200}):
        assert "UNKNOWN_SERVER_ERROR" in refused(played(config="message.max.bytes: 600", **larger))
        assert is_stable(played(config="message.max.bytes: 1300", **larger))


def test_a_cooperative_group_fits_when_it_forms_and_not_when_it_says_what_it_owns() -> None:
    at_first = played(
        config="message.max.bytes: 1500", partitions=200, assignor="cooperative-sticky", members=1
    )
    assert is_stable(at_first)
    story = STORY + "script:\n  - {at: 1m, enforce_rebalance: c0}\n"
    said = {
        "kafka": "4.3",
        "log": "1ms",
        "config": "message.max.bytes: 1500",
        "partitions": 200,
        "members": 1,
        "assignor": "cooperative-sticky",
        "client": "",
        "commit": "auto",
    }
    assert refused(play(story_of((story % said).encode(), "story.yaml").scenario())) == {
        "UNKNOWN_SERVER_ERROR"
    }


@pytest.mark.parametrize("kafka", ["3.9", "4.3"])
def test_a_log_that_takes_longer_than_the_brokers_wait_never_lets_a_group_become_stable(
    kafka: str,
) -> None:
    trace = played(kafka=kafka, log="6s")
    assert refused(trace) == {"COORDINATOR_NOT_AVAILABLE"} and not is_stable(trace)
    syncs = [e for e in trace.events if type(e) is ev.ResponseReceived and e.api == "SyncGroup"]
    assert syncs and all(4_990_000 <= e.at_us - e.sent_at_us <= 5_010_000 for e in syncs)
    assert any(
        type(e) is ev.GroupStateChanged and e.trigger == "write-failed" for e in trace.events
    )


def test_a_log_that_is_slow_but_in_time_only_delays_the_group() -> None:
    assert is_stable(played(log="4s")) and is_stable(
        played(log="6s", config="offsets.commit.timeout.ms: 10s")
    )


def test_a_commit_that_the_log_does_not_take_in_time_is_tried_again_elsewhere() -> None:
    trace = played(log='"1ms, 10% up to 8s"', commit="sync-batch")
    lost = [
        e
        for e in trace.events
        if type(e) is ev.CoordinatorLost and "COORDINATOR_NOT_AVAILABLE" in e.why
    ]
    assert lost and is_stable(trace)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_log_that_is_late_now_and_then_tells_the_same_asleep_and_tick_by_tick(
    protocol: str,
) -> None:
    text = STORY.replace("partition.assignment.strategy: [%(assignor)s], ", "")
    said = {
        "kafka": "4.3",
        "log": '"1ms, 20% up to 9s"',
        "config": "",
        "partitions": 4,
        "members": 3,
        "client": f"group.protocol: {protocol}",
        "commit": "auto",
    }
    scenario = story_of((text % said).encode(), "story.yaml").scenario()
    assert difference(play(scenario), play(scenario, plain=True)) == ""
