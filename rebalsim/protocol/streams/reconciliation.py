"""Moves one member towards its target (Kafka's CurrentAssignmentBuilder): first it gives up, then it
takes what is free.

An active task is free when no process has it active, and the member's own process has it in no
other role; a standby when that process has it in no role at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rebalsim.domain.task_ids import TaskId
from rebalsim.protocol.streams.group import StreamsGroup
from rebalsim.protocol.streams.member import STABLE, UNRELEASED, UNREVOKED, Member
from rebalsim.protocol.streams_messages import NO_TASKS, Roles, Tasks

_NOTHING: frozenset[str] = frozenset()


def reconcile(
    group: StreamsGroup, member: Member, epoch: int, target: Roles, owned: Roles | None
) -> Member:
    """The member as it is after this heartbeat; the same object if it has to stay as it is."""
    if member.state is STABLE and member.epoch == epoch:
        return member
    at = member.epoch
    if member.state is UNREVOKED:
        if owned is None or owned.meets(member.pending):
            return member
        at += 1
    return _towards(group, member, at, epoch, target, owned)


def _towards(
    group: StreamsGroup, member: Member, at: int, epoch: int, target: Roles, owned: Roles | None
) -> Member:
    mine = member.process

    def has_replica(task: TaskId) -> bool:
        return mine in group.standby_on.get(task, _NOTHING) or mine in group.warmup_on.get(
            task, _NOTHING
        )

    def has_any(task: TaskId) -> bool:
        return group.active_on.get(task) == mine or has_replica(task)

    active = _Part(
        member.assigned.active,
        target.active,
        lambda task: task in group.active_on or has_replica(task),
    )
    standby = _Part(member.assigned.standby, target.standby, has_any)
    warmup = _Part(member.assigned.warmup, target.warmup, has_any)
    parts = (active, standby, warmup)
    kept = Roles(*(part.kept for part in parts))
    revoked = Roles(*(part.revoked for part in parts))
    if not revoked.is_empty and (owned is None or owned.meets(revoked)):
        return replace(
            member,
            state=UNREVOKED,
            epoch=at,
            previous_epoch=member.epoch,
            assigned=kept,
            pending=revoked,
        )
    return replace(
        member,
        state=UNRELEASED if any(part.waits for part in parts) else STABLE,
        epoch=epoch,
        previous_epoch=member.epoch,
        assigned=Roles(*(part.kept | part.added for part in parts)),
        pending=NO_TASKS,
    )


class _Part:
    """One role: what stays, what goes, what comes now, and whether something has to wait."""

    __slots__ = ("added", "kept", "revoked", "waits")

    def __init__(self, now: Tasks, then: Tasks, is_held: Callable[[TaskId], bool]) -> None:
        self.kept = now & then
        self.revoked = now - then
        wanted = then - now
        self.added = frozenset(task for task in sorted(wanted) if not is_held(task))
        self.waits = len(self.added) < len(wanted)
