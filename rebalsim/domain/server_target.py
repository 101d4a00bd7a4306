"""A target assignment as the broker holds it under the consumer protocol, and a member as the
broker's assignors are given it.

Here because two rooms share it that must not know each other: the protocol keeps targets, the
assignors compute them. The order within a target is part of the state: members, topics and
partitions are walked in hash order, starting from the previous target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rebalsim.domain.java_hash import copied_set_capacity, hash_ordered, int_hash, uuid_hash

# topic id → partitions, both in the order of Java's map and set
Target = Mapping[str, Sequence[int]]
Targets = dict[str, Target]  # by member id


@dataclass(frozen=True, slots=True)
class ServerMember:
    """One member of a consumer-protocol group.

    `topics` are the ids of the topics it subscribes to, in the order in which its set yields them:
    for a subscription by names
    that is the order of a `HashSet<String>` of the names (`java_hash.hash_ordered(names)`), names
    without a topic left out.
    `target` is its previous target as the broker holds it (see `as_recorded`); a static member that
    took over has its predecessor's.
    """

    member_id: str
    topics: tuple[str, ...] = ()
    instance_id: str | None = None
    target: Target = field(default_factory=dict)


def as_recorded(target: Target) -> Target:
    """A changed target as the broker holds it from then on: written to its log and read back into
    new tables (`Assignment#fromRecord`).

    A target that did not change writes no record; the broker keeps the old one, in the old order.
    """
    return {
        topic: tuple(set_order(target[topic], copied_set_capacity(len(target[topic]))))
        for topic in hash_ordered(
            [topic for topic, numbers in target.items() if numbers], uuid_hash
        )
    }


def is_same(one: Target, other: Target) -> bool:
    """Whether two targets hold the same partitions, in whatever order."""
    return one.keys() == other.keys() and all(
        set(numbers) == set(other[topic]) for topic, numbers in one.items()
    )


def set_order(numbers: Sequence[int], capacity: int) -> Sequence[int]:
    """The order of a `HashSet<Integer>`: ascending as long as every number is smaller than the
    table.
    """
    return (
        sorted(numbers)
        if not numbers or max(numbers) < capacity
        else hash_ordered(numbers, int_hash, capacity)
    )
