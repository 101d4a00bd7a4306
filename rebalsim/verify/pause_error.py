"""A recorded pause held against ours, and those that differ most, told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SLACK_SHARE = 0.05


@dataclass(slots=True)
class PauseError:
    """One pause of either side; 0 where the other one has none. It is right within `slack_ms`, or
    5 % of the longer of the two.
    """

    what: str  # a partition, or a task
    start: float
    real: float
    ours: float
    slack_ms: float = 100

    @property
    def off(self) -> float:
        return abs(self.ours - self.real)

    @property
    def is_right(self) -> bool:
        return self.off <= max(self.slack_ms, SLACK_SHARE * max(self.real, self.ours))


def worst_told(pauses: Sequence[PauseError], most: int) -> list[str]:
    """So many of those that are wrong, the farthest off first."""
    wrong = [error for error in pauses if not error.is_right]
    lines = [
        f"pause of {e.what} from {e.start / 1000:.1f} s: recorded {e.real:.0f} ms, ours "
        f"{e.ours:.0f} ms"
        for e in sorted(wrong, key=lambda e: (-e.off, e.start, e.what))[:most]
    ]
    if len(wrong) > most:
        lines.append(f"… and {len(wrong) - most} more pauses")
    return lines
