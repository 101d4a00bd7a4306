"""A classic member as its client keeps it: states, identity, when it must rejoin, and what every
answer does to it.

Kafka's AbstractCoordinator and ConsumerCoordinator without their threads: nothing here sends,
waits or calls a listener. What is to be done next comes back as a word, and whoever runs the
client does it.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, NamedTuple

from rebalsim.domain.callback import Callback
from rebalsim.domain.ids import Partition
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.protocol.errors_of_kafka import Error

NO_GENERATION = -1


class MemberState(Enum):
    """AbstractCoordinator.MemberState."""

    UNJOINED = "Unjoined"
    PREPARING = "PreparingRebalance"  # a JoinGroup is on its way
    COMPLETING = "CompletingRebalance"  # a SyncGroup is on its way
    STABLE = "Stable"


class Subscription(NamedTuple):
    """What a member says of itself for one assignor in JoinGroup. Compared as a whole by the
    coordinator.
    """

    topics: tuple[str, ...]
    owned: tuple[Partition, ...] = ()
    generation: int = NO_GENERATION
    rack: str = ""
    user_owned: tuple[Partition, ...] | None = None
    user_generation: int | None = None


class After(Enum):
    """What the client does after an answer."""

    GO_ON = "go on"
    LEAD = "assign, then SyncGroup"
    SYNC = KafkaApi.SYNC
    RETRY = "rejoin in the same call"
    LATER = "rejoin in a later pass of poll"
    FATAL = "throw from poll"
    IGNORE = "nothing"


_FATAL = (
    Error.FENCED_INSTANCE_ID,
    Error.INCONSISTENT_GROUP_PROTOCOL,
    Error.INVALID_SESSION_TIMEOUT,
    Error.GROUP_MAX_SIZE_REACHED,
    Error.INVALID_GROUP_ID,
    Error.UNKNOWN_SERVER_ERROR,
)
_EXCEPTIONS = {
    Error.UNKNOWN_MEMBER_ID: "UnknownMemberIdException",
    Error.ILLEGAL_GENERATION: "IllegalGenerationException",
    Error.REBALANCE_IN_PROGRESS: "RebalanceInProgressException",
    Error.FENCED_INSTANCE_ID: "FencedInstanceIdException",
    Error.COORDINATOR_NOT_AVAILABLE: "CoordinatorNotAvailableException",
    Error.NOT_COORDINATOR: "NotCoordinatorException",
    Error.COORDINATOR_LOAD_IN_PROGRESS: "CoordinatorLoadInProgressException",
    Error.NETWORK_EXCEPTION: "DisconnectException",
    Error.INCONSISTENT_GROUP_PROTOCOL: "InconsistentGroupProtocolException",
    Error.INVALID_SESSION_TIMEOUT: "InvalidSessionTimeoutException",
    Error.GROUP_MAX_SIZE_REACHED: "GroupMaxSizeReachedException",
    Error.INVALID_GROUP_ID: "InvalidGroupIdException",
    Error.GROUP_ID_NOT_FOUND: "GroupIdNotFoundException",
    Error.UNKNOWN_SERVER_ERROR: "UnknownServerException",
}


def exception_name(error: Error) -> str:
    """Kafka's exception for an error code."""
    return _EXCEPTIONS.get(error, "KafkaException")


class ClassicMember:
    """The state that both of a consumer's threads share."""

    __slots__ = (
        "generation",
        "instance_id",
        "is_cooperative",
        "is_leader",
        "joined_topics",
        "leave_reason",
        "member_id",
        "needs_prepare",
        "needs_rejoin",
        "owned",
        "protocol",
        "rejoin_reason",
        "remembered",
        "snapshot",
        "state",
    )

    def __init__(self, instance_id: str | None, is_cooperative: bool) -> None:
        self.instance_id = instance_id
        self.is_cooperative = is_cooperative
        self.state = MemberState.UNJOINED
        self.generation = NO_GENERATION
        self.member_id = ""
        self.protocol = ""
        self.is_leader = False
        self.needs_rejoin = True
        self.needs_prepare = True
        self.rejoin_reason = ""
        self.owned: tuple[Partition, ...] = ()  # sorted
        self.joined_topics: tuple[str, ...] | None = None  # the subscription at the last join
        self.snapshot: Any = None  # the leader's metadata at the assignment; None for followers
        self.remembered: dict[str, Any] = {}  # per assignor what it will say of its last assignment

    # --------------------------------------------------------------------------------------- wishes

    def request_rejoin(self, reason: str) -> None:
        """requestRejoin: the flag, and the reason that the next JoinGroup gives."""
        self.needs_rejoin = True
        self.rejoin_reason = reason

    def has_joined(self) -> bool:
        """Neither UNJOINED nor waiting for the JoinGroup answer: the heartbeat thread has
        something to do.
        """
        return self.state is MemberState.COMPLETING or self.state is MemberState.STABLE

    def is_rebalancing(self) -> bool:
        """rebalanceInProgress()."""
        return self.state is MemberState.PREPARING or self.state is MemberState.COMPLETING

    def is_same(self, generation: int, member_id: str) -> bool:
        """Is the generation still the one with which a request was sent?"""
        return generation == self.generation and member_id == self.member_id

    # ----------------------------------------------------------------------------------- forgetting

    def reset(self, *, keeps_id: bool, reason: str) -> None:
        """resetStateAndGeneration + resetStateAndRejoin: UNJOINED, no generation; the next join
        prepares anew.
        """
        self.state = MemberState.UNJOINED
        self.generation = NO_GENERATION
        if not keeps_id:
            self.member_id = ""
        self.protocol = ""
        self.needs_prepare = True
        self.request_rejoin(reason)

    # -------------------------------------------------------------------------------------- answers

    def on_join(self, response: Any, sent_generation: int, sent_member_id: str) -> After:
        """JoinGroupResponseHandler."""
        error = response.error
        if error is Error.NONE:
            if self.state is not MemberState.PREPARING:
                return After.IGNORE  # the member left meanwhile: the answer is stale
            self.state = MemberState.COMPLETING
            self.generation = response.generation
            self.member_id = response.member_id
            self.protocol = response.protocol
            return After.LEAD if response.leader == response.member_id else After.SYNC
        if error is Error.MEMBER_ID_REQUIRED:
            self.generation = NO_GENERATION
            self.member_id = response.member_id
            self.request_rejoin(f"need to re-join with the given member-id: {response.member_id}")
            return After.RETRY
        if error is Error.UNKNOWN_MEMBER_ID:
            if self.is_same(sent_generation, sent_member_id):
                self.reset(
                    keeps_id=False, reason=f"encountered {error.name} from JoinGroup response"
                )
            return After.RETRY
        if error is Error.REBALANCE_IN_PROGRESS:
            return After.RETRY
        if error in _FATAL:
            return After.FATAL
        return After.LATER

    def on_sync(self, error: Error, sent_generation: int, sent_member_id: str) -> After:
        """SyncGroupResponseHandler."""
        if error is Error.NONE:
            if self.state is not MemberState.COMPLETING or not self.is_same(
                sent_generation, sent_member_id
            ):
                return After.RETRY  # the generation was reset, or a rejoin begun, meanwhile
            self.state = MemberState.STABLE
            self.needs_rejoin = False
            return After.GO_ON
        if error is Error.REBALANCE_IN_PROGRESS:
            return After.RETRY
        if error is Error.UNKNOWN_MEMBER_ID or error is Error.ILLEGAL_GENERATION:
            if self.is_same(sent_generation, sent_member_id):
                self.reset(
                    keeps_id=error is Error.ILLEGAL_GENERATION,
                    reason=f"encountered {error.name} from SyncGroup response",
                )
            return After.RETRY
        # an unexpected error becomes a KafkaException
        if error in _FATAL or error is Error.COORDINATOR_LOAD_IN_PROGRESS:
            return After.FATAL
        return After.LATER

    def on_failed_join(self, error: Error) -> None:
        """What joinGroupIfNeeded adds after a failed attempt."""
        if error is not Error.MEMBER_ID_REQUIRED:
            self.request_rejoin(f"rebalance failed due to {exception_name(error)}")

    def on_heartbeat(self, error: Error, sent_generation: int, sent_member_id: str) -> After:
        """HeartbeatResponseHandler. GO_ON: the session is renewed. RETRY: it is renewed, and
        there is news.
        """
        if error is Error.NONE:
            return After.GO_ON
        if error is Error.REBALANCE_IN_PROGRESS:
            if self.state is MemberState.STABLE:
                self.request_rejoin("group is already rebalancing")
                return After.RETRY
            return After.GO_ON
        if error in (Error.UNKNOWN_MEMBER_ID, Error.ILLEGAL_GENERATION, Error.FENCED_INSTANCE_ID):
            if not self.is_same(sent_generation, sent_member_id):
                return After.IGNORE
            self.reset(
                keeps_id=error is Error.ILLEGAL_GENERATION,
                reason=f"encountered {error.name} from Heartbeat response",
            )
            return After.FATAL if error is Error.FENCED_INSTANCE_ID else After.LATER
        return After.FATAL if error in _FATAL else After.LATER

    # -------------------------------------------------------------------------------------- joining

    def prepare(self, topics: Sequence[str]) -> tuple[str, tuple[Partition, ...]]:
        """onJoinPrepare after its commit: which callback with which partitions, "" for none.
        Eager revokes even an empty list.
        """
        owned = self.owned
        if self.generation == NO_GENERATION or self.member_id == "":
            return (Callback.LOST, owned) if owned else ("", ())
        if not self.is_cooperative:
            return Callback.REVOKED, owned
        gone = tuple([p for p in owned if p.topic not in topics])
        return (Callback.REVOKED, gone) if gone else ("", ())

    def drop(self, partitions: Sequence[Partition]) -> None:
        """The member does not own these partitions any more."""
        if len(partitions) == len(self.owned):
            self.owned = ()
        else:
            gone = frozenset(partitions)
            self.owned = tuple([p for p in self.owned if p not in gone])

    def changes(
        self, assigned: tuple[Partition, ...]
    ) -> tuple[tuple[Partition, ...], tuple[Partition, ...]]:
        """onJoinComplete: what is added, and what a cooperative member has to revoke (and must
        then rejoin).
        """
        if not self.owned:
            return assigned, ()
        had = frozenset(self.owned)
        added = tuple([p for p in assigned if p not in had])
        if not self.is_cooperative:
            return added, ()
        has = frozenset(assigned)
        return added, tuple([p for p in self.owned if p not in has])
