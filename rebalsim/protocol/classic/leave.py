"""LeaveGroup: single members, batches of them, and removal by instance id."""

from __future__ import annotations

from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.membership import Removal
from rebalsim.protocol.classic.barrier import Trigger, rebalance_or_complete
from rebalsim.protocol.classic.fencing import note_fenced
from rebalsim.protocol.classic.group import ClassicGroup
from rebalsim.protocol.effects import CancelTimer, Effect, Note, Reply
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.messages import (
    POLL_TIMEOUT_EXPIRED,
    LeaveGroupRequest,
    LeaveGroupResponse,
    LeavingMember,
    LeftMember,
)
from rebalsim.protocol.states import ClassicState


def leave(
    group: ClassicGroup, number: int, request: LeaveGroupRequest, now_us: int, out: list[Effect]
) -> None:
    """GroupMetadataManager.classicGroupLeaveToClassicGroup: all go first, then there is one
    rebalance.
    """
    if not group.exists:
        left = tuple(
            [
                LeftMember(who.member_id, who.instance_id, Error.UNKNOWN_MEMBER_ID)
                for who in request.members
            ]
        )
        out.append(Reply(number, LeaveGroupResponse(Error.NONE, left)))
        return
    if group.state is ClassicState.DEAD:
        out.append(Reply(number, LeaveGroupResponse(Error.COORDINATOR_NOT_AVAILABLE)))
        return
    answers: list[LeftMember] = []
    gone: list[LeavingMember] = []
    first = ""
    for who in request.members:
        # An administrator removes by instance id; an empty id is no member's, so a stranger ends as
        # unknown.
        member_id = who.member_id or (
            "" if who.instance_id is None else group.static_members.get(who.instance_id, "")
        )
        error = _remove(group, member_id, who, out)
        answers.append(LeftMember(who.member_id, who.instance_id, error))
        if error is Error.NONE:
            gone.append(who)
            if not group.rules.leaves_together:
                _after([who], member_id, group, now_us, out)
            first = member_id if len(gone) == 1 else first
    if gone and group.rules.leaves_together:
        _after(gone, first, group, now_us, out)
    out.append(Reply(number, LeaveGroupResponse(Error.NONE, tuple(answers)), True))


def _after(
    gone: list[LeavingMember], first: str, group: ClassicGroup, now_us: int, out: list[Effect]
) -> None:
    if group.state is not ClassicState.EMPTY:
        names = ", ".join(who.member_id for who in gone)
        reason = f"explicit `LeaveGroup` request for ({names}) members."
        told = next((who.reason for who in gone if who.reason), None)
        if told:
            reason += f" client reason: {told}"
        kind = "poll-expired" if told == POLL_TIMEOUT_EXPIRED else "left"
        rebalance_or_complete(group, Trigger(kind, first, reason, "removal"), now_us, out)


def _remove(group: ClassicGroup, member_id: str, who: LeavingMember, out: list[Effect]) -> Error:
    if not member_id:
        return Error.UNKNOWN_MEMBER_ID
    if member_id in group.pending:
        out.append(CancelTimer(group.pending[member_id]))
        group.remove(member_id)
        out.append(Note("MemberRemoved", {"member_id": member_id, "why": Removal.LEFT}))
        return Error.NONE
    error = group.identity_error(member_id, who.instance_id)
    if error is not Error.NONE:
        note_fenced(error, member_id, KafkaApi.LEAVE, out)
        return error
    member = group.members[member_id]
    out.append(CancelTimer(member.timer))
    group.refuse_join(member, Error.UNKNOWN_MEMBER_ID, out)
    group.remove(member_id)
    out.append(
        Note(
            "MemberRemoved",
            {"member_id": member_id, "why": Removal.LEFT, "last_heard_us": member.heard_us},
        )
    )
    return Error.NONE
