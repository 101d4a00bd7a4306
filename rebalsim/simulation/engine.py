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
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from heapq import heapify, heappop, heappush
from itertools import repeat
from typing import Any

import simpy
from simpy.core import EmptySchedule
from simpy.events import NORMAL, URGENT, Process

from rebalsim.domain.errors import BugError
from rebalsim.simulation.work_limit import allowance

NEVER = 1 << 62
AT_ONCE = 20_000  # entries between two looks at how much work is allowed

SCRIPT = 0  # ranks at one instant; consumer i takes FIRST + RANKS i …
FIRST = 8
RANKS = 1 << 12
# … for a message of its at a broker, an answer to it, records from the first broker (the others
# follow), its poll loop, its heartbeat thread, its answers about topics
ARRIVES, ANSWERED, RECORDS, APP, BEAT, NEWS = 0, 1, 2, RANKS - 3, RANKS - 2, RANKS - 1
LOG = 1 << 40
TIMER = 1 << 41

Steps = Generator[Any, Any, None]  # a process's body: what it yields is what it waits for
Entry = tuple[int, int, int, Callable[[Any], None], Any]  # instant, rank, number, what is called


class Engine(simpy.Environment):
    """SimPy's environment: processes, events and timeouts are SimPy's, the queue is ours."""

    now: int = 0  # SimPy's is a property; this is asked for all the time

    def __init__(self) -> None:
        super().__init__(0)
        self.rank = SCRIPT  # the rank of what happens now: whoever must know what came before it at this instant asks
        self.entries = 0  # how many entries the queue ever had
        self.begun: Counter[str] = Counter()  # processes by kind, which is their body's name
        self._entries: list[Entry] = []
        self.is_apart = False  # somebody's past is played, on a queue of its own …
        self.until_us = NEVER  # … up to this instant
        self._until = (NEVER, SCRIPT)

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
        self.now, self.rank, _, then, value = heappop(self._entries)
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
                at_us, rank, _, then, value = entry = heappop(entries)
                if at_us >= horizon_us:
                    heappush(entries, entry)
                    self.now, self.rank = horizon_us, SCRIPT
                    return
                self.now, self.rank = at_us, rank
                then(value)
            stood = stood + at_once if self.now == began_us else 0
            if stood >= most_at_once:  # it would go on so for ever, and say nothing
                raise BugError(f"After {most_at_once:,} events time is still at {began_us} µs")
            if allowed is not None:
                allowed.spend(at_once)

    # ------------------------------------------------------------------------------- somebody's past

    @contextmanager
    def apart(self, since_us: int) -> Iterator[None]:
        """What one actor has let lie since then is played now, up to now, while nobody else's
        time goes on. What it has before it afterwards takes its place among all the others'.
        """
        before = self._entries, self.now, self.rank, self.is_apart, self.until_us, self._until
        entries: list[Entry] = []
        self._entries, self.is_apart = entries, True
        self.until_us, self._until = self.now, (self.now, self.rank)
        self.now = since_us
        try:
            yield
        finally:
            self._entries, self.now, self.rank, self.is_apart, self.until_us, self._until = before
            for entry in entries:
                heappush(self._entries, entry)

    def step_apart(self) -> bool:
        """The next entry of the past; False if none is left before now."""
        entries = self._entries
        if not entries or entries[0][:2] >= self._until:
            return False
        self.now, self.rank, _, then, value = heappop(entries)
        then(value)
        return True

    def leap(self, to_us: int, rank: int) -> None:
        """What lies in between is left out: it repeats what was before. Others' timers that would
        have rung meanwhile ring then.
        """
        self._entries[:] = [
            (max(at_us, to_us), of, number, then, value)
            for at_us, of, number, then, value in self._entries
        ]
        heapify(self._entries)
        self.now, self.rank = to_us, rank


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

    def forget(self) -> None:
        """No ring that stands in the queue counts."""
        self.at_us = self.rings_us = NEVER

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
