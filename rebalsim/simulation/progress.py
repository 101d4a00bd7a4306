"""How far each group has been handed each partition's records, by whomever: against which a
position is early, or late.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rebalsim.domain.ids import Partition
from rebalsim.trace.events import HandledBeside

if TYPE_CHECKING:
    from rebalsim.simulation.feed import Feed
    from rebalsim.simulation.ports import Client
    from rebalsim.simulation.shares import Share


class Progress:
    """Per group and partition: the furthest that former readers got, who reads now, and who goes
    on though another reads by now.
    """

    __slots__ = ("_furthest", "_outdated", "_readers")

    def __init__(self) -> None:
        self._furthest: dict[tuple[str, Partition], int] = {}
        self._readers: dict[tuple[str, Partition], tuple[Any, Any]] = {}
        self._outdated: dict[
            Any, tuple[Any, int]
        ] = {}  # a former reader's share → its feed, and how far it had got when another began

    def known(self) -> list[tuple[str, Partition]]:
        """Whom and what it is about, in the order in which it began."""
        return list(self._readers)

    def of(self, group: str, partition: Partition) -> int:
        """One past the last record that anybody was handed; −1 before anybody had a position."""
        key = (group, partition)
        furthest = self._furthest.get(key, -1)
        reader = self._readers.get(key)
        if reader is not None:
            feed, share = reader
            furthest = max(furthest, feed.offset_of(share))
        return furthest

    def readers(self, group: str, partitions: Iterable[Partition]) -> list[Any]:
        """The group's consumers that read any of these, or think they do, in their order."""
        feeds = [
            reader[0]
            for partition in partitions
            if (reader := self._readers.get((group, partition))) is not None
        ]
        if self._outdated:
            wanted = frozenset(partitions)
            feeds += [
                feed
                for share, (feed, _) in self._outdated.items()
                if share.partition in wanted and feed.consumer.group == group
            ]
        found = {
            feed.consumer.index: feed.consumer
            for feed in feeds
            if feed.consumer.is_alive and feed.consumer.feed is feed
        }
        return [found[index] for index in sorted(found)]

    def begin(self, group: str, partition: Partition, feed: Feed, share: Any) -> None:
        """Somebody found a position of the partition, and reads on from there."""
        key = (group, partition)
        self._furthest[key] = self.of(group, partition)
        before = self._readers.get(key)
        if before is not None and before[0] is not feed and _still_reads(*before):
            self._outdated[before[1]] = before[0], before[0].offset_of(before[1])
        self._readers[key] = (feed, share)

    def give_up(self, consumer: Client, shares: Iterable[Share], at_us: int | None = None) -> None:
        """These are read no more by this consumer. Told if somebody else had begun to read them
        before.
        """
        if not self._outdated:
            return
        world = consumer.world
        now = world.engine.now if at_us is None else at_us
        for share in shares:
            was = self._outdated.pop(share, None)
            if was is None:
                continue
            since = was[1]
            offset = consumer.feed.offset_of(share)
            if offset > since:
                key = (consumer.group, share.partition)
                self._furthest[key] = max(self._furthest[key], offset)
                world.tell(HandledBeside(now, consumer.name, share.partition, offset - since))


def _still_reads(feed: Feed, share: Any) -> bool:
    """Does this former reader not know yet that it is one?"""
    consumer = feed.consumer
    return bool(
        consumer.is_alive
        and consumer.feed is feed
        and feed.shares.get(share.partition) is share
        and not feed.is_suspended
    )
