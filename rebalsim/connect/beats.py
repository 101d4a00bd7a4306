"""A worker's heartbeat thread: beats at their interval whatever the herder does, what their answers
mean, and that a herder which was away for too long leaves its group.
"""

from __future__ import annotations

from typing import Any, Protocol

from rebalsim.connect.port import Port, Thread
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.noticed_by import NoticedBy
from rebalsim.protocol.classic_member import After, ClassicMember
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.member_timers import backoff_us
from rebalsim.protocol.messages import HeartbeatRequest
from rebalsim.trace.events import MemberReset, RebalanceNoticed, RejoinRequested


class Beaten(Protocol):
    """Whose heartbeat this is: the membership."""

    member: ClassicMember
    thread: Thread

    def left_for_poll(self) -> None:
        """The herder was away for too long."""


class Beats:
    """The thread's clock: one alarm, set anew after each beat."""

    def __init__(self, port: Port, membership: Beaten) -> None:
        self.port = port
        self.membership = membership
        self.is_on = False
        self.turn = 0  # alarms of an earlier turn are void
        self.due_us = self.heard_us = 0
        self.polled_us = 0  # when the herder was last in poll()
        self.is_polling = False
        self.late_us = 0
        self.attempts = 0

    def start(self) -> None:
        """The JoinGroup was answered: the thread has something to do."""
        self.is_on = True
        self.heard_us = self.port.now
        self.late_us = self.port.draw("beat-late", self.port.beat_late)
        self.due_us = self.port.now + self.port.settings.heartbeat_interval_us
        self._set()

    def stop(self) -> None:
        self.is_on = False
        self.turn += 1

    def enters_poll(self) -> None:
        self.is_polling = True
        self.polled_us = self.port.now

    def leaves_poll(self) -> None:
        """The herder goes elsewhere: from here on its time runs."""
        self.is_polling = False
        self.polled_us = self.port.now
        if self.is_on:
            self._watch_poll()

    def _set(self) -> None:
        self.turn += 1
        turn = self.turn
        self.port.at(self.due_us + self.late_us, lambda _: self._rung(turn))

    def _watch_poll(self) -> None:
        """Should the herder still be away then, it leaves."""
        polled = self.polled_us
        ends = polled + self.port.settings.rebalance_timeout_us
        self.port.at(ends, lambda _: self._poll_ends(polled))

    def _poll_ends(self, polled_us: int) -> None:
        if self.is_on and not self.is_polling and self.polled_us == polled_us:
            self._expire()

    def _expire(self) -> None:
        self.membership.left_for_poll()

    def _rung(self, turn: int) -> None:
        if turn != self.turn or not self.is_on:
            return
        port, now = self.port, self.port.now
        settings = port.settings
        if not port.has_coordinator():
            self._beat_next_at(now + settings.retry_backoff_us)
        elif now >= self.heard_us + settings.session_timeout_us:
            port.lose_coordinator("session timed out without receiving a heartbeat response")
            self._beat_next_at(now + settings.retry_backoff_us)
        elif not self.is_polling and now >= self.polled_us + settings.rebalance_timeout_us:
            self._expire()
        else:
            self.beat()

    def _beat_next_at(self, at_us: int) -> None:
        self.due_us = at_us
        self._set()

    def beat(self) -> None:
        member = self.membership.member
        request = HeartbeatRequest(member.member_id, None, member.generation)
        self.port.send(KafkaApi.HEARTBEAT, request, self._answered, "")
        self._beat_next_at(self.port.now + self.port.settings.heartbeat_interval_us)

    def coordinator_found(self) -> None:
        """The session counts from here: whoever answers now has not been heard in vain."""
        self.heard_us = self.port.now

    def _answered(self, call: Any, response: Any) -> None:
        """HeartbeatResponseHandler."""
        member, port = self.membership.member, self.port
        error: Error = response.error
        if error is Error.NONE:
            self.heard_us, self.attempts = port.now, 0
            return
        is_known = member.needs_rejoin
        after = member.on_heartbeat(error, call.sent_generation, call.sent_member_id)
        if after is After.IGNORE:
            return
        if after in (After.GO_ON, After.RETRY):
            self.heard_us, self.attempts = port.now, 0
            if after is After.RETRY and not is_known:
                port.record(RebalanceNoticed(port.now, port.name, NoticedBy.HEARTBEAT))
                port.record(RejoinRequested(port.now, port.name, member.rejoin_reason))
        elif error in (
            Error.COORDINATOR_NOT_AVAILABLE,
            Error.NOT_COORDINATOR,
            Error.NETWORK_EXCEPTION,
        ):
            port.lose_coordinator(f"error response {error.name}")
        elif not member.has_joined():
            port.record(MemberReset(port.now, port.name, member.rejoin_reason))
            self.stop()
        if self.is_on and error is not Error.REBALANCE_IN_PROGRESS:
            settings = port.settings
            self._beat_next_at(
                port.now
                + backoff_us(
                    self.attempts,
                    settings.retry_backoff_us,
                    settings.retry_backoff_max_us,
                    port.jitter(),
                )
            )
            self.attempts += 1
        self.membership.thread.wake()
