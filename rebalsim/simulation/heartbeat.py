"""A consumer's heartbeat thread: beats, its looks at the network while the application is busy, and
what it does when a timer runs out.

The thread never runs a callback. While the application sits in poll() it only beats; its other
looks change nothing then and are no events. A member at rest does not beat at all: `Rest` tells
what its beats would have done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rebalsim.protocol.classic_member import After
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.member_timers import MemberTimers, backoff_us, look_on, within
from rebalsim.protocol.messages import HeartbeatRequest
from rebalsim.simulation.engine import BEAT, Bell, Steps
from rebalsim.simulation.network import Call
from rebalsim.simulation.rest import can_rest
from rebalsim.trace.events import (
    Fenced,
    MemberReset,
    PollExpired,
    RebalanceNoticed,
    RejoinRequested,
)

if TYPE_CHECKING:
    from rebalsim.simulation.consumer import Consumer
    from rebalsim.simulation.steady import Cycle

BLOCK = 64  # beats


class HeartbeatThread:
    """HeartbeatThread.run, one look at a time."""

    __slots__ = (
        "bell",
        "block_us",
        "consumer",
        "engine",
        "failure",
        "grid_us",
        "in_block",
        "is_enabled",
        "is_looking_up",
        "late_us",
        "timers",
    )

    def __init__(self, consumer: Consumer) -> None:
        self.consumer = consumer
        self.engine = consumer.engine
        config = consumer.config
        tick_us = config.retry_backoff_us + consumer.world.machine.tick_late_us
        self.timers = MemberTimers(
            config.heartbeat_interval_us,
            config.session_timeout_us,
            config.max_poll_interval_us,
            tick_us,
        )
        self.bell = Bell(self.engine, consumer.rank + BEAT)
        self.late_us = 0
        self.block_us = self.in_block = self.grid_us = 0
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
        self.late_us = consumer.stream("beats").draw(consumer.world.machine.beat_late)
        self.timers.enable(self.engine.now)
        self.begin_block()
        self.plan()

    def come_due(self, in_us: int, late_us: int) -> None:
        """The next beat is due so much later, or as one of several until then where they come more
        often; those after it keep its phase.
        """
        if self.is_enabled:
            self.timers.due_us = self.engine.now + within(in_us, self.timers.interval_us) + late_us
            self.begin_block()
            self.plan()

    def stop(self) -> None:
        self.is_enabled = False
        self.bell.off()

    def coordinator_found(self, now_us: int) -> None:
        """The session timer begins anew (FindCoordinatorResponseHandler)."""
        self.timers.heard_us = now_us

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
        cycle = self.consumer.feed.cycle
        if cycle is not None:
            timers.looked_us = self._last_look_us(cycle)
        return timers.look_after(max(self.engine.now, timers.looked_us + 1))

    def _last_look_us(self, cycle: Cycle) -> int:
        timers = self.timers
        return cycle.last_look(
            timers.looked_us,
            timers.tick_us,
            self.engine.now,
            self.consumer.spec.handler.poll_timeout_us,
        )

    def leave_steady_times(self, cycle: Cycle) -> None:
        """The application leaves poll(): whoever waited for the network client's lock has its
        look now.
        """
        timers = self.timers
        timers.looked_us = self._last_look_us(cycle)
        if timers.looked_us + timers.tick_us <= self.engine.now:
            timers.looked_us = self.engine.now

    def next_us(self) -> int:
        """When the next beat leaves if nothing comes in between: told by poll() that it is due,
        or seen at a look of its own.
        """
        timers = self.timers
        cycle = self.consumer.feed.cycle
        due = timers.due_us
        if cycle is not None and cycle.has_batches:
            wait: int = cycle.wait_at(due)
            if wait > 0:
                return min(due + wait, look_on(self.grid_us, timers.tick_us, due))
        return due + self.late_us

    def sent(self, at_us: int) -> None:
        """A beat left. In steady times beats are counted in blocks that begin on a grid, so that
        many can be skipped at once.
        """
        timers = self.timers
        timers.sent(at_us)
        self.grid_us = at_us
        cycle = self.consumer.feed.cycle
        if cycle is not None and cycle.has_batches:
            self.in_block += 1
            if self.in_block == BLOCK:
                self._begin_at(self.block_us + BLOCK * self.mean_us())

    def begin_block(self) -> None:
        """Steady times begin, or all timers anew within them."""
        self.block_us = self.timers.due_us
        self.grid_us = self.timers.looked_us
        self.in_block = 0

    def _begin_at(self, due_us: int) -> None:
        self.block_us = self.timers.due_us = due_us
        self.timers.looked_us = self.grid_us = due_us - self.timers.interval_us
        self.in_block = 0

    def mean_us(self) -> int:
        """From one beat to the next, on average."""
        cycle = self.consumer.feed.cycle
        return (
            self.timers.interval_us
            + self.late_us
            + (cycle.mean_wait_us(self.timers.tick_us) if cycle is not None else 0)
        )

    def up_to(self, at_us: int) -> list[int]:
        """The last two beats that left in steady times up to this instant; all before count as
        sent.
        """
        cycle = self.consumer.feed.cycle
        assert cycle is not None
        if not cycle.has_batches:
            first = self.next_us()
            if at_us < first:
                return []
            period = self.timers.interval_us + self.late_us
            last = first + (at_us - first) // period * period
            self.timers.sent(last)
            return [last - period, last] if last > first else [last]
        blocks = (at_us - self.block_us) // (BLOCK * self.mean_us()) - 1
        if blocks > 0:
            self._begin_at(self.block_us + blocks * BLOCK * self.mean_us())
        beats: list[int] = []
        at = self.next_us()
        while at <= at_us:
            beats = [*beats[-1:], at]
            self.sent(at)
            at = self.next_us()
        return beats

    def look(self) -> None:
        """One turn of the thread."""
        consumer = self.consumer
        if consumer.is_frozen or not self.is_enabled or consumer.is_resting:
            return
        member, timers = consumer.member, self.timers
        now = self.engine.now
        if consumer.blocked_until_us > now:
            self.plan()
            return
        if consumer.world.sleeps and can_rest(consumer):
            consumer.rest()
            return
        if (
            now >= timers.due_us
            and consumer.feed.cycle is None
            and not consumer.is_polling
            and now < timers.look_after(timers.due_us)
        ):
            self.bell.set(
                timers.look_after(timers.due_us)
            )  # nobody tells it: it will see for itself
            return
        if not member.has_joined():
            self.stop()
            return
        cycle = consumer.feed.cycle
        if (
            cycle is None
            or consumer.inbox
            or consumer.coordinator is None
            or now >= timers.session_ends_us()
            or now >= self.next_us()
        ):
            timers.looked_us = now
        else:
            timers.looked_us = self._last_look_us(
                cycle
            )  # nothing to do any more: it waits until poll() lets it look
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
        elif now >= (timers.due_us if consumer.feed.cycle is None else self.next_us()):
            self.beat()
            if (
                consumer.inbox and consumer.feed.cycle is None
            ):  # after a beat the next turn comes at once
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
        self.sent(now)
        request = HeartbeatRequest(member.member_id, member.instance_id, member.generation)
        call = consumer.call("Heartbeat", request, self.answered)
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
                consumer.tell(RebalanceNoticed(now, consumer.name, "heartbeat"))
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
            consumer.tell(Fenced(now, consumer.name, "Heartbeat", error.name))
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
