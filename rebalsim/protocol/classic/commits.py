"""OffsetCommit and OffsetFetch: who may store positions when, and that an accepted commit keeps
the session alive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.protocol.classic.fencing import note_fenced
from rebalsim.protocol.classic.group import ClassicGroup
from rebalsim.protocol.classic.log import answer_for, append_offsets
from rebalsim.protocol.effects import Effect, Reply
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.messages import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from rebalsim.protocol.states import ClassicState

STABLE, PREPARING = ClassicState.STABLE, ClassicState.PREPARING_REBALANCE


def commit(
    group: ClassicGroup, number: int, request: OffsetCommitRequest, now_us: int, out: list[Effect]
) -> None:
    """OffsetMetadataManager.commitOffset: with the old generation too, as long as the barrier is
    open.
    """
    error = _error(group, request)
    if error is not Error.NONE:
        note_fenced(error, request.member_id, KafkaApi.OFFSET_COMMIT, out)
        out.append(Reply(number, OffsetCommitResponse(error)))
        return
    group.exists = True  # positions of a group without members make it a group (a "simple" one)
    if (group.state is STABLE or group.state is PREPARING) and not request.is_transactional:
        member = group.members[request.member_id]
        group.arm(member, member.session_timeout_us, now_us, out)
    group.begin_offsets(request.offsets)
    append_offsets(group, request.offsets, StoredOffsets(number, request.offsets), out)


def _error(group: ClassicGroup, request: OffsetCommitRequest) -> Error:
    """ClassicGroup.validateOffsetCommit, in its order."""
    if not group.exists and request.generation >= 0:
        return (
            Error.GROUP_ID_NOT_FOUND
            if request.version >= 9 and not request.is_transactional
            else Error.ILLEGAL_GENERATION
        )
    if group.state is ClassicState.DEAD:
        return Error.COORDINATOR_NOT_AVAILABLE
    if request.generation < 0 and group.state is ClassicState.EMPTY:
        return Error.NONE
    if request.generation >= 0 or request.member_id or request.instance_id is not None:
        error = group.identity_error(request.member_id, request.instance_id)
        if error is not Error.NONE:
            return error
        if request.generation != group.generation:
            return Error.ILLEGAL_GENERATION
    elif not request.is_transactional and group.state is not ClassicState.EMPTY:
        return Error.UNKNOWN_MEMBER_ID
    if group.state is ClassicState.COMPLETING_REBALANCE and not request.is_transactional:
        return Error.REBALANCE_IN_PROGRESS
    return Error.NONE


def fetch_offsets(
    group: ClassicGroup, number: int, request: OffsetFetchRequest, now_us: int, out: list[Effect]
) -> None:
    """The positions as of the last commit, answered when that is in the log ("require stable")."""
    found = {
        partition: group.offsets[partition]
        for partition in request.partitions
        if partition in group.offsets
    }
    out.append(Reply(number, OffsetFetchResponse(Error.NONE, found), True))


@dataclass(slots=True)
class StoredOffsets:
    """A commit on its way to the log."""

    request: int
    offsets: Mapping[Any, Any]

    def finished(self, group: ClassicGroup, error: Error, now_us: int, out: list[Effect]) -> None:
        if error is Error.NONE:
            group.persisted_offsets.update(self.offsets)
        elif error is not Error.REQUEST_TIMED_OUT:  # after a timeout it may still be written
            for partition in self.offsets:  # a position that was never written is no longer visible
                if partition in group.persisted_offsets:
                    group.offsets[partition] = group.persisted_offsets[partition]
                else:
                    group.offsets.pop(partition, None)
        is_size = error in _TOO_LARGE and group.rules.says_commit_is_too_large
        out.append(
            Reply(
                self.request,
                OffsetCommitResponse(
                    Error.INVALID_COMMIT_OFFSET_SIZE if is_size else answer_for(error)
                ),
            )
        )


_TOO_LARGE = frozenset(
    (Error.MESSAGE_TOO_LARGE, Error.RECORD_LIST_TOO_LARGE, Error.INVALID_FETCH_SIZE)
)
