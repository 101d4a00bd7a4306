"""What can have happened: past tense, one class each, told by the simulation, a recording, or real
logs alike.

An event's number is its place in the trace; evidence refers to those numbers. Facts only, no
meaning: nothing here says "pause". Quiet is not an event: a heartbeat answered without news, a
poll that returned the usual records, leave no entry (unless the trace was asked to hold the
whole wire). `consumer` is the process's name, `life` counts its processes from 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rebalsim.domain.ids import Partition
from rebalsim.trace import connect_events, streams_events

# ------------------------------------------------------------------------- the script and the world


@dataclass(slots=True)
class ScriptActed:
    """An action of the script took effect; `text` says it in words, `targets` are consumers,
    topics or brokers.
    """

    at_us: int
    action: str  # the action's id
    kind: str  # the deed's class name: Join, Crash, RollingBounce, …
    text: str
    targets: tuple[str, ...] = ()
    until_us: int = -1  # when what it does to its targets ends, where nothing else tells that


@dataclass(slots=True)
class LinkCut:
    at_us: int
    consumer: str
    from_all_brokers: bool


@dataclass(slots=True)
class LinkHealed:
    at_us: int
    consumer: str


@dataclass(slots=True)
class TopicChanged:
    """The brokers' metadata: the topic now has so many partitions (0: it is gone)."""

    at_us: int
    topic: str
    partitions: int


@dataclass(slots=True)
class BrokerChanged:
    """A broker went down or came back. `leaderless`: what nobody leads from then on, since all
    its replicas are down.
    """

    at_us: int
    broker: int
    is_up: bool
    kafka: str = ""
    leaderless: tuple[Partition, ...] = ()


# ----------------------------------------------------------------------------- a consumer's process


@dataclass(slots=True)
class ConsumerStarted:
    """The process was told to start; before its first poll it loads and warms up."""

    at_us: int
    consumer: str
    life: int


@dataclass(slots=True)
class PollingBegan:
    at_us: int
    consumer: str
    life: int


@dataclass(slots=True)
class StopAsked:
    """The process was asked to stop; it goes on until its close() begins."""

    at_us: int
    consumer: str


@dataclass(slots=True)
class CloseBegan:
    at_us: int
    consumer: str


@dataclass(slots=True)
class CloseEnded:
    at_us: int
    consumer: str


@dataclass(slots=True)
class ConsumerExited:
    """The process is gone. `how`: closed | killed | fatal; `error` is the exception's name when
    fatal, `why` says grace where it was killed for not having exited in time.
    """

    at_us: int
    consumer: str
    life: int
    how: str
    error: str = ""
    why: str = ""


@dataclass(slots=True)
class ConsumerFroze:
    at_us: int
    consumer: str


@dataclass(slots=True)
class ConsumerThawed:
    at_us: int
    consumer: str


@dataclass(slots=True)
class HandlerStuck:
    """The batch at hand takes longer than it would undisturbed; from `at_us` (its undisturbed
    end) on no progress. `why`: hang | poison | slow | commit | punctuator.
    """

    at_us: int
    consumer: str
    why: str
    partitions: tuple[Partition, ...] = ()


@dataclass(slots=True)
class HandlerReturned:
    at_us: int
    consumer: str


# ------------------------------------------------------------------- a consumer and its coordinator


@dataclass(slots=True)
class CoordinatorFound:
    at_us: int
    consumer: str
    broker: int = -1


@dataclass(slots=True)
class CoordinatorLost:
    at_us: int
    consumer: str
    why: str


@dataclass(slots=True)
class RequestSent:
    """A request left. `number` joins it with its answer; `generation` is the member epoch under the
    consumer protocol.

    What a rebalance is made of is always told: JoinGroup, SyncGroup, and the commit that goes
    out before partitions are given up (from which on nothing is handed over); so are the answers
    of JoinGroup and SyncGroup. All else is told only in a trace of the whole wire.
    """

    at_us: int
    consumer: str
    # JoinGroup, SyncGroup, Heartbeat, LeaveGroup, OffsetCommit, OffsetFetch,
    # ConsumerGroupHeartbeat, …
    api: str
    number: int
    generation: int = -1
    reason: str = ""
    partitions: tuple[Partition, ...] | None = None


@dataclass(slots=True)
class ResponseReceived:
    at_us: int
    consumer: str
    api: str
    number: int
    error: str = ""  # Kafka's error name, empty for NONE
    generation: int = -1
    sent_at_us: int = -1


@dataclass(slots=True)
class RejoinRequested:
    """The client marked itself for a (re)join; `reason` in Kafka's words."""

    at_us: int
    consumer: str
    reason: str


@dataclass(slots=True)
class RebalanceNoticed:
    """A consumer learnt that its group is rebalancing. `by`: heartbeat | sync | commit."""

    at_us: int
    consumer: str
    by: str


@dataclass(slots=True)
class GenerationJoined:
    """The JoinGroup answer was handled."""

    at_us: int
    consumer: str
    generation: int
    member_id: str
    assignor: str
    is_leader: bool = False
    skips_assignment: bool = False


@dataclass(slots=True)
class AssignmentComputed:
    """The leader (or the coordinator, under the consumer protocol) worked out who gets what."""

    at_us: int
    consumer: str  # empty when the coordinator did it
    group: str
    generation: int
    assignor: str
    moved: int = -1  # partitions whose owner changes, −1 unknown
    least: int = -1  # how many had to move at least


@dataclass(slots=True)
class AssignmentReceived:
    """The SyncGroup answer (or a consumer-protocol heartbeat) brought the assignment."""

    at_us: int
    consumer: str
    generation: int
    partitions: tuple[Partition, ...]


@dataclass(slots=True)
class CallbackBegan:
    """The rebalance listener was entered (with an empty list too, where Kafka does so).
    `callback`: revoked | assigned | lost.
    """

    at_us: int
    consumer: str
    callback: str
    partitions: tuple[Partition, ...]


@dataclass(slots=True)
class CallbackEnded:
    at_us: int
    consumer: str
    callback: str
    partitions: tuple[Partition, ...]
    error: str = ""


@dataclass(slots=True)
class PollExpired:
    """max.poll.interval.ms ran out; `last_poll_us` is when the application last polled."""

    at_us: int
    consumer: str
    last_poll_us: int = -1


@dataclass(slots=True)
class LeaveSent:
    at_us: int
    consumer: str
    reason: str


@dataclass(slots=True)
class MemberReset:
    """The client forgot its generation (and maybe its member id)."""

    at_us: int
    consumer: str
    reason: str


@dataclass(slots=True)
class Fenced:
    """An old identity was refused."""

    at_us: int
    consumer: str
    api: str
    error: str


@dataclass(slots=True)
class CommitRefused:
    at_us: int
    consumer: str
    error: str
    partitions: tuple[Partition, ...] = ()


# ------------------------------------------------------------------------------------------ records


@dataclass(slots=True)
class PositionFound:
    """Where an owner starts to read. `how`: committed | earliest | latest | none. `handled` is
    how far the partition had been handled by anybody (−1 unknown): starting below means records
    delivered twice, above means records skipped.
    """

    at_us: int
    consumer: str
    partition: Partition
    offset: int
    how: str
    handled: int = -1


@dataclass(slots=True)
class HandledBeside:
    """A former owner gave the partition up at last: so many records it had gone on handling
    beside the new owner, which reads them too.
    """

    at_us: int
    consumer: str
    partition: Partition
    records: int


@dataclass(slots=True)
class RecordsDelivered:
    """poll() handed over records: partition → (first offset, last offset, age of the oldest in
    µs). The first delivery of a partition after it was assigned or stood still is always told;
    the usual ones only in a trace of the whole wire.
    """

    at_us: int
    consumer: str
    batch: dict[Partition, tuple[int, int, int]]


@dataclass(slots=True)
class BatchHandled:
    at_us: int
    consumer: str


@dataclass(slots=True)
class LagMarked:
    """A corner of the fluid: so many records of the partition have arrived and are not handled,
    at this instant.
    """

    at_us: int
    partition: Partition
    group: str
    records: int


@dataclass(slots=True)
class BytesFetched:
    """So much was fetched of a partition from one broker since this was last told; only where brokers and
    consumers have racks.
    `crosses`: the broker is in another rack than the consumer.
    """

    at_us: int
    consumer: str
    partition: Partition
    broker: int
    bytes: int
    crosses: bool


# ---------------------------------------------------------------------------------- the coordinator


@dataclass(slots=True)
class GroupStateChanged:
    """`trigger` (on entering PreparingRebalance or its like): joined | left | session-expired |
    poll-expired | metadata-changed | leader-rejoined | static-protocol-changed | sync-expired |
    write-failed | barrier-unmet | coordinator-moved | regrouped.
    """

    at_us: int
    group: str
    before: str
    after: str
    generation: int
    trigger: str = ""
    consumer: str = ""  # who triggered it
    reason: str = ""  # in Kafka's words


@dataclass(slots=True)
class MemberAdded:
    """`how`: pending | new | static | replacement | loaded."""

    at_us: int
    group: str
    consumer: str
    member_id: str
    how: str


@dataclass(slots=True)
class MemberRejoined:
    """A JoinGroup of a known member reached the coordinator and is parked at the barrier."""

    at_us: int
    group: str
    consumer: str


@dataclass(slots=True)
class MemberRemoved:
    """`why`: left | session-expired | not-rejoined | not-synced | replaced | group-full |
    pending-expired | fenced | rebalance-timeout. For session-expired `last_heard_us` is when the
    timer was last renewed.
    """

    at_us: int
    group: str
    consumer: str
    member_id: str
    why: str
    last_heard_us: int = -1


@dataclass(slots=True)
class InitialDelayExtended:
    at_us: int
    group: str
    until_us: int


@dataclass(slots=True)
class BarrierCompleted:
    """The join phase is over. `by`: all-joined | timer | removal | initial-delay; `last` is the
    consumer that completed it.
    """

    at_us: int
    group: str
    generation: int
    members: int
    by: str
    last: str = ""
    kicked: tuple[str, ...] = ()
    leader: str = ""
    assignor: str = ""


@dataclass(slots=True)
class AssignmentStored:
    """The leader's assignment is in the log: the group is stable and the parked SyncGroups are
    answered.
    """

    at_us: int
    group: str
    generation: int


@dataclass(slots=True)
class CoordinatorMoved:
    """The group's coordinator is now this broker. `is_loaded` False: it still reads the group."""

    at_us: int
    group: str
    broker: int
    is_loaded: bool


# --------------------------------------------------------------- the coordinator, consumer protocol


@dataclass(slots=True)
class EpochBumped:
    """The group epoch grew: a new target is due. `trigger` as in GroupStateChanged."""

    at_us: int
    group: str
    epoch: int
    trigger: str
    consumer: str = ""


@dataclass(slots=True)
class IntervalWaited:
    """The target may not be computed before `until_us` (the assignment interval)."""

    at_us: int
    group: str
    epoch: int
    until_us: int


@dataclass(slots=True)
class MemberStateChanged:
    """The coordinator's view of a member: Stable | UnrevokedPartitions | UnreleasedPartitions |
    Unknown; or the client's own (side = client).
    """

    at_us: int
    group: str
    consumer: str
    before: str
    after: str
    epoch: int
    side: str = "broker"

    @property
    def is_of_client(self) -> bool:
        """Told by the client, of itself."""
        return self.side == "client"


@dataclass(slots=True)
class ReleaseAwaited:
    """A member cannot have these partitions yet: their owner has not acknowledged that it gave
    them up.
    """

    at_us: int
    group: str
    consumer: str
    partitions: tuple[Partition, ...]
    owners: tuple[str, ...]


@dataclass(slots=True)
class PartitionsReleased:
    """The owner acknowledged that it gave these up: they can be handed on, at the next heartbeat
    of their new owner.
    """

    at_us: int
    group: str
    consumer: str
    partitions: tuple[Partition, ...]


TraceEvent = Any  # one of the classes above; kept open so that readers dispatch on type(event)

EVENT_CLASSES: dict[str, type] = {
    name: thing
    for name, thing in [
        *globals().items(),
        *vars(connect_events).items(),
        *vars(streams_events).items(),
    ]
    if isinstance(thing, type)
    and hasattr(thing, "__dataclass_fields__")
    and "at_us" in thing.__dataclass_fields__
}
