"""Where an asynchronous consumer reads on from: each step of the look-up belongs to an event of the
application's (OffsetsRequestManager).

Committed offsets are fetched, and what has none is reset, within one event; what has one is
validated by a later event, and read by one after that. A validation for a broker never talked to
only opens the connection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.messages import OffsetFetchRequest
from rebalsim.simulation.asynchronous.events import PollEvent
from rebalsim.simulation.feed import INITIAL, RESETTING, VALIDATING, Share
from rebalsim.simulation.network import Call
from rebalsim.simulation.positions import Lookup, Positions

if TYPE_CHECKING:
    from rebalsim.simulation.asynchronous.inside import AsyncInside, Thread


class AsyncPositions(Positions):
    """One consumer's look-ups."""

    __slots__ = ("_askers", "_background", "_resetters")
    consumer: AsyncInside

    def __init__(self, consumer: AsyncInside, background: Thread) -> None:
        super().__init__(consumer)
        self._background = background
        self._askers: list[PollEvent] = []  # events that wait for the committed offsets
        self._resetters: list[PollEvent] = []  # events that wait for resets

    def look(self, event: PollEvent) -> None:
        """updateFetchPositions, for this event."""
        feed = self.consumer.feed
        if feed.has_all_positions:
            self._background.placed([event])
            return
        shares = feed.shares.values()
        validating = [
            share
            for share in shares
            if share.state == VALIDATING and share.call is None and not share.is_going
        ]
        event.validates = bool(validating)
        self._validate(self._reachable(validating))
        initial = [share for share in shares if share.state == INITIAL and not share.is_going]
        if initial:
            wanted = tuple([share.partition for share in initial])
            self._askers.append(event)
            event.asks = True
            if self.asked != wanted:
                self.asked = wanted
                if not self._fetch_committed():
                    self.asked = None  # no coordinator: the next event asks again
                    self._background.placed(self._taken())
            return
        self._reset_or_go_on([event])

    def _reachable(self, shares: list[Share]) -> list[Share]:
        ready = []
        for share in shares:
            link = self.consumer.link(share.broker) if share.broker >= 0 else None
            if link is not None and link.is_open:
                ready.append(share)
        for share in shares:
            if share.broker >= 0:
                self.consumer.link(share.broker).is_open = True
        return ready

    def _taken(self) -> list[PollEvent]:
        askers, self._askers = self._askers, []
        return askers

    # ---------------------------------------------------------------------------- committed offsets

    def _fetch_committed(self) -> bool:
        consumer = self.consumer
        if consumer.coordinator is None:
            return False
        assert self.asked is not None
        consumer.send(
            consumer.call(
                KafkaApi.OFFSET_FETCH, OffsetFetchRequest(self.asked), self._committed_came
            )
        )
        return True

    def _committed_came(self, call: Call, response: Any) -> None:
        if self.asked != call.request.partitions:
            return
        self.asked = None
        askers = self._taken()
        consumer = self.consumer
        if response.error is not Error.NONE:
            if response.error in (
                Error.NOT_COORDINATOR,
                Error.COORDINATOR_NOT_AVAILABLE,
                Error.NETWORK_EXCEPTION,
            ):
                consumer.lose_coordinator(f"error response {response.error.name}")
            self._background.placed(askers)  # a later event asks again
            return
        shares = [
            consumer.feed.shares[p] for p in call.request.partitions if p in consumer.feed.shares
        ]
        self._take(
            [share for share in shares if share.state == INITIAL and not share.is_going],
            response.offsets,
        )
        self._reset_or_go_on(askers)

    # --------------------------------------------------------------------------------------- resets

    def _reset_or_go_on(self, events: list[PollEvent]) -> None:
        consumer = self.consumer
        resetting = [
            share
            for share in consumer.feed.shares.values()
            if share.state == RESETTING and not share.is_going
        ]
        if resetting and consumer.config.auto_offset_reset == "none":
            consumer.fail_poll("NoOffsetForPartitionException")
            self._background.placed(events)
            return
        self._reset([share for share in resetting if share.call is None])
        if any(share.call is not None for share in resetting):
            self._resetters += events
        else:
            self._background.placed(events)

    def landed(self, lookup: Lookup) -> None:
        """A partition leader answered; the events that waited for resets go on when the last one
        is there.
        """
        super().landed(lookup)
        if self._resetters and not any(
            share.state == RESETTING and share.call is not None
            for share in self.consumer.feed.shares.values()
        ):
            events, self._resetters = self._resetters, []
            self._background.placed(events)
