"""Classic members within a consumer group (online upgrade): they join, sync and beat, and are
reconciled like everybody else.

A join is answered at once: there is no barrier, no leader, and the generation is the member's
epoch. A heartbeat tells a member to join again when it is behind (see `_is_behind`), owes a
revocation, or when all it waits for has become free (GroupMetadataManager's
classicGroup…ToConsumerGroup). Only a join can make a target be computed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from rebalsim.domain.ids import Partition
from rebalsim.domain.membership import Removal
from rebalsim.protocol.consumer.admission import Admitted, holder_of, static_member
from rebalsim.protocol.consumer.group import ConsumerGroup
from rebalsim.protocol.consumer.member import UNRELEASED, UNREVOKED, Classic, Member
from rebalsim.protocol.consumer.progress import (
    join_timer,
    progress,
    remove,
    session_timer,
    sync_timer,
)
from rebalsim.protocol.consumer.refusal import Refusal
from rebalsim.protocol.consumer.topics import names_of
from rebalsim.protocol.effects import CancelTimer, Effect, SetTimer
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    LeftMember,
    SyncGroupRequest,
    SyncGroupResponse,
)


class Said(NamedTuple):
    """A classic subscription."""

    topics: tuple[str, ...]
    owned: tuple[Partition, ...] = ()
    rack: str | None = None


class Dialect(Protocol):
    """How classic metadata and assignments, which the coordinator of a classic group never looks
    into, are read and written.
    """

    def subscription(self, metadata: Any) -> Said: ...

    def assigned(self, assignment: Any) -> tuple[Partition, ...]:
        """Of an assignment (None: nothing). Raises ValueError for one whose user data would be
        lost (a custom assignor's).
        """

    def assignment(self, partitions: tuple[Partition, ...]) -> Any: ...


def admit_classic(
    group: ConsumerGroup, request: JoinGroupRequest, new_member_id: Callable[[str], str]
) -> Admitted:
    """The member of a JoinGroup. A stranger that may not be one yet is refused with the id it
    shall use: see JoinedAs.
    """
    is_stranger = not request.member_id
    member_id = request.member_id or new_member_id(request.client_id)
    if len(group.members) >= group.settings.max_size and member_id not in group.members:
        raise Refusal(
            Error.GROUP_MAX_SIZE_REACHED, f"the group has its {group.settings.max_size} members"
        )
    if not _speaks_with_all(group, request):
        raise Refusal(
            Error.INCONSISTENT_GROUP_PROTOCOL,
            "no protocol of the member is known to all classic members",
        )
    if is_stranger and request.instance_id is None and request.version >= 4:
        raise MemberIdRequired(member_id)
    if request.instance_id is None:
        known: Member | None = group.members.get(member_id)
        return Admitted(Member(member_id), True) if known is None else Admitted(known, False)
    if not is_stranger:
        return Admitted(holder_of(group, request.instance_id, member_id), False)
    holder = static_member(group, request.instance_id)
    if holder is None:
        return Admitted(Member(member_id), True)
    # Where one of the two is classic, the newcomer takes the place, as among classic members.
    return Admitted(replace(holder, member_id=member_id, epoch=0, previous_epoch=0), True, holder)


class MemberIdRequired(Refusal):
    """The stranger shall come again with this id (KIP-394). The group does not remember having
    given it.
    """

    def __init__(self, member_id: str) -> None:
        super().__init__(Error.MEMBER_ID_REQUIRED, f"join again as {member_id}")
        self.member_id = member_id


def joined(member: Member, request: JoinGroupRequest, said: Said) -> Member:
    """The member as its JoinGroup changes it."""
    topics = names_of(said.topics)
    return replace(
        member,
        instance_id=request.instance_id or member.instance_id,
        rack_id=said.rack or member.rack_id,
        rebalance_timeout_us=request.rebalance_timeout_us,
        topics=member.topics if topics.names == member.topics.names else topics,
        regex="",
        client_id=request.client_id,
        classic=Classic(request.session_timeout_us, request.protocols),
    )


def join(
    group: ConsumerGroup,
    request: JoinGroupRequest,
    admitted: Admitted,
    dialect: Dialect,
    now_us: int,
    effects: list[Effect],
) -> JoinGroupResponse:
    said = dialect.subscription(request.protocols[0][1])
    member, owned = joined(admitted.member, request, said), owned_by_id(group, said.owned)
    reached = progress(group, admitted, member, owned, True, now_us, effects)
    member_id = reached.member_id
    _cancel_join(group, member_id, effects)
    effects.append(SetTimer(session_timer(member_id), now_us + request.session_timeout_us))
    effects.append(SetTimer(sync_timer(member_id), now_us + request.rebalance_timeout_us))
    return join_answer(reached, request)


def join_answer(member: Member, request: JoinGroupRequest) -> JoinGroupResponse:
    return JoinGroupResponse(
        Error.NONE, member.member_id, member.epoch, "consumer", request.protocols[0][0]
    )


def sync(
    group: ConsumerGroup,
    request: SyncGroupRequest,
    dialect: Dialect,
    now_us: int,
    effects: list[Effect],
) -> SyncGroupResponse:
    member, classic = _speaker(group, request.member_id, request.instance_id)
    if request.generation != member.epoch:
        raise Refusal(
            Error.ILLEGAL_GENERATION,
            f"the member's epoch is {member.epoch}, not {request.generation}",
        )
    if request.protocol_type not in (None, "consumer") or request.protocol not in (
        None,
        classic.protocols[0][0],
    ):
        raise Refusal(
            Error.INCONSISTENT_GROUP_PROTOCOL,
            f"the member was told to speak {classic.protocols[0][0]}",
        )
    if _is_behind(group, member) and member.state is not UNREVOKED:
        _await_join(group, member, now_us, effects)
        raise Refusal(Error.REBALANCE_IN_PROGRESS, "there is a newer target")
    effects.append(CancelTimer(sync_timer(member.member_id)))
    effects.append(SetTimer(session_timer(member.member_id), now_us + classic.session_timeout_us))
    return SyncGroupResponse(
        Error.NONE,
        dialect.assignment(tuple(sorted(group.still_there(member.assigned)))),
        request.protocol_type,
        request.protocol,
    )


def beat(
    group: ConsumerGroup, request: HeartbeatRequest, now_us: int, effects: list[Effect]
) -> HeartbeatResponse:
    member, classic = _speaker(group, request.member_id, request.instance_id)
    if request.generation != member.epoch:
        raise Refusal(
            Error.ILLEGAL_GENERATION,
            f"the member's epoch is {member.epoch}, not {request.generation}",
        )
    effects.append(SetTimer(session_timer(member.member_id), now_us + classic.session_timeout_us))
    if (
        _is_behind(group, member)
        or member.state is UNREVOKED
        or (member.state is UNRELEASED and not _waits(group, member))
    ):
        _await_join(group, member, now_us, effects)
        return HeartbeatResponse(Error.REBALANCE_IN_PROGRESS)
    return HeartbeatResponse(Error.NONE)


def leave(
    group: ConsumerGroup, request: LeaveGroupRequest, effects: list[Effect]
) -> LeaveGroupResponse:
    """All members of the request leave together: the group epoch is bumped once."""
    answers = []
    leaving: dict[str, Member] = {}
    for who in request.members:
        try:
            if who.instance_id is None:
                known: Member | None = group.members.get(who.member_id)
                if known is None:
                    raise Refusal(Error.UNKNOWN_MEMBER_ID, f"{who.member_id} is no member")
                member = known
            else:
                member = holder_of(
                    group, who.instance_id, who.member_id or group.statics.get(who.instance_id, "")
                )
            leaving[member.member_id] = member
            answers.append(LeftMember(who.member_id, who.instance_id, Error.NONE))
        except Refusal as refused:
            answers.append(LeftMember(who.member_id, who.instance_id, refused.error))
    epoch = group.epoch
    for member in leaving.values():
        remove(group, member, Removal.LEFT, effects)
    group.epoch = min(group.epoch, epoch + 1)
    return LeaveGroupResponse(Error.NONE, tuple(answers))


def owned_by_id(group: ConsumerGroup, partitions: tuple[Partition, ...]) -> dict[str, list[int]]:
    owned: dict[str, list[int]] = {}
    for partition in partitions:
        topic = group.topics.by_name.get(partition.topic)
        if topic is not None:
            owned.setdefault(topic.topic_id, []).append(partition.number)
    return owned


def _speaker(
    group: ConsumerGroup, member_id: str, instance_id: str | None
) -> tuple[Member, Classic]:
    member: Member | None = (
        holder_of(group, instance_id, member_id)
        if instance_id is not None
        else group.members.get(member_id)
    )
    if member is None or member.classic is None:
        raise Refusal(Error.UNKNOWN_MEMBER_ID, f"{member_id} is no classic member")
    return member, member.classic


def _speaks_with_all(group: ConsumerGroup, request: JoinGroupRequest) -> bool:
    if request.protocol_type != "consumer" or not request.protocols:
        return False
    lists = [
        {name for name, _ in m.classic.protocols}
        for m in group.members.values()
        if m.classic is not None
    ]
    return not group.members or any(
        all(name in offered for offered in lists) for name, _ in request.protocols
    )


def _is_behind(group: ConsumerGroup, member: Member) -> bool:
    """Behind the target; up to Kafka 4.2 behind the group's epoch, for which its next join would
    have the target computed.
    """
    return member.epoch < (
        group.assignment_epoch if group.settings.classic_members_follow_target else group.epoch
    )


def _waits(group: ConsumerGroup, member: Member) -> bool:
    """Does somebody still hold a partition of the member's target?"""
    for topic, partitions in group.targets.get(member.member_id, {}).items():
        held, owner_of = member.assigned.get(topic, {}), group.owners.get(topic, {})
        if any(p not in held and p in owner_of for p in partitions):
            return True
    return False


def _await_join(group: ConsumerGroup, member: Member, now_us: int, effects: list[Effect]) -> None:
    """It has its rebalance timeout to join again, from the first time it is told."""
    if member.member_id not in group.awaited_joins:
        group.awaited_joins[member.member_id] = None
        effects.append(SetTimer(join_timer(member.member_id), now_us + member.rebalance_timeout_us))


def _cancel_join(group: ConsumerGroup, member_id: str, effects: list[Effect]) -> None:
    if group.awaited_joins.pop(member_id, 0) is None:
        effects.append(CancelTimer(join_timer(member_id)))
