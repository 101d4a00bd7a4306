"""Who may speak: the checks of a heartbeat, in Kafka's order, and the member record it speaks
for (static members included).
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from rebalsim.protocol.consumer.group import ConsumerGroup, ConsumerGroupSettings
from rebalsim.protocol.consumer.member import AWAY, Member
from rebalsim.protocol.consumer.reconciliation import is_subset
from rebalsim.protocol.consumer.refusal import Refusal
from rebalsim.protocol.consumer_messages import (
    JOINS,
    LEAVES_FOR_A_WHILE,
    UNCHANGED,
    ConsumerGroupHeartbeatRequest,
)
from rebalsim.protocol.errors_of_kafka import Error


class Admitted(NamedTuple):
    """The member that a request speaks for, and the static one whose place it takes (which may
    bear the same id).
    """

    member: Member
    is_new: bool
    replaces: Member | None = None


def check_form(settings: ConsumerGroupSettings, request: ConsumerGroupHeartbeatRequest) -> None:
    """Is it a request at all?
    (GroupCoordinatorService#throwIfConsumerGroupHeartbeatRequestIsInvalid)
    """
    if not request.member_id:
        raise Refusal(
            Error.INVALID_REQUEST, "the member id is empty; since version 1 the client makes it"
        )
    if request.instance_id == "":
        raise Refusal(Error.INVALID_REQUEST, "the instance id is empty")
    if request.rack_id == "":
        raise Refusal(Error.INVALID_REQUEST, "the rack id is empty")
    if request.epoch == JOINS:
        if request.rebalance_timeout_us == UNCHANGED:
            raise Refusal(
                Error.INVALID_REQUEST, "a joining member must bring its rebalance timeout"
            )
        if request.owned is None or request.owned:
            raise Refusal(
                Error.INVALID_REQUEST,
                "a joining member must bring an empty list of owned partitions",
            )
        if request.topics is None and request.regex is None:
            raise Refusal(Error.INVALID_REQUEST, "a joining member must bring a subscription")
    elif request.epoch == LEAVES_FOR_A_WHILE:
        if request.instance_id is None:
            raise Refusal(
                Error.INVALID_REQUEST, "only a static member can leave for a while (epoch -2)"
            )
    elif request.epoch < LEAVES_FOR_A_WHILE:
        raise Refusal(Error.INVALID_REQUEST, f"there is no member epoch {request.epoch}")
    if request.assignor is not None and request.assignor not in settings.assignors:
        raise Refusal(
            Error.UNSUPPORTED_ASSIGNOR,
            f"the broker has no assignor {request.assignor}, only {', '.join(settings.assignors)}",
        )


def admit(group: ConsumerGroup, request: ConsumerGroupHeartbeatRequest) -> Admitted:
    """The member of a heartbeat that does not leave."""
    joins = request.epoch == JOINS
    if not group.exists and not joins:
        raise Refusal(Error.GROUP_ID_NOT_FOUND, f"there is no group {group.name}")
    # Also an unknown member that does not join is told that the group is full, not that it is
    # unknown.
    if len(group.members) >= group.settings.max_size and request.member_id not in group.members:
        raise Refusal(
            Error.GROUP_MAX_SIZE_REACHED, f"the group has its {group.settings.max_size} members"
        )
    if request.instance_id is not None:
        return _admit_static(group, request, request.instance_id, joins)
    member = group.members.get(request.member_id)
    if member is None:
        if not joins:
            raise Refusal(Error.UNKNOWN_MEMBER_ID, f"{request.member_id} is no member")
        return Admitted(Member(request.member_id), True)
    _check_epoch(group.settings, member, request)
    return Admitted(member, False)


def static_member(group: ConsumerGroup, instance_id: str) -> Member | None:
    """Who holds the instance id. An id that points to nobody (its member changed to another one,
    and left) is an error in Kafka.
    """
    member_id = group.statics.get(instance_id)
    if member_id is None:
        return None
    member: Member | None = group.members.get(member_id)
    if member is None:
        raise Refusal(
            Error.UNKNOWN_MEMBER_ID, f"{member_id}, last known as {instance_id}, is no member"
        )
    return member


def holder_of(group: ConsumerGroup, instance_id: str, member_id: str) -> Member:
    """The holder of the instance id, if the request comes from it."""
    member = static_member(group, instance_id)
    if member is None:
        raise Refusal(Error.UNKNOWN_MEMBER_ID, f"nobody has the instance id {instance_id}")
    if member.member_id != member_id:
        raise Refusal(
            Error.FENCED_INSTANCE_ID, f"the instance id {instance_id} belongs to {member.member_id}"
        )
    return member


def _admit_static(
    group: ConsumerGroup, request: ConsumerGroupHeartbeatRequest, instance_id: str, joins: bool
) -> Admitted:
    if not joins:
        member = holder_of(group, instance_id, request.member_id)
        _check_epoch(group.settings, member, request)
        return Admitted(member, False)
    holder = static_member(group, instance_id)
    if holder is None:
        member = group.members.get(request.member_id)
        return (
            Admitted(Member(request.member_id), True) if member is None else Admitted(member, False)
        )
    # The opposite of the classic protocol, which fences the old one. Even the holder itself, when
    # its join is not its first, is turned down.
    if holder.epoch != AWAY and holder.classic is None:
        raise Refusal(
            Error.UNRELEASED_INSTANCE_ID,
            f"the instance id {instance_id} still belongs to {holder.member_id}",
        )
    return Admitted(
        replace(holder, member_id=request.member_id, epoch=0, previous_epoch=0), True, holder
    )


def _check_epoch(
    settings: ConsumerGroupSettings, member: Member, request: ConsumerGroupHeartbeatRequest
) -> None:
    epoch = request.epoch
    if epoch == member.epoch or (epoch == JOINS and settings.known_members_may_join_again):
        return
    if epoch > member.epoch:
        raise Refusal(
            Error.FENCED_MEMBER_EPOCH, f"the member's epoch is {member.epoch}, not yet {epoch}"
        )
    # The answer that brought the newer epoch may have been lost. A list of partitions that are all
    # the member's proves that no harm is done.
    if epoch != member.previous_epoch or not is_subset(request.owned, member.assigned):
        raise Refusal(
            Error.FENCED_MEMBER_EPOCH, f"the member's epoch is {member.epoch}, no longer {epoch}"
        )
