"""Version probing: how members of a classic Streams group whose clients speak different versions of
the metadata come to a common one. Kafka 2.0 and later can; from 3.2 on all speak the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rebalsim.assignors.streams.process import ThreadClaim
from rebalsim.assignors.streams.tasks import LATEST_OFFSET, UNKNOWN_OFFSET

LATEST = 11  # of Kafka 3.2 and later
_FIRST_WITH_OFFSETS = 7  # before it a subscription tells which tasks there are, not how far
_FIRST_OF = (  # of clients: from this version of Kafka on
    ((3, 2), LATEST),
    ((3, 0), 10),
    ((2, 8), 9),
    ((2, 6), 8),
    ((2, 5), 6),
    ((2, 4), 5),
    ((2, 1), 4),
)


def version_of(kafka: tuple[int, int]) -> int:
    """The latest version of the metadata that a client of this Kafka speaks."""
    return next((version for first, version in _FIRST_OF if kafka >= first), 3)


@dataclass(frozen=True, slots=True)
class Spoken:
    """What travels with a subscription or an assignment: the version it is written in, and the
    latest one that its writer (in an assignment: everybody) could have written.
    """

    version: int = LATEST
    latest: int = LATEST


def from_the_future(spoken: Mapping[str, Spoken], leader: Spoken) -> list[str]:
    """Members whose subscriptions the leader cannot read."""
    return [member for member, each in spoken.items() if each.version > leader.latest]


def common(spoken: Mapping[str, Spoken]) -> Spoken:
    """What an assignment to these members is written in."""
    return Spoken(
        min(each.version for each in spoken.values()), min(each.latest for each in spoken.values())
    )


def as_read(claim: ThreadClaim, written: Spoken) -> ThreadClaim:
    """A claim as far as its version tells of it."""
    if written.version >= _FIRST_WITH_OFFSETS:
        return claim
    sums = {
        task: LATEST_OFFSET if offset == LATEST_OFFSET else UNKNOWN_OFFSET
        for task, offset in claim.offset_sums.items()
    }
    return replace(claim, offset_sums=sums)


def next_version(used: int, assigned: Spoken) -> int | None:
    """The version in which a member writes its next subscription, if not in the one it used: then
    it asks for another rebalance at once.
    """
    if assigned.latest > used or assigned.version < used:
        return assigned.latest
    return None
