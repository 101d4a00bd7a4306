"""Fetches: one in flight per broker, none while data of that broker is buffered (since 4.1,
KAFKA-17182), in the fetch session's order.

Parked at the broker up to fetch.max.wait.ms when nothing is there. What a Fetch will bring, and
when, is known when it leaves: records come as the flow says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rebalsim.domain.ids import Partition
from rebalsim.simulation.engine import ANSWERED, NEVER
from rebalsim.simulation.lag import mark
from rebalsim.simulation.nearby import go_elsewhere, mind_leases, sent_elsewhere
from rebalsim.simulation.racks import tell_bytes
from rebalsim.simulation.randomness import mean_of
from rebalsim.simulation.shares import FETCHING, VALIDATING, Fetch, Fetched, Share
from rebalsim.simulation.steady import Cycle

if TYPE_CHECKING:
    from rebalsim.simulation.consumer import Consumer


class Fetching:
    """What is owned, and what is fetched of it."""

    __slots__ = (
        "awaits_first",
        "began_us",
        "buffer",
        "config",
        "consumer",
        "cycle",
        "engine",
        "first_us",
        "flying",
        "handler",
        "hang_us",
        "is_suspended",
        "per_batch_us",
        "per_record_us",
        "ready_us",
        "sessions",
        "shares",
        "steady_us",
    )

    def __init__(self, consumer: Consumer) -> None:
        self.consumer = consumer
        self.engine = consumer.engine
        self.config = consumer.config
        self.handler = consumer.spec.handler
        self.per_record_us = mean_of(self.handler.per_record)
        self.per_batch_us = mean_of(self.handler.per_batch)
        self.shares: dict[Partition, Share] = {}
        self.buffer: list[Fetched] = []  # in the order in which they came
        self.flying: dict[int, Fetch] = {}  # broker → the Fetch in flight
        self.began_us = NEVER  # since when it reads, in this life
        self.first_us = (
            consumer.world.machine.first_fetch_us if self.config.group_protocol == "classic" else 0
        )
        self.ready_us = 0  # what lies ready takes so much longer to come than what is waited for
        self.sessions: dict[int, list[Partition]] = {}  # broker → its fetch session's order
        self.is_suspended = False  # pending revocation: nothing is fetched or handed over
        self.cycle: Cycle | None = None  # the steady cycle, while the application keeps up
        self.steady_us = 0  # since when
        self.awaits_first = (
            False  # in steady times: does some partition have its first delivery to come?
        )
        self.hang_us = 0  # how long the batch at hand will hang: it holds a poisoned record

    # -------------------------------------------------------------------------------- what is owned

    def unsettle(self) -> None:
        """Steady times are over."""
        raise NotImplementedError

    def assign(self, partitions: tuple[Partition, ...]) -> None:
        """The new assignment: kept partitions keep position and buffer, new ones need a
        position.
        """
        shares, world = self.shares, self.consumer.world
        if self.cycle is not None:
            self.unsettle()
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
            self.began_us = self.engine.env._now
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
        if self.cycle is not None:
            self.unsettle()
        self.is_suspended = True
        mark(self.consumer, self.shares.values())
        self.consumer.world.progress.give_up(self.consumer, self.shares.values())
        self.buffer.clear()

    def consumed(self) -> dict[Partition, int]:
        """allConsumed(): where the next poll would go on, of every partition that has a
        position.
        """
        if self.cycle is not None:
            return self.consumed_at(self.engine.env._now)
        return {p: share.offset for p, share in self.shares.items() if share.state >= VALIDATING}

    def offset_of(self, share: Share, at_us: int | None = None) -> int:
        """How far the partition has been handed over, now or when the share was given up."""
        if self.cycle is not None and self.shares.get(share.partition) is share:
            return max(
                share.offset,
                share.flow.count(
                    self.cycle.handed_over(self.engine.env._now if at_us is None else at_us)
                ),
            )
        return int(share.offset)

    def consumed_at(self, at_us: int) -> dict[Partition, int]:
        """The same in steady times, at any instant since they began."""
        assert self.cycle is not None
        arrived = self.cycle.handed_over(at_us)
        found: dict[Partition, int] = {}
        asked: Any = None
        count = 0
        for partition, share in self.shares.items():
            if share.flow is not asked:  # whole topics share one flow
                asked = share.flow
                count = asked.count(arrived)
            found[partition] = count if count > share.offset else share.offset
        return found

    # ------------------------------------------------------------------------------------- fetching

    def send(self) -> int:
        """Fetch from every broker that has partitions of ours, no Fetch in flight and nothing
        buffered.
        """
        if self.cycle is not None or self.is_suspended:
            return 0
        if self.config.client_rack:
            mind_leases(self)
        wanted: dict[int, list[Share]] = {}
        for share in self.shares.values():
            if share.state == FETCHING and share.broker not in self.flying and share.broker >= 0:
                wanted.setdefault(share.broker, []).append(share)
        if not wanted:
            return 0
        if self.buffer and self.consumer.drains_first:
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
        """What the broker will answer, and when, can be told at once: records come as the flow
        says.
        """
        link = self.consumer.link(broker)
        now = self.engine.env._now
        if link.is_cut:
            return
        shares = self._in_session(broker, shares)
        elsewhere = sent_elsewhere(self, broker, shares)
        arrives = link.turn(now)
        leaves = arrives if elsewhere else self._answered_at(shares, arrives)
        link.busy_us = leaves + self.consumer.world.machine.service_us
        got = self._take([share for share in shares if share not in elsewhere], leaves)
        self._rotate(broker, got)
        first = self.first_us if any(share.is_new for share, _, _ in got) else 0
        self._fly(broker, got, leaves, leaves + link.latency_us(leaves) + first)
        self.flying[broker].elsewhere = elsewhere

    def _in_session(self, broker: int, shares: list[Share]) -> list[Share]:
        """In the order of the fetch session: who is in it already, the one with the oldest data
        first, then newcomers; the others are forgotten.
        """
        session = self.sessions.get(broker)
        if session:
            place = {partition: i for i, partition in enumerate(session)}
            shares = sorted(shares, key=lambda share: place.get(share.partition, len(place)))
        self.sessions[broker] = [share.partition for share in shares]
        return shares

    def _fly(
        self, broker: int, got: list[tuple[Share, int, int]], leaves_us: int, at_us: int
    ) -> None:
        at_us = max(at_us, self.engine.env._now)
        fetch = self.flying[broker] = Fetch(broker, self.consumer.life, got, leaves_us, at_us)
        self.engine.at(at_us, self.consumer.rank + ANSWERED, self.consumer.fetched, fetch)

    def _answered_at(self, shares: list[Share], arrives: int) -> int:
        """At once if enough is there, else when enough has come or fetch.max.wait.ms is over."""
        config = self.config
        bytes_of = self.consumer.world.record_bytes
        last: int = arrives + config.fetch_max_wait_us
        if config.fetch_min_bytes <= 1:
            at: int = NEVER
            for share in shares:
                at = min(at, share.flow.when(share.fetched))
            return min(max(at, arrives), last)
        at = arrives
        while at < last:
            there = sum(
                (share.flow.count(at) - share.fetched) * bytes_of(share.partition.topic)
                for share in shares
            )
            if there >= config.fetch_min_bytes:
                return at
            at = min(share.flow.next_after(at) for share in shares)
        return last

    def _rotate(self, broker: int, got: list[tuple[Share, int, int]]) -> None:
        """Partitions that gave data go to the end of the session."""
        if got:
            gave = {share.partition: None for share, _, _ in got}
            session = self.sessions.get(broker, [])
            self.sessions[broker] = [p for p in session if p not in gave] + [
                p for p in session if p in gave
            ]

    def _take(self, shares: list[Share], at_us: int) -> list[tuple[Share, int, int]]:
        config, world = self.config, self.consumer.world
        left = config.fetch_max_bytes
        got = []
        for share in shares:
            there = share.flow.count(at_us) - share.fetched
            if there > 0:
                size = world.record_bytes(share.partition.topic)
                most = (
                    max(1, min(config.max_partition_fetch_bytes, left) // size) if left > 0 else 0
                )
                there = min(there, most)
                if there > 0:
                    left -= there * size
                    got.append((share, share.fetched, there))
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
        now = self.engine.env._now
        for broker in dict.fromkeys(self.shares[partition].broker for partition in partitions):
            if self.flying.pop(broker, None) is not None:
                self._fly(broker, [], now, now + self.consumer.link(broker).latency_us(now))
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
