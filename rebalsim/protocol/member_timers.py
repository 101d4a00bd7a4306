"""The timers of a client's heartbeat thread as arithmetic: when the next beat is due, at which tick
it is noticed, what has run out.

Kafka's Heartbeat class and the cadence of HeartbeatThread. The thread looks every
retry.backoff.ms, and is told when poll() sees that a beat is due; so an application that sits in
poll() beats on time, and a busy one at the next look.
"""

from __future__ import annotations


class MemberTimers:
    """Heartbeat, session and poll timer (instants in µs), and the phase of the thread's looks."""

    __slots__ = (
        "attempts",
        "due_us",
        "heard_us",
        "interval_us",
        "looked_us",
        "max_poll_us",
        "polled_us",
        "session_us",
        "tick_us",
    )

    def __init__(self, interval_us: int, session_us: int, max_poll_us: int, tick_us: int) -> None:
        self.interval_us = interval_us
        self.session_us = session_us
        self.max_poll_us = max_poll_us
        # from one look of the thread to the next: retry.backoff.ms and what a wake-up costs
        self.tick_us = tick_us
        self.due_us = 0  # the next beat
        self.heard_us = 0  # the session timer's last reset
        self.polled_us = 0  # the poll timer's last reset
        self.looked_us = 0  # the thread's last look
        self.attempts = 0  # failed beats in a row

    def enable(self, now_us: int) -> None:
        """A JoinGroup succeeded: all three start anew, and the thread looks at once
        (HeartbeatThread.enable).
        """
        self.due_us = now_us + self.interval_us
        self.heard_us = self.polled_us = self.looked_us = now_us

    def sent(self, now_us: int) -> None:
        """A beat left; the next is due an interval later, whatever becomes of this one."""
        self.due_us = now_us + self.interval_us
        self.looked_us = now_us

    def answered(self, now_us: int) -> None:
        self.heard_us = now_us
        self.attempts = 0

    def failed(self, now_us: int, backoff_us: int) -> None:
        """The next beat after a failed one comes after the backoff."""
        self.attempts += 1
        self.due_us = now_us + backoff_us

    def look_after(self, instant_us: int) -> int:
        """The first look of the thread at or after this instant."""
        return look_on(self.looked_us, self.tick_us, instant_us)

    def session_ends_us(self) -> int:
        return self.heard_us + self.session_us

    def poll_ends_us(self) -> int:
        return self.polled_us + self.max_poll_us


def look_on(looked_us: int, tick_us: int, instant_us: int) -> int:
    """The first look at or after an instant, where one was at `looked_us` and nothing puts the
    others off.
    """
    return looked_us + tick_us * max(0, -((looked_us - instant_us) // tick_us))


def backoff_us(attempt: int, first_us: int, most_us: int, jitter: float) -> int:
    """ExponentialBackoff: doubling from the first, `jitter` in [0.8, 1.2), never more than the
    most.
    """
    return min(most_us, int(first_us * (1 << min(attempt, 30)) * jitter))


def within(in_us: int, interval_us: int) -> int:
    """The first of beats so far apart, of which one falls on this instant."""
    return in_us % interval_us if in_us > interval_us > 0 else in_us
