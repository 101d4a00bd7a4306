"""Requests and answers of the classic protocol. Metadata and assignments are opaque here: anything
that can be compared.

Durations are integer microseconds. Nobody changes a message after it was made (they are not
frozen only because a thousand members make many of them).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rebalsim.protocol.errors_of_kafka import Error


@dataclass(slots=True)
class FindCoordinatorRequest:
    """Which broker leads this group?"""

    group_id: str


@dataclass(slots=True)
class FindCoordinatorResponse:
    """The broker that leads the group; -1 with an error."""

    error: Error
    broker: int = -1


@dataclass(slots=True)
class JoinGroupRequest:
    """A member (or, with an empty id, a stranger) wants to be in the next generation."""

    member_id: str
    instance_id: str | None
    client_id: str
    session_timeout_us: int
    rebalance_timeout_us: int
    protocols: tuple[tuple[str, Any], ...]  # (assignor's name, metadata) in the order of preference
    protocol_type: str = "consumer"
    reason: str | None = None
    version: int = (
        9  # below 4 no MEMBER_ID_REQUIRED (KIP-394), below 9 no skip_assignment (KIP-814)
    )


class JoinedMember(NamedTuple):
    """One member as the leader is told of it."""

    member_id: str
    instance_id: str | None
    metadata: Any


@dataclass(slots=True)
class JoinGroupResponse:
    """The generation that was joined, or why not. Only the leader is given the members."""

    error: Error
    member_id: str = ""
    generation: int = -1
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str = ""
    skip_assignment: bool = False
    members: tuple[JoinedMember, ...] = ()


@dataclass(slots=True)
class SyncGroupRequest:
    """A member asks for its assignment; the leader brings everybody's."""

    member_id: str
    instance_id: str | None
    generation: int
    protocol_type: str | None = "consumer"
    protocol: str | None = None
    # by member id; empty but for the leader's
    assignments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class SyncGroupResponse:
    """The assignment; None where the leader gave the member nothing."""

    error: Error
    assignment: Any = None
    protocol_type: str | None = None
    protocol: str | None = None


@dataclass(slots=True)
class HeartbeatRequest:
    """I am alive, and in this generation."""

    member_id: str
    instance_id: str | None
    generation: int


@dataclass(slots=True)
class HeartbeatResponse:
    """NONE, or what the member should know."""

    error: Error


POLL_TIMEOUT_EXPIRED = (
    "consumer poll timeout has expired."  # the reason the Java client gives (AbstractCoordinator)
)


class LeavingMember(NamedTuple):
    """One entry of a LeaveGroup request; an empty member id with an instance id removes whoever
    holds that.
    """

    member_id: str
    instance_id: str | None = None
    reason: str | None = None


@dataclass(slots=True)
class LeaveGroupRequest:
    """These members go."""

    members: Sequence[LeavingMember]


class LeftMember(NamedTuple):
    """The answer to one entry of a LeaveGroup request."""

    member_id: str
    instance_id: str | None
    error: Error


@dataclass(slots=True)
class LeaveGroupResponse:
    """An error for the whole request, and one for each entry."""

    error: Error
    members: tuple[LeftMember, ...] = ()


@dataclass(slots=True)
class OffsetCommitRequest:
    """A member stores positions. Without a member id and with generation -1: somebody outside
    group management does.
    """

    member_id: str
    instance_id: str | None
    generation: int
    offsets: Mapping[Any, Any] = field(default_factory=dict)  # by partition
    is_transactional: bool = False
    version: int = 9  # from 9 on an unknown group is GROUP_ID_NOT_FOUND


@dataclass(slots=True)
class OffsetCommitResponse:
    """NONE when the positions are in the log."""

    error: Error


@dataclass(slots=True)
class OffsetFetchRequest:
    """Which positions are stored for these partitions? The Java client always asks for stable
    ones.
    """

    partitions: Sequence[Any]


@dataclass(slots=True)
class OffsetFetchResponse:
    """The stored positions; a partition without one is absent."""

    error: Error
    offsets: dict[Any, Any] = field(default_factory=dict)


ClassicRequest = (
    JoinGroupRequest
    | SyncGroupRequest
    | HeartbeatRequest
    | LeaveGroupRequest
    | OffsetCommitRequest
    | OffsetFetchRequest
)
ClassicResponse = (
    JoinGroupResponse
    | SyncGroupResponse
    | HeartbeatResponse
    | LeaveGroupResponse
    | OffsetCommitResponse
    | OffsetFetchResponse
)
