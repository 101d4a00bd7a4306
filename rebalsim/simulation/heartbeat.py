"""A consumer's heartbeat thread: beats, its looks at the network while the application is busy, and
what it does when a timer runs out.

The thread never runs a callback. While the application sits in poll() it only beats; its other
looks change nothing then and are no events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.noticed_by import NoticedBy
from rebalsim.protocol.classic_member import After
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.member_timers import MemberTimers, backoff_us, within
from rebalsim.protocol.messages import HeartbeatRequest
from rebalsim.simulation.engine import BEAT, Bell, Steps
from rebalsim.simulation.network import Call
from rebalsim.trace.events import (
    Fenced,
    MemberReset,
    PollExpired,
    RebalanceNoticed,
    RejoinRequested,
)

if TYPE_CHECKING:
    from rebalsim.simulation.inside import Inside


class HeartbeatThread:
    """HeartbeatThread.run, one look at a time."""

    __slots__ = (
        "bell",
        "consumer",
        "engine",
        "failure",
        "is_enabled",
        "is_looking_up",
        "late_us",
        "timers",
    )

    def __init__(self, consumer: Inside) -> None:
        self.consumer = consumer
        self.engine = consumer.engine
        config = consumer.config
        tick_us = config.retry_backoff_us + consumer.machine.tick_late_us
        self.timers = MemberTimers(
            config.heartbeat_interval_us,
            config.session_timeout_us,
            config.max_poll_interval_us,
            tick_us,
        )
        self.bell = Bell(self.engine, consumer.rank + BEAT)
        self.late_us = 0
        self.is_enabled = False
        self.is_looking_up = False
        self.failure: Error | None = None

    def heartbeat_thread(self) -> Steps:
        """HeartbeatThread.run: asleep until its next look is due, or until somebody wakes it."""
        while True:
            yield self.bell
            self.look()

    def enable(self) -> None:
        """A JoinGroup succeeded: all timers start anew."""
        consumer = self.consumer
        self.is_enabled = True
        self.late_us = consumer.stream("beats").draw(consumer.machine.beat_late)
        self.timers.enable(self.engine.now)
        self.plan()

    def come_due(self, in_us: int, late_us: int) -> None:
        """The next beat is due so much later, or as one of several until then where they come more
        often; those after it keep its phase.
        """
        if self.is_enabled:
            self.timers.due_us = self.engine.now + within(in_us, self.timers.interval_us) + late_us
            self.plan()

    def disable(self) -> None:
        """The group is being joined: the thread waits for that."""
        self.stop()

    def stop(self) -> None:
        self.is_enabled = False
        self.bell.off()

    def coordinator_found(self, now_us: int) -> None:
        """The session timer begins anew (FindCoordinatorResponseHandler), and poll() says when the
        next beat is due: no look has to come first.
        """
        self.timers.heard_us = now_us
        self.plan()

    def plan(self) -> None:
        """When the thread has something to do next."""
        if not self.is_enabled:
            return
        consumer, timers = self.consumer, self.timers
        if (
            consumer.blocked_until_us > self.engine.now
        ):  # the assignor runs under the lock that each turn takes
            self.bell.set(consumer.blocked_until_us)
            return
        if consumer.coordinator is None:  # nothing but looking for it, at each look
            self.bell.set(max(timers.looked_us + timers.tick_us, self.engine.now))
            return
        at = self.next_us()
        session_ends = timers.heard_us + timers.session_us
        if session_ends < at:
            at = min(at, timers.look_after(session_ends))
        if not consumer.is_polling:
            if consumer.busy_until_us > timers.poll_ends_us():
                at = min(at, timers.look_after(timers.poll_ends_us()))
            if consumer.inbox:
                at = min(at, self._next_look_us())
        else:
            if consumer.is_committing:
                at = min(at, timers.look_after(timers.poll_ends_us()))
            if consumer.inbox:
                at = min(at, self._next_look_us())  # its batch is not done yet
        self.bell.set(max(at, self.engine.now))

    def _next_look_us(self) -> int:
        """When it looks at the network again; never twice at one instant."""
        timers = self.timers
        return timers.look_after(max(self.engine.now, timers.looked_us + 1))

    def next_us(self) -> int:
        """When the next beat leaves if the application sits in poll() then."""
        return self.timers.due_us + self.late_us

    def look(self) -> None:
        """One turn of the thread."""
        consumer = self.consumer
        if consumer.is_frozen or not self.is_enabled:
            return
        member, timers = consumer.member, self.timers
        now = self.engine.now
        if consumer.blocked_until_us > now:
            self.plan()
            return
        if timers.due_us <= now < timers.look_after(timers.due_us) and not consumer.is_polling:
            self.bell.set(timers.look_after(timers.due_us))  # nobody tells it: it sees for itself
            return
        if not member.has_joined():
            self.stop()
            return
        timers.looked_us = now
        if consumer.inbox:
            consumer.read_once()
            if not member.has_joined() or not self.is_enabled:
                self.stop()
                return
        if consumer.coordinator is not None and now >= timers.session_ends_us():
            consumer.lose_coordinator("session timed out without receiving a heartbeat response")
            consumer._incoming()  # disconnectAsync() wakes a poll(), which looks for it then
        if consumer.coordinator is None:
            if self.is_looking_up:
                self.is_looking_up = False
            elif not consumer.is_looking_up:
                self.is_looking_up = True
                consumer.look_up_coordinator()
        elif self._poll_has_expired(now):
            self._expire(now)
            return
        elif now >= self.next_us():  # a look that only something to read called for may be sooner
            self.beat()
            if consumer.inbox:  # after a beat the next turn comes at once
                consumer.read_once()
                self.plan()
            return
        self.plan()

    def _poll_has_expired(self, now: int) -> bool:
        consumer = self.consumer
        return (
            not consumer.is_polling or consumer.is_committing
        ) and now >= self.timers.poll_ends_us()

    def _expire(self, now: int) -> None:
        consumer = self.consumer
        consumer.tell(PollExpired(now, consumer.name, self.timers.polled_us))
        consumer.leave_group("consumer poll timeout has expired.")
        self.stop()

    def beat(self) -> None:
        """Send a heartbeat."""
        consumer, member = self.consumer, self.consumer.member
        now = self.engine.now
        self.timers.sent(now)
        request = HeartbeatRequest(member.member_id, member.instance_id, member.generation)
        call = consumer.call(KafkaApi.HEARTBEAT, request, self.answered)
        call.is_quiet = True
        consumer.send(call)
        self.plan()

    def answered(self, call: Call, response: Any) -> None:
        """HeartbeatResponseHandler, in whichever thread reads the answer."""
        consumer, member = self.consumer, self.consumer.member
        now = self.engine.now
        error: Error = response.error
        if error is Error.NONE:
            self.timers.answered(now)
            return
        is_known = member.needs_rejoin
        after = member.on_heartbeat(error, call.sent_generation, call.sent_member_id)
        if after is After.GO_ON or after is After.RETRY:
            self.timers.answered(now)
            if (
                after is After.RETRY and not is_known
            ):  # Kafka logs it again with each beat until the next poll()
                consumer.tell(RebalanceNoticed(now, consumer.name, NoticedBy.HEARTBEAT))
                consumer.tell(RejoinRequested(now, consumer.name, member.rejoin_reason))
            return
        if after is After.IGNORE:
            return
        if (
            error is Error.COORDINATOR_NOT_AVAILABLE
            or error is Error.NOT_COORDINATOR
            or error is Error.NETWORK_EXCEPTION
        ):
            consumer.lose_coordinator(
                f"error response {error.name}" if response is not None else "disconnected"
            )
        elif not member.has_joined():
            consumer.tell(MemberReset(now, consumer.name, member.rejoin_reason))
        if error is Error.FENCED_INSTANCE_ID:
            consumer.tell(Fenced(now, consumer.name, KafkaApi.HEARTBEAT, error.name))
        if after is After.FATAL:
            self.failure = error
            self.stop()
            return
        config = consumer.config
        jitter = consumer.jitter()
        self.timers.failed(
            now,
            backoff_us(
                self.timers.attempts, config.retry_backoff_us, config.retry_backoff_max_us, jitter
            ),
        )
        if member.has_joined():
            self.plan()
        else:
            self.stop()
