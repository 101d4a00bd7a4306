"""Where to read from, asked for by the client's own threads: each answer leads to the next
question at once, whether or not the application polls.
"""

from __future__ import annotations

from typing import Any

from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.messages import OffsetFetchRequest
from rebalsim.simulation.network import Call
from rebalsim.simulation.positions import Lookup, Positions
from rebalsim.simulation.shares import INITIAL, RESETTING, VALIDATING, Share


class OwnPositions(Positions):
    """OffsetFetch, then validation or reset, then Fetch."""

    __slots__ = ()

    def begin_update(self) -> bool:
        """Nothing is left for the application to do."""
        return True

    def look_again(self) -> None:
        self.serve()

    def serve(self) -> None:
        """What has not been asked yet."""
        consumer, feed = self.consumer, self.consumer.feed
        shares = feed.shares.values()
        self.is_missing = False
        resetting = [share for share in shares if share.state == RESETTING and share.call is None]
        if resetting and consumer.config.auto_offset_reset == "none":
            consumer.membership.fail("NoOffsetForPartitionException")
            return
        self._validate(
            [share for share in shares if share.state == VALIDATING and share.call is None]
        )
        self._reset(resetting)
        initial = [share for share in shares if share.state == INITIAL]
        wanted = (consumer.member.generation, tuple([share.partition for share in initial]))
        if initial and self.asked != wanted and consumer.coordinator is not None:
            self.asked = wanted
            consumer.send(
                consumer.call(KafkaApi.OFFSET_FETCH, OffsetFetchRequest(wanted[1]), self._answered)
            )
        feed.send()

    def _answered(self, call: Call, response: Any) -> None:
        if self.asked is None or call.request.partitions != self.asked[1]:
            return
        self.asked = None
        if response.error is Error.NONE:
            wanted = dict.fromkeys(call.request.partitions)
            found: list[Share] = [
                share
                for share in self.consumer.feed.shares.values()
                if share.partition in wanted and share.state == INITIAL
            ]
            self._take(found, response.offsets)
        elif response.error in (
            Error.NOT_COORDINATOR,
            Error.COORDINATOR_NOT_AVAILABLE,
            Error.NETWORK_EXCEPTION,
        ):
            self.consumer.lose_coordinator(f"error response {response.error.name}")

    def landed(self, lookup: Lookup) -> None:
        super().landed(lookup)
        self.serve()
