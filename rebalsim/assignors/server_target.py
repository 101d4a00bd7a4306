"""What the broker's assignors are given and answer under the consumer protocol, in the order in which Java holds it.

The broker computes a *target* for each member: topic id → partition numbers. Its assignors start from the previous target, walk
members, topics and partitions in hash order, and so the order within a target is part of the state. Every target here is a dict
in the order of Java's map, with the numbers in the order of Java's set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rebalsim.domain.java_hash import JavaHashMap, capacity_for, copied_set_capacity, hash_ordered, int_hash, uuid_hash

Target = Mapping[str, Sequence[int]]
Targets = dict[str, Target]


@dataclass(frozen=True, slots=True)
class ServerMember:
    """One member of a consumer-protocol group.

    `topics` are the ids of the topics it subscribes to, in the order in which its set yields them: for a subscription by names
    that is the order of a `HashSet<String>` of the names (`java_hash.hash_ordered(names)`), names without a topic left out.
    `target` is its previous target as the broker holds it (see `as_recorded`); a static member that took over has its predecessor's.
    """

    member_id: str
    topics: tuple[str, ...] = ()
    instance_id: str | None = None
    target: Target = field(default_factory=dict)


def as_recorded(target: Target) -> Target:
    """A changed target as the broker holds it from then on: written to its log and read back into new tables (`Assignment#fromRecord`).

    A target that did not change writes no record; the broker keeps the old one, in the old order.
    """
    return {
        topic: tuple(_set_order(target[topic], copied_set_capacity(len(target[topic]))))
        for topic in hash_ordered([topic for topic, numbers in target.items() if numbers], uuid_hash)
    }


def is_same(one: Target, other: Target) -> bool:
    """Whether two targets hold the same partitions, in whatever order."""
    return one.keys() == other.keys() and all(set(numbers) == set(other[topic]) for topic, numbers in one.items())


def _set_order(numbers: Sequence[int], capacity: int) -> Sequence[int]:
    """The order of a `HashSet<Integer>`: ascending as long as every number is smaller than the table."""
    return sorted(numbers) if not numbers or max(numbers) < capacity else hash_ordered(numbers, int_hash, capacity)


class ChangingTarget:
    """A target while an assignor changes it: the deep copy that Kafka makes of the old one before the first change."""

    __slots__ = ("_capacity", "_topics")

    def __init__(self, old: Target) -> None:
        self._topics: JavaHashMap[str, dict[int, None]] = JavaHashMap(uuid_hash, capacity_for(len(old)))
        self._capacity: dict[str, int] = {}
        for topic, numbers in old.items():
            self._topics.put(topic, dict.fromkeys(numbers))
            self._capacity[topic] = copied_set_capacity(len(numbers))

    def drop(self, topic: str) -> None:
        self._topics.remove(topic)

    def remove(self, topic: str, numbers: Iterable[int]) -> None:
        """Take partitions out, and the topic too if none are left."""
        held = self._topics[topic]
        for number in numbers:
            del held[number]
        if not held:
            self._topics.remove(topic)

    def add(self, topic: str, number: int, capacity: int) -> None:
        """Put a partition in; a topic that is not there yet comes to the head of its bucket, with a set of this capacity."""
        held = self._topics.get(topic)
        if held is None:
            held = {}
            self._topics.compute(topic, held)
            self._capacity[topic] = capacity_for(capacity)
        held[number] = None
        if len(held) > self._capacity[topic] * 3 // 4:
            self._capacity[topic] *= 2

    def result(self) -> Target:
        return {topic: tuple(_set_order(tuple(numbers), self._capacity[topic])) for topic, numbers in self._topics.items()}
