"""A machine's processor as far as Connect's workers see it: making a task's clients is work, and
where many tasks start on one machine it is done one after the other.
"""

from __future__ import annotations


class Processor:
    """One queue of work."""

    __slots__ = ("free_us",)

    def __init__(self) -> None:
        self.free_us = 0

    def done_us(self, now_us: int, us: int) -> int:
        """When this work is done, behind what came before."""
        self.free_us = max(self.free_us, now_us) + us
        return self.free_us
