"""The clock and what hangs on it: SimPy's environment with integer time, ties that are stated, and
signals that wake a sleeping process without another trip through the queue.

Ties at one microsecond are decided by rank, never by who was scheduled first, so that a run
which skips quiet times and one which does not agree: the script, then each consumer in its
order, then metadata and the log, and the coordinator's timers last (they queue up behind the
messages that are there already, CoordinatorRuntime's timers). SimPy's own events have the rank
of their priority, and so come with the script.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator
from heapq import heappop, heappush
from itertools import repeat
from typing import Any

import simpy
from simpy.core import EmptySchedule
from simpy.events import NORMAL, URGENT, Process

from rebalsim.domain.errors import BugError
from rebalsim.simulation.work import allowance

NEVER = 1 << 62
AT_ONCE = 20_000  # entries between two looks at how much work is allowed

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

Steps = Generator[Any, Any, None]  # a process's body: what it yields is what it waits for
Entry = tuple[int, int, int, Callable[[Any], None], Any]  # instant, rank, number, what is called


class Engine(simpy.Environment):
    """SimPy's environment: processes, events and timeouts are SimPy's, the queue is ours."""

    now: int = 0  # SimPy's is a property; this is asked for all the time

    def __init__(self) -> None:
        super().__init__(0)
        self.rank = SCRIPT  # of what happens now, for those who must know what came before it
        self.entries = 0  # that the queue ever had
        self.begun: Counter[str] = Counter()  # processes by kind, which is their body's name
        self._entries: list[Entry] = []

    # ------------------------------------------------------------------------------------ the queue

    def at(self, at_us: int, rank: int, then: Callable[[Any], None], value: Any = None) -> None:
        """Call `then` with the value at this instant (not before now)."""
        now = self.now
        self.entries = number = self.entries + 1
        heappush(self._entries, (at_us if at_us > now else now, rank, number, then, value))

    def schedule(self, event: simpy.Event, priority: Any = NORMAL, delay: Any = 0) -> None:
        """An event of SimPy's, on behalf of its processes and timeouts."""
        self.at(self.now + delay, priority, _occur, event)

    def peek(self) -> Any:
        """When the next entry is due."""
        return self._entries[0][0] if self._entries else float("inf")

    def step(self) -> None:
        """The next entry's turn."""
        if not self._entries:
            raise EmptySchedule
        self.now, _, _, then, value = heappop(self._entries)
        then(value)

    def begin(self, body: Steps) -> Process:
        """A process starts; it is counted under its body's name."""
        process = self.process(body)
        self.begun[process.name] += 1
        return process

    def run_to(self, horizon_us: int, most_at_once: int = 2_000_000) -> None:
        """Up to the horizon, which is not part of it."""
        entries, allowed = self._entries, allowance()
        at_once, stood = min(AT_ONCE, most_at_once), 0
        self.at(horizon_us, SCRIPT, _nothing)  # so that the queue is never empty before
        while True:
            began_us = self.now
            for _ in repeat(None, at_once):
                at_us, _, _, then, value = entry = heappop(entries)
                if at_us >= horizon_us:
                    heappush(entries, entry)
                    self.now = horizon_us
                    return
                self.now = at_us
                then(value)
            stood = stood + at_once if self.now == began_us else 0
            if stood >= most_at_once:  # it would go on so for ever, and say nothing
                raise BugError(f"After {most_at_once:,} events time is still at {began_us} µs")
            if allowed is not None:
                allowed.spend(at_once)


def _occur(event: simpy.Event) -> None:
    callbacks, event.callbacks = event.callbacks, None  # type: ignore[assignment]
    for callback in callbacks:
        callback(event)
    if not event.ok and not event.defused:
        error: Any = event.value
        raise error


def _nothing(_: None) -> None:
    """The horizon's own entry."""


class Signal(simpy.Event):
    """What a sleeping process yields. It can be given again and again; whoever gives it runs the
    process then and there.
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._ok = True
        self._value = None

    def give(self) -> None:
        """Whoever waits goes on now."""
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


class Bell(Signal):
    """A sleeping thread's signal with a clock of its own: it goes on at the time that was set
    last, or when somebody gives the signal.
    """

    def __init__(self, engine: Engine, rank: int, ring: Callable[[], None] | None = None) -> None:
        super().__init__(engine)
        self.clock = Alarm(engine, rank, ring or self.give)
        self.set = self.clock.set
        self.off = self.clock.off


__all__ = ["NEVER", "URGENT", "Alarm", "Bell", "Engine", "Signal", "Steps"]
