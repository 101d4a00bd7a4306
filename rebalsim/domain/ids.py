"""Names of things. A partition is always a topic and a number; a member is the group's record of
a consumer, a consumer is the process.
"""

from __future__ import annotations

from typing import NamedTuple

MOST_PARTITIONS = 200_000  # of all topics together: what a whole cluster can hold


class Partition(NamedTuple):
    """One partition of a topic; sorts by topic, then number."""

    topic: str
    number: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.number}"


def sane_counts(counts: dict[str, int]) -> dict[str, int]:
    """Partitions by topic, as somebody told them; ValueError where no cluster has so many."""
    if any(n < 0 for n in counts.values()) or sum(counts.values()) > MOST_PARTITIONS:
        raise ValueError(f"{sum(counts.values()):,} partitions are out of bounds")
    return counts


def partition_named(text: str) -> Partition:
    """The partition written as `topic-number` (topics may contain dashes themselves)."""
    topic, _, number = text.rpartition("-")
    if not number.isascii() or not number.isdigit() or len(number) > len(str(MOST_PARTITIONS)):
        raise ValueError(f"{text[-40:]!r} is no partition")
    return Partition(topic, int(number))
