"""What consumers have and workers do not: records to read, metadata of topics. The world asks all
its processes alike.
"""

from __future__ import annotations

from typing import Any

from rebalsim.domain.stuck_by import StuckBy


class NoFeed:
    """A process that reads no partition."""

    is_suspended = True

    def __init__(self) -> None:
        self.shares: dict[Any, Any] = {}
        self.flying: dict[Any, Any] = {}

    def renew(self) -> None:
        """Nothing to go on with."""

    def consumed(self) -> dict[Any, int]:
        return {}


class NoMetadata:
    """A process to which it is all the same how many partitions a topic has."""

    def changed(self, topic: str = "") -> None:
        """Nobody looks."""

    def look_again(self) -> None:
        """Nobody looks."""


class NoConsumer:
    """What is asked of all processes, and is nothing to a worker."""

    skipped = None  # its beats are real: nothing of it is made up for later
    is_polling = True
    pattern = None
    assignors = ()
    slowness = 1.0

    def touch(self) -> None:
        """Nothing was slept through."""

    wake_for_business = touch

    def change_pace(self, slowness: float) -> None:
        self.slowness = slowness

    def hang(self, us: int, why: str = StuckBy.HANG, is_seen: bool = False) -> None:
        """It has no handler; a story that asks for it is refused."""

    def subscribe(self, topics: tuple[str, ...], pattern: str | None) -> None:
        """A worker subscribes to nothing."""
