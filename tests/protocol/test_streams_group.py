"""The coordinator of a streams group, step by step: what its members are told, and when."""

from __future__ import annotations

from typing import Any

from rebalsim.assignors.streams import server_sticky
from rebalsim.domain.task_ids import task_named
from rebalsim.protocol import streams_group as rules
from rebalsim.protocol.consumer.topics import Topic, TopicsImage
from rebalsim.protocol.effects import Reply
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.streams.group import GroupState, StreamsGroup, StreamsGroupSettings
from rebalsim.protocol.streams.topology import (
    INCORRECTLY_PARTITIONED,
    MISSING_INTERNAL_TOPICS,
    MISSING_SOURCE_TOPICS,
    SentSubtopology,
    StreamsTopology,
    configure,
)
from rebalsim.protocol.streams_messages import (
    ASSIGNMENT_DELAYED,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)

MS = 1_000
TOPOLOGY = StreamsTopology(0, (SentSubtopology(0, ("t",), changelogs=("app-s-changelog",)),))


def group_of(**settings: Any) -> StreamsGroup:
    topics = {"t": Topic("t", 4), "app-s-changelog": Topic("c", 4)}
    return StreamsGroup(
        "g", StreamsGroupSettings(server_sticky.assign, **settings), TopicsImage(topics)
    )


def beat(group: StreamsGroup, at_ms: int, member: str, **facts: Any) -> Any:
    for role in ("active", "standby", "warmup"):
        if isinstance(facts.get(role), str):
            facts[role] = frozenset(map(task_named, facts[role].split()))
    request = StreamsGroupHeartbeatRequest(member, **facts)
    effects = rules.heartbeat(group, 1, request, at_ms * MS)
    return next(effect.response for effect in effects if isinstance(effect, Reply))


def join(group: StreamsGroup, at_ms: int, member: str) -> StreamsGroupHeartbeatResponse:
    answer: StreamsGroupHeartbeatResponse = beat(
        group,
        at_ms,
        member,
        epoch=0,
        rebalance_timeout_us=300_000 * MS,
        topology=TOPOLOGY,
        active="",
        standby="",
        warmup="",
        process=f"p-{member}",
    )
    return answer


def test_a_first_member_gets_nothing_before_the_delay_is_over() -> None:
    group = group_of()
    assert join(group, 0, "a").statuses == (ASSIGNMENT_DELAYED,)
    assert beat(group, 1000, "a", epoch=1).statuses == (ASSIGNMENT_DELAYED,)
    rules.timer_fired(group, rules.DELAY, 3000 * MS)
    assert group.assignment_epoch == group.epoch
    told = beat(group, 6000, "a", epoch=1)
    assert len(told.tasks.active) == 4 and told.statuses == ()


def test_a_second_member_waits_until_the_first_has_given_up() -> None:
    group = group_of(initial_delay_us=0)
    assert len(join(group, 0, "a").tasks.active) == 4
    beat(group, 10, "a", epoch=2, active="0_0 0_1 0_2 0_3", standby="", warmup="")
    assert join(group, 5000, "b").tasks.active == frozenset()
    told = beat(group, 6000, "a", epoch=2)
    assert told.epoch == 2 and len(told.tasks.active) == 2
    assert beat(group, 6050, "b", epoch=3).tasks is None  # not acknowledged yet
    done = beat(group, 6100, "a", epoch=2, active="0_0 0_1", standby="", warmup="")
    assert done.epoch == 3
    assert len(beat(group, 10_000, "b", epoch=3).tasks.active) == 2
    assert group.state is GroupState.STABLE


def test_a_join_within_the_interval_is_put_off_and_everybody_is_told() -> None:
    group = group_of(initial_delay_us=0)
    join(group, 0, "a")
    assert ASSIGNMENT_DELAYED in join(group, 500, "b").statuses
    assert ASSIGNMENT_DELAYED in beat(group, 900, "a", epoch=2).statuses
    assert ASSIGNMENT_DELAYED not in beat(group, 1000, "a", epoch=2).statuses


def test_a_leavers_tasks_wait_for_the_next_heartbeat_of_anybody() -> None:
    group = group_of(initial_delay_us=0)
    join(group, 0, "a")
    join(group, 2000, "b")
    beat(group, 4000, "b", epoch=-1)
    assert group.epoch > group.assignment_epoch
    told = beat(group, 7000, "a", epoch=2)
    assert group.epoch == group.assignment_epoch and told.error is Error.NONE


def test_a_group_takes_no_other_topology_and_no_static_member() -> None:
    group = group_of(initial_delay_us=0)
    join(group, 0, "a")
    other = StreamsTopology(0, (SentSubtopology(0, ("t",)),))
    sent = {"active": "", "standby": "", "warmup": "", "process": "p"}
    timeout = {"epoch": 0, "rebalance_timeout_us": MS}
    told = beat(group, 10, "b", topology=other, **timeout, **sent)
    assert told.error is Error.INVALID_REQUEST
    assert beat(group, 20, "a", epoch=2, instance_id="i").error is Error.INVALID_REQUEST


def test_internal_topics_are_counted_from_the_sources() -> None:
    parts = (
        SentSubtopology(0, ("a", "b"), repartition_sinks=("r",)),
        SentSubtopology(1, repartition_sources=("r",), changelogs=("c",)),
    )
    topology = StreamsTopology(0, parts)
    assert configure(topology, {"a": 3}).problem == MISSING_SOURCE_TOPICS
    made = configure(topology, {"a": 3, "b": 5})
    assert made.problem == MISSING_INTERNAL_TOPICS and made.to_create == {"r": 5, "c": 5}
    assert configure(topology, {"a": 3, "b": 5, "r": 5, "c": 5}).tasks == {0: 5, 1: 5}
    grown = configure(topology, {"a": 3, "b": 6, "r": 5, "c": 5})
    assert grown.problem == INCORRECTLY_PARTITIONED


def test_joined_topics_must_have_as_many_partitions() -> None:
    together = (frozenset({"a", "b"}),)
    topology = StreamsTopology(0, (SentSubtopology(0, ("a", "b"), copartitioned=together),))
    assert configure(topology, {"a": 3, "b": 4}).problem == INCORRECTLY_PARTITIONED
    assert configure(topology, {"a": 4, "b": 4}).is_ready
