"""How far each group has been handed each partition's records, by whomever: against which a position is early, or late."""

from __future__ import annotations

from typing import Any

from rebalsim.domain.ids import Partition


class Progress:
    """Per group and partition: the furthest that former readers got, and who reads now."""

    __slots__ = ("_furthest", "_readers")

    def __init__(self) -> None:
        self._furthest: dict[tuple[str, Partition], int] = {}
        self._readers: dict[tuple[str, Partition], tuple[Any, Any]] = {}

    def known(self) -> list[tuple[str, Partition]]:
        """Whom and what it is about, in the order in which it began."""
        return list(self._readers)

    def of(self, group: str, partition: Partition, at_us: int | None = None) -> int:
        """One past the last record that anybody was handed; −1 before anybody had a position."""
        key = (group, partition)
        furthest = self._furthest.get(key, -1)
        reader = self._readers.get(key)
        if reader is not None:
            feed, share = reader
            furthest = max(furthest, feed.offset_of(share, at_us))
        return furthest

    def begin(self, group: str, partition: Partition, feed: Any, share: Any) -> None:
        """Somebody found a position and reads on from there."""
        key = (group, partition)
        self._furthest[key] = self.of(group, partition)
        self._readers[key] = (feed, share)
