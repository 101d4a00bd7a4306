"""A target while one of the broker's assignors changes it; what assignors are given and answer
is in `domain.server_target`.
"""

from __future__ import annotations

from collections.abc import Iterable

from rebalsim.domain.java_hash import JavaHashMap, capacity_for, copied_set_capacity, uuid_hash
from rebalsim.domain.server_target import (
    ServerMember,
    Target,
    Targets,
    as_recorded,
    is_same,
    set_order,
)

__all__ = ["ChangingTarget", "ServerMember", "Target", "Targets", "as_recorded", "is_same"]


class ChangingTarget:
    """A target while an assignor changes it: the deep copy that Kafka makes of the old one
    before the first change.
    """

    __slots__ = ("_capacity", "_topics")

    def __init__(self, old: Target) -> None:
        self._topics: JavaHashMap[str, dict[int, None]] = JavaHashMap(
            uuid_hash, capacity_for(len(old))
        )
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
        """Put a partition in; a topic that is not there yet comes to the head of its bucket,
        with a set of this capacity.
        """
        held = self._topics.get(topic)
        if held is None:
            held = {}
            self._topics.compute(topic, held)
            self._capacity[topic] = capacity_for(capacity)
        held[number] = None
        if len(held) > self._capacity[topic] * 3 // 4:
            self._capacity[topic] *= 2

    def result(self) -> Target:
        return {
            topic: tuple(set_order(tuple(numbers), self._capacity[topic]))
            for topic, numbers in self._topics.items()
        }
