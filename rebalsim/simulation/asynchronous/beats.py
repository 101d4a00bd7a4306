"""Heartbeats of the background thread: when one is due, what it says, and what its answer does
(AbstractHeartbeatRequestManager).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.protocol.consumer_member import FENCES, RETRIES_AT_ONCE, RETRIES_LATER, ClientState
from rebalsim.protocol.consumer_messages import LEAVES, UNCHANGED, ConsumerGroupHeartbeatRequest
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.member_timers import backoff_us, look_on
from rebalsim.simulation.engine import NEVER
from rebalsim.trace.events import AssignmentReceived, Fenced, LeaveSent, PollExpired

if TYPE_CHECKING:
    from rebalsim.simulation.asynchronous.inside import AsyncInside, Thread

POLL_EXPIRED = "consumer poll timeout has expired."
LOOP_US = 5_000_000  # ConsumerNetworkThread.MAX_POLL_TIMEOUT_MS
CLOSED = "the consumer is being closed"


class Beats:
    """One member's heartbeats. The interval is the broker's: 0 until the first answer, and every
    beat begins it anew.
    """

    __slots__ = (
        "_attempts",
        "_background",
        "_not_before_us",
        "consumer",
        "due_us",
        "engine",
        "flying",
        "interval_us",
    )

    def __init__(self, consumer: AsyncInside, background: Thread) -> None:
        self.consumer = consumer
        self.engine = consumer.engine
        self._background = background
        self.interval_us = 0
        self.due_us = 0
        self.flying: Any = None  # the beat whose answer is awaited
        self._not_before_us = 0  # backoff after a failure
        self._attempts = 0

    @property
    def late_us(self) -> int:
        """Whole milliseconds are waited for; a thread that is often awake notices sooner."""
        consumer = self.consumer
        machine = consumer.machine
        flows = consumer.feed.shares and not consumer.is_hanging
        return int(machine.async_beat_late_us if flows else machine.async_idle_beat_late_us)

    def next_us(self) -> int:
        """When the thread must run for the next beat."""
        consumer = self.consumer
        if consumer.coordinator is None or not consumer.member.beats or self.flying is not None:
            return NEVER
        return max(self.due_us, self._not_before_us)

    def expires_us(self) -> int:
        """At which turn of its own the thread will see that the application has not polled for
        too long: it turns at least every 5 s, since the last beat.
        """
        consumer, member = self.consumer, self.consumer.member
        if consumer.coordinator is None or not member.beats or member.is_leaving:
            return NEVER
        ends = self._background.timers.polled_us + consumer.config.max_poll_interval_us
        beat = (
            self.flying.sent_us
            if self.flying is not None
            else self.due_us - self.interval_us - self.late_us
        )
        return look_on(beat, LOOP_US, max(ends, beat + 1))

    def longest_wait_us(self, now: int) -> int:
        """Half of what is left of max.poll.interval.ms, and no longer than up to the next beat."""
        member = self.consumer.member
        if member.state is ClientState.UNSUBSCRIBED:
            return NEVER
        left = self._background.timers.polled_us + self.consumer.config.max_poll_interval_us - now
        if left <= 0 or (member.beats_now and self.flying is None):
            return 0
        return int(max(0, min(left // 2, max(self.due_us, self._not_before_us) - now)))

    def polled(self, at_us: int) -> None:
        """The application polls: the poll timer starts anew, and a member that had left for it
        joins again.
        """
        timers = self._background.timers
        if at_us >= timers.polled_us + self.consumer.config.max_poll_interval_us:
            self._background.reconciliation.rejoin()
        timers.polled_us = at_us

    # -------------------------------------------------------------------------------------- sending

    def poll(self) -> None:
        """Send a beat, if one is due."""
        consumer, member = self.consumer, self.consumer.member
        now = self.engine.now
        if consumer.coordinator is None or not member.beats:
            if member.state is ClientState.LEAVING:  # it cannot be told
                consumer.step_to(lambda: member.become(ClientState.UNSUBSCRIBED))
            return
        if (
            not member.is_leaving
            and now >= self._background.timers.polled_us + consumer.config.max_poll_interval_us
        ):
            self._expire(now)
            return
        is_due = self.flying is None and now >= self.due_us and now >= self._not_before_us
        if (
            is_due
            or member.state is ClientState.LEAVING
            or (member.beats_now and self.flying is None)
        ):
            self._send(now)

    def _send(self, now: int, ignores_answer: bool = False) -> None:
        consumer, member = self.consumer, self.consumer.member
        is_leave = member.epoch <= LEAVES
        call = consumer.call(KafkaApi.CONSUMER_HEARTBEAT, self.request(), self.answered)
        member.sent()
        self.due_us = now + self.interval_us + self.late_us
        if ignores_answer:
            call.handle = _ignored
        else:
            self.flying = call
        driven = consumer.take_driven_join() if member.state is ClientState.JOINING else 0
        if driven:
            consumer.send_so_that_it_arrives(call, driven)
        else:
            consumer.send(call, POLL_EXPIRED if ignores_answer else CLOSED if is_leave else "")
        state = member.after_beat()
        if state is not None:
            consumer.step_to(lambda: member.become(state))

    def plain(self) -> ConsumerGroupHeartbeatRequest:
        """A beat that says nothing but who it is."""
        member = self.consumer.member
        return ConsumerGroupHeartbeatRequest(
            member.member_id, member.epoch, member.instance_id, client_id=self.consumer.client_id
        )

    def request(self) -> ConsumerGroupHeartbeatRequest:
        """What goes into a beat now: all at first and after a failure, else only what is news."""
        consumer, member = self.consumer, self.consumer.member
        config = consumer.config
        request = self.plain()
        if member.sends_all or consumer.has_new_topics:
            consumer.has_new_topics = False
            if consumer.pattern is None or consumer.resolves_pattern:
                request.topics = consumer.topics
            else:
                request.regex = consumer.pattern
        if member.sends_all:
            request.rebalance_timeout_us = config.max_poll_interval_us
            request.assignor = config.group_remote_assignor
            request.rack_id = config.client_rack or None
        else:
            request.rebalance_timeout_us = UNCHANGED
        owned = member.owned_to_send()
        if owned is not None:
            request.owned = consumer.world.by_topic_id(owned)
        return request

    def _expire(self, now: int) -> None:
        """max.poll.interval.ms is over: leave, and stay away until the application polls again."""
        consumer, member = self.consumer, self.consumer.member
        consumer.tell(PollExpired(now, consumer.name, self._background.timers.polled_us))
        consumer.tell(LeaveSent(now, consumer.name, POLL_EXPIRED))
        consumer.step_to(lambda: member.leave(True), ClientState.PREPARE_LEAVING)
        self.flying = None
        self._send(now, ignores_answer=True)
        self._attempts = self._not_before_us = 0
        member.failed()
        self._background.reconciliation.lose()

    # -------------------------------------------------------------------------------------- answers

    def answered(self, call: Any, response: Any) -> None:
        """onResponse, onFailure."""
        if call is not self.flying:
            return
        self.flying = None
        consumer, member = self.consumer, self.consumer.member
        now = self.engine.now
        error: Error = response.error
        if error is not Error.NONE:
            self._failed(error, now)
            return
        self._attempts = self._not_before_us = 0
        if response.heartbeat_interval_us and response.heartbeat_interval_us != self.interval_us:
            self.interval_us = response.heartbeat_interval_us
            self.due_us = now + self.interval_us + self.late_us
        given = None
        if response.assignment is not None:
            given = consumer.world.by_topic_name(response.assignment)
        state = member.take(response.epoch, given)
        if given is not None and member.is_in_group:
            consumer.tell(AssignmentReceived(now, consumer.name, response.epoch, given))
        if state is not None:
            consumer.step_to(lambda: member.become(state))
            if state is ClientState.RECONCILING:
                consumer.given()
                consumer.answered_after(call.sent_us)

    def _failed(self, error: Error, now: int) -> None:
        consumer, member = self.consumer, self.consumer.member
        member.failed()
        self.due_us = now
        config = consumer.config
        jitter = 0.8 + 0.4 * consumer.stream("backoff").unit()
        self._not_before_us = now + backoff_us(
            self._attempts, config.retry_backoff_us, config.retry_backoff_max_us, jitter
        )
        self._attempts += 1
        if error in FENCES:
            self._attempts = self._not_before_us = 0
            if member.is_in_group:  # else it is the answer to its leave
                consumer.tell(Fenced(now, consumer.name, KafkaApi.CONSUMER_HEARTBEAT, error.name))
            self._background.reconciliation.fenced()
        elif error in RETRIES_AT_ONCE:
            self._attempts = self._not_before_us = 0
            consumer.lose_coordinator(f"error response {error.name}")
        elif error in RETRIES_LATER:
            if error is not Error.COORDINATOR_LOAD_IN_PROGRESS:
                consumer.lose_coordinator("disconnected")
        elif error is Error.GROUP_ID_NOT_FOUND and member.state is ClientState.UNSUBSCRIBED:
            return
        else:
            if error is Error.FENCED_INSTANCE_ID:
                consumer.tell(Fenced(now, consumer.name, KafkaApi.CONSUMER_HEARTBEAT, error.name))
            consumer.fail(error)


def _ignored(call: Any, response: Any) -> None:
    """The answer to a leave that nobody waits for."""
