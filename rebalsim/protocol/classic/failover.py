"""A group changes its broker: what the old coordinator says on leaving, what the new one finds
in the log, what is said in between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rebalsim.domain.membership import Arrival
from rebalsim.protocol.classic.barrier import Trigger, prepare_rebalance
from rebalsim.protocol.classic.group import ClassicGroup, Member
from rebalsim.protocol.classic.log import GroupRecord, MemberRecord
from rebalsim.protocol.classic.rules import CoordinatorRules
from rebalsim.protocol.effects import Append, CancelTimer, Effect, Note, SetTimer
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.messages import (
    ClassicRequest,
    ClassicResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from rebalsim.protocol.notes import state_changed
from rebalsim.protocol.states import ClassicState


def unload(group: ClassicGroup, now_us: int) -> list[Effect]:
    """The group's log partition moves away: unfinished writes fail, whoever waits is sent to the
    new coordinator.

    Timers of ids that were replaced are not among those cancelled; where they fire at all, they
    find nobody.
    """
    timers = [
        group.join_timer,
        group.sync_timer,
        *group.pending.values(),
        *(member.timer for member in group.ordered()),
    ]
    failed: list[Effect] = []
    for number in list(group.writing):
        group.writing.pop(number)[1].finished(group, Error.NOT_COORDINATOR, now_us, failed)
    out: list[Effect] = [
        effect for effect in failed if not isinstance(effect, Append | SetTimer | CancelTimer)
    ]
    before = group.state
    group.enter(ClassicState.DEAD)
    for member in group.ordered():
        group.refuse_waiting(member, Error.NOT_COORDINATOR, out)
    out += [CancelTimer(timer) for timer in timers]
    group.join_is_armed, group.sync_generation = False, -1
    out.append(state_changed(before, group.state, group.generation, trigger="coordinator-moved"))
    return out


def load(
    group_id: str,
    rules: CoordinatorRules,
    new_member_id: Callable[[str], str],
    record: GroupRecord | None,
    offsets: Mapping[Any, Any],
    now_us: int,
) -> tuple[ClassicGroup, list[Effect]]:
    """The group as its last record has it: Stable or Empty, every session in full, nothing of a
    rebalance that was under way.
    """
    group = ClassicGroup(group_id, rules, new_member_id)
    group.offsets, group.persisted_offsets = dict(offsets), dict(offsets)
    group.exists = record is not None or bool(offsets)
    out: list[Effect] = []
    if record is None:
        return group, out
    group.persisted = record
    group.generation, group.leader_id = record.generation, record.leader_id
    group.protocol_type, group.protocol = record.protocol_type, record.protocol
    group.state = ClassicState.STABLE if record.members else ClassicState.EMPTY
    for kept in record.members:
        group.add(_from_log(kept, record, group.session_prefix))
        out.append(Note("MemberAdded", {"member_id": kept.member_id, "how": Arrival.LOADED}))
    dead, state = ClassicState.DEAD, group.state
    out.append(state_changed(dead, state, group.generation, trigger="coordinator-moved"))
    for member in group.ordered():
        group.arm(member, member.session_timeout_us, now_us, out)
    if (size := len(group.members)) > rules.max_size:
        reason = (
            f"Freshly-loaded group {group_id} (size {size}) is over capacity {rules.max_size}. "
            "Rebalancing in order to give a chance for consumers to commit offsets"
        )
        prepare_rebalance(group, Trigger("regrouped", "", reason), now_us, out)
    return group, out


def _from_log(kept: MemberRecord, record: GroupRecord, session_prefix: str) -> Member:
    """Of what a member offered only the selected protocol is in the log, so a follower that
    offers more never "matches" again.
    """
    return Member(
        kept.member_id,
        kept.instance_id,
        kept.client_id,
        kept.session_timeout_us,
        kept.rebalance_timeout_us,
        record.protocol_type or "",
        ((record.protocol or "", kept.metadata),),
        session_prefix + kept.member_id,
        kept.assignment,
    )


_ANSWERS: dict[type[ClassicRequest], Callable[[Error], ClassicResponse]] = {
    HeartbeatRequest: HeartbeatResponse,
    JoinGroupRequest: JoinGroupResponse,
    SyncGroupRequest: SyncGroupResponse,
    LeaveGroupRequest: LeaveGroupResponse,
    OffsetCommitRequest: OffsetCommitResponse,
    OffsetFetchRequest: OffsetFetchResponse,
}


def refusal(request: ClassicRequest, error: Error) -> ClassicResponse:
    """The answer of a broker that has nothing to do with the group: NOT_COORDINATOR,
    COORDINATOR_NOT_AVAILABLE, …
    """
    return _ANSWERS[type(request)](error)


def while_loading(request: ClassicRequest, rules: CoordinatorRules) -> ClassicResponse:
    """The answer of the group's broker while it still reads the log. Heartbeats are believed."""
    if isinstance(request, HeartbeatRequest):
        return HeartbeatResponse(Error.NONE)
    if isinstance(request, SyncGroupRequest) and not rules.sync_waits_for_loading:
        return SyncGroupResponse(Error.REBALANCE_IN_PROGRESS)
    return refusal(request, Error.COORDINATOR_LOAD_IN_PROGRESS)
