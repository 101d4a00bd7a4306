"""The story as meant: every default filled in, one variant applied. This is all that the simulation
is told.

YAML becomes this in the scenario room; verify builds it from a recording, tests by hand. Nothing
here is optional in meaning: what a file leaves out has its default here. Frozen and plain, so
that it can be sent to another process and hashed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, TypeVar

from rebalsim.domain.budget import Budget, Expectation
from rebalsim.domain.client import BrokerConfig, ClientConfig
from rebalsim.domain.draws import NOTHING, Draw, constantly
from rebalsim.domain.habits import JAVA, Habits
from rebalsim.domain.instants import MINUTE, MS
from rebalsim.domain.machine import Machine
from rebalsim.domain.script import Action, RandomFault

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Broker:
    id: int
    rack: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """One-way latency that overrides the general one, between two ends; an end is a consumer, a
    broker (`broker-1`) or a rack.
    """

    one: str
    other: str
    latency: Draw


@dataclass(frozen=True, slots=True)
class Network:
    latency: Draw = constantly(1 * MS)  # client–broker, one way
    cross_rack: Draw | None = None  # the same between racks; None: no difference
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Cluster:
    kafka: str = "4.3"
    brokers: tuple[Broker, ...] = (Broker(0),)
    config: BrokerConfig = BrokerConfig()
    network: Network = Network()
    log_append: Draw = constantly(1 * MS)  # coordinator: local append …
    replication: Draw = NOTHING  # … and until the high watermark covers it


@dataclass(frozen=True, slots=True)
class RateStep:
    """From `at_us` on the topic's rate goes to `per_second`: at once, or as a straight line from
    the step before (ramp).
    """

    at_us: int
    per_second: float
    is_ramp: bool = False


@dataclass(frozen=True, slots=True)
class Topic:
    name: str
    partitions: int
    rate: tuple[RateStep, ...] = (RateStep(0, 0.0),)  # of the whole topic
    weights: tuple[float, ...] = ()  # share per partition; empty: equal
    record_bytes: int = 1_000
    topic_id: str = ""
    replicas: tuple[
        tuple[int, ...], ...
    ] = ()  # per partition its brokers, leader first; empty: any broker may lead
    has_leader_epochs: bool = True
    exists_from_start: bool = True
    backlog: int = 0  # records per partition that wait at the start

    def replicas_of(self, number: int, brokers: Sequence[int], offset: int) -> tuple[int, ...]:
        """The brokers of a partition, leader first. Those that are added later have as many as
        the first, going round the brokers.
        """
        if number < len(self.replicas):
            return self.replicas[number]
        factor = len(self.replicas[0]) if self.replicas else 1
        return tuple([brokers[(offset + number + i) % len(brokers)] for i in range(factor)])


@dataclass(frozen=True, slots=True)
class Handler:
    """What the application does with a batch."""

    per_record: Draw = NOTHING
    per_batch: Draw = NOTHING
    poll_timeout_us: int = 100 * MS
    commit: str = "auto"  # auto | sync-batch | sync-record | async | none
    commit_on_revoke: str = "none"  # none | once | per-partition
    on_error: str = (
        "retry"  # after an exception from poll, a commit or a listener: retry | close | crash
    )
    catches_commits: bool = (
        False  # … but it goes on after a commit that was refused, whatever it does else
    )

    @property
    def goes_on_after_commits(self) -> bool:
        """Does a commit that throws leave the poll loop as it is?"""
        return self.on_error == "retry" or self.catches_commits


@dataclass(frozen=True, slots=True)
class Cost:
    """What a callback costs in the poll thread."""

    fixed: Draw = NOTHING
    per_partition: Draw = NOTHING


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


@dataclass(frozen=True, slots=True)
class Life:
    """Process start and stop."""

    start: Draw = NOTHING  # from being started to the first poll()
    stop: Draw = NOTHING  # from being asked to stop to close()
    grace_us: int = 30_000 * MS  # killed when it has not exited by then


@dataclass(frozen=True, slots=True)
class AssignorCost:
    """The time the leader needs to compute an assignment: fixed + per (member × partition).
    Stated, never measured.
    """

    fixed_us: float = 0.0
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

    def subscribes_to(self, topic: str) -> bool:
        """By name, or by a pattern that matches all of the name."""
        if topic in self.topics:
            return True
        try:
            return self.pattern is not None and re.fullmatch(self.pattern, topic) is not None
        except re.error:
            return False

    @property
    def has_callback(self) -> bool:
        """Does the application have a rebalance callback? Where its listener costs and does
        nothing, nobody could tell.
        """
        return bool(
            self.listener != Listener()
            or self.handler.commit_on_revoke != "none"
            or self.state.bytes_per_partition
        )

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


@dataclass(frozen=True, slots=True)
class Group:
    """A group's members at the start, in order. They start cold: the first generation is part of
    the story.
    """

    name: str
    consumers: tuple[Consumer, ...]


@dataclass(frozen=True, slots=True)
class Scenario:
    title: str = ""
    description: str = ""
    variant: str = "as-written"
    heading: str = ""  # the variant with its assignor: "eager (range)"
    cluster: Cluster = Cluster()
    machine: Machine = Machine()
    topics: tuple[Topic, ...] = ()
    groups: tuple[Group, ...] = ()
    script: tuple[Action, ...] = ()
    random_faults: tuple[RandomFault, ...] = ()
    horizon_us: int = 10 * MINUTE
    # seeds other than 1 play the script later, each by its own share of this
    # (rebalsim.domain.phase)
    shift_within_us: int = 0
    seed: int = 1
    runs: int = 1
    budgets: tuple[Budget, ...] = ()
    expectations: tuple[Expectation, ...] = ()
    digest: str = ""  # of the file's meaning, for traces and baselines
    file: str = ""
    notes: tuple[str, ...] = field(default=())  # what the overlay dropped or changed, in sentences


def everybody_in(story: Scenario) -> Iterator[Consumer]:
    """Everybody that the story names, at its start and in its script."""
    yield from _within(story.groups, Consumer)
    yield from _within(story.script, Consumer)


def has_draws(story: Scenario) -> bool:
    """Does anything in it happen at random, besides what Kafka itself draws?"""
    return (
        bool(story.random_faults)
        or any(action.jitter_us for action in story.script)
        or any(
            not draw.is_constant
            for part in (story.cluster, story.groups, story.script)
            for draw in _within(part, Draw)
        )
    )


def _within(value: Any, kind: type[T]) -> Iterator[T]:
    if isinstance(value, kind):
        yield value
    elif isinstance(value, tuple):
        if not (
            value and isinstance(value[0], str | float)
        ):  # names and numbers, of which there may be very many
            for one in value:
                yield from _within(one, kind)
    elif is_dataclass(value):
        for each in fields(value):
            inner = getattr(value, each.name)
            if isinstance(inner, tuple) or is_dataclass(inner):
                yield from _within(inner, kind)
