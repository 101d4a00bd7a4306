"""All that the clients of a Streams application see of the world: the clock, waiting, chance, and
somewhere to tell what happened. Here on the simulation's engine.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Protocol

from rebalsim.simulation.engine import NEVER, SCRIPT, Bell, Engine, Steps
from rebalsim.simulation.streams.happenings import Happening

__all__ = ["NEVER", "EnginePort", "Port", "Steps", "Waiting"]


class Waiting(Protocol):
    """What a sleeping thread yields: it goes on at the time set last, or when it is woken."""

    def set(self, at_us: int) -> None: ...

    def off(self) -> None: ...

    def give(self) -> None: ...


class Port(Protocol):
    """The world as a client sees it."""

    now: int
    rank: int  # of what happens now, among what happens at one instant

    def call(
        self, at_us: int, then: Callable[[Any], None], value: Any = None, rank: int = SCRIPT
    ) -> None: ...

    def begin(self, body: Steps) -> Any: ...

    def waiting(self) -> Any: ...

    def passes(self, until_us: int, whose: Any) -> bool: ...

    def draw(self, name: str) -> Random: ...

    @property
    def tell(self) -> Callable[[Happening], None]: ...


class EnginePort(Engine):
    """The simulation's engine as such a world. It is the engine, and does not merely have one, for
    the clock is read thousands of times in a run.
    """

    def __init__(self, seed: int = 1) -> None:
        super().__init__()
        self.told: list[Happening] = []
        self.tell = self.told.append
        self.ringing: _Waiting | None = None  # whose ring is played now
        self._seed = seed
        self._streams: dict[str, Random] = {}

    def call(
        self, at_us: int, then: Callable[[Any], None], value: Any = None, rank: int = SCRIPT
    ) -> None:
        self.at(int(at_us), rank, then, value)

    def waiting(self) -> Bell:
        return _Waiting(self)

    def passes(self, until_us: int, whose: Any) -> bool:
        """Where nothing else comes before, time goes on by itself, and whoever would have slept until
        then need not. That is so only for the sleeper whose own ring is played now (`whose` is
        its signal): whoever was woken by somebody else would take that one's time along.
        """
        if whose is self.ringing and until_us < self._entries[0][0]:
            self.now = until_us
            return True
        return False

    def draw(self, name: str) -> Random:
        """A stream of chance of its own name, so that a draw here moves nothing elsewhere."""
        found = self._streams.get(name)
        if found is None:
            found = self._streams[name] = Random(f"{self._seed}/{name}")
        return found


class _Waiting(Bell):
    """A sleeper's signal; while its own ring is played, the port knows whose that is."""

    def __init__(self, port: EnginePort) -> None:
        super().__init__(port, SCRIPT, self._rings)
        self._port = port

    def _rings(self) -> None:
        self._port.ringing = self
        self.give()
        self._port.ringing = None
