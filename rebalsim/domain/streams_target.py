"""A streams group's target as the broker holds it, and a member as the broker's task assignor is
given it.

Here because two rooms share it that must not know each other: the protocol keeps targets, the
assignor computes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from rebalsim.domain.task_ids import TaskId


@dataclass(frozen=True, slots=True)
class StreamsMember:
    """One member with its target so far, in the order in which it enters the assignor's table."""

    member_id: str
    process: str
    active: tuple[TaskId, ...] = ()
    standby: tuple[TaskId, ...] = ()


@dataclass(slots=True)
class MemberTasks:
    """A member's new target."""

    active: set[TaskId] = field(default_factory=set)
    standby: set[TaskId] = field(default_factory=set)


class BrokersTaskAssignor(Protocol):
    """`tasks` counts each sub-topology's, `k` is the number of standbys of one with state."""

    def __call__(
        self,
        tasks: Mapping[int, int],
        stateful: Mapping[int, bool],
        members: Sequence[StreamsMember],
        k: int,
    ) -> dict[str, MemberTasks]: ...
