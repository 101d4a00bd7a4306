"""OffsetCommit: the periodic one, the one before a rebalance, commits of the application, and
what their answers do.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from rebalsim.domain.draws import mean_of
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.noticed_by import NoticedBy
from rebalsim.protocol.classic_member import MemberState
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.member_timers import backoff_us
from rebalsim.protocol.messages import OffsetCommitRequest
from rebalsim.simulation.engine import NEVER
from rebalsim.simulation.network import Call
from rebalsim.trace.events import CommitRefused, Fenced, RebalanceNoticed, RejoinRequested

if TYPE_CHECKING:
    from rebalsim.simulation.inside import Inside

_RETRIABLE = (
    Error.COORDINATOR_LOAD_IN_PROGRESS,
    Error.UNKNOWN_TOPIC_OR_PARTITION,
    Error.COORDINATOR_NOT_AVAILABLE,
    Error.NOT_COORDINATOR,
    Error.REQUEST_TIMED_OUT,
    Error.NETWORK_EXCEPTION,
)


def thrown_by_commit(how: str) -> str:
    """The exception of a commitSync() that ended so."""
    return {
        "rebalancing": "RebalanceInProgressException",
        "failed": "CommitFailedException",
        "late": "TimeoutException",
    }.get(how, "KafkaException")


class Commits:
    """ConsumerCoordinator's commits."""

    __slots__ = ("consumer", "due_us", "engine", "interval_us", "is_auto", "under_way", "waiting")

    def __init__(self, consumer: Inside) -> None:
        self.consumer = consumer
        self.engine = consumer.engine
        config = consumer.config
        self.is_auto = consumer.spec.commits_itself
        self.interval_us = config.auto_commit_interval_us
        self.due_us = self.engine.now + self.interval_us if self.is_auto else NEVER
        self.under_way = 0  # asynchronous ones without an answer
        self.waiting: list[dict[Any, int]] = []  # … and such as wait until the coordinator is found

    @property
    def late_us(self) -> int:
        """poll() notices so much later that one is due, as with beats; a thread of the client's
        own at once.
        """
        consumer = self.consumer
        return 0 if consumer.habits.runs_itself else int(consumer.heartbeat.late_us)

    @property
    def is_awaited(self) -> bool:
        """Does the application wait for the answer to a commit of its own with each batch?"""
        return not self.is_auto and self.consumer.spec.handler.commit.is_awaited

    def goes_through(self) -> bool:
        """Does an application that waits for its commits get an answer at once? Else it does not
        keep up, whatever its handler does.
        """
        if not self.is_awaited:
            return True
        link, host = self.consumer.coordinator_link, self.consumer.host
        return bool(
            self.consumer.coordinator is not None
            and link is not None
            and not link.is_cut
            and host.is_up
            and host.broker == self.consumer.coordinator
        )

    def each_batch_us(self) -> int:
        """What a batch's own commit adds to its handling: a round trip and the write, where the
        application waits for it.
        """
        if not self.is_awaited:
            return 0
        cluster = self.consumer.world.scenario.cluster
        link = self.consumer.coordinator_link
        latency: int = link.latency_us(0) if link is not None else 0
        return 2 * latency + int(mean_of(cluster.log_append) + mean_of(cluster.replication))

    def takes_always_us(self) -> int:
        """For how long the application waits for a commit of its own, if always for as long; −1
        if not.
        """
        cluster, link = self.consumer.world.scenario.cluster, self.consumer.coordinator_link
        if (
            link is None
            or link.fixed_us < 0
            or not cluster.log_append.is_constant
            or not cluster.replication.is_constant
            or not self.goes_through()
        ):
            return -1
        there: int = link.fixed_us + link.extra_us
        return int(self.consumer.host.leaves_us(there)) + there

    # -------------------------------------------------------------------------------------- sending

    def request(
        self, offsets: dict[Any, int], handle: Any, *, is_before_rebalance: bool = False
    ) -> Call | None:
        """Send a commit; None where the client refuses by itself: it is joining, or no member."""
        consumer, member = self.consumer, self.consumer.member
        if not self.may_commit():
            return None
        request = OffsetCommitRequest(
            member.member_id, member.instance_id, member.generation, offsets
        )
        call: Call = consumer.call(KafkaApi.OFFSET_COMMIT, request, handle)
        call.is_before_rebalance = is_before_rebalance
        consumer.send(call)
        return call

    def maybe_auto(self) -> None:
        """The periodic commit, when due: asynchronous, of all positions."""
        now = self.engine.now
        if now < self.due_us + self.late_us:
            return
        self.due_us = now + self.interval_us
        offsets = self.consumer.feed.consumed()
        if offsets and self.consumer.coordinator is not None:
            call = self.request(offsets, self.auto_answered)
            if call is not None:
                call.is_quiet = True
                self.under_way += 1

    def send_async(self, offsets: dict[Any, int]) -> None:
        """commitAsync(): if the coordinator is not known, as soon as it is."""
        if offsets and self.consumer.coordinator is None:
            self.waiting.append(offsets)
            if not self.consumer.is_looking_up:
                self.consumer.look_up_coordinator()
        elif offsets:
            if self.request(offsets, self._async_answered) is None:
                self._refused_here()  # its callback hears it at once
            else:
                self.under_way += 1

    def send_waiting(self) -> None:
        """The look-up is over: what waited for it goes now, or fails with it."""
        waiting, self.waiting = self.waiting, []
        for offsets in waiting:
            if self.consumer.coordinator is not None:
                self.send_async(offsets)

    def auto_answered(self, call: Call, response: Any) -> None:
        self.under_way -= 1
        if self.outcome(call, response) == "later":
            self.due_us = self.engine.now + self.consumer.config.retry_backoff_us

    def _async_answered(self, call: Call, response: Any) -> None:
        self.under_way -= 1
        self.outcome(call, response)

    def _refused_here(self) -> None:
        """The client refuses by itself: it is joining, or no member (sendOffsetCommitRequest)."""
        is_out = self.consumer.member.state is MemberState.UNJOINED
        name = "CommitFailed" if is_out else "RebalanceInProgress"
        self.consumer.tell(CommitRefused(self.engine.now, self.consumer.name, name))

    def may_commit(self) -> bool:
        """Does the client send commits at all just now?"""
        return bool(self.consumer.member.state is MemberState.STABLE)

    # -------------------------------------------------------------------------------------- answers

    def outcome(self, call: Call, response: Any) -> str:
        """OffsetCommitResponseHandler: ok | later | rebalancing | failed | fatal."""
        error: Error = response.error
        if error is Error.NONE:
            return "ok"
        consumer, member = self.consumer, self.consumer.member
        now = self.engine.now
        if error in _RETRIABLE:
            if (
                error is Error.COORDINATOR_NOT_AVAILABLE
                or error is Error.NOT_COORDINATOR
                or error is Error.REQUEST_TIMED_OUT
            ):
                consumer.lose_coordinator(f"error response {error.name}")
            return "later"
        consumer.tell(CommitRefused(now, consumer.name, error.name))
        same = member.is_same(call.sent_generation, call.sent_member_id)
        if error is Error.REBALANCE_IN_PROGRESS:
            if member.state is MemberState.STABLE and not member.needs_rejoin:
                consumer.tell(RebalanceNoticed(now, consumer.name, NoticedBy.COMMIT))
            member.request_rejoin("offset commit failed since group is already rebalancing")
            consumer.tell(RejoinRequested(now, consumer.name, member.rejoin_reason))
            return "rebalancing"
        if error is Error.FENCED_INSTANCE_ID:
            consumer.tell(Fenced(now, consumer.name, KafkaApi.OFFSET_COMMIT, error.name))
            if not same:
                return "rebalancing"
            consumer.membership.commit_fenced(error)
            return "fatal"
        if error is Error.UNKNOWN_MEMBER_ID or error is Error.ILLEGAL_GENERATION:
            if not same and member.state is MemberState.PREPARING:
                return "rebalancing"
            if same:
                consumer.membership.commit_disowned(error)
            return "failed"
        return "fatal"

    def sync(self, until_us: int) -> Generator[Any, Any, str]:
        """commitSync() of all positions, with retries until the time is over: ok | rebalancing |
        failed | fatal | late.
        """
        consumer = self.consumer
        how = yield from self._until_answered(until_us)
        if how == "late":
            consumer.tell(CommitRefused(self.engine.now, consumer.name, "Timeout"))
        return how

    def _until_answered(self, until_us: int) -> Generator[Any, Any, str]:
        consumer = self.consumer
        offsets = consumer.feed.consumed()
        attempt = 0
        while offsets:
            if consumer.coordinator is None and not (
                yield from consumer.membership.find_coordinator(until_us)
            ):
                return "late"
            box: list[Any] = []
            call = self.request(
                offsets, lambda call, response, box=box: box.append((call, response))
            )
            if call is None:
                self._refused_here()
                return "rebalancing" if consumer.member.is_rebalancing() else "failed"
            while not box:
                if self.engine.now >= until_us:
                    return "late"
                yield from consumer.wait(until_us)
            how = self.outcome(*box[0])
            if how != "later":
                return how
            config = consumer.config
            jitter = consumer.jitter()
            pause = backoff_us(
                attempt, config.retry_backoff_us, config.retry_backoff_max_us, jitter
            )
            attempt += 1
            yield from consumer.sleep(min(until_us, self.engine.now + pause))
            if self.engine.now >= until_us:
                return "late"
        return "ok"
