"""kafka-python's assignors as a second opinion: the same answers where it follows Kafka exactly,
the same loads where only nearly.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from random_groups import Group, groups

from rebalsim.assignors.claim import Assignment
from rebalsim.assignors.registry import client_assignor
from rebalsim.domain.ids import Partition

kafka = pytest.importorskip("kafka", reason="kafka-python is not installed")

from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor  # noqa: E402
from kafka.coordinator.assignors.range import RangePartitionAssignor  # noqa: E402
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor  # noqa: E402
from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription  # noqa: E402

quick = settings(max_examples=80, deadline=None)


class Metadata:
    """What kafka-python's assignors ask of a cluster."""

    def __init__(self, topics: dict[str, int]) -> None:
        self._topics = topics

    def topics(self) -> set[str]:
        return set(self._topics)

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        return set(range(self._topics[topic])) if topic in self._topics else None


class Member:
    """A member as the leader reads it from the JoinGroup answer."""

    def __init__(
        self, member_id: str, topics: tuple[str, ...], owned: tuple[Partition, ...]
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = None
        held: dict[str, list[int]] = {}
        for p in owned:
            held.setdefault(p.topic, []).append(p.number)
        parts = [
            ConsumerProtocolSubscription.TopicPartition(topic=topic, partitions=sorted(numbers))
            for topic, numbers in held.items()
        ]
        self.metadata: Any = ConsumerProtocolSubscription(
            version=2,
            topics=sorted(topics),
            user_data=b"",
            owned_partitions=parts,
            generation_id=7 if owned else -1,
        )


def theirs(assignor: Any, group: Group, claims: bool = False) -> Assignment:
    members = [Member(m.member_id, m.topics, m.owned if claims else ()) for m in group.members]
    answer = assignor.assign(Metadata(group.topics), members)
    found: Assignment = {}
    for member, assigned in answer.items():
        found[member] = [Partition(entry[0], n) for entry in _entries(assigned) for n in entry[1]]
    return found


def _entries(assigned: Any) -> list[tuple[str, list[int]]]:
    return [
        (e[0], list(e[1])) if isinstance(e, tuple) else (e.topic, list(e.partitions))
        for e in assigned.assigned_partitions
    ]


def ours(name: str, group: Group) -> Assignment:
    from dataclasses import replace

    return client_assignor(name).assign(
        group.topics, [replace(m, instance_id=None) for m in group.members]
    )


def sets(answer: Assignment) -> dict[str, list[Partition]]:
    return {member: sorted(held) for member, held in answer.items()}


@quick
@given(group=groups(racks=False))
def test_range_agrees_with_kafka_python(group: Group) -> None:
    assert sets(ours("range", group)) == sets(theirs(RangePartitionAssignor, group))


@quick
@given(group=groups(equal=True, racks=False))
def test_round_robin_agrees_with_kafka_python(group: Group) -> None:
    assert sets(ours("roundrobin", group)) == sets(theirs(RoundRobinPartitionAssignor, group))


@quick
@given(group=groups(equal=True, racks=False))
def test_cooperative_sticky_ends_with_the_same_loads_as_kafka_python(group: Group) -> None:
    """kafka-python knows one algorithm for all subscriptions, so who has the extra partition may
    differ, and what is withheld too.
    """
    from dataclasses import replace

    ends = []
    for answer_of in (
        lambda g: ours("cooperative-sticky", g),
        lambda g: theirs(CooperativeStickyAssignor(), g, claims=True),
    ):
        now = group
        for _ in range(3):
            answer = answer_of(now)
            now = replace(
                now,
                members=[
                    replace(m, owned=tuple(answer[m.member_id]), owned_generation=7)
                    for m in now.members
                ],
            )
        ends.append(sorted(len(held) for held in answer.values()))
    assert ends[0] == ends[1]
