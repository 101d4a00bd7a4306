"""The join phase: it is opened for a reason, waits for everybody, and ends in the next
generation (or in an empty group).
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalsim.domain.membership import Removal
from rebalsim.protocol.classic.group import ClassicGroup
from rebalsim.protocol.classic.log import append_empty_group
from rebalsim.protocol.effects import CancelTimer, Effect, Note, Reply, SetTimer
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.messages import SyncGroupResponse
from rebalsim.protocol.notes import state_changed
from rebalsim.protocol.states import ClassicState

EMPTY, PREPARING, COMPLETING = (
    ClassicState.EMPTY,
    ClassicState.PREPARING_REBALANCE,
    ClassicState.COMPLETING_REBALANCE,
)
REBALANCEABLE = ClassicState.PREPARING_REBALANCE.predecessors


@dataclass(slots=True)
class Trigger:
    """Why a rebalance begins: the trace's word, the member, Kafka's words; and how a barrier
    that this meets was met.
    """

    kind: str
    member_id: str
    reason: str
    by: str = "all-joined"


def rebalance_or_complete(
    group: ClassicGroup, trigger: Trigger, now_us: int, out: list[Effect]
) -> None:
    """Open the barrier; or, where it is open, see whether it is met now."""
    if group.state in REBALANCEABLE:
        prepare_rebalance(group, trigger, now_us, out)
    else:
        maybe_complete_join(group, trigger.by, trigger.member_id, now_us, out)


def maybe_complete_join(
    group: ClassicGroup, by: str, last: str, now_us: int, out: list[Effect]
) -> None:
    """The barrier ends when all are there; the initial one only by its timer."""
    if group.state is PREPARING and group.previous_state is not EMPTY and group.all_joined():
        complete_join(group, by, last, now_us, out)


def prepare_rebalance(
    group: ClassicGroup, trigger: Trigger, now_us: int, out: list[Effect]
) -> None:
    """Everybody has to join again (GroupMetadataManager.prepareRebalance)."""
    before = group.state
    if before is COMPLETING:
        drop_assignments(group, Error.REBALANCE_IN_PROGRESS, now_us, out)
    group.pending_sync.clear()
    cancel_sync_timer(group, out)
    is_initial = before is EMPTY
    if is_initial:
        group.initial_delay_us = group.rules.initial_rebalance_delay_us
        group.initial_remaining_us = max(group.rebalance_timeout_us() - group.initial_delay_us, 0)
        _arm_barrier(group, group.initial_delay_us, now_us, out)
    group.enter(PREPARING)
    why = {"trigger": trigger.kind, "member_id": trigger.member_id, "reason": trigger.reason}
    out.append(state_changed(before, PREPARING, group.generation, **why))
    if is_initial:
        return
    group.initial_delay_us = -1
    if group.all_joined():
        complete_join(group, trigger.by, trigger.member_id, now_us, out)
    else:  # fixed now: later joins do not move it
        _arm_barrier(group, group.rebalance_timeout_us(), now_us, out)


def barrier_expired(group: ClassicGroup, now_us: int, out: list[Effect]) -> None:
    """The barrier's timer fired: whoever is there goes on; or the initial delay is extended
    because somebody new came during it.
    """
    group.join_is_armed = False
    if group.initial_delay_us < 0:
        complete_join(group, "timer", "", now_us, out)
    elif group.new_member_added and group.initial_remaining_us != 0:
        group.new_member_added = False
        elapsed = group.initial_delay_us
        group.initial_delay_us = min(
            group.rules.initial_rebalance_delay_us, group.initial_remaining_us
        )
        group.initial_remaining_us = max(group.initial_remaining_us - elapsed, 0)
        _arm_barrier(group, group.initial_delay_us, now_us, out)
        out.append(Note("InitialDelayExtended", {"until_us": now_us + group.initial_delay_us}))
    else:
        complete_join(group, "initial-delay", "", now_us, out)


def complete_join(group: ClassicGroup, by: str, last: str, now_us: int, out: list[Effect]) -> None:
    """The next generation begins with those who joined, and with the static members who did not
    (completeClassicGroupJoin).
    """
    if group.join_is_armed:
        group.join_is_armed = False
        out.append(CancelTimer(group.join_timer))
    kicked = _kick_absent(group, out)
    if group.members and not _elect_joined_leader(group):
        group.initial_delay_us = -1
        _arm_barrier(group, group.rebalance_timeout_us(), now_us, out)
        reason = f"Group {group.group_id} could not complete rebalance because no members rejoined."
        why = {"trigger": "barrier-unmet", "member_id": "", "reason": reason}
        out.append(state_changed(PREPARING, PREPARING, group.generation, **why))
        return
    group.generation += 1
    group.pending_sync.clear()
    if group.members:
        _begin_generation(group, by, last, kicked, now_us, out)
    else:
        group.protocol = None
        group.enter(EMPTY)
        out.append(_completed(group, by, last, kicked))
        out.append(state_changed(PREPARING, EMPTY, group.generation))
        append_empty_group(group, StoredEmpty(), out)


@dataclass(slots=True)
class StoredEmpty:
    """The record of an empty group: nobody waits for it, and without it an old generation would
    merely time out again.
    """

    def finished(self, group: ClassicGroup, error: Error, now_us: int, out: list[Effect]) -> None:
        pass


def _begin_generation(
    group: ClassicGroup, by: str, last: str, kicked: tuple[str, ...], now_us: int, out: list[Effect]
) -> None:
    group.protocol = group.selected_protocol()
    group.enter(COMPLETING)
    out.append(_completed(group, by, last, kicked))
    out.append(state_changed(PREPARING, COMPLETING, group.generation))
    for member in group.ordered():
        member_id = member.member_id
        if member.join is not None:
            out.append(Reply(member.join, group.joined_answer(member_id)))
            member.join = None
        # also of those who did not rejoin
        group.arm(member, member.session_timeout_us, now_us, out)
        member.is_new = False
        group.pending_sync[member_id] = None
    group.awaiting_join = 0
    group.sync_generation = group.generation
    out.append(SetTimer(group.sync_timer, now_us + group.rebalance_timeout_us()))


def _completed(group: ClassicGroup, by: str, last: str, kicked: tuple[str, ...]) -> Note:
    return Note(
        "BarrierCompleted",
        {
            "generation": group.generation,
            "members": len(group.members),
            "by": by,
            "last": last,
            "kicked": kicked,
            "leader": group.leader_id or "",
            "assignor": group.protocol or "",
        },
    )


def _kick_absent(group: ClassicGroup, out: list[Effect]) -> tuple[str, ...]:
    """Dynamic members who did not rejoin are out, and are not told. Static ones stay."""
    if group.awaiting_join == len(group.members):
        return ()
    absent = [
        member for member in group.ordered() if member.join is None and member.instance_id is None
    ]
    for member in absent:
        group.remove(member.member_id)
        out.append(CancelTimer(member.timer))
        out.append(
            Note(
                "MemberRemoved",
                {
                    "member_id": member.member_id,
                    "why": Removal.NOT_REJOINED,
                    "last_heard_us": member.heard_us,
                },
            )
        )
    return tuple([member.member_id for member in absent])


def _elect_joined_leader(group: ClassicGroup) -> bool:
    """The leader must have joined; else (only a static one can be absent) the first who did
    leads. False: nobody did.
    """
    leader = group.members[group.leader_id or ""]
    if leader.join is None:
        joined = next((member for member in group.ordered() if member.join is not None), None)
        if joined is None:
            return False
        group.leader_id = joined.member_id
    return True


def drop_assignments(group: ClassicGroup, error: Error, now_us: int, out: list[Effect]) -> None:
    """The assignment will not come: whoever waits for it is told so, and its session begins anew
    (it may have passed unheeded).
    """
    response = SyncGroupResponse(error)
    for member in group.ordered():
        member.assignment = None
        if member.sync is not None:
            out.append(Reply(member.sync, response))
            member.sync = None
            group.arm(member, member.session_timeout_us, now_us, out)


def cancel_sync_timer(group: ClassicGroup, out: list[Effect]) -> None:
    if group.sync_generation >= 0:
        group.sync_generation = -1
        out.append(CancelTimer(group.sync_timer))


def _arm_barrier(group: ClassicGroup, delay_us: int, now_us: int, out: list[Effect]) -> None:
    group.join_is_armed = True
    out.append(SetTimer(group.join_timer, now_us + delay_us))
