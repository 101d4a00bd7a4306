"""A Java member of a consumer group (KIP-848) as its client keeps it: states, epochs, what it owns
and what it was given, what it sends.

AbstractMembershipManager and HeartbeatState, without threads: who runs callbacks and when is the
simulation's. There is no session timer on this side; a member learns that it was removed from
the next answer it gets. Assignments hold partitions by name: topics are taken to be known (a
client that does not know one asks for metadata first, which costs a round trip and is not
modelled).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from rebalsim.domain.errors import BugError
from rebalsim.domain.ids import Partition
from rebalsim.domain.kafka_states import KafkaClientState
from rebalsim.protocol.consumer_messages import JOINS, LEAVES, LEAVES_FOR_A_WHILE
from rebalsim.protocol.errors_of_kafka import Error

Partitions = tuple[Partition, ...]


class ClientState(Enum):
    """Kafka's MemberState of the client; the value is the name Kafka logs."""

    UNSUBSCRIBED = KafkaClientState.UNSUBSCRIBED
    JOINING = KafkaClientState.JOINING
    RECONCILING = KafkaClientState.RECONCILING
    ACKNOWLEDGING = KafkaClientState.ACKNOWLEDGING
    STABLE = KafkaClientState.STABLE
    FENCED = KafkaClientState.FENCED
    PREPARE_LEAVING = KafkaClientState.PREPARE_LEAVING
    LEAVING = KafkaClientState.LEAVING
    STALE = KafkaClientState.STALE
    FATAL = KafkaClientState.FATAL

    predecessors: tuple[ClientState, ...]


_S = ClientState
_S.STABLE.predecessors = (_S.JOINING, _S.ACKNOWLEDGING, _S.RECONCILING)
_S.RECONCILING.predecessors = (_S.STABLE, _S.JOINING, _S.ACKNOWLEDGING, _S.RECONCILING)
_S.ACKNOWLEDGING.predecessors = (_S.RECONCILING,)
_S.FATAL.predecessors = (
    _S.JOINING,
    _S.STABLE,
    _S.RECONCILING,
    _S.ACKNOWLEDGING,
    _S.PREPARE_LEAVING,
    _S.LEAVING,
    _S.UNSUBSCRIBED,
)
_S.FENCED.predecessors = (
    _S.JOINING,
    _S.STABLE,
    _S.RECONCILING,
    _S.ACKNOWLEDGING,
    _S.PREPARE_LEAVING,
    _S.LEAVING,
)
_S.JOINING.predecessors = (_S.FENCED, _S.UNSUBSCRIBED, _S.STALE)
_S.PREPARE_LEAVING.predecessors = (
    _S.JOINING,
    _S.STABLE,
    _S.RECONCILING,
    _S.ACKNOWLEDGING,
    _S.UNSUBSCRIBED,
)
_S.LEAVING.predecessors = (_S.PREPARE_LEAVING,)
_S.UNSUBSCRIBED.predecessors = (_S.PREPARE_LEAVING, _S.LEAVING, _S.FENCED)
_S.STALE.predecessors = (_S.LEAVING,)

_SILENT = (_S.UNSUBSCRIBED, _S.FATAL, _S.STALE, _S.FENCED)
_AT_ONCE = (_S.ACKNOWLEDGING, _S.LEAVING, _S.JOINING)
_IN_THE_GROUP = (_S.JOINING, _S.RECONCILING, _S.ACKNOWLEDGING, _S.STABLE)

FENCES = (Error.FENCED_MEMBER_EPOCH, Error.UNKNOWN_MEMBER_ID)
# when the coordinator is known again
RETRIES_AT_ONCE = Error.NOT_COORDINATOR, Error.COORDINATOR_NOT_AVAILABLE
RETRIES_LATER = (
    Error.COORDINATOR_LOAD_IN_PROGRESS,
    Error.NETWORK_EXCEPTION,
    Error.REQUEST_TIMED_OUT,
)


@dataclass(frozen=True, slots=True)
class Given:
    """An assignment with the client's own count of assignments: the same partitions given again
    are something new to acknowledge.
    """

    number: int
    partitions: Partitions


NOTHING_GIVEN = Given(-1, ())


class ConsumerMember:
    """One client's membership, through one life of its process."""

    __slots__ = (
        "_sent",
        "current",
        "epoch",
        "has_had_epoch",
        "instance_id",
        "is_reconciling",
        "member_id",
        "poll_has_expired",
        "rejoined_meanwhile",
        "state",
        "target",
    )

    def __init__(self, member_id: str, instance_id: str | None) -> None:
        self.member_id = member_id
        self.instance_id = instance_id
        self.epoch = 0
        # it was a member once; what the consumer's group metadata goes on saying (close() asks
        # that)
        self.has_had_epoch = False
        self.state = ClientState.UNSUBSCRIBED
        self.current = NOTHING_GIVEN  # what it acknowledged, or will with the next beat
        self.target = NOTHING_GIVEN  # what it was given last
        self.is_reconciling = False  # the steps of one reconciliation are under way
        self.rejoined_meanwhile = False
        self.poll_has_expired = False
        self._sent: Given | None = (
            None  # what the coordinator was told of; None: everything is to be sent again
        )

    # ----------------------------------------------------------------------------------- what it is

    @property
    def generation(self) -> int:
        """The epoch, by the name that requests and traces share with the classic protocol."""
        return self.epoch

    @property
    def owned(self) -> Partitions:
        """What it acknowledged last."""
        return self.current.partitions

    @property
    def is_reconciled(self) -> bool:
        return self.current == self.target

    @property
    def must_reconcile(self) -> bool:
        """A reconciliation waits to be begun."""
        return (
            self.state is ClientState.RECONCILING
            and not self.is_reconciling
            and not self.is_reconciled
        )

    @property
    def beats(self) -> bool:
        return self.state not in _SILENT

    @property
    def beats_now(self) -> bool:
        """Without waiting for the interval."""
        return self.state in _AT_ONCE

    @property
    def is_leaving(self) -> bool:
        return self.state in (ClientState.PREPARE_LEAVING, ClientState.LEAVING)

    @property
    def is_in_group(self) -> bool:
        return self.state in _IN_THE_GROUP

    def become(self, state: ClientState) -> ClientState:
        """Step to this state, if that is legal; the state before."""
        before = self.state
        if before not in state.predecessors:
            raise BugError(f"A member in state {before.value} cannot become {state.value}")
        self.state = state
        return before

    # ---------------------------------------------------------------------------- joining and going

    def join(self) -> None:
        """transitionToJoining: epoch 0, and what was given before does not count any more."""
        if self.is_reconciling:
            self.rejoined_meanwhile = True
        self.epoch = JOINS
        self.become(ClientState.JOINING)
        self.target = NOTHING_GIVEN

    def fence(self) -> None:
        """The coordinator does not know it any more, or knows it with another epoch."""
        self.become(ClientState.FENCED)
        self.epoch = JOINS

    def forget_assignment(self) -> None:
        """Its partitions are given up, all at once."""
        self.current = self.target = NOTHING_GIVEN

    def leave(self, has_poll_expired: bool, is_for_good: bool = False) -> None:
        """transitionToSendingLeaveGroup: −2 for a static member that means to come back, else
        −1.
        """
        self.poll_has_expired = has_poll_expired
        if self.state is not ClientState.PREPARE_LEAVING:
            self.become(ClientState.PREPARE_LEAVING)
        self.epoch = (
            LEAVES_FOR_A_WHILE if self.instance_id is not None and not is_for_good else LEAVES
        )
        self.current = NOTHING_GIVEN
        self.become(ClientState.LEAVING)

    # ----------------------------------------------------------------------------------- heartbeats

    def owned_to_send(self) -> Partitions | None:
        """The list of owned partitions belongs into the next beat only if it is news; `None` if
        it is not.
        """
        if self.state is ClientState.JOINING:
            return ()
        return None if self._sent == self.current else self.current.partitions

    @property
    def sends_all(self) -> bool:
        """Everything goes into the next beat: it joins, or the last one failed."""
        return self.state is ClientState.JOINING or self._sent is None

    def sent(self) -> None:
        """A beat was made."""
        self._sent = self.current

    def failed(self) -> None:
        """A beat failed: the next one tells everything again."""
        self._sent = None

    def after_beat(self) -> ClientState | None:
        """onHeartbeatRequestGenerated: acknowledging and leaving are over as soon as the beat is
        made. The state to step to, if any.
        """
        if self.state is ClientState.ACKNOWLEDGING:
            return ClientState.STABLE if self.is_reconciled else ClientState.RECONCILING
        if self.state is ClientState.LEAVING:
            return ClientState.STALE if self.poll_has_expired else ClientState.UNSUBSCRIBED
        return None

    def take(self, epoch: int, given: Partitions | None) -> ClientState | None:
        """A good answer. The state to step to: RECONCILING for news, STABLE if nothing is left
        to do, None to stay.
        """
        if not self.is_in_group or epoch < 0:
            return None
        self.epoch = epoch
        self.has_had_epoch = self.has_had_epoch or epoch > 0
        if given is None:
            return None
        if self.target.number < 0 or self.target.partitions != given:
            self.target = Given(self.target.number + 1, given)
        if not self.is_reconciled:
            return ClientState.RECONCILING
        return (
            ClientState.STABLE
            if self.state in (ClientState.RECONCILING, ClientState.JOINING)
            else None
        )

    # ------------------------------------------------------------------------------- reconciliation

    def begin_reconciliation(self) -> Given:
        """The steps of a reconciliation begin: commit, revoke, apply, acknowledge. Returns what
        they work towards.
        """
        self.is_reconciling = True
        self.rejoined_meanwhile = False
        return self.target

    def must_abort(self) -> bool:
        """Has something overtaken the reconciliation that is under way?"""
        return self.state is not ClientState.RECONCILING or self.rejoined_meanwhile

    def end_reconciliation(self, reached: Given | None) -> None:
        """Its steps are over; `reached` is what it now has, None if they were given up."""
        self.is_reconciling = self.rejoined_meanwhile = False
        if reached is not None:
            self.current = reached
