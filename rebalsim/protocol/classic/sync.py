"""SyncGroup: the leader's assignment is stored and handed to everybody who asked; late askers
get it from Stable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.membership import Removal
from rebalsim.protocol.classic.barrier import (
    Trigger,
    cancel_sync_timer,
    drop_assignments,
    prepare_rebalance,
    rebalance_or_complete,
)
from rebalsim.protocol.classic.fencing import note_fenced
from rebalsim.protocol.classic.group import ClassicGroup
from rebalsim.protocol.classic.log import answer_for, append_group
from rebalsim.protocol.effects import CancelTimer, Effect, Note, Reply
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.messages import SyncGroupRequest, SyncGroupResponse
from rebalsim.protocol.notes import state_changed
from rebalsim.protocol.states import ClassicState

EMPTY, PREPARING, COMPLETING = (
    ClassicState.EMPTY,
    ClassicState.PREPARING_REBALANCE,
    ClassicState.COMPLETING_REBALANCE,
)
STABLE, DEAD = ClassicState.STABLE, ClassicState.DEAD


def sync(
    group: ClassicGroup, number: int, request: SyncGroupRequest, now_us: int, out: list[Effect]
) -> None:
    """GroupMetadataManager.classicGroupSyncToClassicGroup."""
    error = _error(group, request)
    if error is not Error.NONE:
        note_fenced(error, request.member_id, KafkaApi.SYNC, out)
        out.append(Reply(number, SyncGroupResponse(error)))
        return
    member = group.members[request.member_id]
    if group.state is PREPARING:
        out.append(Reply(number, SyncGroupResponse(Error.REBALANCE_IN_PROGRESS)))
        return
    group.pending_sync.pop(request.member_id, None)
    if not group.pending_sync:
        cancel_sync_timer(group, out)
    if group.state is COMPLETING:
        member.sync = number  # one that it has parked before is dropped without an answer
        if group.leader_id == request.member_id:
            stored = StoredAssignment(group.generation, request.assignments, request.member_id)
            append_group(group, "assignment", dict(request.assignments), stored, now_us, out)
    else:
        if group.rules.sync_renews_session:
            group.arm(member, member.session_timeout_us, now_us, out)
        out.append(
            Reply(
                number,
                SyncGroupResponse(
                    Error.NONE, member.assignment, group.protocol_type, group.protocol
                ),
            )
        )


def _error(group: ClassicGroup, request: SyncGroupRequest) -> Error:
    if group.state is EMPTY:
        return Error.UNKNOWN_MEMBER_ID
    if group.state is DEAD:
        return Error.COORDINATOR_NOT_AVAILABLE
    error = group.identity_error(request.member_id, request.instance_id)
    if error is not Error.NONE:
        return error
    if request.generation != group.generation:
        return Error.ILLEGAL_GENERATION
    if _differs(request.protocol_type, group.protocol_type) or _differs(
        request.protocol, group.protocol
    ):
        return Error.INCONSISTENT_GROUP_PROTOCOL
    return Error.NONE


def _differs(given: str | None, current: str | None) -> bool:
    return given is not None and current is not None and given != current


@dataclass(slots=True)
class StoredAssignment:
    """The leader's assignment, on its way to the log. If a rebalance began meanwhile, it no
    longer matters.
    """

    generation: int
    assignments: Mapping[str, Any]
    leader_id: str

    def finished(self, group: ClassicGroup, error: Error, now_us: int, out: list[Effect]) -> None:
        if group.state is not COMPLETING or group.generation != self.generation:
            return
        if error is not Error.NONE:
            told = answer_for(error)
            drop_assignments(group, told, now_us, out)
            rebalance_or_complete(
                group,
                Trigger(
                    "write-failed",
                    self.leader_id,
                    (
                        f"Error {told.name} when storing group assignment during SyncGroup "
                        f"(member: {self.leader_id})."
                    ),
                    "removal",
                ),
                now_us,
                out,
            )
            return
        for member in group.ordered():
            member.assignment = self.assignments.get(member.member_id)
            if member.sync is not None:
                out.append(
                    Reply(
                        member.sync,
                        SyncGroupResponse(
                            Error.NONE, member.assignment, group.protocol_type, group.protocol
                        ),
                    )
                )
                member.sync = None
                # its session may have run out during the wait, which nobody looked at
                group.arm(member, member.session_timeout_us, now_us, out)
        group.enter(STABLE)
        out.append(Note("AssignmentStored", {"generation": group.generation}))
        out.append(state_changed(COMPLETING, STABLE, group.generation))


def sync_expired(group: ClassicGroup, now_us: int, out: list[Effect]) -> None:
    """Whoever has not asked for its assignment in time is out, static or not
    (GroupMetadataManager.expirePendingSync).
    """
    generation, group.sync_generation = group.sync_generation, -1
    if (
        generation != group.generation
        or group.state not in (COMPLETING, STABLE)
        or not group.pending_sync
    ):
        return
    # An id that a replacement in Stable left behind is no member any more, but the rebalance comes
    # all the same.
    late = list(group.pending_sync)
    for member_id in late:
        member = group.members.get(member_id)
        group.remove(member_id)
        out.append(CancelTimer(group.session_prefix + member_id))
        if member is not None:
            out.append(
                Note(
                    "MemberRemoved",
                    {
                        "member_id": member_id,
                        "why": Removal.NOT_SYNCED,
                        "last_heard_us": member.heard_us,
                    },
                )
            )
    prepare_rebalance(
        group,
        Trigger(
            "sync-expired",
            late[0],
            (f"Removing [{', '.join(late)}] on pending sync request expiration"),
            "removal",
        ),
        now_us,
        out,
    )
