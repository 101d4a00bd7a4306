"""May this member commit, may it fetch offsets? Under the consumer protocol the member's epoch decides, since 4.3 partition by partition."""

from __future__ import annotations

from collections.abc import Iterable

from rebalsim.protocol.consumer.group import ConsumerGroup
from rebalsim.protocol.consumer.member import Member
from rebalsim.protocol.errors_of_kafka import Error

TopicPartition = tuple[str, int]            # topic id and number


def check_commit(
    group: ConsumerGroup,
    member_id: str,
    epoch: int,
    partitions: Iterable[TopicPartition],
    *,
    instance_id: str | None = None,
    is_transactional: bool = False,
    version: int = 9,
) -> dict[TopicPartition, Error]:
    """The error of each partition of an OffsetCommit, NONE where its offset may be stored (ConsumerGroup#validateOffsetCommit).

    An older epoch is good for a partition that was given to the member at that epoch or before and that it still holds, be it
    pending revocation (KIP-1251). Before 4.3, and for an epoch of the future, the whole commit is refused. A commit renews no session.
    """
    asked = list(partitions)
    verdict = _of_the_whole(group, member_id, epoch, instance_id, is_transactional, version)
    if verdict is not None:
        return dict.fromkeys(asked, verdict)
    member = group.members[member_id]
    stale = _stale(member)
    return {at: Error.NONE if _was_given(member, at, epoch) else stale for at in asked}


def check_fetch(group: ConsumerGroup, member_id: str | None, epoch: int) -> Error:
    """The error of an OffsetFetch: the epoch must be the member's own; without member id and epoch anybody may ask."""
    if member_id is None and epoch < 0:
        return Error.NONE
    member = group.members.get(member_id or "")
    if member is None:
        return Error.UNKNOWN_MEMBER_ID
    return Error.NONE if member.epoch == epoch else _stale(member)


def _of_the_whole(
    group: ConsumerGroup, member_id: str, epoch: int, instance_id: str | None, is_transactional: bool, version: int
) -> Error | None:
    if epoch < 0 and not group.members:
        return Error.NONE                   # somebody without group management, and nobody is there to object
    if is_transactional and epoch == -1 and not member_id and instance_id is None:
        return Error.NONE                   # a producer that does not say for whom it commits
    member = group.members.get(member_id)
    if member is None:
        return Error.UNKNOWN_MEMBER_ID
    if not is_transactional and member.classic is None and version < 9:
        return Error.UNSUPPORTED_VERSION
    if epoch == member.epoch:
        return Error.NONE
    if epoch > member.epoch or not group.settings.commits_by_partition:
        return _stale(member)
    return None


def _was_given(member: Member, at: TopicPartition, epoch: int) -> bool:
    topic, number = at
    for held in (member.assigned, member.pending):
        given = held.get(topic, {}).get(number)
        if given is not None:
            return epoch >= given
    return False


def _stale(member: Member) -> Error:
    return Error.ILLEGAL_GENERATION if member.classic is not None else Error.STALE_MEMBER_EPOCH
