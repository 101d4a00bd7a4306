"""What one log line proves, whoever wrote it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class FactKind(StrEnum):
    """What a line proves, in words that all dialects share."""

    # a client's lines
    SPOKE = "spoke"  # a line of whatever kind, before a silence
    STARTED = "started"  # its consumer lives
    CLOSED = "closed"
    VERSION = "version"
    SETTING = "setting"
    SETTINGS = "settings"  # the first line of a block of settings
    COORDINATOR_FOUND = "coordinator-found"
    COORDINATOR_LOST = "coordinator-lost"
    ASKING = "asking"  # JoinGroup leaves
    NAMED = "named"  # it learnt its member id
    JOINED = "joined"  # the barrier is over: member, generation, assignor
    PLANNED = "planned"  # the leader's assignment
    SYNCED = "synced"
    HEARD = "heard"  # that a rebalance is under way
    REJOINING = "rejoining"  # why it joins again
    ASSIGNED = "assigned"  # its listener is entered, as for the next two
    REVOKED = "revoked"
    LOST = "lost"
    CALLBACK_TOOK = "callback-took"
    POSITIONED = "positioned"  # it can fetch a partition
    RESTORED = "restored"
    CHANGELOG = "changelog"  # one store is restored; the amount is its records
    COMMIT_REFUSED = "commit-refused"
    POLL_EXPIRED = "poll-expired"
    BACK = "back"  # it polls again after that
    LEAVING = "leaving"  # a LeaveGroup leaves
    THROWN_OUT = "thrown-out"  # it learnt that the group has removed it
    RESET = "reset"  # it forgot its generation
    UNSUBSCRIBED = "unsubscribed"
    STATE = "state"  # of the consumer protocol's client; why is `BEFORE>AFTER`
    EPOCH = "epoch"
    STREAMS_STATE = "streams-state"
    TASK = "task"  # of Streams: `other` is initialized, running, suspended or closed (why)

    # a coordinator's lines
    PREPARING = "preparing"
    STABILIZED = "stabilized"
    DISTRIBUTED = "distributed"  # the leader's assignment has come
    EMPTY = "empty"
    BORN = "born"  # a member id is given out
    UNBORN = "unborn"  # nobody joined with it
    ADDED = "added"
    REPLACED = "replaced"  # a static member has a new id; `other` is the old one
    UPDATED = "updated"
    LEFT = "left"  # why: the client's reason
    FAILED = "failed"  # its session ran out
    REMOVED = "removed"  # it was late at the barrier
    STUCK = "stuck"  # it did not give up its partitions in time
    AWAY = "away"  # a static member left for a while
    LATE_LEADER = "late-leader"
    TURNED_AWAY = "turned-away"  # a twin
    BUMPED = "bumped"  # the group epoch
    COMPUTED = "computed"  # the target
    RESUBSCRIBED = "resubscribed"
    RECONCILED = "reconciled"  # told at DEBUG
    LOADED = "loaded"
    UNLOADED = "unloaded"
    CONVERTED = "converted"

    # pieces that one dialect puts together before anybody else sees them
    LISTED = "listed"  # one partition of a list over several lines
    GIVES_UP = "gives-up"  # all that it holds
    RD_LIST = "rd-list"
    RD_DELEGATED = "rd-delegated"
    RD_STATE = "rd-state"
    RD_LOST = "rd-lost"
    RD_KEPT = "rd-kept"
    SARAMA_ASKING = "sarama-asking"
    SARAMA_CLAIMS = "sarama-claims"
    SARAMA_ADDED = "sarama-added"
    SARAMA_CLOSED = "sarama-closed"
    SARAMA_STOPPED = "sarama-stopped"
    SARAMA_RELEASED = "sarama-released"


@dataclass(slots=True)
class Fact:
    """One thing that one line proves; `at_us` is by the clock of the host that wrote it."""

    at_us: int
    what: FactKind
    group: str = ""
    client: str = ""  # the name that a process gives to one of its consumers
    member: str = ""  # a member id
    generation: int = -1  # or epoch
    partitions: tuple[str, ...] = ()  # topic-number
    why: str = ""
    other: str = ""
    instance: str = ""
    thread: str = ""
    plan: dict[str, tuple[str, ...]] | None = None
    amount: int = -1
    is_second_hand: bool = False  # told by a framework around the client, after the fact
    place: int = -1  # which of its stream's facts it is


CALLS = (FactKind.REVOKED, FactKind.ASSIGNED, FactKind.LOST)  # what a listener is called for
GIVEN_UP = (FactKind.REVOKED, FactKind.LOST)
OF_EPOCHS = (FactKind.STATE, FactKind.EPOCH)  # said only by a client of the consumer protocol
MAKES_A_MEMBER = (FactKind.JOINED, FactKind.ASSIGNED)
ANSWERED = (FactKind.JOINED, FactKind.SYNCED)  # with the generation that it is in
GOES = (FactKind.CLOSED, FactKind.LEAVING)
# what comes of the application's thread: it is neither frozen nor stuck any more
APPLICATION_GOES_ON = (
    FactKind.REVOKED,
    FactKind.LOST,
    FactKind.ASSIGNED,
    FactKind.ASKING,
    FactKind.BACK,
    FactKind.THROWN_OUT,
)


def between(facts: Sequence[Fact], since_us: int, until_us: int) -> Sequence[Fact]:
    """Those of this time, both ends included; the facts are in order of time, or nearly so."""
    first = bisect_left(facts, since_us, key=_at)
    return facts[first : bisect_right(facts, until_us, first, key=_at)]


def _at(f: Fact) -> int:
    return f.at_us


@dataclass(slots=True)
class Record:
    """One line (or JSON document) taken apart: when, in which thread, and what it says."""

    at_us: int
    text: str
    thread: str = ""
    fields: dict[str, object] | None = None
    begin: int = -1  # where the message begins, after its prefix; −1: not known


def sorted_partitions(names: list[str]) -> tuple[str, ...]:
    """By topic and number, each once."""
    return tuple(sorted(dict.fromkeys(names), key=_by_number))


def _by_number(name: str) -> tuple[str, int]:
    topic, _, number = name.rpartition("-")
    return topic, int(number) if number.isdigit() else -1
