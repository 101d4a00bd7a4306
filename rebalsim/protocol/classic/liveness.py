"""Heartbeats, and what happens when they stay away: the session timers of members and of ids
handed out.
"""

from __future__ import annotations

from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.membership import Removal
from rebalsim.protocol.classic.barrier import Trigger, complete_join, rebalance_or_complete
from rebalsim.protocol.classic.fencing import note_fenced
from rebalsim.protocol.classic.group import ClassicGroup
from rebalsim.protocol.effects import Effect, Note, Reply, SetTimer
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.messages import HeartbeatRequest, HeartbeatResponse
from rebalsim.protocol.states import ClassicState

EMPTY, PREPARING, DEAD = ClassicState.EMPTY, ClassicState.PREPARING_REBALANCE, ClassicState.DEAD
HEARD = HeartbeatResponse(Error.NONE)  # one object serves all: nobody changes a message
REBALANCING = HeartbeatResponse(Error.REBALANCE_IN_PROGRESS)


def heartbeat(
    group: ClassicGroup, number: int, request: HeartbeatRequest, now_us: int, out: list[Effect]
) -> None:
    """Renews the session; says that a rebalance is on only while it prepares, not while it
    completes.
    """
    member = group.members.get(request.member_id)
    if (
        member is None
        or request.generation != group.generation
        or request.instance_id is not None
        or group.state is DEAD
    ):
        error = _error(group, request)
        if error is not Error.NONE:
            note_fenced(error, request.member_id, KafkaApi.HEARTBEAT, out)
            # Kafka throws this error, so the answer does not wait for the log
            out.append(Reply(number, HeartbeatResponse(error)))
            return
        member = group.members[request.member_id]
    member.heard_us = now_us
    out.append(SetTimer(member.timer, now_us + member.session_timeout_us))
    out.append(Reply(number, REBALANCING if group.state is PREPARING else HEARD, True))


def _error(group: ClassicGroup, request: HeartbeatRequest) -> Error:
    if not group.exists:
        return Error.UNKNOWN_MEMBER_ID
    if group.state is DEAD:
        return Error.COORDINATOR_NOT_AVAILABLE
    error = group.identity_error(request.member_id, request.instance_id)
    if error is Error.NONE and request.generation != group.generation:
        return Error.ILLEGAL_GENERATION
    return error


def session_expired(group: ClassicGroup, member_id: str, now_us: int, out: list[Effect]) -> None:
    """GroupMetadataManager.expireClassicGroupMemberHeartbeat."""
    if group.state is DEAD:
        return
    if member_id in group.pending:
        group.remove(member_id)
        out.append(Note("MemberRemoved", {"member_id": member_id, "why": Removal.PENDING_EXPIRED}))
        _complete_if_met(group, member_id, now_us, out)
        return
    member = group.members.get(member_id)
    if member is None:
        return
    if not member.is_new and (member.join is not None or member.sync is not None):
        # it waits for us: left alone, and its timer stays off until the barrier or the assignment
        # comes
        return
    group.refuse_join(member, Error.UNKNOWN_MEMBER_ID, out)
    group.remove(member_id)
    out.append(
        Note(
            "MemberRemoved",
            {
                "member_id": member_id,
                "why": Removal.SESSION_EXPIRED,
                "last_heard_us": member.heard_us,
            },
        )
    )
    if group.state is PREPARING:
        _complete_if_met(group, member_id, now_us, out)
    elif group.state is not EMPTY:
        rebalance_or_complete(
            group,
            Trigger(
                Removal.SESSION_EXPIRED,
                member_id,
                f"removing member {member_id} on heartbeat expiration.",
                "removal",
            ),
            now_us,
            out,
        )


def _complete_if_met(group: ClassicGroup, member_id: str, now_us: int, out: list[Effect]) -> None:
    """Unlike a leave, an expiry ends even an initial rebalance if nobody is missing now."""
    if (
        group.state is PREPARING
        and group.all_joined()
        and (group.rules.removal_ends_initial_delay or group.previous_state is not EMPTY)
    ):
        complete_join(group, "removal", member_id, now_us, out)
