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

    @property
    def now(self) -> int: ...

    def at(self, at_us: int, then: Callable[[Any], None], value: Any = None) -> None: ...

    def begin(self, body: Steps) -> None: ...

    def waiting(self) -> Any: ...

    def draw(self, name: str) -> Random: ...

    def tell(self, happening: Happening) -> None: ...


class EnginePort:
    """The port on `simulation.engine`."""

    def __init__(self, seed: int = 1) -> None:
        self.engine = Engine()
        self.told: list[Happening] = []
        self._seed = seed
        self._streams: dict[str, Random] = {}

    @property
    def now(self) -> int:
        return self.engine.now

    def at(self, at_us: int, then: Callable[[Any], None], value: Any = None) -> None:
        self.engine.at(int(at_us), SCRIPT, then, value)

    def begin(self, body: Steps) -> None:
        self.engine.begin(body)

    def waiting(self) -> Bell:
        return Bell(self.engine, SCRIPT)

    def draw(self, name: str) -> Random:
        """A stream of chance of its own name, so that a draw here moves nothing elsewhere."""
        found = self._streams.get(name)
        if found is None:
            found = self._streams[name] = Random(f"{self._seed}/{name}")
        return found

    def tell(self, happening: Happening) -> None:
        self.told.append(happening)
