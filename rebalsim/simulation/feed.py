"""What a consumer hands over: batches of what was fetched, told one by one where it matters, as a
steady cycle where it does not.

Once the application keeps up, all further batches follow from the flow of records: see steady.py.
"""

from __future__ import annotations

from rebalsim.domain.ids import Partition
from rebalsim.simulation.engine import NEVER
from rebalsim.simulation.fetching import Fetching
from rebalsim.simulation.flow import Flow
from rebalsim.simulation.lag import mark
from rebalsim.simulation.nearby import renew_leases
from rebalsim.simulation.randomness import sum_of
from rebalsim.simulation.shares import FETCHING, INITIAL, RESETTING, VALIDATING, Fetch, Share
from rebalsim.simulation.steady import Cycle, cycle_of
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
            if share.partition in poisons:
                taken = self._until_it_throws(share, first, taken)
            left -= taken
            if first == share.offset and (share.is_new or count > left or share.is_waiting):
                mark(self.consumer, (share,))
                share.is_waiting = False
                if count > left:
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
        """All records of this batch are of one partition, and more of them lie there: the others
        of its owner fall behind from now on.
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
        """What the handler takes for a batch."""
        handler, consumer = self.handler, self.consumer
        per_record, per_batch = handler.per_record, handler.per_batch
        us = (
            per_record.a * records
            if per_record.is_constant
            else sum_of(consumer.stream("records"), per_record, records)
        )
        return int((us + consumer.stream("batches").draw(per_batch)) * consumer.slowness)

    # --------------------------------------------------------------------------------- steady times

    def settle(self) -> bool:
        """The application keeps up: from now on batches follow from the flow. False if it does
        not (yet).
        """
        if self.cycle is not None:
            return True
        is_busy = bool(
            self.buffer
        )  # it hardly ever sits in poll(), yet gets everything that has come each time
        if self.is_suspended or (is_busy and self.consumer.world.drive is not None):
            return False
        if not self.shares and not self.consumer.membership.is_quiet():
            return False
        if self.shares and not self.consumer.commits.can_be_reckoned():
            return False
        if any(fetch.elsewhere for fetch in self.flying.values()):
            return False
        now = self.engine.now
        poisons = self.consumer.world.poisons
        for share in self.shares.values():
            if (
                share.state != FETCHING
                or share.broker < 0
                or (share.is_new if is_busy else share.broker not in self.flying)
            ):
                return False
            if share.partition in poisons.by_partition and poisons.lie_ahead(
                share.partition, self.consumer.group, share.offset, share.flow.count(now) + 1
            ):
                return False
        cycle = cycle_of(self, now)
        if cycle is None or (is_busy and not cycle.is_full):
            return False
        if is_busy:
            self.buffer.clear()
            for share in self.shares.values():
                share.fetched = share.offset
        self.cycle = cycle
        self.steady_us = now
        self.awaits_first = any(share.is_new for share in self.shares.values())
        self.consumer.settled()
        mark(self.consumer, [share for share in self.shares.values() if share.is_behind])
        for share in self.shares.values():
            share.told = share.offset
            share.is_behind = share.is_waiting = False
        self.flying.clear()  # its answer is part of the cycle
        if self.consumer.world.script.waiting:
            self.consumer.world.script.changed()
        return True

    def unsettle(self) -> None:
        """Something is about to happen: positions, the Fetch in flight and the running poll() as
        they are now.
        """
        cycle = self.cycle
        assert cycle is not None
        now = self.engine.now
        consumer = self.consumer
        if consumer.world.is_wire:
            self.tell_steady(now)
        arrived = cycle.handed_over(now)
        brokers: dict[int, list[Share]] = {}
        for share in self.shares.values():
            share.offset = share.fetched = max(share.offset, share.flow.count(arrived))
            brokers.setdefault(share.broker, []).append(share)
        consumer.deadline_us = cycle.poll_ends(now, self.handler.poll_timeout_us)
        timers = consumer.heartbeat.timers
        began, ended = cycle.batch_before(now)
        before = (
            began - 1 if began > cycle.anchor_us and now <= ended else now
        )  # in a batch: the poll() that returned it
        timers.polled_us = max(
            timers.polled_us,
            min(
                now,
                cycle.poll_ends(before, self.handler.poll_timeout_us)
                - self.handler.poll_timeout_us,
            ),
        )
        self.cycle = None
        if self.config.client_rack:
            renew_leases(self)
        for broker, shares in brokers.items():
            fetch = Fetch(broker, consumer.life, self._in_session(broker, shares))
            self.flying[broker] = fetch
            fetch.leaves_us = cycle.fetch_leaves(shares, now, self.config.fetch_max_wait_us)
            fetch.parked_us = min(now, fetch.leaves_us)
            consumer.link(broker).busy_us = fetch.leaves_us + consumer.world.machine.service_us
            self._answer(fetch)

    def renew(self) -> None:
        """Nothing was taken for a while: the next delivery of each partition is told, as after
        an assignment.
        """
        self.awaits_first = True
        for share in self.shares.values():
            share.is_new = True

    def _tell_rounds(
        self, cycle: Cycle, group: tuple[Flow, int, list[Partition], list[Share]], until_us: int
    ) -> None:
        """The simplest and most frequent case: each round brings one record of each partition."""
        flow, first, partitions, shares = group
        tell, name, latency, alike = (
            self.consumer.tell,
            self.consumer.name,
            cycle.latency_us,
            dict.fromkeys,
        )
        for number, at in flow.arrivals(self.steady_us - latency, until_us - latency):
            if number < first:
                continue  # it had come with the Fetch before these times began
            age = latency if first == number else at + latency - flow.when(first)
            tell(RecordsDelivered(at + latency, name, alike(partitions, (first, number, age))))
            first = number + 1
        for share in shares:
            share.told = first
        self.steady_us = until_us

    def first_delivery_at(self) -> int:
        """When the next partition that never delivered to us will do so for the first time."""
        cycle = self.cycle
        assert cycle is not None
        at = NEVER
        if not self.awaits_first:
            return at
        for share in self.shares.values():
            if share.is_new:
                at = min(at, max(self._first_of(cycle, share), self.engine.now))
        return at

    @staticmethod
    def _first_of(cycle: Cycle, share: Share) -> int:
        """The batch that brings the first record of a partition."""
        arrives = share.flow.when(share.offset)
        return cycle.batch_after(arrives + cycle.latency_us - 1) if arrives < NEVER else NEVER

    def tell_first(self) -> None:
        """First deliveries are always told, in steady times too."""
        if not self.awaits_first:
            return
        cycle = self.cycle
        assert cycle is not None
        now = self.engine.now
        arrived = (
            cycle.batch_before(now)[0] - cycle.latency_us
            if cycle.period_us
            else now - cycle.latency_us
        )
        told: dict[Partition, tuple[int, int, int]] = {}
        self.awaits_first = False
        for partition, share in self.shares.items():
            if share.is_new:
                upto = share.flow.count(arrived)
                if upto <= share.offset or self._first_of(cycle, share) > now:
                    self.awaits_first = True
                else:
                    share.is_new = False
                    told[partition] = (share.offset, upto - 1, now - share.flow.when(share.offset))
        if told and not self.consumer.world.is_wire:
            self.consumer.tell(RecordsDelivered(now, self.consumer.name, told))

    def pass_over_steady(self) -> None:
        """What was handed over in steady times up to now is told nobody."""
        if self.cycle is None:
            return
        self.steady_us = self.engine.now
        arrived = self.cycle.handed_over(self.steady_us)
        for share in self.shares.values():
            share.told = max(share.told, share.flow.count(arrived))

    def tell_steady(self, until_us: int) -> None:
        """In a trace of the whole wire: the batches of the steady time, after the fact (the
        trace is sorted in the end).
        """
        cycle = self.cycle
        assert cycle is not None
        groups: list[
            tuple[Flow, int, list[Partition], list[Share]]
        ] = []  # of one flow and equally far: told with one look
        for share in self.shares.values():
            for flow, first, partitions, shares in groups:
                if flow is share.flow and first == share.told:
                    partitions.append(share.partition)
                    shares.append(share)
                    break
            else:
                groups.append((share.flow, share.told, [share.partition], [share]))
        tell, name = self.consumer.tell, self.consumer.name
        if cycle.rate and len(groups) == 1 and self.steady_us >= cycle.anchor_us:
            self._tell_rounds(cycle, groups[0], until_us)
            return
        for at_us, arrived in cycle.batches(self.shares.values(), self.steady_us, until_us):
            told: dict[Partition, tuple[int, int, int]] = {}
            for i, (flow, first, partitions, shares) in enumerate(groups):
                upto = flow.count(arrived)
                if upto > first:
                    oldest = arrived if upto == first + 1 and cycle.rate else flow.when(first)
                    told.update(dict.fromkeys(partitions, (first, upto - 1, at_us - oldest)))
                    groups[i] = flow, upto, partitions, shares
            if told:
                tell(RecordsDelivered(at_us, name, told))
        for _, first, _, shares in groups:
            for share in shares:
                share.told = first
        self.steady_us = until_us
