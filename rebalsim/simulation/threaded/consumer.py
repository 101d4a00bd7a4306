"""A consumer whose client has a thread of its own: the application's poll() only takes records,
and runs the callbacks that wait for it.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from rebalsim.simulation.consumer import Consumer
from rebalsim.simulation.threaded.feed import OwnFeed
from rebalsim.simulation.threaded.main_thread import MainThread
from rebalsim.simulation.threaded.positions import OwnPositions
from rebalsim.simulation.threaded.timers import OwnTimers


class ThreadedConsumer(Consumer):
    """One consumer of a classic group, through all its lives."""

    __slots__ = ("began_us", "is_in_poll", "left_us")

    heartbeat: OwnTimers
    feed: OwnFeed
    positions: OwnPositions
    membership: MainThread
    began_us: int  # this life's first poll(): looks at the poll timer count from here

    def equip(self) -> None:
        super().equip()
        self.is_in_poll = False
        self.left_us = (
            -1
        )  # when it left poll() with the batch at hand, where steady times ended within one
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
        had = len(self.feed.buffer)
        self.read()
        if not self.is_alive:
            return
        self.membership.serve()
        if self.is_polling and (
            len(self.feed.buffer) > had or self.feed.cycle is None
        ):  # it may wait for records, or for a commit
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
            self.membership.serve()

    def subscribe(self, topics: tuple[str, ...], pattern: str | None) -> None:
        super().subscribe(topics, pattern)
        if self.is_alive:
            self.membership.serve()

    # --------------------------------------------------------------------- the application's thread

    def poll(self) -> Generator[Any, Any, int]:
        self.is_in_poll = True
        self.left_us = -1
        return (yield from super().poll())

    def sleep(self, until_us: int) -> Generator[Any, Any, None]:
        """The own thread minds how long the application stays away: from when it left poll(), in
        which it is never late.
        """
        if self.feed.cycle is not None:
            self._leave_poll()
        if self.is_in_poll:
            self.is_in_poll = False
            self.heartbeat.timers.polled_us = self.left_us if self.left_us >= 0 else self.engine.now
        self.is_polling = self.is_idle = False
        self.busy_until_us = until_us
        self.alarm.set(until_us)
        if not self.is_closing:
            self.membership.plan()
        engine = self.engine
        while engine.now < until_us or self.is_frozen:
            yield self.nudge

    def wait(self, until_us: int) -> Generator[Any, Any, None]:
        """For an answer, of which steady times would hear nothing: a commit in a callback may
        come in the midst of them.
        """
        self.break_cycle()
        yield from super().wait(until_us)

    def break_cycle(self) -> None:
        cycle = self.feed.cycle
        if cycle is not None:
            began, ended = cycle.batch_before(self.engine.now)
            self.left_us = began if ended > self.engine.now else -1
        super().break_cycle()

    def pause(self) -> None:
        """Nothing more is handed over once the batch at hand is done."""
        if not self.feed.is_suspended:
            self.settle_accounts()
            self.break_cycle()
            self.feed.suspend()

    def rouse_application(self) -> None:
        """There is something for poll()."""
        if self.is_polling and not self.is_frozen:
            self.settle_accounts()
            self._wake()

    def thaw(self) -> None:
        is_back = self.is_alive and self.is_frozen
        super().thaw()
        if is_back:
            self.read()
            self.membership.serve()

    def enforce_rebalance(self) -> None:
        """Only the Java client has it."""
