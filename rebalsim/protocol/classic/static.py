"""Static membership (KIP-345, KIP-814): a process that returns under its instance id takes the
old member's place.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalsim.domain.membership import Arrival, Removal
from rebalsim.protocol.classic.barrier import (
    Trigger,
    maybe_complete_join,
    prepare_rebalance,
    rebalance_or_complete,
)
from rebalsim.protocol.classic.group import ClassicGroup, Member, Protocols
from rebalsim.protocol.classic.log import answer_for, append_group
from rebalsim.protocol.effects import Effect, Note, Reply
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.messages import JoinGroupRequest, JoinGroupResponse
from rebalsim.protocol.states import ClassicState


def replace_static_member(
    group: ClassicGroup,
    number: int,
    request: JoinGroupRequest,
    old_id: str,
    new_id: str,
    now_us: int,
    out: list[Effect],
) -> None:
    """GroupMetadataManager.updateStaticMemberThenRebalanceOrCompleteJoin. The newcomer always
    wins.
    """
    leader_before = group.leader_id
    member = _replace(group, group.members[old_id], new_id, out)
    out.append(Note("MemberRemoved", {"member_id": old_id, "why": Removal.REPLACED}))
    out.append(Note("MemberAdded", {"member_id": new_id, "how": Arrival.REPLACEMENT}))
    # The old id's timer stays and will find nobody. The new one starts with the old member's
    # session timeout, and with the new one's only after its first heartbeat.
    group.arm(member, member.session_timeout_us, now_us, out)
    former = (member.protocols, member.session_timeout_us, member.rebalance_timeout_us)
    group.update(
        member, request.protocols, request.session_timeout_us, request.rebalance_timeout_us, number
    )
    who = f"static member {new_id} with instance id {request.instance_id}"
    because = f"; client reason: {request.reason or 'not provided'}"
    if group.state is ClassicState.STABLE:
        # Only the protocol that would be selected counts; another subscription is not noticed.
        if group.selected_protocol() == group.protocol:
            stored = StoredReplacement(
                number, request.version, leader_before, member, old_id, *former
            )
            assigned = {m.member_id: m.assignment for m in group.ordered()}
            append_group(group, "static member", assigned, stored, now_us, out)
        else:
            reason = (
                f"Group's selectedProtocol will change because {who} joined with change of "
                f"protocol{because}"
            )
            trigger = Trigger("static-protocol-changed", new_id, reason)
            rebalance_or_complete(group, trigger, now_us, out)
    elif group.state is ClassicState.COMPLETING_REBALANCE:
        # The leader may be assigning to the old id at this moment.
        trigger = Trigger("metadata-changed", new_id, f"Updating metadata for {who}{because}")
        prepare_rebalance(group, trigger, now_us, out)
    else:
        out.append(Note("MemberRejoined", {"member_id": new_id}))
        maybe_complete_join(group, "all-joined", new_id, now_us, out)


def _replace(group: ClassicGroup, old: Member, new_id: str, out: list[Effect]) -> Member:
    """Gives the member its new id; a request that waits under the old id is fenced."""
    group.refuse_waiting(old, Error.FENCED_INSTANCE_ID, out)
    return group.rename(old, new_id)


@dataclass(slots=True)
class StoredReplacement:
    """A replacement in Stable is answered when its record is in the log; if it cannot be
    written, the old id is back.
    """

    request: int
    version: int
    leader_before: str | None
    member: Member
    old_id: str
    protocols: Protocols
    session_timeout_us: int
    rebalance_timeout_us: int

    def finished(self, group: ClassicGroup, error: Error, now_us: int, out: list[Effect]) -> None:
        if error is Error.NONE:
            self._answer(group, out)
        else:
            self._undo(group, error, now_us, out)

    def _answer(self, group: ClassicGroup, out: list[Effect]) -> None:
        """The record is in the log."""
        member = self.member
        parked = member.join  # this join, or one that came since
        if parked is None:  # fenced, gone, or answered by a barrier in the meantime
            return
        skips = group.leader_id == member.member_id and self.version >= 9
        if skips and group.state in (ClassicState.PREPARING_REBALANCE, ClassicState.DEAD):
            # Kafka throws here (currentClassicGroupMembers), so the join stays parked and counts
            # for the barrier
            return
        member.join = None
        group.awaiting_join -= 1
        answer = group.joined_answer(member.member_id, with_members=skips)
        answer.skip_assignment = skips
        if self.version < 9:  # old clients must not think that they lead
            answer.leader = self.leader_before or ""
        out.append(Reply(parked, answer))

    def _undo(self, group: ClassicGroup, error: Error, now_us: int, out: list[Effect]) -> None:
        """The record could not be written."""
        member = self.member
        waited = member.join == self.request or self.request in member.displaced
        # Of a member that has gone meanwhile, too: Kafka counts its protocols wrongly from then
        # on (tryCompleteStaticReplacement's error path).
        group.update(
            member, self.protocols, self.session_timeout_us, self.rebalance_timeout_us, None
        )
        if group.members.get(member.member_id) is not member:
            return
        old = _replace(group, member, self.old_id, out)
        out.append(Note("MemberRemoved", {"member_id": member.member_id, "why": Removal.REPLACED}))
        out.append(Note("MemberAdded", {"member_id": self.old_id, "how": Arrival.REPLACEMENT}))
        group.arm(old, old.session_timeout_us, now_us, out)
        if waited:
            refused = JoinGroupResponse(
                answer_for(error),
                "",
                group.generation,
                group.protocol_type,
                group.protocol,
                self.leader_before or "",
            )
            out.append(Reply(self.request, refused))
