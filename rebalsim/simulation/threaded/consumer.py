"""A consumer whose client has a thread of its own: the application's poll() only takes records,
and runs the callbacks that wait for it.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from rebalsim.simulation.consumer import Consumer
from rebalsim.simulation.engine import NEVER
from rebalsim.simulation.network import Call
from rebalsim.simulation.threaded.feed import OwnFeed
from rebalsim.simulation.threaded.main_thread import MainThread
from rebalsim.simulation.threaded.positions import OwnPositions
from rebalsim.simulation.threaded.timers import OwnTimers


class ThreadedConsumer(Consumer):
    """One consumer of a classic group, through all its lives."""

    __slots__ = ("began_us", "is_in_poll")

    heartbeat: OwnTimers
    feed: OwnFeed
    positions: OwnPositions
    membership: MainThread
    began_us: int  # this life's first poll(): looks at the poll timer count from here

    def equip(self) -> None:
        super().equip()
        self.is_in_poll = False
        self.began_us = self.engine.now
        self.heartbeat = OwnTimers(self)
        self.feed = OwnFeed(self)
        self.positions = OwnPositions(self)
        self.membership = MainThread(self)

    def _start_up(self, joins_us: int | None) -> Generator[Any, Any, None]:
        yield from super()._start_up(joins_us)
        self.began_us = self.heartbeat.timers.polled_us = self.engine.now
        self.membership.serve()

    # ---------------------------------------------------------- the network, read by the own thread

    def _incoming(self) -> None:
        if self.is_frozen:
            return  # read at the thaw
        self.read()
        if not self.is_alive:
            return
        self.membership.serve()
        if self.is_polling:  # it may wait for records, or for a commit
            self._wake()

    def _expire(self) -> None:
        """The own thread always looks at the network."""
        if self.is_alive and not self.is_frozen:
            self._give_up()

    def take_coordinator(self, broker: int) -> None:
        super().take_coordinator(broker)
        self.membership.coordinator_came()

    def lose_coordinator(self, why: str) -> None:
        super().lose_coordinator(why)
        self.membership.plan()

    def metadata_came(self) -> None:
        """The own thread looks for itself."""
        if not self.is_frozen:
            self.touch()
            self.membership.serve()

    def subscribe(self, topics: tuple[str, ...], pattern: str | None) -> None:
        super().subscribe(topics, pattern)
        if self.is_alive:
            self.membership.serve()

    # --------------------------------------------------------------------- the application's thread

    def poll(self) -> Generator[Any, Any, int]:
        self.is_in_poll = True
        return (yield from super().poll())

    def sleep(self, until_us: int) -> Generator[Any, Any, None]:
        """The own thread minds how long the application stays away: from when it left poll(), in
        which it is never late.
        """
        if self.is_in_poll:
            self.is_in_poll = False
            self.heartbeat.timers.polled_us = self.engine.now
        self.is_polling = False
        self.busy_until_us = until_us
        self.alarm.set(until_us)
        if not self.is_closing:
            self.membership.plan()
        engine = self.engine
        while (
            engine.now < until_us and not (self.is_handling and self.hangs_now())
        ) or self.is_frozen:
            yield self.nudge

    def is_rested(self) -> bool:
        """Is nothing left for its threads to do but what they always do?"""
        return (
            self.membership.is_rested()
            and self.blocked_until_us <= self.engine.now
            and not self.is_looking_up
        )

    def waits_to_join(self) -> bool:
        return super().waits_to_join() and not self.membership.errands

    def next_own_us(self) -> int:
        beats, commits = self.heartbeat, self.commits
        return min(
            beats.timers.due_us + beats.late_us,
            self.membership.beat_again_us,
            commits.due_us if commits.is_auto else NEVER,
        )

    def is_back(self, is_in_poll: bool, beat_due_us: int) -> None:
        self.is_in_poll = is_in_poll
        if beat_due_us < NEVER:
            self.heartbeat.tried_us = beat_due_us - self.heartbeat.timers.interval_us

    def beat_answered(self, call: Call, response: Any) -> None:
        self.membership.beaten(call, response)

    def pause(self) -> None:
        """Nothing more is handed over once the batch at hand is done."""
        if not self.feed.is_suspended:
            self.touch()
            self.feed.suspend()

    def wake_application(self) -> None:
        """There is something for poll()."""
        if self.is_polling and not self.is_frozen:
            self.touch()
            self._wake()

    def thaw(self) -> None:
        is_back = self.is_alive and self.is_frozen
        super().thaw()
        if is_back:
            self.read()
            self.membership.serve()

    def enforce_rebalance(self) -> None:
        """Only the Java client has it."""
