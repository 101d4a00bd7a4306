"""What an asynchronous consumer reads. As for any other, and: partitions on their way out or in are
held back one by one, not all at once.

An answer wakes the application whatever it brings; records that are not wanted any more are
thrown away only when it looks at them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rebalsim.domain.ids import Partition
from rebalsim.simulation.feed import FETCHING, Feed, Fetch, Share
from rebalsim.simulation.follower_fetching import end_leases, go_elsewhere
from rebalsim.simulation.shares import Fetched

if TYPE_CHECKING:
    from rebalsim.simulation.asynchronous.inside import AsyncInside


class HeldShare(Share):
    """One owned partition, which may be on its way out (being revoked) or in (its callback has
    not returned).
    """

    __slots__ = ("has_landed", "is_coming", "is_going")

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.is_going = False
        self.is_coming = True
        self.has_landed = False  # has a Fetch brought any of its records?

    @property
    def is_fetchable(self) -> bool:
        return not self.is_going and not self.is_coming and self.state == FETCHING


class AsyncFeed(Feed):
    """The data plane of an asynchronous consumer."""

    __slots__ = ("_asked",)
    consumer: AsyncInside
    shares: dict[Partition, Any]

    def __init__(self, consumer: AsyncInside) -> None:
        super().__init__(consumer)
        self.ready_us = consumer.machine.async_fetch_us
        self._asked: dict[
            int, int
        ] = {}  # of how many partitions the Fetch in flight to each broker asks

    def assign(self, partitions: tuple[Partition, ...]) -> None:
        """The new assignment; what is new is not read before the callback has returned."""
        shares, world = self.shares, self.consumer.world
        self.is_behind = True
        fresh: dict[Partition, Any] = {}
        for partition in partitions:
            share = shares.get(partition)
            if share is None:
                share = HeldShare(partition, world.flow(partition), world.leader_of(partition))
            fresh[partition] = share
        world.progress.give_up(
            self.consumer, [share for partition, share in shares.items() if partition not in fresh]
        )
        self.shares = fresh

    def mark_revoking(self, partitions: tuple[Partition, ...]) -> None:
        """Nothing more is fetched or handed over of these."""
        for partition in partitions:
            self.shares[partition].is_going = True

    def enable(self, partitions: tuple[Partition, ...]) -> None:
        """Their callback has returned."""
        for partition in partitions:
            share = self.shares.get(partition)
            if share is not None:
                share.is_coming = False

    @property
    def has_all_positions(self) -> bool:
        """Is every position known and valid?"""
        return all(share.state == FETCHING for share in self.shares.values())

    @property
    def is_empty(self) -> bool:
        """Has every answer been begun? One that is handed over in parts does not count
        (FetchBuffer#isEmpty).
        """
        return not self.buffer or (len(self.buffer) == 1 and self.buffer[0].is_begun)

    def _is_wanted(self, share: Any) -> bool:
        held: Any = self.shares.get(share.partition)
        return held is share and bool(held.is_fetchable)

    def send(self) -> int:
        """As every consumer's, of what may be fetched."""
        if self.config.client_rack:
            end_leases(self)
        wanted: dict[int, list[Share]] = {}
        mine: list[Any] = list(self.shares.values())
        for share in mine:
            if share.is_fetchable and share.broker not in self.flying and share.broker >= 0:
                share.fetched = share.offset
                wanted.setdefault(share.broker, []).append(share)
        drains_first = self.consumer.habits.drains_first
        for entry in self.buffer:
            held = entry.share
            if not self._is_wanted(held):
                # will be thrown away, and is in nobody's way (AbstractFetch#bufferedNodes)
                continue
            if drains_first:
                wanted.pop(held.broker, None)
            elif held in wanted.get(held.broker, ()):
                wanted[held.broker].remove(held)
        sent = 0
        for broker, shares in wanted.items():
            if shares:
                self._asked[broker] = len(shares)
                self._fetch(broker, shares)
                sent += 1
        return sent

    def _longer_us(self, fetch: Fetch) -> int:
        """What lies ready takes its time to be read and sent, a partition's first all the more."""
        got: list[tuple[Any, int, int]] = fetch.got
        if not all(share.has_landed for share, _, _ in got):
            return self.consumer.machine.async_first_fetch_us
        is_ready = any(share.flow.when(first) < fetch.leaves_us for share, first, _ in got)
        return self.ready_us if is_ready else 0

    def landed(self, fetch: Fetch) -> None:
        """A Fetch came back. Whatever it brought is buffered, and the application woken."""
        if self.flying.get(fetch.broker) is fetch:
            del self.flying[fetch.broker]
        go_elsewhere(self, fetch)
        got: list[tuple[Any, int, int]] = fetch.got
        for share, first, count in got:
            self.buffer.append(Fetched(share, first, count))
            share.has_landed = True
            partition = share.partition
            if self.shares.get(partition) is share:
                del self.shares[partition]
                self.shares[partition] = share
        self.consumer.woken = True

    def collect(self) -> int:
        """As every consumer's; what is not wanted any more is thrown away on the way."""
        for entry in list(self.buffer):
            if not self._is_wanted(entry.share) or entry.share.offset != entry.first:
                self.buffer.remove(entry)
        return super().collect()

    def look_whether_caught_up(self) -> None:
        """Only when nothing is on its way out or in, and whatever is in flight asks for
        everything.
        """
        asked = dict(self._asked)
        for share in self.shares.values():
            if share.is_going or share.is_coming:
                return
            asked[share.broker] = asked.get(share.broker, 0) - 1
        if not any(asked[broker] for broker in self.flying):
            super().look_whether_caught_up()
