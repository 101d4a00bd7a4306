"""A consumer as a story describes it: its settings, its handler, its listener, its state, its life."""

from __future__ import annotations

from dataclasses import dataclass

from rebalsim.domain.client import ClientConfig
from rebalsim.domain.commit_style import AfterError, CommitOnRevoke, CommitStyle
from rebalsim.domain.connect import WorkerConfig
from rebalsim.domain.draws import NOTHING, Draw
from rebalsim.domain.habits import JAVA, Habits
from rebalsim.domain.instants import MS
from rebalsim.domain.pods import Life


@dataclass(frozen=True, slots=True)
class ErrorHandler:
    """Spring's DefaultErrorHandler: after an exception it waits in the consumer's thread, seeks back
    to the record and polls again, so many attempts in all; then the record is skipped.
    """

    attempts: int = 10
    back_off_us: int = 0
    multiplier: float = 1.0
    most_us: int = 30_000 * MS

    def waits_us(self, failed: int) -> int:
        """How long it waits after that many failures of a record."""
        return int(min(self.back_off_us * self.multiplier ** (failed - 1), self.most_us))


@dataclass(frozen=True, slots=True)
class Handler:
    """What the application does with a batch."""

    per_record: Draw = NOTHING
    per_batch: Draw = NOTHING
    poll_timeout_us: int = 100 * MS
    commit: CommitStyle = CommitStyle.AUTO
    commit_on_revoke: CommitOnRevoke = CommitOnRevoke.NONE
    on_error: AfterError = AfterError.RETRY
    error_handler: ErrorHandler | None = None  # of records whose handling throws
    catches_commits: bool = (
        False  # … but it goes on after a commit that was refused, whatever it does else
    )

    def commits_of(self, records: int) -> int:
        """For how many commits it waits in a batch of so many records."""
        return {CommitStyle.EACH_RECORD: records, CommitStyle.EACH_BATCH: 1}.get(self.commit, 0)

    @property
    def goes_on_after_commits(self) -> bool:
        """Does a commit that throws leave the poll loop as it is?"""
        return self.on_error is AfterError.RETRY or self.catches_commits


@dataclass(frozen=True, slots=True)
class Cost:
    """What a callback costs in the poll thread."""

    fixed: Draw = NOTHING
    per_partition: Draw = NOTHING
    before: Draw = NOTHING  # passes until it is entered


@dataclass(frozen=True, slots=True)
class Listener:
    revoked: Cost = Cost()
    assigned: Cost = Cost()
    lost: Cost = Cost()
    throws_in: str = ""  # revoked | assigned | lost: that callback throws …
    throws_times: int = 1  # … the first so many times


@dataclass(frozen=True, slots=True)
class State:
    """State to restore on assign and to flush on revoke."""

    bytes_per_partition: int = 0
    restore_bytes_per_second: float = 0.0
    flush_bytes_per_second: float = 0.0
    standby_share: float = 0.0  # of a restore that a standby saves
    survives: str = "nothing"  # or restart: what is on the machine's disk is gone on from
    # how fast a partition's state changes: what came since it was left is restored
    changes_bytes_per_second: float = 0.0
    checkpoint_us: int = 0  # so much a killed process may have to restore anew, at worst
    where: str = "callback"  # or background: other partitions go on meanwhile, and so does poll()


@dataclass(frozen=True, slots=True)
class AssignorCost:
    """The time the leader needs to compute an assignment: fixed + per (member × partition).
    Stated, never measured.
    """

    fixed: Draw = NOTHING
    per_member_partition_us: float = 0.0


@dataclass(frozen=True, slots=True)
class Consumer:
    """One consumer process (or one of several in a process): everything about it."""

    name: str
    group: str
    process: str = (
        ""  # consumers of one process share restarts, GC pauses and crashes; empty: its own
    )
    rack: str = ""
    tags: tuple[tuple[str, str], ...] = ()  # Kafka Streams: client.tag.KEY
    client: str = "java"
    client_version: str = "4.3"
    habits: Habits = JAVA
    config: ClientConfig = ClientConfig()
    topics: tuple[str, ...] = ()
    pattern: str | None = None
    handler: Handler = Handler()
    listener: Listener = Listener()
    state: State = State()
    life: Life = Life()
    assignor_cost: AssignorCost = AssignorCost()
    starts_at: Draw | None = (
        NOTHING  # when the process is started; None: only when an action starts it
    )
    worker: WorkerConfig | None = None  # of Kafka Connect; None: a consumer

    def subscribes_to(self, topic: str) -> bool:
        """By name, or by a pattern that matches all of the name."""
        if topic in self.topics:
            return True
        if self.pattern is None:
            return False
        from rebalsim.domain.pattern import BadPattern, matcher_of

        try:
            return matcher_of(self.pattern).matches(topic)
        except BadPattern:
            return False

    @property
    def has_callback(self) -> bool:
        """Does the application have a rebalance callback? Where its listener costs and does
        nothing, nobody could tell.
        """
        return bool(
            self.listener != Listener()
            or self.handler.commit_on_revoke is not CommitOnRevoke.NONE
            or self.state.bytes_per_partition
        )

    @property
    def commits_itself(self) -> bool:
        """Does its client commit automatically?"""
        return self.handler.commit is CommitStyle.AUTO and self.config.enable_auto_commit

    @property
    def awaits_poll(self) -> bool:
        """Under the classic protocol: does its part in a rebalance wait for the application to
        poll?
        """
        how = self.habits.awaits_poll
        return (
            not self.habits.runs_itself
            or how == "always"
            or (how == "registered" and self.has_callback)
        )
