"""What a consumer hands over: batches of what was fetched, told where they bring news."""

from __future__ import annotations

from rebalsim.domain.ids import Partition
from rebalsim.simulation.fetching import Fetching
from rebalsim.simulation.keeping_up import keeps_up
from rebalsim.simulation.lag import mark
from rebalsim.simulation.record_costs import RecordCosts
from rebalsim.simulation.shares import FETCHING, INITIAL, RESETTING, VALIDATING, Fetch, Share
from rebalsim.trace.events import RecordsDelivered

__all__ = ["FETCHING", "INITIAL", "RESETTING", "VALIDATING", "Feed", "Fetch", "Share"]


class Feed(Fetching):
    """The consumer's data plane."""

    __slots__ = ()

    # --------------------------------------------------------------------------------- handing over

    def collect(self) -> int:
        """Up to max.poll.records of what is buffered, in its order; how many. poll() returns
        them if there are any.
        """
        if not self.buffer or self.is_suspended:
            return 0
        left = self.config.max_poll_records
        batch: list[tuple[Share, int, int]] = []
        is_news = self.consumer.world.is_wire
        poisons = self.consumer.world.poisons.by_partition
        while self.buffer and left:
            entry = self.buffer[0]
            share, first, count = entry.share, entry.first, entry.count
            taken = min(count, left)
            has_room = count < left or (count == left and len(self.buffer) == 1)
            if share.partition in poisons:
                taken = self._until_it_throws(share, first, taken)
            left -= taken
            if first == share.offset and (share.is_new or not has_room or share.is_waiting):
                mark(self.consumer, (share,))
                share.is_waiting = False
                if not has_room:
                    self._mark_waiting(share)
            batch.append((share, first, taken))
            share.offset = first + taken
            if share.is_new:
                is_news = True
                share.is_new = False
            if share.partition in poisons:
                self.hang_us += self.consumer.world.poisons.hang_us(
                    share.partition, self.consumer.group, first, taken
                )
            if self.failed is not None:  # the batch ends here, for whoever handles it
                self.buffer = [e for e in self.buffer if e.share is not share]
                break
            if taken == count:
                self.buffer.pop(0)
            else:
                entry.first += taken
                entry.count -= taken
        self.handed_us = self.engine.now
        if not self.costs_alike:
            self.batch = [(share.partition, first, count) for share, first, count in batch]
        if is_news:
            self._tell(batch)
        taken_all: int = self.config.max_poll_records - left
        return taken_all

    def _until_it_throws(self, share: Share, first: int, count: int) -> int:
        """How many of these are handled, the one that throws included."""
        poisons = self.consumer.world.poisons
        at = poisons.throws_at(share.partition, self.consumer.group, first, count)
        if at is None:
            return count
        self.failed = (share, at)
        return at - first + 1

    def seek_to_failed(self) -> None:
        """The record whose handling threw is the next to be fetched."""
        if self.failed is None:
            return
        share, offset = self.failed
        self.failed = None
        if self.shares.get(share.partition) is share:
            share.offset = share.fetched = offset

    def _mark_waiting(self, served: Share) -> None:
        """This partition's records fill the batch, and more lie there: the others of its owner fall
        behind from now on.
        """
        waiting = [
            share for share in self.shares.values() if share is not served and not share.is_waiting
        ]
        mark(self.consumer, waiting)
        for share in waiting:
            share.is_waiting = True

    def _tell(self, batch: list[tuple[Share, int, int]]) -> None:
        now = self.engine.now
        told: dict[Partition, tuple[int, int, int]] = {}
        for share, first, count in batch:
            had = told.get(share.partition)
            if had is None:
                told[share.partition] = (first, first + count - 1, now - share.flow.when(first))
            else:
                told[share.partition] = (had[0], first + count - 1, had[2])
        self.consumer.tell(RecordsDelivered(now, self.consumer.name, told))

    def handling_us(self, records: int) -> int:
        """What the handler takes for the batch at hand. What is drawn for a batch belongs to the
        first of its records.
        """
        handler = self.handler
        per_record, per_batch = handler.per_record, handler.per_batch
        us = per_record.a * records
        if not per_record.is_constant:
            us = sum([sum(self.costs_of(p).each(per_record, at, n)) for p, at, n in self.batch])
        if per_batch.is_constant:
            us += per_batch.a
        elif self.batch:
            partition, first, _ = self.batch[0]
            us += self.costs_of(partition, "batch").each(per_batch, first)[0]
        return int(us * self.consumer.slowness)

    def costs_of(self, partition: Partition, purpose: str = "record") -> RecordCosts:
        """What the records of this partition take, or the batches that begin with them."""
        found = self._costs.get((partition, purpose))
        if found is None:
            consumer = self.consumer
            found = RecordCosts(consumer.world.randomness, purpose, consumer.group, partition)
            self._costs[partition, purpose] = found
        return found

    # ------------------------------------------------------------------------------ caught up again

    def look_whether_caught_up(self) -> None:
        """Where all that had lain behind is handed over now: told."""
        if not keeps_up(self):
            return
        self.is_behind = False
        mark(self.consumer, [share for share in self.shares.values() if share.is_behind])
        for share in self.shares.values():
            share.is_behind = share.is_waiting = False
        if self.consumer.world.script.waiting:
            self.consumer.world.script.changed()

    def renew(self) -> None:
        """Nothing was taken for a while: the next delivery of each partition is told, as after
        an assignment.
        """
        for share in self.shares.values():
            share.is_new = True
