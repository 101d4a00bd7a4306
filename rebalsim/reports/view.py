"""What part of a report is shown, and how wide and plain."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from rebalsim.analysis.values import Lane, Pause


@dataclass(frozen=True, slots=True)
class View:
    """Zoom and form. Empty and None mean all; partitions and members may be patterns such as
    `orders-*`.
    """

    width: int = 80
    is_ascii: bool = False
    is_coloured: bool = False
    from_us: int | None = None
    until_us: int | None = None
    partitions: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    most_rows: int = 40  # of partitions per variant, once equal ones are folded
    most_pauses: int = 5  # sentences

    def window(self, horizon_us: int) -> tuple[int, int]:
        """From when to when; never empty."""
        start = min(max(self.from_us or 0, 0), max(horizon_us - 1, 0))
        end = horizon_us if self.until_us is None else min(self.until_us, horizon_us)
        return start, max(end, start + 1)

    def shows(self, lane: Lane) -> bool:
        """Whether the lane's partition is wanted, and any wanted member held it."""
        return self.shows_partition(str(lane.partition), lane.partition.topic) and (
            not self.members or any(_matches(owner, self.members) for owner in lane.owners)
        )

    def shows_member(self, name: str) -> bool:
        return not self.members or _matches(name, self.members)

    def shows_partition(self, name: str, topic: str) -> bool:
        return (
            not self.partitions
            or _matches(name, self.partitions)
            or _matches(topic, self.partitions)
        )

    def shows_pause(self, pause: Pause) -> bool:
        """Whether the pause overlaps the window and concerns what is wanted."""
        return (
            (self.until_us is None or pause.started_us < self.until_us)
            and (self.from_us is None or pause.ended_us > self.from_us)
            and self.shows_partition(str(pause.partition), pause.partition.topic)
            and (
                not self.members
                or _matches(pause.owner_before, self.members)
                or _matches(pause.owner_after, self.members)
            )
        )


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns)
