"""Names of things. A partition is always a topic and a number; a member is the group's record of
a consumer, a consumer is the process.
"""

from __future__ import annotations

from typing import NamedTuple


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
