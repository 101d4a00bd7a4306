"""OffsetCommit of an asynchronous consumer: the periodic one at an event of the application's,
the one before a rebalance, and the application's own.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

from rebalsim.domain.ids import Partition
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.member_timers import backoff_us
from rebalsim.protocol.messages import OffsetCommitRequest
from rebalsim.simulation.commits import Commits
from rebalsim.simulation.engine import NEVER
from rebalsim.simulation.network import Call
from rebalsim.trace.events import CommitRefused, RequestSent

if TYPE_CHECKING:
    from rebalsim.simulation.asynchronous.inside import AsyncInside, Thread

_LATER = (
    Error.COORDINATOR_LOAD_IN_PROGRESS,
    Error.UNKNOWN_TOPIC_OR_PARTITION,
    Error.COORDINATOR_NOT_AVAILABLE,
    Error.NOT_COORDINATOR,
    Error.REQUEST_TIMED_OUT,
    Error.NETWORK_EXCEPTION,
)
_LOSE = (
    Error.COORDINATOR_NOT_AVAILABLE,
    Error.NOT_COORDINATOR,
    Error.REQUEST_TIMED_OUT,
    Error.NETWORK_EXCEPTION,
)
Then = Callable[[str], None]


class Wanted:
    """A commit that is to be made, with its retries: `then` is told ok | failed | late."""

    __slots__ = (
        "attempts",
        "is_periodic",
        "not_before_us",
        "offsets",
        "offsets_of",
        "partitions",
        "then",
        "until_us",
    )

    def __init__(
        self,
        offsets_of: Callable[[], dict[Partition, int]],
        until_us: int,
        then: Then,
        partitions: tuple[Partition, ...] | None = None,
    ) -> None:
        self.offsets_of = offsets_of  # the latest positions, at each attempt
        self.offsets = offsets_of()
        self.until_us = until_us
        self.then = then
        self.partitions = partitions  # what is about to be given up
        self.is_periodic = False
        self.attempts = 0
        self.not_before_us = 0


class AsyncCommits(Commits):
    """CommitRequestManager."""

    __slots__ = ("_background", "_waiting")
    consumer: AsyncInside

    def __init__(self, consumer: AsyncInside, background: Thread) -> None:
        super().__init__(consumer)
        self._background = background
        self._waiting: list[Wanted] = []

    # -------------------------------------------------------------------------------------- sending

    def next_us(self) -> int:
        """When one that backs off may be tried again."""
        if self.consumer.coordinator is None or not self._waiting:
            return NEVER
        return min(wanted.not_before_us for wanted in self._waiting)

    def periodic_us(self) -> int:
        """When the next periodic one is due; not while one is under way (then Kafka's
        application spins, for nothing).
        """
        return NEVER if self.under_way else self.due_us

    def send_waiting(self) -> None:
        """Send what may be sent now; a consumer that closes has none but what its coordinator
        can be told at once.
        """
        if self.consumer.coordinator is None and self._background.is_closing:
            waiting, self._waiting = self._waiting, []
            for wanted in waiting:
                self.consumer.tell(
                    CommitRefused(self.engine.now, self.consumer.name, "CommitFailed")
                )
                wanted.then("failed")
        if not self._waiting or self.consumer.coordinator is None:
            return
        now = self.engine.now
        waiting, self._waiting = self._waiting, []
        for wanted in waiting:
            if wanted.not_before_us > now:
                self._waiting.append(wanted)
            else:
                self._send(wanted)

    def _send(self, wanted: Wanted) -> None:
        consumer, member = self.consumer, self.consumer.member
        epoch = member.epoch if member.epoch > 0 else -1
        request = OffsetCommitRequest(member.member_id, member.instance_id, epoch, wanted.offsets)
        call = consumer.call(
            KafkaApi.OFFSET_COMMIT,
            request,
            lambda call, response: self._answered(wanted, call, response),
        )
        call.is_quiet = wanted.is_periodic
        if wanted.partitions is not None and not consumer.world.is_wire:
            call.told = consumer.world.next_told()
            consumer.tell(
                RequestSent(
                    self.engine.now,
                    consumer.name,
                    KafkaApi.OFFSET_COMMIT,
                    call.told,
                    epoch,
                    partitions=wanted.partitions,
                )
            )
        consumer.send(call)

    def maybe_auto(self) -> None:
        """The periodic commit, when due: asynchronous, of all positions."""
        now = self.engine.now
        if now < self.due_us or self.under_way:
            return
        self.due_us = now + self.interval_us
        offsets = self.consumer.feed.consumed()
        if offsets:
            self.under_way += 1
            wanted = Wanted(lambda: offsets, now, self._auto_made)
            wanted.is_periodic = True
            self._waiting.append(wanted)

    def _auto_made(self, how: str) -> None:
        self.under_way -= 1
        if how == "late":
            self.due_us = self.engine.now + self.consumer.config.retry_backoff_us

    def restart_timer(self) -> None:
        """A reconciliation is over: the next periodic commit is an interval away."""
        if self.is_auto:
            self.due_us = self.engine.now + self.interval_us

    def before_rebalance(
        self, until_us: int, partitions: tuple[Partition, ...], then: Callable[[], None]
    ) -> None:
        """maybeAutoCommitSyncBeforeRebalance: of all positions, also when nothing is given up; a
        failure changes nothing.
        """
        if not self.is_auto or not self.consumer.feed.consumed():
            then()
            return
        wanted = Wanted(self.consumer.feed.consumed, until_us, lambda how: then(), partitions)
        wanted.not_before_us = self.engine.now + self.consumer.machine.async_act_us
        self._waiting.append(wanted)

    def send_async(self, offsets: dict[Any, int]) -> None:
        """commitAsync()."""
        if offsets:
            self.under_way += 1
            self._waiting.append(Wanted(lambda: offsets, 0, self._async_made))
            self._background.turn()

    def _async_made(self, how: str) -> None:
        self.under_way -= 1

    # -------------------------------------------------------------------------------------- answers

    def _answered(self, wanted: Wanted, call: Call, response: Any) -> None:
        error: Error = response.error
        if error is Error.NONE:
            wanted.then("ok")
            return
        consumer = self.consumer
        now = self.engine.now
        if error in _LOSE:
            consumer.lose_coordinator(f"error response {error.name}")
        is_stale = (
            error is Error.STALE_MEMBER_EPOCH
            and consumer.member.epoch > 0
            and wanted.partitions is not None
        )
        if error in _LATER or is_stale:
            if now < wanted.until_us:
                config = consumer.config
                jitter = 0.8 + 0.4 * consumer.stream("backoff").unit()
                wanted.not_before_us = now + backoff_us(
                    wanted.attempts, config.retry_backoff_us, config.retry_backoff_max_us, jitter
                )
                wanted.attempts += 1
                wanted.offsets = wanted.offsets_of()
                self._waiting.append(wanted)
                return
            if error in _LATER:
                wanted.then("late")
                return
        consumer.tell(CommitRefused(now, consumer.name, error.name))
        wanted.then(
            "fatal"
            if error in (Error.FENCED_INSTANCE_ID, Error.INVALID_COMMIT_OFFSET_SIZE)
            else "failed"
        )

    def sync(self, until_us: int) -> Generator[Any, Any, str]:
        """commitSync() of all positions: ok | failed | fatal | late."""
        consumer = self.consumer
        if not consumer.feed.consumed():
            return "ok"
        box: list[str] = []
        offsets = consumer.feed.consumed()
        self._waiting.append(Wanted(lambda: offsets, until_us, box.append))
        self._background.turn()
        while not box:
            if self.engine.now >= until_us:
                return "late"
            yield from consumer.wait_for_background(until_us)
        return box[0]

    def may_commit(self) -> bool:
        """Is the consumer a member, so that its commits are taken?"""
        return bool(self.consumer.member.is_in_group)
