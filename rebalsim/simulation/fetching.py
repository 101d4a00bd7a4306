"""Fetches: one in flight per broker, none while data of that broker is buffered (since 4.1,
KAFKA-17182), in the fetch session's order.

Parked at the broker up to fetch.max.wait.ms when nothing is there. What a Fetch will bring, and
when, is known when it leaves: records come as the flow says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebalsim.domain.draws import mean_of
from rebalsim.domain.ids import Partition
from rebalsim.simulation.bytes_across_racks import tell_bytes
from rebalsim.simulation.engine import APP, ARRIVES, NEVER, RECORDS
from rebalsim.simulation.follower_fetching import end_leases, go_elsewhere, sent_elsewhere
from rebalsim.simulation.lag import mark
from rebalsim.simulation.shares import FETCHING, VALIDATING, Fetch, Fetched, Share

if TYPE_CHECKING:
    from rebalsim.simulation.inside import Inside
    from rebalsim.simulation.record_costs import RecordCosts


class Fetching:
    """What is owned, and what is fetched of it."""

    __slots__ = (
        "_costs",
        "batch",
        "began_us",
        "buffer",
        "config",
        "consumer",
        "costs_alike",
        "engine",
        "failed",
        "failures",
        "first_us",
        "flying",
        "handed_us",
        "handler",
        "hang_us",
        "is_behind",
        "is_suspended",
        "per_batch_us",
        "per_record_us",
        "ready_us",
        "sessions",
        "shares",
    )

    def __init__(self, consumer: Inside) -> None:
        self.consumer = consumer
        self.engine = consumer.engine
        self.config = consumer.config
        self.handler = consumer.spec.handler
        self._costs: dict[tuple[Partition, str], RecordCosts] = {}
        self.batch: list[tuple[Partition, int, int]] = []  # handed over last, where it matters
        self.costs_alike = (
            self.handler.per_record.is_constant and self.handler.per_batch.is_constant
        )
        self.per_record_us = mean_of(self.handler.per_record)
        self.per_batch_us = mean_of(self.handler.per_batch)
        self.shares: dict[Partition, Share] = {}
        self.buffer: list[Fetched] = []  # in the order in which they came
        self.flying: dict[int, Fetch] = {}  # broker → the Fetch in flight
        self.began_us = NEVER  # since when it reads, in this life
        self.first_us = (
            consumer.machine.first_fetch_us if self.config.group_protocol == "classic" else 0
        )
        self.ready_us = 0  # what lies ready takes so much longer to come than what is waited for
        self.sessions: dict[int, list[Partition]] = {}  # broker → its fetch session's order
        self.is_suspended = False  # pending revocation: nothing is fetched or handed over
        self.is_behind = True  # has some partition a lag that was told, and is not over?
        self.handed_us = 0  # when it last handed something over
        # the record of the batch at hand whose handling throws, and how often each one did
        self.failed: tuple[Share, int] | None = None
        self.failures: dict[tuple[Partition, int], int] = {}
        self.hang_us = 0  # how long the batch at hand will hang: it holds a poisoned record

    # -------------------------------------------------------------------------------- what is owned

    def assign(self, partitions: tuple[Partition, ...]) -> None:
        """The new assignment: kept partitions keep position and buffer, new ones need a
        position.
        """
        shares, world = self.shares, self.consumer.world
        self.is_behind = True
        fresh: dict[Partition, Share] = {}
        for partition in partitions:
            share = shares.get(partition)
            fresh[partition] = (
                share
                if share is not None
                else Share(partition, world.flow(partition), world.leader_of(partition))
            )
        gone = [share for partition, share in shares.items() if partition not in fresh]
        if not self.is_suspended:
            mark(self.consumer, gone)
        world.progress.give_up(self.consumer, gone)
        tell_bytes(self.consumer, gone)
        self.shares = fresh
        if fresh and self.began_us == NEVER:
            self.began_us = self.engine.now
        self.is_suspended = False
        if self.buffer:
            self.buffer = [
                entry for entry in self.buffer if fresh.get(entry.share.partition) is entry.share
            ]

    def brokers(self) -> tuple[int, ...]:
        """Whom it reads from."""
        return tuple(
            dict.fromkeys(
                [share.broker for share in self.shares.values() if share.broker >= 0]
                + list(self.flying)
            )
        )

    def suspend(self) -> None:
        """Eager, auto-commit: everything is marked pending revocation before the commit goes
        out.
        """
        self.is_suspended = True
        mark(self.consumer, self.shares.values())
        self.consumer.world.progress.give_up(self.consumer, self.shares.values())
        self.buffer.clear()

    def consumed(self) -> dict[Partition, int]:
        """allConsumed(): where the next poll would go on, of every partition that has a
        position.
        """
        skipped = self.consumer.skipped
        if skipped is not None:
            return {p: skipped.offset_of(share) for p, share in list(self.shares.items())}
        return {p: share.offset for p, share in self.shares.items() if share.state >= VALIDATING}

    def offset_of(self, share: Share) -> int:
        """How far the partition has been handed over, now or when the share was given up."""
        consumer = self.consumer
        if (
            consumer.skipped is not None
            and consumer.feed is self  # else it is of a former life
            and self.shares.get(share.partition) is share
        ):
            return int(consumer.skipped.offset_of(share))
        return int(share.offset)

    # ------------------------------------------------------------------------------------- fetching

    def send(self) -> int:
        """Fetch from every broker that has partitions of ours, no Fetch in flight and nothing
        buffered.
        """
        if self.is_suspended:
            return 0
        if self.config.client_rack:
            end_leases(self)
        wanted: dict[int, list[Share]] = {}
        for share in self.shares.values():
            if share.state == FETCHING and share.broker not in self.flying and share.broker >= 0:
                wanted.setdefault(share.broker, []).append(share)
        if not wanted:
            return 0
        if self.buffer and self.consumer.habits.drains_first:
            for entry in self.buffer:
                wanted.pop(entry.share.broker, None)
        else:
            for entry in self.buffer:  # before 4.1: all but the partitions that have data buffered
                shares = wanted.get(entry.share.broker)
                if shares and entry.share in shares:
                    shares.remove(entry.share)
        for broker, shares in wanted.items():
            if shares:
                self._fetch(broker, shares)
        return len(wanted)

    def _fetch(self, broker: int, shares: list[Share]) -> None:
        """Ask the broker for what comes next of these."""
        link = self.consumer.link(broker)
        now = self.engine.now
        if link.is_cut:
            return
        fetch = Fetch(broker, self.consumer.life, self.in_session(broker, shares))
        fetch.firsts = [share for share, _ in fetch.asked if share.is_new]
        self._send_off(fetch, link.turn(now))

    def in_session(self, broker: int, shares: list[Share]) -> list[Share]:
        """In the order of the fetch session: who is in it already, the one with the oldest data
        first, then newcomers; the others are forgotten.
        """
        session = self.sessions.get(broker)
        if session:
            place = {partition: i for i, partition in enumerate(session)}
            shares = sorted(shares, key=lambda share: place.get(share.partition, len(place)))
        self.sessions[broker] = [share.partition for share in shares]
        return shares

    def _send_off(self, fetch: Fetch, arrives_us: int) -> None:
        """On its way; as things are, it is known when the broker will be done with it."""
        self.flying[fetch.broker] = fetch
        fetch.arrives_us = arrives_us
        self.expect(fetch, arrives_us)
        service_us = self.consumer.machine.service_us
        self.consumer.link(fetch.broker).busy_us = fetch.leaves_us + service_us
        self.engine.at(arrives_us, self.consumer.rank + ARRIVES, self.arrives, fetch)

    def expect(self, fetch: Fetch, at_us: int) -> None:
        """When the broker answers a Fetch that it takes up at this instant."""
        link, before = self.consumer.link(fetch.broker), fetch.leaves_us
        shares = [share for share, _ in fetch.asked]
        fetch.elsewhere = sent_elsewhere(self, fetch.broker, shares)
        fetch.leaves_us = at_us if fetch.elsewhere else self.answered_at(fetch.asked, at_us)
        link.busy_us += fetch.leaves_us - before  # for what was sent behind it, too
        fetch.lands_us = fetch.leaves_us + link.latency_us(fetch.leaves_us)

    def arrives(self, fetch: Fetch) -> None:
        self.consumer.world.brokers.of(fetch.broker).put(self._served, fetch)

    def _served(self, fetch: Fetch) -> None:
        """The broker looks at it: answered, or parked until there is something, or time is over."""
        if self.flying.get(fetch.broker) is not fetch:
            return  # given up
        now = self.engine.now
        fetch.parked_us = now
        self.expect(fetch, now)
        if fetch.leaves_us > now:
            self.park(fetch)
        else:
            self.answer(fetch)

    def park(self, fetch: Fetch) -> None:
        """It waits at the broker for as long as is said now."""
        due = (fetch, fetch.leaves_us)
        self.engine.at(fetch.leaves_us, self.consumer.rank + ARRIVES, self._ripe, due)

    def take_up(self, fetch: Fetch) -> None:
        """It is under way again, from where it was left."""
        self.flying[fetch.broker] = fetch
        if fetch.parked_us == NEVER:
            self.engine.at(fetch.arrives_us, self.consumer.rank + ARRIVES, self.arrives, fetch)
        elif fetch.is_answered:
            self.fly_back(fetch)
        else:
            self.park(fetch)

    def _ripe(self, due: tuple[Fetch, int]) -> None:
        fetch, leaves_us = due
        if self.flying.get(fetch.broker) is fetch and fetch.leaves_us == leaves_us:
            self.answer(fetch)

    def flow_changed(self) -> None:
        """Records come at another rate: who waits for them at a broker waits anew."""
        now = self.engine.now
        for fetch in self.flying.values():
            if fetch.parked_us <= now < fetch.leaves_us:
                before = fetch.leaves_us
                self.expect(fetch, fetch.parked_us)
                if fetch.leaves_us != before:
                    self.park(fetch)

    def answer(self, fetch: Fetch) -> None:
        """What is there goes to the client."""
        self.fill(fetch)
        leaves = fetch.leaves_us
        latency = self.consumer.link(fetch.broker).latency_us(leaves)
        fetch.lands_us = max(self.engine.now, leaves + latency + self._longer_us(fetch))
        self.fly_back(fetch)

    def fly_back(self, fetch: Fetch) -> None:
        """Its answer is on its way."""
        rank = self.consumer.rank + min(RECORDS + fetch.broker, APP - 1)
        self.engine.at(fetch.lands_us, rank, self.consumer.fetched, fetch)

    def fill(self, fetch: Fetch) -> None:
        """What is there when its answer leaves."""
        asked = [] if fetch.is_void else fetch.asked
        fetch.got = self._take(
            [ask for ask in asked if ask[0] not in fetch.elsewhere], fetch.leaves_us
        )
        self._rotate(fetch.broker, fetch.got)
        fetch.is_answered = True

    def _longer_us(self, fetch: Fetch) -> int:
        """An answer takes so much longer for what it brings."""
        first = any(share in fetch.firsts for share, _, _ in fetch.got)
        return self.first_us if first else 0

    def answered_at(self, asked: list[tuple[Share, int]], arrives: int) -> int:
        """At once if enough is there, else when enough has come or fetch.max.wait.ms is over."""
        config = self.config
        bytes_of = self.consumer.world.record_bytes
        last: int = arrives + config.fetch_max_wait_us
        if config.fetch_min_bytes <= 1:
            at: int = NEVER
            for share, first in asked:
                at = min(at, share.flow.when(first))
            return min(max(at, arrives), last)
        at = arrives
        while at < last:
            there = sum(
                (share.flow.count(at) - first) * bytes_of(share.partition.topic)
                for share, first in asked
            )
            if there >= config.fetch_min_bytes:
                return at
            at = min(share.flow.next_after(at) for share, _ in asked)
        return last

    def _rotate(self, broker: int, got: list[tuple[Share, int, int]]) -> None:
        """Partitions that gave data go to the end of the session."""
        if got:
            gave = {share.partition: None for share, _, _ in got}
            session = self.sessions.get(broker, [])
            self.sessions[broker] = [p for p in session if p not in gave] + [
                p for p in session if p in gave
            ]

    def _take(self, asked: list[tuple[Share, int]], at_us: int) -> list[tuple[Share, int, int]]:
        config, world = self.config, self.consumer.world
        left = config.fetch_max_bytes
        got = []
        for share, first in asked:
            there = share.flow.count(at_us) - first
            if there > 0:
                size = world.record_bytes(share.partition.topic)
                most = (
                    max(1, min(config.max_partition_fetch_bytes, left) // size) if left > 0 else 0
                )
                there = min(there, most)
                if there > 0:
                    left -= there * size
                    got.append((share, first, there))
        return got

    def landed(self, fetch: Fetch) -> None:
        """A Fetch came back, whoever reads it; what is not ours any more (or was repositioned)
        is dropped.
        """
        if self.flying.get(fetch.broker) is fetch:
            del self.flying[fetch.broker]
        go_elsewhere(self, fetch)
        shares = self.shares
        for share, first, count in fetch.got:
            partition = share.partition
            if (
                shares.get(partition) is share
                and share.state == FETCHING
                and share.fetched == first
                and not self.is_suspended
            ):
                share.fetched = first + count
                self.buffer.append(Fetched(share, first, count))

    def lose_leaders(self, partitions: list[Partition]) -> None:
        """These have other leaders now: what is in flight from the old ones is refused at once,
        and where to fetch from is not known yet.
        """
        tell_bytes(self.consumer, [self.shares[partition] for partition in partitions])
        now = self.engine.now
        for broker in dict.fromkeys(self.shares[partition].broker for partition in partitions):
            if self.flying.pop(broker, None) is not None:
                refused = self.flying[broker] = Fetch(broker, self.consumer.life, [])
                refused.leaves_us = now
                self.answer(refused)
        for partition in partitions:
            share = self.shares[partition]
            if not share.is_waiting:
                mark(self.consumer, (share,))
                share.is_waiting = True
            share.broker = -1
            share.call = None

    def find_leaders(self, partitions: list[Partition]) -> None:
        """The metadata came: fetch from the new leaders, once the position is validated against
        their epoch.
        """
        world = self.consumer.world
        for partition in partitions:
            share = self.shares.get(partition)
            if share is not None:
                share.broker, share.leased_us = world.leader_of(partition), -1
                if share.state == FETCHING and world.has_leader_epochs(partition.topic):
                    share.state = VALIDATING
