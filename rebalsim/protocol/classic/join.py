"""JoinGroup: strangers get an id, newcomers become members, members come to the barrier or hear
that nothing changed.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.membership import Arrival, Removal
from rebalsim.protocol.classic.barrier import (
    Trigger,
    maybe_complete_join,
    prepare_rebalance,
    rebalance_or_complete,
)
from rebalsim.protocol.classic.fencing import note_fenced
from rebalsim.protocol.classic.group import ClassicGroup, Member
from rebalsim.protocol.classic.log import answer_for, append_empty_group
from rebalsim.protocol.classic.static import replace_static_member
from rebalsim.protocol.effects import CancelTimer, Effect, Note, Reply, SetTimer
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.messages import JoinGroupRequest, JoinGroupResponse
from rebalsim.protocol.states import ClassicState

EMPTY, PREPARING, COMPLETING = (
    ClassicState.EMPTY,
    ClassicState.PREPARING_REBALANCE,
    ClassicState.COMPLETING_REBALANCE,
)
STABLE, DEAD = ClassicState.STABLE, ClassicState.DEAD
# in place of a parked JoinGroup: its asker has its answer, and the barrier counts it all the same
ANSWERED = -1


def join(
    group: ClassicGroup, number: int, request: JoinGroupRequest, now_us: int, out: list[Effect]
) -> None:
    """GroupCoordinatorService.joinGroup and GroupMetadataManager.classicGroupJoinToClassicGroup."""
    rules = group.rules
    if (
        not rules.min_session_timeout_us
        <= request.session_timeout_us
        <= rules.max_session_timeout_us
    ):
        _refuse(number, Error.INVALID_SESSION_TIMEOUT, request.member_id, out)
        return
    is_created = not group.exists
    if is_created and request.member_id:
        _refuse(number, Error.UNKNOWN_MEMBER_ID, request.member_id, out)
        return
    group.exists = True
    appended = group.appends
    if not _has_room(group, request.member_id):
        # The one who came last is out, without a look at the barrier that may be met now.
        if request.member_id in group.members:
            member = group.members[request.member_id]
            out.append(
                Note(
                    "MemberRemoved",
                    {
                        "member_id": member.member_id,
                        "why": Removal.GROUP_FULL,
                        "last_heard_us": member.heard_us,
                    },
                )
            )
        group.remove(request.member_id)
        _refuse(number, Error.GROUP_MAX_SIZE_REACHED, "", out)
    elif request.member_id:
        _join_known(group, number, request, now_us, out)
    else:
        _join_stranger(group, number, request, now_us, out)
    if is_created and group.appends == appended:
        append_empty_group(group, StoredCreation(number), out)


def _has_room(group: ClassicGroup, member_id: str) -> bool:
    """group.max.size. At the barrier those who have joined are counted, so the last to rejoin an
    overfull group are refused.
    """
    state = group.state
    if state is PREPARING:
        member = group.members.get(member_id)
        return (
            member is not None and member.join is not None
        ) or group.awaiting_join < group.rules.max_size
    if state is COMPLETING or state is STABLE:
        return member_id in group.members or len(group.members) < group.rules.max_size
    return True


def _join_stranger(
    group: ClassicGroup, number: int, request: JoinGroupRequest, now_us: int, out: list[Effect]
) -> None:
    if group.state is DEAD:
        _refuse(number, Error.COORDINATOR_NOT_AVAILABLE, "", out)
        return
    if not group.supports(request.protocol_type, request.protocols):
        _refuse(number, Error.INCONSISTENT_GROUP_PROTOCOL, "", out)
        return
    instance_id = request.instance_id
    if instance_id is not None:
        member_id = group.new_member_id(instance_id)
        holder = group.static_members.get(instance_id)
        if holder is not None:
            replace_static_member(group, number, request, holder, member_id, now_us, out)
        else:
            _add(group, number, request, member_id, Arrival.STATIC, now_us, out)
    elif request.version >= 4:
        # KIP-394: no member yet, so no rebalance; but a barrier that is not an initial one waits
        # for this id from now on.
        member_id = group.new_member_id(request.client_id)
        timer = group.session_prefix + member_id
        group.pending[member_id] = timer
        out.append(SetTimer(timer, now_us + request.session_timeout_us))
        out.append(Note("MemberAdded", {"member_id": member_id, "how": Arrival.PENDING}))
        _refuse(number, Error.MEMBER_ID_REQUIRED, member_id, out)
    else:
        _add(
            group, number, request, group.new_member_id(request.client_id), Arrival.NEW, now_us, out
        )


def _add(
    group: ClassicGroup,
    number: int,
    request: JoinGroupRequest,
    member_id: str,
    how: str,
    now_us: int,
    out: list[Effect],
) -> None:
    if group.state is PREPARING and (
        group.previous_state is EMPTY if group.rules.extends_every_start else group.generation == 0
    ):
        group.new_member_added = True
    member = Member(
        member_id,
        request.instance_id,
        request.client_id,
        request.session_timeout_us,
        request.rebalance_timeout_us,
        request.protocol_type,
        request.protocols,
        group.session_prefix + member_id,
        join=number,
        is_new=True,
    )
    group.add(member)
    out.append(Note("MemberAdded", {"member_id": member_id, "how": how}))
    # It cannot send heartbeats while it waits; a client that gave up and came again would leave
    # this member behind for ever.
    group.arm(member, group.rules.new_member_join_timeout_us, now_us, out)
    instance = "null" if request.instance_id is None else request.instance_id
    rebalance_or_complete(
        group,
        Trigger(
            "joined",
            member_id,
            _because(f"Adding new member {member_id} with group instance id {instance}", request),
        ),
        now_us,
        out,
    )


def _join_known(
    group: ClassicGroup, number: int, request: JoinGroupRequest, now_us: int, out: list[Effect]
) -> None:
    member_id, state = request.member_id, group.state
    if state is DEAD:
        _refuse(number, Error.COORDINATOR_NOT_AVAILABLE, member_id, out)
        return
    if not group.supports(request.protocol_type, request.protocols):
        _refuse(number, Error.INCONSISTENT_GROUP_PROTOCOL, member_id, out)
        return
    if member_id in group.pending:
        if request.instance_id is not None:  # an IllegalStateException in Kafka
            _refuse(number, Error.UNKNOWN_SERVER_ERROR, "", out)
        else:
            _add(group, number, request, member_id, Arrival.NEW, now_us, out)
        return
    error = group.identity_error(member_id, request.instance_id)
    if error is not Error.NONE:
        note_fenced(error, member_id, KafkaApi.JOIN, out)
        _refuse(number, error, member_id, out)
        return
    member = group.members[member_id]
    if state is PREPARING:
        _rejoin(group, number, request, member, "", now_us, out)
    elif state is STABLE and group.leader_id == member_id:
        # Lets a leader ask for a new assignment whose reason is not in the metadata, such as more
        # partitions.
        _rejoin(group, number, request, member, "leader-rejoined", now_us, out)
    elif state is EMPTY:
        _refuse(number, Error.UNKNOWN_MEMBER_ID, member_id, out)
    elif member.protocols != request.protocols:
        _rejoin(group, number, request, member, "metadata-changed", now_us, out)
    else:  # probably its last answer was lost
        out.append(Reply(number, group.joined_answer(member_id)))


def _rejoin(
    group: ClassicGroup,
    number: int,
    request: JoinGroupRequest,
    member: Member,
    kind: str,
    now_us: int,
    out: list[Effect],
) -> None:
    group.update(
        member, request.protocols, request.session_timeout_us, request.rebalance_timeout_us, number
    )
    out.append(Note("MemberRejoined", {"member_id": member.member_id}))
    state = group.state
    if state is PREPARING:
        maybe_complete_join(group, "all-joined", member.member_id, now_us, out)
        return
    what = (
        f"Leader {member.member_id} re-joining group"
        if kind == "leader-rejoined"
        else f"Updating metadata for member {member.member_id}"
    )
    reason = _because(f"{what} during {state.value}", request)
    prepare_rebalance(group, Trigger(kind, member.member_id, reason), now_us, out)


def _because(what: str, request: JoinGroupRequest) -> str:
    return f"{what}; client reason: {request.reason or 'not provided'}"


def _refuse(number: int, error: Error, member_id: str, out: list[Effect]) -> None:
    out.append(Reply(number, JoinGroupResponse(error, member_id)))


@dataclass(slots=True)
class StoredCreation:
    """The record of a group that a JoinGroup created. Without it the group does not exist."""

    request: int

    def finished(self, group: ClassicGroup, error: Error, now_us: int, out: list[Effect]) -> None:
        if error is Error.NONE:
            return
        # the group is there, and its record may yet be: only whoever waits is told
        if error is Error.REQUEST_TIMED_OUT:
            for member in group.members.values():
                if member.join == self.request:
                    member.join = ANSWERED
                    _refuse(self.request, answer_for(error), "", out)
            return
        for member in group.ordered():
            if member.join == self.request:
                member.join = None
                group.awaiting_join -= 1
                _refuse(self.request, answer_for(error), "", out)
        # the whole coordinator goes, and answers whoever else waits
        if error is Error.NOT_COORDINATOR:
            return
        if group.join_is_armed:
            out.append(CancelTimer(group.join_timer))
        for timer in [*group.pending.values(), *(member.timer for member in group.ordered())]:
            out.append(CancelTimer(timer))
        fresh = ClassicGroup(
            group.group_id,
            group.rules,
            group.new_member_id,
            appends=group.appends,
            writing=group.writing,
        )
        for field in fields(ClassicGroup):
            setattr(group, field.name, getattr(fresh, field.name))
