"""One classic group as its coordinator keeps it: members, ids handed out, who is waited for. No
rule decides anything here.

Kafka's ClassicGroup and ClassicGroupMember. `allJoined` is a comparison of counters, so a
heartbeat or a join costs the same in a group of a thousand as in one of two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from rebalsim.domain.errors import BugError
from rebalsim.domain.java_hash import JavaHashMap, hash_ordered
from rebalsim.protocol.classic.rules import CoordinatorRules
from rebalsim.protocol.effects import Effect, Reply, SetTimer
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.messages import JoinedMember, JoinGroupResponse, SyncGroupResponse
from rebalsim.protocol.states import ClassicState

Protocols = tuple[tuple[str, Any], ...]


@dataclass(slots=True, eq=False)
class Member:
    """The group's record of a consumer. `join` and `sync` are the numbers of the requests that
    wait for their answer.
    """

    member_id: str
    instance_id: str | None
    client_id: str
    session_timeout_us: int
    rebalance_timeout_us: int
    protocol_type: str
    protocols: Protocols
    timer: str
    assignment: Any = None
    join: int | None = None
    # joins that a later one took the place of: nobody answers them, but a write that fails
    displaced: tuple[int, ...] = ()
    sync: int | None = None
    is_new: bool = False
    heard_us: int = -1  # when its session timer was last set

    def metadata(self, protocol: str | None) -> Any:
        """The metadata that the member sent for this assignor."""
        for name, metadata in self.protocols:
            if name == protocol:
                return metadata
        raise BugError(
            f"Member {self.member_id} has no metadata for the selected protocol {protocol}"
        )


class Writing(Protocol):
    """What was to be done when a record is in the log, or could not be written."""

    def finished(
        self, group: ClassicGroup, error: Error, now_us: int, out: list[Effect]
    ) -> None: ...


@dataclass(slots=True, eq=False)
class ClassicGroup:
    """The state of one group. `new_member_id` gives the id to use for a stranger, from its
    client id or instance id.
    """

    group_id: str
    rules: CoordinatorRules
    new_member_id: Callable[[str], str]
    exists: bool = False  # whether anybody ever joined: without that it is not even Empty
    state: ClassicState = ClassicState.EMPTY
    previous_state: ClassicState = ClassicState.DEAD
    generation: int = 0
    protocol_type: str | None = None
    protocol: str | None = None
    leader_id: str | None = None
    members: dict[str, Member] = field(default_factory=dict)
    static_members: dict[str, str] = field(default_factory=dict)  # instance id → member id
    # ids handed out with MEMBER_ID_REQUIRED → their timers
    pending: dict[str, str] = field(default_factory=dict)
    # members of this generation without a SyncGroup so far
    pending_sync: dict[str, None] = field(default_factory=dict)
    awaiting_join: int = 0
    supported: dict[str, int] = field(default_factory=dict)  # assignor → members that offer it
    new_member_added: bool = False
    join_is_armed: bool = False
    initial_delay_us: int = -1  # the window that is running; -1 where the barrier is no initial one
    initial_remaining_us: int = 0  # and what may follow it
    sync_generation: int = -1  # the generation the sync timer was set for; -1 if it is not set
    appends: int = 0
    # append → its record and what follows
    writing: dict[int, tuple[Any, Writing]] = field(default_factory=dict)
    persisted: Any = None  # the last group record that is in the log
    offsets: dict[Any, Any] = field(default_factory=dict)  # as of the last commit handed to the log
    persisted_offsets: dict[Any, Any] = field(default_factory=dict)
    _order: JavaHashMap[str, None] = field(default_factory=JavaHashMap)
    join_timer: str = field(init=False)
    sync_timer: str = field(init=False)
    session_prefix: str = field(init=False)

    def __post_init__(self) -> None:
        self.join_timer = f"join-{self.group_id}"
        self.sync_timer = f"sync-{self.group_id}"
        self.session_prefix = f"heartbeat-{self.group_id}-"

    def enter(self, state: ClassicState) -> None:
        """The next state, if the step to it is legal."""
        before = self.state
        self.state = state.entered_from(before)
        self.previous_state = before

    # -------------------------------------------------------------------------------------- members

    def ordered(self) -> Iterator[Member]:
        """The members as Java's HashMap yields them: the order of leaders, of answers and of
        timers set together.
        """
        members = self.members
        for member_id in self._order:
            yield members[member_id]

    def first_member_id(self) -> str | None:
        return self._order.first()

    def add(self, member: Member) -> None:
        """Adds a member; the first one becomes the leader."""
        member_id = member.member_id
        if member.instance_id is not None:
            if member.instance_id in self.static_members:
                raise BugError(
                    f"Instance id {member.instance_id} is added to group {self.group_id} a "
                    "second time"
                )
            self.static_members[member.instance_id] = member_id
        if not self.members:
            self.protocol_type = member.protocol_type
        if self.leader_id is None:
            self.leader_id = member_id
        self.members[member_id] = member
        self._order.put(member_id, None)
        self._count(member.protocols, 1)
        if member.join is not None:
            self.awaiting_join += 1
        self.pending.pop(member_id, None)

    def remove(self, member_id: str) -> None:
        """A member (or an id handed out) less. If it led, the first of the others does. A
        SyncGroup it has parked is never answered.
        """
        member = self.members.pop(member_id, None)
        if member is not None:
            self._order.remove(member_id)
            self._count(member.protocols, -1)
            if member.join is not None:
                self.awaiting_join -= 1
            if member.instance_id is not None:
                del self.static_members[member.instance_id]
            if self.leader_id == member_id:
                self.leader_id = self.first_member_id()
        self.pending.pop(member_id, None)
        self.pending_sync.pop(member_id, None)

    def refuse_join(
        self, member: Member, error: Error, out: list[Effect], member_id: str = ""
    ) -> None:
        """The JoinGroup that the member has parked, if any, is answered with this error."""
        if member.join is not None:
            out.append(Reply(member.join, JoinGroupResponse(error, member_id)))
            member.join = None
            self.awaiting_join -= 1

    def refuse_waiting(self, member: Member, error: Error, out: list[Effect]) -> None:
        """Whatever the member has parked is answered with this error."""
        self.refuse_join(member, error, out, member.member_id)
        if member.sync is not None:
            out.append(Reply(member.sync, SyncGroupResponse(error)))
            member.sync = None

    def rename(self, member: Member, member_id: str) -> Member:
        """A static member under a new id, with the old one's timeouts, protocols and assignment;
        leadership goes along.
        """
        assert member.instance_id is not None
        old_id = member.member_id
        del self.members[old_id]
        self._order.remove(old_id)
        renamed = replace(
            member,
            member_id=member_id,
            timer=self.session_prefix + member_id,
            join=None,
            displaced=(),
            sync=None,
            is_new=member.is_new and self.rules.replacement_stays_new,
            heard_us=-1,
        )
        self.members[member_id] = renamed
        self._order.put(member_id, None)
        if self.leader_id == old_id:
            self.leader_id = member_id
        self.static_members[member.instance_id] = member_id
        return renamed

    def update(
        self,
        member: Member,
        protocols: Protocols,
        session_timeout_us: int,
        rebalance_timeout_us: int,
        join: int | None,
    ) -> None:
        """What a JoinGroup said anew, and its number; a join that the member had parked is
        dropped without an answer.
        """
        before = member.protocols
        if protocols is not before:
            if [name for name, _ in before] != [name for name, _ in protocols]:
                self._count(before, -1)
                self._count(protocols, 1)
            member.protocols = protocols
        member.session_timeout_us = session_timeout_us
        member.rebalance_timeout_us = rebalance_timeout_us
        if join is not None and member.join is not None:
            member.displaced += (member.join,)
        self.awaiting_join += (join is not None) - (member.join is not None)
        member.join = join

    def _count(self, protocols: Protocols, by: int) -> None:
        supported = self.supported
        for name, _ in protocols:
            supported[name] = supported.get(name, 0) + by

    # ------------------------------------------------------------------------------------ questions

    def all_joined(self) -> bool:
        """Nobody is missing at the barrier, and no id is out whose owner may still come."""
        return self.awaiting_join == len(self.members) and not self.pending

    def rebalance_timeout_us(self) -> int:
        """The longest of the members' rebalance timeouts; 0 without members, and never less."""
        return max(
            0, max((member.rebalance_timeout_us for member in self.members.values()), default=0)
        )

    def supports(self, protocol_type: str, protocols: Protocols) -> bool:
        """Could somebody with these protocols be in the group? One of them must be known to
        every member there is.
        """
        if self.state is ClassicState.EMPTY:
            return protocol_type != "" and len(protocols) > 0
        if self.protocol_type == protocol_type:
            size, supported = len(self.members), self.supported
            for name, _ in protocols:
                if supported.get(name, 0) == size:
                    return True
        return False

    def identity_error(self, member_id: str, instance_id: str | None) -> Error:
        """NONE if this is a member under its latest id."""
        if instance_id is not None:
            holder = self.static_members.get(instance_id)
            if holder is None:
                return Error.UNKNOWN_MEMBER_ID
            if holder != member_id:
                return Error.FENCED_INSTANCE_ID
        return Error.NONE if member_id in self.members else Error.UNKNOWN_MEMBER_ID

    def selected_protocol(self) -> str:
        """Each member votes for the first of its protocols that all have; most votes win
        (ClassicGroup.selectProtocol).
        """
        size = len(self.members)
        candidates = [name for name, count in self.supported.items() if count == size]
        if len(candidates) == 1:
            return candidates[0]
        votes: dict[str, int] = {}
        for member in self.ordered():
            for name, _ in member.protocols:
                if name in candidates:
                    votes[name] = votes.get(name, 0) + 1
                    break
            else:
                raise BugError(
                    f"Member {member.member_id} of group {self.group_id} shares no protocol with "
                    "the others"
                )
        most = max(votes.values())
        # in a tie the first one in the order of Java's HashMap wins
        return next(name for name in hash_ordered(votes) if votes[name] == most)

    def members_for_leader(self) -> tuple[JoinedMember, ...]:
        """Everybody with the metadata for the selected protocol, absent static members too."""
        protocol = self.protocol
        return tuple(
            [JoinedMember(m.member_id, m.instance_id, m.metadata(protocol)) for m in self.ordered()]
        )

    def joined_answer(self, member_id: str, with_members: bool = True) -> JoinGroupResponse:
        """The answer to a join that is in the present generation; its leader is told of all."""
        leader = self.leader_id or ""
        return JoinGroupResponse(
            Error.NONE,
            member_id,
            self.generation,
            self.protocol_type,
            self.protocol,
            leader,
            members=self.members_for_leader() if with_members and member_id == leader else (),
        )

    # --------------------------------------------------------------------------------------- timers

    def arm(self, member: Member, timeout_us: int, now_us: int, out: list[Effect]) -> None:
        """The member's session begins anew."""
        member.heard_us = now_us
        out.append(SetTimer(member.timer, now_us + timeout_us))

    def begin_offsets(self, offsets: Mapping[Any, Any]) -> None:
        """Positions are visible as soon as they are handed to the log."""
        self.offsets.update(offsets)
