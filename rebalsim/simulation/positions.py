"""Where to read from: committed offsets, their validation, resets; each only in a pass of poll() in
which the group had nothing to do.

updateFetchPositions in Kafka's order: validations are sent first, so what OffsetFetch brings is
validated in the next pass. That pass comes at once, because the answer wakes the poll(); but the
wake-up may be spent when poll() would wait, and then that pass comes retry.backoff.ms later or
with the next network event: where the poll() had run out of time when OffsetFetch was sent, so
that its last, non-blocking pass reads the answer; or where the heartbeat thread waited for the
network while the answer did, and has its pass first.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.member_timers import backoff_us
from rebalsim.protocol.messages import OffsetFetchRequest
from rebalsim.simulation.engine import ANSWERED, ARRIVES
from rebalsim.simulation.feed import FETCHING, INITIAL, RESETTING, VALIDATING, Share
from rebalsim.simulation.lag import mark
from rebalsim.simulation.network import Call
from rebalsim.simulation.poll_failed import PollFailed
from rebalsim.trace.events import PositionFound, RequestSent, ResponseReceived

if TYPE_CHECKING:
    from rebalsim.simulation.inside import Inside


class Positions:
    """OffsetFetcher, and the part of ConsumerCoordinator that asks for committed offsets."""

    __slots__ = ("answer", "asked", "asked_us", "consumer", "engine", "is_late", "is_missing")

    def __init__(self, consumer: Inside) -> None:
        self.consumer = consumer
        self.engine = consumer.engine
        self.is_missing = (
            False  # some partition has no valid position: poll() waits retry.backoff.ms at most
        )
        self.asked: tuple[Any, ...] | None = (
            None  # the partitions and generation of the OffsetFetch under way
        )
        self.answer: Any = None
        self.asked_us = 0
        self.is_late = False  # the wake-up by its answer is spent

    def begin_update(self) -> bool:
        """updateFetchPositions as far as nothing has to be waited for. True if that is all, as
        mostly; else `update` goes on.
        """
        feed = self.consumer.feed
        self.is_missing = False
        needs_committed = False
        unsure: list[Share] = []
        for share in feed.shares.values():
            if share.state != FETCHING:
                self.is_missing = True
                if share.state == INITIAL:
                    needs_committed = True
                elif share.state == VALIDATING and share.call is None:
                    unsure.append(share)
        if unsure:
            self._validate(unsure)
        return not needs_committed

    def update(self) -> Generator[Any, Any, bool]:
        """The rest of it; False while the committed offsets are not known."""
        shares = self.consumer.feed.shares.values()
        initial = [share for share in shares if share.state == INITIAL]
        if not (yield from self._committed(initial)):
            return False
        resetting = [share for share in shares if share.state == RESETTING and share.call is None]
        if resetting and self.consumer.config.auto_offset_reset == "none":
            raise PollFailed("NoOffsetForPartitionException", True)
        self._reset(resetting)
        self.is_missing = True
        if not self.is_late:  # the answer's handler wakes the poll: the next pass comes at once
            self._validate(
                [share for share in shares if share.state == VALIDATING and share.call is None]
            )
        self.is_late = False
        return True

    def look_again(self) -> None:
        """A partition can be read from now on."""
        self.consumer.wake_for_business()

    # ---------------------------------------------------------------------------- committed offsets

    def _committed(self, shares: list[Share]) -> Generator[Any, Any, bool]:
        consumer = self.consumer
        wanted = (consumer.member.generation, tuple([share.partition for share in shares]))
        if consumer.coordinator is None and not (
            yield from consumer.membership.find_coordinator(consumer.deadline_us)
        ):
            return False
        attempts = 0
        while True:
            if self.asked != wanted:
                self.asked = wanted
                self.answer = None
                share = consumer.machine.spends_wake_up
                self.is_late = self.engine.now >= consumer.deadline_us and (
                    share >= 1.0 or consumer.stream("positions").unit() < share
                )
                self.asked_us = self.engine.now
                call = consumer.call(
                    KafkaApi.OFFSET_FETCH, OffsetFetchRequest(wanted[1]), self._answered
                )
                consumer.send(call)
            while self.answer is None:
                if self.engine.now >= consumer.deadline_us:
                    return False
                yield from consumer.wait(consumer.deadline_us)
            answer, self.answer, self.asked = self.answer, None, None
            if answer.error is Error.NONE:
                beats = consumer.heartbeat
                self.is_late = self.is_late or (
                    beats.is_enabled
                    and self.asked_us
                    < beats.timers.look_after(self.asked_us + 1)
                    <= self.engine.now
                )
                self._take(shares, answer.offsets)
                return True
            if answer.error in (
                Error.NOT_COORDINATOR,
                Error.COORDINATOR_NOT_AVAILABLE,
                Error.NETWORK_EXCEPTION,
            ):
                consumer.lose_coordinator(f"error response {answer.error.name}")
            config = consumer.config
            pause = backoff_us(
                attempts, config.retry_backoff_us, config.retry_backoff_max_us, consumer.jitter()
            )
            attempts += 1
            pause = min(pause, consumer.deadline_us - self.engine.now)
            if pause <= 0:
                return False
            yield from consumer.sleep(self.engine.now + pause)
            if consumer.coordinator is None and not (
                yield from consumer.membership.find_coordinator(consumer.deadline_us)
            ):
                return False

    def _answered(self, call: Call, response: Any) -> None:
        if self.asked is not None and call.request.partitions == self.asked[1]:
            self.answer = response

    def _take(self, shares: list[Share], offsets: dict[Any, int]) -> None:
        consumer = self.consumer
        world, now = consumer.world, self.engine.now
        for share in shares:
            if consumer.feed.shares.get(share.partition) is not share:
                continue
            offset = offsets.get(share.partition)
            if offset is None:
                share.state = RESETTING
                continue
            share.offset = share.fetched = offset
            has_epoch = world.has_leader_epochs(share.partition.topic)
            share.state = VALIDATING if has_epoch else FETCHING
            handled, is_first = world.handled(share.partition, consumer.group)
            share.counted = share.offset
            world.progress.begin(consumer.group, share.partition, consumer.feed, share)
            consumer.tell(
                PositionFound(now, consumer.name, share.partition, offset, "committed", handled)
            )
            if is_first:
                mark(consumer, (share,))

    # ------------------------------------------------------------------------- validation and reset

    def _validate(self, shares: list[Share]) -> None:
        """OffsetsForLeaderEpoch, one request per leader."""
        self._ask(shares, "OffsetsForLeaderEpoch")

    def _reset(self, shares: list[Share]) -> None:
        """ListOffsets, one request per leader."""
        self._ask(shares, "ListOffsets")

    def _ask(self, shares: list[Share], api: str) -> None:
        if not shares:
            return
        consumer = self.consumer
        by_broker: dict[int, list[Share]] = {}
        for share in shares:
            if share.broker >= 0:  # else it has no leader just now
                by_broker.setdefault(share.broker, []).append(share)
        now = self.engine.now
        for broker, asked in by_broker.items():
            link = consumer.link(broker)
            if link.is_cut:
                continue
            taken = link.turn(now) + consumer.work_us()
            link.busy_us = taken + consumer.machine.service_us
            number = consumer.world.next_told() if consumer.world.is_wire else 0
            lookup = Lookup(api, broker, number, consumer.life, asked, now, taken)
            for share in asked:
                share.call = lookup
            if consumer.world.is_wire:
                consumer.tell(RequestSent(now, consumer.name, api, number))
            self.engine.at(taken, consumer.rank + ARRIVES, self._arrives, lookup)

    def _arrives(self, lookup: Lookup) -> None:
        self.consumer.world.brokers.of(lookup.broker).put(self._served, lookup)

    def _served(self, lookup: Lookup) -> None:
        """The leader looks it up, and answers at once."""
        consumer, now = self.consumer, self.engine.now
        lands_us = now + consumer.link(lookup.broker).latency_us(now)
        self.engine.at(lands_us, consumer.rank + ANSWERED, consumer.looked_up, lookup)

    def landed(self, lookup: Lookup) -> None:
        """An answer of a partition leader came."""
        consumer = self.consumer
        now = self.engine.now
        if consumer.world.is_wire:
            consumer.tell(
                ResponseReceived(
                    now, consumer.name, lookup.api, lookup.number, sent_at_us=lookup.sent_us
                )
            )
        policy = consumer.config.auto_offset_reset
        for share in lookup.shares:
            if share.call is not lookup:
                continue
            share.call = None
            if share.state == RESETTING:
                share.offset = share.fetched = (
                    0 if policy == "earliest" else share.flow.count(lookup.arrived_us)
                )
                handled, is_first = consumer.world.handled(share.partition, consumer.group)
                share.counted = share.offset
                consumer.world.progress.begin(consumer.group, share.partition, consumer.feed, share)
                consumer.tell(
                    PositionFound(
                        now, consumer.name, share.partition, share.offset, policy, handled
                    )
                )
                share.state = FETCHING
                if is_first:
                    mark(consumer, (share,))
            share.state = FETCHING


class Lookup:
    """A ListOffsets or OffsetsForLeaderEpoch under way."""

    __slots__ = ("api", "arrived_us", "broker", "life", "number", "sent_us", "shares")

    def __init__(
        self,
        api: str,
        broker: int,
        number: int,
        life: int,
        shares: list[Share],
        sent_us: int,
        arrived_us: int,
    ) -> None:
        self.api = api
        self.broker = broker
        self.number = number
        self.life = life
        self.shares = shares
        self.sent_us = sent_us
        self.arrived_us = arrived_us
