"""What analysis finds, as plain values: pauses with their phases, who owned what, rebalances, members,
lag. Numbers called `event` or
`evidence` are places in the trace. −1 in a time means "not known" or "not yet".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from rebalsim.domain.alarm import AlarmKind
from rebalsim.domain.bar_piece import BarPiece
from rebalsim.domain.cause import CauseKind
from rebalsim.domain.completion import Completion
from rebalsim.domain.doing import Doing
from rebalsim.domain.holding_end import HoldingEnd
from rebalsim.domain.ids import Partition
from rebalsim.domain.mark_kind import MarkKind
from rebalsim.domain.pause_start import PauseStart
from rebalsim.domain.phase import PhaseKind
from rebalsim.domain.position_from import PositionFrom
from rebalsim.domain.timer import Timer
from rebalsim.domain.trigger import Trigger

Value = float | int | None  # of a metric, in its base unit; None where the trace cannot tell


class PauseKind(StrEnum):
    """Whether anybody held the partition when the pause began."""

    UNOWNED = "unowned"  # nobody holds it: revoked, lost, its owner left or died
    STALLED = "stalled"  # held, but its owner does not poll: stuck, frozen, cut off, in a callback


@dataclass(slots=True)
class Facts:
    """What is known of a phase beyond its length. Empty and −1 where it does not apply."""

    # whom it was waiting for (barrier: the last to join; follow-up: whose heartbeat; detection: who
    # vanished)
    consumer: str = ""
    doing: Doing = Doing.NOTHING
    since_us: int = -1  # since when it had been doing that
    # the instant that ended the wait: the timer's firing, the heartbeat, the join; −1 where the
    # phase ended before that
    until_us: int = -1
    timer: Timer = Timer.NONE  # that ended the wait
    # the rebalance's trigger, where one follows; detection: replaced, where one with its static id
    # took its place
    trigger: Trigger = Trigger.NONE
    # away: rejoined, where it had to join again first; revoke: refused, where the commit was made
    # again and again
    # detection that a session ended: when it began anew meanwhile, for the last time
    heard_us: int = -1
    left_us: int = -1  # delay: how much of it was left, where something else ended the wait


@dataclass(slots=True)
class Phase:
    """A part of a pause, half-open; the phases of a pause are consecutive and add up to it
    exactly.
    """

    kind: PhaseKind
    started_us: int
    ended_us: int
    facts: Facts
    evidence: tuple[int, ...] = ()

    @property
    def length_us(self) -> int:
        return self.ended_us - self.started_us


@dataclass(slots=True)
class Cause:
    """Why a pause happened: a kind, who and which action of the script started it, and the chain of
    events from there to the pause's end.
    """

    kind: CauseKind
    consumer: str = ""
    action: str = ""  # id of the script's action, empty if none
    disturbance: int = -1  # index into `Analysis.disturbances`
    evidence: tuple[int, ...] = ()


@dataclass(slots=True)
class Story:
    """The phases and the cause of a pause; partitions that stood still together share one."""

    phases: tuple[Phase, ...]
    cause: Cause


@dataclass(slots=True)
class Pause:
    """A partition stood still in `[started_us, ended_us)`; an open one had not ended at the
    horizon, which is then its end so far.
    """

    partition: Partition
    group: str
    started_us: int
    ended_us: int
    is_open: bool
    why: PauseStart
    owner_before: str  # who took its records last; empty for a new partition
    owner_after: str  # who was handed records again; empty while open
    start_event: int
    end_event: int  # the delivery (or position) that ended it; −1 while open
    # the callback that brought it to its new owner; −1 if the owner stayed the same
    assigned_event: int = -1
    # every callback or exit that concerned it meanwhile, owners in between included
    path: tuple[int, ...] = ()
    _teller: Callable[[Pause], Story] | None = field(default=None, repr=False, compare=False)
    _story: Story | None = field(default=None, repr=False, compare=False)

    @property
    def length_us(self) -> int:
        return self.ended_us - self.started_us

    @property
    def kind(self) -> PauseKind:
        return PauseKind.STALLED if self.why in STALLING else PauseKind.UNOWNED

    @property
    def story(self) -> Story:
        """Phases and cause, worked out when first asked for."""
        if self._story is None:
            assert self._teller is not None
            self._story = self._teller(self)
        return self._story

    @property
    def phases(self) -> tuple[Phase, ...]:
        return self.story.phases

    @property
    def cause(self) -> Cause:
        return self.story.cause


STALLING = (
    PauseStart.FROZE,
    PauseStart.STUCK,
    PauseStart.POLL_EXPIRED,
    PauseStart.CUT,
    PauseStart.CALLBACK,
)


@dataclass(slots=True)
class Holding:
    """A consumer held a partition, from its assigned callback to the end of its revoked or lost
    one (or its end).
    """

    consumer: str
    started_us: int
    ended_us: int  # the horizon if it still held it then
    generation: int  # or member epoch; −1 unknown
    how: HoldingEnd = HoldingEnd.HELD


@dataclass(slots=True)
class Segment:
    """A piece of a partition's bar."""

    what: BarPiece
    started_us: int
    ended_us: int
    consumer: str = ""  # who consumed
    phase: PhaseKind | None = None  # of a pause
    pause: Pause | None = None


@dataclass(slots=True)
class Lane:
    """One partition over the whole run: its holdings, its pauses, and the bar to draw; lanes
    with equal bars share `like` (the first one's index).
    """

    partition: Partition
    group: str
    holdings: tuple[Holding, ...]
    pauses: tuple[Pause, ...]
    segments: tuple[Segment, ...]
    like: int = -1

    @property
    def owners(self) -> tuple[str, ...]:
        """Everyone who held it, in order, without repeats in a row."""
        names: list[str] = []
        for holding in self.holdings:
            if not names or names[-1] != holding.consumer:
                names.append(holding.consumer)
        return tuple(names)


@dataclass(slots=True)
class Rebalance:
    """One round of the coordinator; times are −1 where nothing told them. Under the consumer
    protocol: one changed target, with the epoch as `generation`, the bump as `prepared_us`, the
    computation as `barrier_us`, everybody there as `stable_us`.
    """

    group: str
    generation: int
    trigger: Trigger
    trigger_consumer: str
    reason: str = ""  # in Kafka's words
    prepared_us: int = -1  # the round began
    barrier_us: int = -1  # everybody had joined
    stable_us: int = -1  # the assignment was stored
    settled_us: int = -1  # every member had run its callbacks
    completed_by: Completion = Completion.UNTOLD
    last: str = ""  # who completed the barrier
    kicked: tuple[str, ...] = ()
    members: int = 0
    leader: str = ""
    assignor: str = ""
    moved: int = -1  # partitions whose owner changed, −1 unknown
    least: int = -1  # how many had to move, −1 unknown
    is_cooperative: bool = False
    # consumer → when its JoinGroup left (or reached the coordinator), and that event
    joins: dict[str, tuple[int, int]] = field(default_factory=dict)
    # consumer → when it learnt of this round, and that event
    notices: dict[str, tuple[int, int]] = field(default_factory=dict)
    evidence: tuple[int, ...] = ()
    # consumer → duration as its rebalance-latency counts it
    latency_us: dict[str, int] = field(default_factory=dict)
    # who was removed before its barrier: when, by which event, why
    removed: dict[str, tuple[int, int, str]] = field(default_factory=dict)
    parked: tuple[
        str, ...
        # who was at its barrier, where the coordinator tells; some may never have read the answer
    ] = ()
    disturbance: int = -1  # index into `Analysis.disturbances`
    # the coordinator completed it: assignment stored (consumer protocol: target computed)
    is_complete: bool = False
    is_formation: bool = (
        False  # belongs to the group's first settling, which is no rebalance of a running group
    )

    @property
    def is_of_epochs(self) -> bool:
        """Whether it is no barrier's round, but a new target of a group that has epochs."""
        return self.completed_by is Completion.COMPUTED

    @property
    def counter(self) -> str:
        """What its `generation` is called in such a group."""
        return "epoch" if self.is_of_epochs else "generation"

    @property
    def felt_us(self) -> int:
        """From its trigger until every member had run its callbacks, as partitions feel it; −1
        if it never completed.
        """
        return (
            max(self.settled_us, self.stable_us) - self.prepared_us if self.stable_us >= 0 else -1
        )


@dataclass(slots=True)
class Disturbance:
    """From a trigger to a stable group, over one or more rebalances."""

    group: str
    started_us: int
    ended_us: int  # the horizon if the group had not settled
    is_open: bool
    trigger: Trigger
    consumer: str
    action: str  # id of the script's action that set it off
    rebalances: tuple[int, ...]  # indices into `Analysis.rebalances`
    moved: int  # partitions whose owner differs before and after
    least: int  # how many of these had to move
    evidence: tuple[int, ...]


@dataclass(slots=True)
class StateSpan:
    """The group was in this state (Kafka's name) for `[started_us, ended_us)`."""

    group: str
    state: str
    started_us: int
    ended_us: int
    generation: int = -1
    event: int = -1


@dataclass(slots=True)
class Copy:
    """A standby or warm-up of a task at a consumer, `[started_us, ended_us)`; from `caught_up_us`
    on it was as far as its task.
    """

    task: str
    consumer: str
    is_warmup: bool
    behind: int  # records, when it began
    started_us: int
    ended_us: int
    caught_up_us: int | None = None


@dataclass(slots=True)
class Mark:
    """Something worth a mark on the ruler."""

    at_us: int
    kind: MarkKind
    text: str
    action: str = ""
    deed: str = ""  # the action's class name
    targets: tuple[str, ...] = ()
    group: str = ""
    event: int = -1


@dataclass(slots=True)
class Span:
    """What a consumer's process did for `[started_us, ended_us)`."""

    what: Doing
    started_us: int
    ended_us: int
    event: int = -1


@dataclass(slots=True)
class MemberLife:
    """What one consumer lived through, over all lives of its process."""

    consumer: str
    group: str
    instance_id: str | None
    lives: int
    spans: tuple[Span, ...]
    generations: int  # how many it joined
    rebalances: int  # as its own rebalance-total counts them
    failed_rebalances: int
    revoked: int  # partitions, over all callbacks
    assigned: int
    lost: int
    poll_expired: int
    removed: tuple[str, ...]  # why the coordinator removed it, each time
    fenced: int
    held_most: int  # partitions at once
    held_last: int  # at the horizon
    partition_seconds: float  # held, in partition × seconds
    paused_us: int  # the sum of pauses of partitions it held before them


@dataclass(slots=True)
class LagCurve:
    """Records that had arrived and were not handled: corners (µs, records), straight lines
    between them.
    """

    partition: Partition
    group: str
    corners: tuple[tuple[int, float], ...]
    peak: float
    peak_us: int
    caught_up_us: (
        int  # after the peak, when lag was back at what it was before; −1 not within the horizon
    )


@dataclass(slots=True)
class Redelivery:
    """An owner started below (delivered twice) or above (skipped) what had been handled, or went
    on beside the next one.
    """

    partition: Partition
    group: str
    at_us: int
    consumer: str
    records: int  # > 0
    is_skip: bool
    how: PositionFrom
    disturbance: int
    event: int


@dataclass(slots=True)
class Answer:
    """One of the four questions of a group that rebalances too often: yes, no, or unknown
    (None), with the sentence's material.
    """

    question: str  # crash-loop | outlasts-poll-interval | shared-instance-id | cooperative-in-use
    is_yes: bool | None
    consumers: tuple[str, ...]
    figures: dict[str, int]  # e.g. longest_batch_us, max_poll_interval_us, times
    evidence: tuple[int, ...]


@dataclass(slots=True)
class Alarm:
    """What must be known before any figure. Killed in grace: `why` says what kept it, stuck, frozen
    or closing, or nothing. Held twice: `consumers` went on with what `others` had been given.
    """

    kind: AlarmKind
    group: str
    # the (first) death; the beginning of the disturbance; since when nobody has the partitions, or
    # leads them
    at_us: int
    # who died; who gave up waiting; whose trigger it was; who was to hand the partitions on
    consumers: tuple[str, ...]
    # died: the exception's name, empty if killed; else the trigger, sync-timed-out, or
    # torn-handover
    why: str
    others: tuple[str, ...]  # fenced: who else has its identity; sync-timed-out: the leader
    back_us: int  # when it was started again after the last death, or led again; −1 never
    times: int  # deaths; generations that the group went through meanwhile
    figures: dict[
        str, int
        # sync-timed-out: waited_us, computed_us; leaderless: broker, the one that went down;
        # held-twice: longest_us; killed-in-grace: grace_us, since_us (it was kept)
    ]
    evidence: tuple[int, ...]
    partitions: tuple[Partition, ...] = ()
    # died, refused by the coordinator: the brokers' setting that kept it out, by Kafka's key, where
    # one did
    because: str = ""


@dataclass(slots=True)
class Violation:
    """A broken invariant of the protocol: a bug of rebalsim (or of Kafka)."""

    rule: str  # two-owners | no-owner | generation-shrank | stranger | time-ran-back
    at_us: int
    text: str
    evidence: tuple[int, ...]
