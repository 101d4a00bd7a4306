"""The clock and what hangs on it: alarms that call back, and nudges that wake a SimPy process
without another trip through the queue.

Ties at one microsecond are decided by rank, never by who was scheduled first, so that a run
which sleeps through quiet times and one which does not agree: the script, then each consumer in
its order, then metadata and the log, and the coordinator's timers last (they queue up behind the
messages that are there already, CoordinatorRuntime's timers).
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import repeat
from typing import Any

import simpy

from rebalsim.domain.errors import BugError

NEVER = 1 << 62

SCRIPT = 0  # ranks at one instant; consumer i takes FIRST + 4 i …
FIRST = 8
ARRIVES, ANSWERED, APP, BEAT = (
    0,
    1,
    2,
    3,
)  # … for a message of its at a broker, an answer to it, its poll loop, its heartbeat thread
LOG = 1 << 40
TIMER = 1 << 41

# parts of our entries of the queue: instant, rank, number, a function and what it is called with;
# SimPy's own have four
OURS = 5


class Nudge(simpy.Event):
    """What a sleeping process yields. It can be given again and again; whoever gives it runs the
    process then and there.
    """

    def __init__(self, env: simpy.Environment) -> None:
        super().__init__(env)
        self._ok = True
        self._value = None

    def give(self) -> None:
        waiting, self.callbacks = self.callbacks, []
        for resume in waiting:
            resume(self)


class Alarm:
    """One sleeper's clock: set it anew as often as you like, it rings at the last time set. An
    early ring is put off, not cancelled.
    """

    __slots__ = ("at_us", "engine", "rank", "ring", "rings_us")

    def __init__(self, engine: Engine, rank: int, ring: Callable[[], None]) -> None:
        self.engine = engine
        self.rank = rank
        self.ring = ring
        self.at_us = NEVER
        self.rings_us = NEVER  # the ring that stands in the queue

    def set(self, at_us: int) -> None:
        self.at_us = at_us
        if at_us < self.rings_us:
            self.rings_us = at_us
            self.engine.at(at_us, self.rank, self._rung, at_us)

    def off(self) -> None:
        self.at_us = NEVER

    def _rung(self, rings_us: int) -> None:
        if rings_us != self.rings_us:
            return  # one set earlier has taken its place
        self.rings_us = NEVER
        at_us = self.at_us
        if at_us == NEVER:
            return
        if at_us > rings_us:
            self.set(at_us)
            return
        self.at_us = NEVER
        self.ring()


class Engine:
    """SimPy's environment, with integer time and ranks."""

    __slots__ = ("env", "events", "rank")

    def __init__(self) -> None:
        self.env: Any = simpy.Environment(0)
        self.rank = SCRIPT  # of what happens now, for those who must know what came before it
        self.events = 0

    @property
    def now(self) -> int:
        now: int = self.env._now
        return now

    def at(self, at_us: int, rank: int, then: Callable[[Any], None], value: Any = None) -> None:
        """Call `then` with the value at this instant (not before now)."""
        # Environment.schedule, without the way there: this is where most of a run's queueing is
        # done
        env = self.env
        now = env._now
        heappush(env._queue, (at_us if at_us > now else now, rank, next(env._eid), then, value))

    def run(self, horizon_us: int, most_at_once: int = 2_000_000) -> None:
        """Up to the horizon, which is not part of it. SimPy's own events, of processes, take
        SimPy's own steps.
        """
        env = self.env
        queue = env._queue
        self.at(horizon_us, SCRIPT, _nothing)  # so that the queue is never empty before
        is_over = False
        while not is_over:
            began_us = env._now
            for _ in repeat(None, most_at_once):
                entry = queue[0]
                if entry[0] >= horizon_us:
                    is_over = True
                    break
                if len(entry) == OURS:
                    heappop(queue)
                    env._now = entry[0]
                    entry[3](entry[4])
                else:
                    env.step()
            else:
                if env._now == began_us:  # it would go on so for ever, and say nothing
                    raise BugError(f"After {most_at_once:,} events time is still at {began_us} µs")
        env._now = horizon_us


def _nothing(_: None) -> None:
    """The horizon's own entry."""
