"""The coordinator's record of one member of a streams group. A value: a step makes a new one and
puts it in the old one's place (StreamsGroup.install).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from rebalsim.protocol.streams_messages import NO_TASKS, Roles


class MemberState(Enum):
    """Kafka's MemberState; the value is its name on the wire of tools."""

    STABLE = "STABLE"  # has all of its target, at its epoch
    UNREVOKED_TASKS = "UNREVOKED_TASKS"  # was told to give something up and has not acknowledged
    UNRELEASED_TASKS = "UNRELEASED_TASKS"  # waits for tasks that others still hold

    @property
    def label(self) -> str:
        """The state as traces spell it: UnrevokedTasks."""
        return "".join(word.capitalize() for word in self.value.split("_"))


STABLE, UNREVOKED, UNRELEASED = MemberState


@dataclass(frozen=True, slots=True)
class Member:
    """One member. `assigned` is what it may hold, `pending` what it was told to give up and still
    holds.
    """

    member_id: str
    epoch: int = 0
    previous_epoch: int = 0
    state: MemberState = STABLE
    process: str = ""
    client_id: str = ""
    rack_id: str | None = None
    rebalance_timeout_us: int = -1
    topology_epoch: int = -1
    tags: Mapping[str, str] = field(default_factory=dict)
    assigned: Roles = NO_TASKS
    pending: Roles = NO_TASKS

    def is_reconciled_to(self, epoch: int) -> bool:
        """Whether the member has all of its target at this assignment epoch."""
        return self.epoch == epoch and self.state is STABLE
