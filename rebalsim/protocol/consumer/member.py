"""The coordinator's record of one member. A value: a step makes a new one and puts it in the old
one's place (ConsumerGroup.install).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from rebalsim.protocol.consumer.topics import NO_NAMES, Names

# topic id → partition → the epoch at which it was given to this member (KIP-1251)
Held = dict[str, dict[int, int]]

AWAY = -2  # the epoch of a static member that left for a while


class MemberState(Enum):
    """Kafka's MemberState; the value is its name on the wire of tools."""

    STABLE = "STABLE"  # has all of its target, at its epoch
    UNREVOKED_PARTITIONS = (
        "UNREVOKED_PARTITIONS"  # was told to give something up and has not acknowledged
    )
    UNRELEASED_PARTITIONS = "UNRELEASED_PARTITIONS"  # waits for partitions that others still hold

    @property
    def label(self) -> str:
        """The state as traces spell it: UnrevokedPartitions."""
        return "".join(word.capitalize() for word in self.value.split("_"))


STABLE, UNREVOKED, UNRELEASED = MemberState


class Classic(NamedTuple):
    """What a member that still speaks the classic protocol brought with its JoinGroup."""

    session_timeout_us: int
    protocols: tuple[tuple[str, Any], ...]  # (assignor's name, metadata)


@dataclass(slots=True)
class Member:
    """One member. `assigned` is what it may hold, `pending` what it was told to give up and
    still holds.
    """

    member_id: str
    epoch: int = 0
    previous_epoch: int = 0
    state: MemberState = STABLE
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    rebalance_timeout_us: int = -1
    topics: Names = NO_NAMES
    regex: str = ""
    assignor: str | None = None
    assigned: Held = field(default_factory=dict)
    pending: Held = field(default_factory=dict)
    classic: Classic | None = None

    def is_reconciled_to(self, epoch: int) -> bool:
        """Whether the member has all of its target at this assignment epoch."""
        return self.epoch == epoch and self.state is STABLE
