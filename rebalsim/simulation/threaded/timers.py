"""The timers of a client's own thread, where the Java client has its heartbeat thread; the looks
of that one do not exist here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.member_timers import MemberTimers, within
from rebalsim.simulation.engine import BEAT, NEVER, Bell, Steps

if TYPE_CHECKING:
    from rebalsim.simulation.threaded.inside import ThreadedInside


class OwnTimers:
    """Heartbeat, session and poll timer of one life, and the alarm of the thread that minds
    them.
    """

    __slots__ = ("bell", "consumer", "failure", "is_enabled", "late_us", "timers", "tried_us")

    def __init__(self, consumer: ThreadedInside) -> None:
        self.consumer = consumer
        config = consumer.config
        self.timers = MemberTimers(
            config.heartbeat_interval_us,
            config.session_timeout_us,
            config.max_poll_interval_us,
            config.retry_backoff_us,
        )
        self.bell = Bell(consumer.engine, consumer.rank + BEAT)
        self.late_us = 0
        self.tried_us = (
            0  # the first beat that nobody has answered yet, if it is younger than the last answer
        )
        self.is_enabled = False  # there is no heartbeat thread to be planned or to rest
        self.failure: Error | None = None

    def heartbeat_thread(self) -> Steps:
        """The client's own thread: woken by its timers, it does whatever is due."""
        while True:
            yield self.bell
            self.consumer.membership.serve()

    def enable(self) -> None:
        """A JoinGroup succeeded. The poll timer is the application's alone."""
        polled_us = self.timers.polled_us
        self.late_us = self.consumer.stream("beats").draw(self.consumer.machine.beat_late)
        self.timers.enable(self.consumer.engine.now)
        self.timers.polled_us = polled_us

    def coordinator_found(self, now_us: int) -> None:
        """The session goes on only with an answer to a SyncGroup or a beat: whoever led the
        group meanwhile may know nothing of this member.
        """

    def sent(self, now_us: int) -> None:
        """Note that a beat leaves now."""
        if self.tried_us <= self.timers.heard_us:
            self.tried_us = now_us
        self.timers.sent(now_us)

    def session_ends_us(self) -> int:
        """When the client itself ends the session: so long after the last answer, or when a beat
        was tried for so long (franz-go's RetryTimeout).
        """
        timers, ends = self.timers, self.consumer.habits.ends_session
        if ends == "last-answer":
            return timers.session_ends_us()
        if ends != "first-try":
            return NEVER
        if self.tried_us > timers.heard_us:
            return self.tried_us + timers.session_us
        return (
            timers.due_us + timers.session_us if self.consumer.coordinator is None else NEVER
        )  # else the next beat is yet to be tried

    def come_due(self, in_us: int, late_us: int) -> None:
        """The next beat is due so much later, or as one of several until then where they come more
        often; those after it keep its phase.
        """
        if self.consumer.member.has_joined():
            now = self.consumer.engine.now
            self.timers.due_us = now + within(in_us, self.timers.interval_us) + late_us
            self.plan()

    def disable(self) -> None:
        """The thread does more than send beats, and goes on while the group is joined."""

    def stop(self) -> None:
        self.bell.off()

    def plan(self) -> None:
        self.consumer.membership.plan()
