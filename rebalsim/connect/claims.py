"""What a worker says of itself when it joins, what the leader answers, and what it is left with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from rebalsim.assignors.connect.work import NO_WORK, Work


@dataclass(frozen=True, slots=True)
class Assigned:
    """A worker's assignment as it stands: what the last answer left it with."""

    is_failed: bool
    leader: str
    offset: int
    work: Work
    revoked: Work = NO_WORK
    delay_us: int = 0


class Metadata(NamedTuple):
    """What a worker says of itself for one protocol. The coordinator compares it as a whole, so
    all of the assignment is in it.
    """

    offset: int
    claimed: Assigned | None = None


class Given(NamedTuple):
    """What the leader has for one worker."""

    leader: str
    offset: int
    is_failed: bool
    given: Work
    revoked: Work
    delay_us: int
