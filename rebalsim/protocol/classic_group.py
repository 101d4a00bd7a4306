"""The coordinator of a classic group as step functions: a request, a timer that fired or a finished
write, and the time, give effects.

The group handed in is changed in place. Times are the coordinator's; requests are known by the
caller's numbers. Whoever runs this keeps the timers (one per key, replaced by SetTimer), the log
(Append … written) and the answers (Reply). Rules: one file each in rebalsim.protocol.classic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rebalsim.domain.errors import BugError
from rebalsim.protocol.classic.barrier import barrier_expired
from rebalsim.protocol.classic.commits import StoredOffsets, commit, fetch_offsets
from rebalsim.protocol.classic.failover import load, refusal, unload, while_loading
from rebalsim.protocol.classic.group import ClassicGroup, Member
from rebalsim.protocol.classic.join import join
from rebalsim.protocol.classic.leave import leave
from rebalsim.protocol.classic.liveness import heartbeat, session_expired
from rebalsim.protocol.classic.log import GroupRecord, MemberRecord, Overdue
from rebalsim.protocol.classic.rules import CoordinatorRules
from rebalsim.protocol.classic.sync import sync, sync_expired
from rebalsim.protocol.effects import Effect
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.messages import (
    ClassicRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    SyncGroupRequest,
)

__all__ = [
    "ClassicGroup",
    "CoordinatorRules",
    "GroupRecord",
    "Member",
    "MemberRecord",
    "fired",
    "load",
    "refusal",
    "step",
    "unload",
    "while_loading",
    "written",
]

_HANDLERS: dict[type, Callable[[ClassicGroup, int, Any, int, list[Effect]], None]] = {
    JoinGroupRequest: join,
    SyncGroupRequest: sync,
    HeartbeatRequest: heartbeat,
    LeaveGroupRequest: leave,
    OffsetCommitRequest: commit,
    OffsetFetchRequest: fetch_offsets,
}


def step(group: ClassicGroup, number: int, request: ClassicRequest, now_us: int) -> list[Effect]:
    """A request arrived."""
    out: list[Effect] = []
    _HANDLERS[type(request)](group, number, request, now_us, out)
    return out


def fired(group: ClassicGroup, key: str, now_us: int) -> list[Effect]:
    """A timer that this group had set (and neither replaced nor cancelled since) is due."""
    out: list[Effect] = []
    if key == group.join_timer:
        barrier_expired(group, now_us, out)
    elif key == group.sync_timer:
        sync_expired(group, now_us, out)
    elif key.startswith(group.session_prefix):
        session_expired(group, key[len(group.session_prefix) :], now_us, out)
    else:
        raise BugError(f"Timer {key} was never set by group {group.group_id}")
    return out


def written(group: ClassicGroup, number: int, error: Error | None, now_us: int) -> list[Effect]:
    """An append is committed (None, or NONE), or failed for good."""
    out: list[Effect] = []
    entry = group.writing.pop(number, None)
    if entry is not None:  # a write that is not there any more failed when the group was unloaded
        record, then = entry
        is_offsets = isinstance(then, StoredOffsets) or (
            isinstance(then, Overdue) and then.offsets is not None
        )
        if not error and not is_offsets:
            group.persisted = record
        if error is Error.REQUEST_TIMED_OUT:
            group.writing[number] = record, Overdue(record if is_offsets else None)
        then.finished(group, error or Error.NONE, now_us, out)
    return out
