"""May this member commit, may it fetch offsets? Under the consumer protocol the member's epoch
decides, since 4.3 partition by partition.
"""

from __future__ import annotations

from collections.abc import Iterable

from rebalsim.protocol.consumer.group import ConsumerGroup
from rebalsim.protocol.consumer.member import Member
from rebalsim.protocol.errors_of_kafka import Error

TopicPartition = tuple[str, int]  # topic id and number


def check_commit(
    group: ConsumerGroup,
    member_id: str,
    epoch: int,
    partitions: Iterable[TopicPartition],
    *,
    instance_id: str | None = None,
    is_transactional: bool = False,
    version: int = 9,
) -> Error:
    """The answer to an OffsetCommit of these partitions; NONE if the offsets may be stored
    (ConsumerGroup#validateOffsetCommit).

    An older epoch is good for a partition that was given to the member at that epoch or before
    and that it still holds, be it pending revocation (KIP-1251). One partition for which it is
    not good fails the whole request: nothing of it is stored. Before 4.3, and for an epoch of
    the future, it is good for none. A commit renews no session.
    """
    if not group.exists and epoch >= 0:
        return Error.GROUP_ID_NOT_FOUND
    if epoch < 0 and not group.members:
        return Error.NONE  # somebody without group management, and nobody is there to object
    if is_transactional and epoch == -1 and not member_id and instance_id is None:
        return Error.NONE  # a producer commits without naming a member
    member: Member | None = group.members.get(member_id)
    if member is None:
        return Error.UNKNOWN_MEMBER_ID
    if not is_transactional and member.classic is None and version < 9:
        return Error.UNSUPPORTED_VERSION
    if epoch == member.epoch:
        return Error.NONE
    if epoch > member.epoch or not group.settings.commits_by_partition:
        return _stale(member)
    return Error.NONE if all(_was_given(member, at, epoch) for at in partitions) else _stale(member)


def check_fetch(group: ConsumerGroup, member_id: str | None, epoch: int) -> Error:
    """The answer to an OffsetFetch: the epoch must be the member's own; without member id and
    epoch anybody may ask.
    """
    if member_id is None:
        # Kafka looks up a null member here and fails
        return Error.NONE if epoch < 0 else Error.UNKNOWN_SERVER_ERROR
    member: Member | None = group.members.get(member_id)
    if member is None:
        return Error.UNKNOWN_MEMBER_ID
    return Error.NONE if member.epoch == epoch else _stale(member)


def _was_given(member: Member, at: TopicPartition, epoch: int) -> bool:
    topic, number = at
    for held in (member.assigned, member.pending):
        given = held.get(topic, {}).get(number)
        if given is not None:
            return epoch >= given
    return False


def _stale(member: Member) -> Error:
    return Error.ILLEGAL_GENERATION if member.classic is not None else Error.STALE_MEMBER_EPOCH
