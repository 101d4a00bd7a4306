"""What a consumer reads: positions, fetches and batches. Told one by one where it matters, as a steady cycle where it does not.

A fetch: one in flight per broker, and none while data of that broker is buffered (since 4.1, KAFKA-17182); parked at the broker up to
fetch.max.wait.ms when nothing is there. Once the application keeps up, all further batches follow from the flow of records: see steady.py.
"""

from __future__ import annotations

from typing import Any

from rebalsim.domain.ids import Partition
from rebalsim.simulation.engine import ANSWERED, NEVER
from rebalsim.simulation.flow import Flow
from rebalsim.simulation.lag import mark
from rebalsim.simulation.racks import tell_bytes
from rebalsim.simulation.randomness import mean_of, sum_of
from rebalsim.simulation.steady import Cycle, cycle_of
from rebalsim.trace.events import RecordsDelivered

INITIAL, RESETTING, VALIDATING, FETCHING = 0, 1, 2, 3


class Share:
    """One owned partition as its owner reads it."""

    __slots__ = ("broker", "call", "counted", "fetched", "flow", "is_behind", "is_new", "offset", "partition", "state", "told")

    def __init__(self, partition: Partition, flow: Flow, broker: int) -> None:
        self.partition = partition
        self.flow = flow
        self.broker = broker
        self.state = INITIAL
        self.offset = 0               # the next record to hand over
        self.fetched = 0              # the next record to fetch
        self.is_new = True            # nothing was handed over yet
        self.is_behind = True         # its lag, as last told, is not over
        self.call: Any = None         # the look-up that is under way
        self.counted = -1             # up to which record its bytes are told; −1 before it has a position
        self.told = 0

    @property
    def is_placed(self) -> bool:
        """Is it known where to read?"""
        return self.state >= VALIDATING


class Fetch:
    """A Fetch in flight, with all that its answer will bring."""

    __slots__ = ("broker", "got", "is_parked", "lands_us", "life")

    def __init__(self, broker: int, life: int, got: list[tuple[Share, int, int]], leaves_us: int, lands_us: int) -> None:
        self.broker = broker
        self.lands_us = lands_us
        self.is_parked = all(share.flow.when(first) >= leaves_us for share, first, _ in got)     # nothing was there when it came
        self.life = life
        self.got = got                # share, first offset, how many


class Feed:
    """The consumer's data plane."""

    __slots__ = ("buffer", "config", "consumer", "cycle", "engine", "first_us", "flying", "handler", "hang_us", "is_suspended", "per_batch_us", "per_record_us",
                 "sessions", "shares", "steady_us")

    def __init__(self, consumer: Any) -> None:
        self.consumer = consumer
        self.engine = consumer.engine
        self.config = consumer.config
        self.handler = consumer.spec.handler
        self.per_record_us = mean_of(self.handler.per_record)
        self.per_batch_us = mean_of(self.handler.per_batch)
        self.shares: dict[Partition, Share] = {}
        self.buffer: list[list[Any]] = []             # [share, first, count], in the order in which they came
        self.flying: dict[int, Fetch] = {}            # broker → the Fetch in flight
        self.first_us = consumer.world.machine.first_fetch_us if self.config.group_protocol == "classic" else 0
        self.sessions: dict[int, list[Partition]] = {}     # broker → its fetch session's order
        self.is_suspended = False                     # pending revocation: nothing is fetched or handed over
        self.cycle: Cycle | None = None               # the steady cycle, while the application keeps up
        self.steady_us = 0                            # since when
        self.hang_us = 0                              # how long the batch at hand will hang: it holds a poisoned record

    # ---------------------------------------------------------------------------------------------- what is owned

    def assign(self, partitions: tuple[Partition, ...]) -> None:
        """The new assignment: kept partitions keep position and buffer, new ones need a position."""
        shares, world, rack = self.shares, self.consumer.world, self.config.client_rack
        if self.cycle is not None:
            self.unsettle()
        fresh: dict[Partition, Share] = {}
        for partition in partitions:
            share = shares.get(partition)
            fresh[partition] = share if share is not None else Share(partition, world.flow(partition), world.brokers.reads_from(partition, rack))
        if not self.is_suspended:
            mark(self.consumer, [share for partition, share in shares.items() if partition not in fresh])
        tell_bytes(self.consumer, [share for partition, share in shares.items() if partition not in fresh])
        self.shares = fresh
        self.is_suspended = False
        if self.buffer:
            self.buffer = [entry for entry in self.buffer if fresh.get(entry[0].partition) is entry[0]]

    def suspend(self) -> None:
        """Eager, auto-commit: everything is marked pending revocation before the commit goes out."""
        if self.cycle is not None:
            self.unsettle()
        self.is_suspended = True
        mark(self.consumer, self.shares.values())
        self.buffer.clear()

    def consumed(self) -> dict[Partition, int]:
        """allConsumed(): where the next poll would go on, of every partition that has a position."""
        if self.cycle is not None:
            return self.consumed_at(self.engine.env._now)
        return {p: share.offset for p, share in self.shares.items() if share.state >= VALIDATING}

    def offset_of(self, share: Share, at_us: int | None = None) -> int:
        """How far the partition has been handed over, now or when the share was given up."""
        if self.cycle is not None and self.shares.get(share.partition) is share:
            return max(share.offset, share.flow.count(self.cycle.handed_over(self.engine.env._now if at_us is None else at_us)))
        return int(share.offset)

    def consumed_at(self, at_us: int) -> dict[Partition, int]:
        """The same in steady times, at any instant since they began."""
        assert self.cycle is not None
        arrived = self.cycle.handed_over(at_us)
        return {p: max(share.offset, share.flow.count(arrived)) for p, share in self.shares.items()}

    # ---------------------------------------------------------------------------------------------- fetching

    def send(self) -> int:
        """Fetch from every broker that has partitions of ours, no Fetch in flight and nothing buffered."""
        if self.cycle is not None or self.is_suspended:
            return 0
        wanted: dict[int, list[Share]] = {}
        for share in self.shares.values():
            if share.state == FETCHING and share.broker not in self.flying and share.broker >= 0:
                wanted.setdefault(share.broker, []).append(share)
        if not wanted:
            return 0
        if self.buffer and self.consumer.drains_first:
            for entry in self.buffer:
                wanted.pop(entry[0].broker, None)
        else:
            for entry in self.buffer:                 # before 4.1: all but the partitions that have data buffered
                shares = wanted.get(entry[0].broker)
                if shares and entry[0] in shares:
                    shares.remove(entry[0])
        for broker, shares in wanted.items():
            if shares:
                self._fetch(broker, shares)
        return len(wanted)

    def _fetch(self, broker: int, shares: list[Share]) -> None:
        """What the broker will answer, and when, can be told at once: records come as the flow says."""
        link = self.consumer.link(broker)
        now = self.engine.env._now
        if link.is_cut:
            return
        shares = self._in_session(broker, shares)
        leaves = self._answered_at(shares, link.turn(now))
        link.busy_us = leaves + self.consumer.world.machine.service_us
        got = self._take(shares, leaves)
        self._rotate(broker, got)
        first = self.first_us if any(share.is_new for share, _, _ in got) else 0
        self._fly(broker, got, leaves, leaves + link.latency_us(leaves) + first)

    def _in_session(self, broker: int, shares: list[Share]) -> list[Share]:
        """In the order of the fetch session: who is in it already, the one with the oldest data first, then newcomers; the others are forgotten."""
        session = self.sessions.get(broker)
        if session:
            place = {partition: i for i, partition in enumerate(session)}
            shares = sorted(shares, key=lambda share: place.get(share.partition, len(place)))
        self.sessions[broker] = [share.partition for share in shares]
        return shares

    def _fly(self, broker: int, got: list[tuple[Share, int, int]], leaves_us: int, at_us: int) -> None:
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
            there = sum((share.flow.count(at) - share.fetched) * bytes_of(share.partition.topic) for share in shares)
            if there >= config.fetch_min_bytes:
                return at
            at = min(share.flow.next_after(at) for share in shares)
        return last

    def _rotate(self, broker: int, got: list[tuple[Share, int, int]]) -> None:
        """Partitions that gave data go to the end of the session."""
        if got:
            gave = {share.partition: None for share, _, _ in got}
            session = self.sessions.get(broker, [])
            self.sessions[broker] = [p for p in session if p not in gave] + [p for p in session if p in gave]

    def _take(self, shares: list[Share], at_us: int) -> list[tuple[Share, int, int]]:
        config, world = self.config, self.consumer.world
        left = config.fetch_max_bytes
        got = []
        for share in shares:
            there = share.flow.count(at_us) - share.fetched
            if there > 0:
                size = world.record_bytes(share.partition.topic)
                most = max(1, min(config.max_partition_fetch_bytes, left) // size) if left > 0 else 0
                there = min(there, most)
                if there > 0:
                    left -= there * size
                    got.append((share, share.fetched, there))
        return got

    def landed(self, fetch: Fetch) -> None:
        """A Fetch came back, whoever reads it; what is not ours any more (or was repositioned) is dropped."""
        if self.flying.get(fetch.broker) is fetch:
            del self.flying[fetch.broker]
        shares = self.shares
        for share, first, count in fetch.got:
            partition = share.partition
            if shares.get(partition) is share and share.state == FETCHING and share.fetched == first and not self.is_suspended:
                share.fetched = first + count
                self.buffer.append([share, first, count])

    # ---------------------------------------------------------------------------------------------- handing over

    def collect(self) -> int:
        """Up to max.poll.records of what is buffered, in its order; how many. poll() returns them if there are any."""
        if not self.buffer or self.is_suspended:
            return 0
        left = self.config.max_poll_records
        batch: list[tuple[Share, int, int]] = []
        is_news = self.consumer.world.is_wire
        poisons = self.consumer.world.poisons.by_partition
        while self.buffer and left:
            entry = self.buffer[0]
            share, first, count = entry
            taken = min(count, left)
            left -= taken
            if first == share.offset and (share.is_new or count > left):
                mark(self.consumer, (share,))
            batch.append((share, first, taken))
            share.offset = first + taken
            if share.is_new:
                is_news = True
                share.is_new = False
            if share.partition in poisons:
                self.hang_us += self.consumer.world.poisons.hang_us(share.partition, self.consumer.group, first, taken)
            if taken == count:
                self.buffer.pop(0)
            else:
                entry[1] += taken
                entry[2] -= taken
        if is_news:
            self._tell(batch)
        taken_all: int = self.config.max_poll_records - left
        return taken_all

    def _tell(self, batch: list[tuple[Share, int, int]]) -> None:
        now = self.engine.env._now
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
        us = per_record.a * records if per_record.is_constant else sum_of(consumer.stream("records"), per_record, records)
        return int((us + consumer.stream("batches").draw(per_batch)) * consumer.slowness)

    # ---------------------------------------------------------------------------------------------- steady times

    def settle(self) -> bool:
        """The application keeps up: from now on batches follow from the flow. False if it does not (yet)."""
        if self.cycle is not None:
            return True
        is_busy = bool(self.buffer)                   # it hardly ever sits in poll(), yet gets everything that has come each time
        if self.is_suspended or (is_busy and self.consumer.world.drive is not None):
            return False
        if not self.shares and not self.consumer.membership.is_quiet():
            return False
        now = self.engine.env._now
        poisons = self.consumer.world.poisons
        for share in self.shares.values():
            if share.state != FETCHING or share.broker < 0 or (share.is_new if is_busy else share.broker not in self.flying):
                return False
            if share.partition in poisons.by_partition and poisons.lie_ahead(
                    share.partition, self.consumer.group, share.offset, share.flow.count(now) + 1):
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
        self.consumer.settled()
        mark(self.consumer, [share for share in self.shares.values() if share.is_behind])
        for share in self.shares.values():
            share.told = share.offset
            share.is_behind = False
        self.flying.clear()                           # its answer is part of the cycle
        if self.consumer.world.script.waiting:
            self.consumer.world.script.changed()
        return True

    def unsettle(self) -> None:
        """Something is about to happen: positions, the Fetch in flight and the running poll() as they are now."""
        cycle = self.cycle
        assert cycle is not None
        now = self.engine.env._now
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
        before = began - 1 if began > cycle.anchor_us and now <= ended else now      # in a batch: the poll() that returned it
        timers.polled_us = max(timers.polled_us, min(now, cycle.poll_ends(before, self.handler.poll_timeout_us) - self.handler.poll_timeout_us))
        self.cycle = None
        for broker, shares in brokers.items():
            leaves = cycle.fetch_leaves(shares, now, self.config.fetch_max_wait_us)
            got = self._take(self._in_session(broker, shares), leaves)
            self._rotate(broker, got)
            consumer.link(broker).busy_us = leaves + consumer.world.machine.service_us
            self._fly(broker, got, leaves, max(now, leaves + cycle.latency_us))

    def renew(self) -> None:
        """Nothing was taken for a while: the next delivery of each partition is told, as after an assignment."""
        for share in self.shares.values():
            share.is_new = True

    def lose_leaders(self, partitions: list[Partition]) -> None:
        """These have other leaders now: what is in flight from the old ones is refused, and where to fetch from is not known yet."""
        tell_bytes(self.consumer, [self.shares[partition] for partition in partitions])
        for partition in partitions:
            share = self.shares[partition]
            self.flying.pop(share.broker, None)
            share.broker = -1
            share.call = None

    def find_leaders(self, partitions: list[Partition]) -> None:
        """The metadata came: fetch from the new leaders, once the position is validated against their epoch."""
        world = self.consumer.world
        for partition in partitions:
            share = self.shares.get(partition)
            if share is not None:
                share.broker = world.brokers.reads_from(partition, self.config.client_rack)
                if share.state == FETCHING and world.has_leader_epochs(partition.topic):
                    share.state = VALIDATING

    def _tell_rounds(self, cycle: Cycle, group: tuple[Flow, int, list[Partition], list[Share]], until_us: int) -> None:
        """The simplest and most frequent case: each round brings one record of each partition."""
        flow, first, partitions, shares = group
        tell, name, latency, alike = self.consumer.tell, self.consumer.name, cycle.latency_us, dict.fromkeys
        for number, at in flow.arrivals(self.steady_us - latency, until_us - latency):
            if number < first:
                continue                              # it had come with the Fetch before these times began
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
        for share in self.shares.values():
            if share.is_new:
                arrives = share.flow.when(share.offset)
                if arrives < NEVER:
                    at = min(at, max(cycle.batch_after(arrives + cycle.latency_us - 1), self.engine.env._now))
        return at

    def tell_first(self) -> None:
        """First deliveries are always told, in steady times too."""
        cycle = self.cycle
        assert cycle is not None
        now = self.engine.env._now
        arrived = cycle.batch_before(now)[0] - cycle.latency_us if cycle.period_us else now - cycle.latency_us
        told: dict[Partition, tuple[int, int, int]] = {}
        for partition, share in self.shares.items():
            if share.is_new:
                upto = share.flow.count(arrived)
                if upto > share.offset:
                    share.is_new = False
                    told[partition] = (share.offset, upto - 1, now - share.flow.when(share.offset))
        if told and not self.consumer.world.is_wire:
            self.consumer.tell(RecordsDelivered(now, self.consumer.name, told))

    def tell_steady(self, until_us: int) -> None:
        """In a trace of the whole wire: the batches of the steady time, after the fact (the trace is sorted in the end)."""
        cycle = self.cycle
        assert cycle is not None
        groups: list[tuple[Flow, int, list[Partition], list[Share]]] = []          # of one flow and equally far: told with one look
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
