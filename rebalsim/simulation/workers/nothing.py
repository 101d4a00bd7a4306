"""What consumers have and workers do not: records to read, metadata of topics. The world asks all
its processes alike.
"""

from __future__ import annotations

from typing import Any


class NoFeed:
    """A process that reads no partition."""

    cycle = None
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
