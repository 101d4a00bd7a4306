"""Writing to the coordinator's log: one append at a time is numbered, remembered, and finished
when the log says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from rebalsim.protocol.classic.group import ClassicGroup, Writing
from rebalsim.protocol.effects import Append, Effect
from rebalsim.protocol.errors_of_kafka import Error


class MemberRecord(NamedTuple):
    """One member within a group record: only what it said for the selected protocol."""

    member_id: str
    instance_id: str | None
    client_id: str
    session_timeout_us: int
    rebalance_timeout_us: int
    metadata: Any
    assignment: Any


class GroupRecord(NamedTuple):
    """What the log holds of a group: all that a coordinator which takes over will know."""

    generation: int
    protocol_type: str | None
    protocol: str | None
    leader_id: str | None
    members: tuple[MemberRecord, ...]


def append_empty_group(group: ClassicGroup, then: Writing, out: list[Effect]) -> None:
    """Write that the group has nobody in this generation (a new group: in generation 0, whoever
    has just joined).
    """
    _append(
        group,
        "group",
        0,
        GroupRecord(group.generation, group.protocol_type, None, None, ()),
        then,
        out,
    )


@dataclass(slots=True)
class Overdue:
    """A write of which its waiters were told that it took too long. It is under way all the
    same, and in the log by and by.
    """

    offsets: Mapping[Any, Any] | None

    def finished(self, group: ClassicGroup, error: Error, now_us: int, out: list[Effect]) -> None:
        if error is Error.NONE and self.offsets is not None:
            group.persisted_offsets.update(self.offsets)


def append_group(
    group: ClassicGroup,
    what: str,
    assignments: dict[str, Any],
    then: Writing,
    now_us: int,
    out: list[Effect],
) -> None:
    """Write the group's record with these assignments. One that is too large for a batch fails
    on the spot.
    """
    protocol = group.protocol
    record = GroupRecord(
        group.generation,
        group.protocol_type,
        protocol,
        group.leader_id,
        tuple(
            [
                MemberRecord(
                    m.member_id,
                    m.instance_id,
                    m.client_id,
                    m.session_timeout_us,
                    m.rebalance_timeout_us,
                    m.metadata(protocol),
                    assignments.get(m.member_id),
                )
                for m in group.ordered()
            ]
        ),
    )
    size = 0 if _surely_fits(group, record) else record_bytes(group, record)
    if size > group.rules.max_record_bytes:
        then.finished(group, Error.MESSAGE_TOO_LARGE, now_us, out)
    else:
        _append(group, what, size, record, then, out)


def _surely_fits(group: ClassicGroup, record: GroupRecord) -> bool:
    """Most groups are nowhere near the limit: their bytes need not be counted."""
    rules = group.rules
    return (
        rules.members_bytes_at_most is not None
        and rules.members_bytes_at_most(record.members) + 2_000 <= rules.max_record_bytes
    )


def append_offsets(group: ClassicGroup, offsets: Any, then: Writing, out: list[Effect]) -> None:
    """Write committed positions."""
    _append(group, "offsets", 0, offsets, then, out)


def _append(
    group: ClassicGroup, what: str, size: int, record: Any, then: Writing, out: list[Effect]
) -> None:
    group.appends += 1
    group.writing[group.appends] = (record, then)
    out.append(Append(group.appends, what, size, record))


def record_bytes(group: ClassicGroup, record: GroupRecord) -> int:
    """The batch with this record alone, in bytes (GroupMetadataValue version 3 in a batch of
    format 2); 0 where sizes are unknown.
    """
    rules = group.rules
    if rules.metadata_bytes is None:
        return 0
    length = 61 + 20 + 4 + len(group.group_id)  # batch and record headers, key
    length += (
        2
        + 2
        + len(record.protocol_type or "")
        + 4
        + 2
        + len(record.protocol or "")
        + 2
        + len(record.leader_id or "")
        + 8
        + 4
    )
    for m in record.members:
        ids = len(m.member_id) + len(m.instance_id or "") + len(m.client_id) + len("/127.0.0.1")
        assignment = (
            0
            if rules.assignment_bytes is None or m.assignment is None
            else rules.assignment_bytes(m.assignment)
        )
        length += 4 * 2 + ids + 2 * 4 + 4 + rules.metadata_bytes(m.metadata) + 4 + assignment
    return length


def answer_for(error: Error) -> Error:
    """What a member is told when its group could not be written
    (GroupMetadataManager.appendGroupMetadataErrorToResponseError).
    """
    return _ANSWERS.get(error, error)


_ANSWERS = {
    Error.UNKNOWN_TOPIC_OR_PARTITION: Error.COORDINATOR_NOT_AVAILABLE,
    Error.NOT_ENOUGH_REPLICAS: Error.COORDINATOR_NOT_AVAILABLE,
    Error.REQUEST_TIMED_OUT: Error.COORDINATOR_NOT_AVAILABLE,
    Error.NOT_LEADER_OR_FOLLOWER: Error.NOT_COORDINATOR,
    Error.KAFKA_STORAGE_ERROR: Error.NOT_COORDINATOR,
    Error.MESSAGE_TOO_LARGE: Error.UNKNOWN_SERVER_ERROR,
    Error.RECORD_LIST_TOO_LARGE: Error.UNKNOWN_SERVER_ERROR,
    Error.INVALID_FETCH_SIZE: Error.UNKNOWN_SERVER_ERROR,
}
