"""Whoever serves one thing after the other, and takes time for each: a group coordinator, or a
broker that sends its answers.

That time is known when a thing comes, so that no event is needed where nobody has to wait.
"""

from __future__ import annotations


class Desk:
    """When it is free again."""

    __slots__ = ("_free_us",)

    def __init__(self) -> None:
        self._free_us = 0.0

    def begins_us(self, now_us: int, takes_us: float) -> int:
        """When this is begun with: at once, or after all that came before."""
        begins = max(float(now_us), self._free_us)
        self._free_us = begins + takes_us
        return int(begins)

    def ends_us(self, now_us: int, takes_us: float) -> int:
        """When this is done, after all that came before."""
        self._free_us = max(float(now_us), self._free_us) + takes_us
        return int(self._free_us)
