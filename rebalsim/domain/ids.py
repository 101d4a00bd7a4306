"""Names of things. A partition is always a topic and a number; a member is the group's record of a consumer, a consumer is the process."""

from __future__ import annotations

from typing import NamedTuple, NewType

ConsumerName = NewType("ConsumerName", str)   # the process: "c0", "orders-2"; survives restarts (its `life` counts them)
MemberId = NewType("MemberId", str)           # the coordinator's name for one membership: "c0-5f3c…"
StaticId = NewType("StaticId", str)           # group.instance.id
GroupName = NewType("GroupName", str)


class Partition(NamedTuple):
    """One partition of a topic; sorts by topic, then number."""

    topic: str
    number: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.number}"


def partition_named(text: str) -> Partition:
    """The partition written as `topic-number` (topics may contain dashes themselves)."""
    topic, _, number = text.rpartition("-")
    return Partition(topic, int(number))
