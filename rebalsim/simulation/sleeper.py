"""A consumer in quiet times: when it rests, what rouses it, and that its accounts are settled
before anything is done to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rebalsim.simulation.commits import Commits
from rebalsim.simulation.engine import APP, NEVER, Alarm
from rebalsim.simulation.heartbeat import HeartbeatThread

if TYPE_CHECKING:
    from rebalsim.simulation.engine import Engine
    from rebalsim.simulation.feed import Feed
    from rebalsim.simulation.positions import Positions


class Sleeper:
    """What a consumer did while it slept is made up for when it matters (rest.py says how)."""

    __slots__ = (
        "alarm",
        "busy_until_us",
        "commits",
        "engine",
        "feed",
        "heartbeat",
        "is_alive",
        "is_frozen",
        "is_polling",
        "is_resting",
        "life",
        "member",
        "membership",
        "positions",
        "rank",
    )

    engine: Engine
    alarm: Alarm
    member: Any  # the protocol's view of it
    heartbeat: Any
    commits: Commits
    feed: Feed
    positions: Positions
    membership: Any
    is_alive: bool
    is_resting: bool
    is_frozen: bool
    is_polling: bool
    busy_until_us: int
    life: int
    rank: int

    def _wake(self) -> None:
        """Something has come for a thread that sits in poll()."""
        raise NotImplementedError

    def _make_up(self) -> None:
        """Beats and commits since this process came to rest are told now."""
        raise NotImplementedError

    def break_cycle(self) -> None:
        """Steady times are over for now; a batch at hand is finished first."""
        cycle = self.feed.cycle
        if cycle is not None:
            self.busy_until_us = max(self.busy_until_us, cycle.free_at(self.engine.now))
            self.feed.unsettle()

    def miss_commits(self) -> None:
        """The coordinator gets out of reach: who waits for an answer to each commit does not
        keep up any more.
        """
        if self.feed.cycle is not None and self.commits.is_awaited:
            self.break_cycle()
            self.engine.at(self.engine.now, self.rank + APP, self._look_up, self.life)

    def _look_up(self, life: int) -> None:
        if self.is_alive and self.life == life:
            self.wake_for_business()

    def wake_for_business(self) -> None:
        """The application shall look up: at once if it sits in poll(), else when its batch is
        done.
        """
        self.settle_accounts()
        if self.is_polling and not self.is_frozen:
            self._wake()

    def settle_accounts(self) -> None:
        """Before anything is done to this process: what it did in its sleep."""
        if self.is_resting:
            self.rouse()
        elif self.feed.cycle is not None:
            self.commits.make_up()

    def mind(self) -> None:
        """There is news for everybody in the group, or may be."""
        if self.is_resting:
            self.rouse()
        elif self.feed.cycle is not None and isinstance(self.commits, Commits):
            self.commits.make_up()

    def settled(self) -> None:
        """Steady times begin."""
        if isinstance(self.heartbeat, HeartbeatThread):
            self.heartbeat.begin_block()
            self.heartbeat.plan()

    def rest(self) -> None:
        """Beats and commits can change nothing: from now on they are made up for when something
        can.
        """
        self.is_resting = True
        self.heartbeat.bell.off()
        self.alarm.set(self.feed.first_delivery_at())

    def rouse(self) -> None:
        """News may come: beats and commits are real from now on."""
        self.is_resting = False
        self.commits.make_up()
        self._make_up()
        self.heartbeat.plan()
        due = self.commits.due_us + self.heartbeat.late_us if self.commits.is_auto else NEVER
        self.alarm.set(min(due, self.feed.first_delivery_at()))
