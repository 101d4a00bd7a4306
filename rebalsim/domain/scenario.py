"""The story as meant: every default filled in, one variant applied. This is all that the simulation
is told.

YAML becomes this in the scenario room; verify builds it from a recording, tests by hand. Nothing
here is optional in meaning: what a file leaves out has its default here. Frozen and plain, so
that it can be sent to another process and hashed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, TypeVar

from rebalsim.domain.budget import Budget, Expectation
from rebalsim.domain.client import BrokerConfig, ClientConfig
from rebalsim.domain.connect import ConnectCluster, Connector
from rebalsim.domain.consumer import Consumer
from rebalsim.domain.draws import NOTHING, Draw, constantly
from rebalsim.domain.habits import NEWEST, BrokerHabits
from rebalsim.domain.instants import MINUTE, MS
from rebalsim.domain.machine import Machine
from rebalsim.domain.script import Action, RandomFault
from rebalsim.domain.streams import StreamsApp

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
    kafka: str = "4.3"  # for people: what that version does otherwise is in `habits`
    brokers: tuple[Broker, ...] = (Broker(0),)
    config: BrokerConfig = BrokerConfig()
    network: Network = Network()
    log_append: Draw = constantly(1 * MS)  # coordinator: local append …
    replication: Draw = NOTHING  # … and until the high watermark covers it
    habits: BrokerHabits = NEWEST


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
    # per partition its brokers, leader first; empty: any broker may lead
    replicas: tuple[tuple[int, ...], ...] = ()
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
class Group:
    """A group's members at the start, in order. Where they start cold, the first generation is part
    of the story.
    """

    name: str
    consumers: tuple[Consumer, ...]
    streams: StreamsApp | None = None  # it is a Kafka Streams application; consumers are instances


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
    connect: tuple[ConnectCluster, ...] = ()  # what the groups of Connect workers run
    script: tuple[Action, ...] = ()
    random_faults: tuple[RandomFault, ...] = ()
    horizon_us: int = 10 * MINUTE
    start: str = "cold"  # or settled: with a group that already runs
    # seeds other than 1 play the script later, each by its own share of this
    # (rebalsim.domain.script_shift)
    shift_within_us: int = 0
    seed: int = 1
    runs: int = 1
    budgets: tuple[Budget, ...] = ()
    expectations: tuple[Expectation, ...] = ()
    digest: str = ""  # of the file's meaning, for traces and baselines
    file: str = ""
    code_from: str = ""  # the folder of the user's own assignors; empty: no code may be run
    notes: tuple[str, ...] = field(default=())  # what the overlay dropped or changed, in sentences


def everybody_in(story: Scenario) -> Iterator[Consumer]:
    """Everybody that the story names, at its start and in its script."""
    yield from _within(story.groups, Consumer)
    yield from _within(story.script, Consumer)


def settings_in(story: Scenario, group: str) -> Iterator[ClientConfig]:
    """The settings of everybody who is ever in the group; sinks' tasks have their connector's, or
    their worker's.
    """
    people = list(everybody_in(story))
    yield from (spec.config for spec in people if spec.group == group)
    for cluster in story.connect:
        for connector in (*cluster.connectors, *cluster.later):
            if connector.group == group:
                yield from sink_settings(connector, people)


def sink_settings(connector: Connector, people: Iterable[Consumer]) -> Iterator[ClientConfig]:
    """The settings of this sink's tasks."""
    if connector.consumer is not None:
        yield connector.consumer
    else:
        yield from (spec.worker.consumer for spec in people if spec.worker is not None)


def is_sampled(scenario: Scenario) -> bool:
    """Is one run of it a sample rather than the answer? Under the consumer protocol member ids,
    which clients draw, and races of 100 ms decide.

    So is a story that only comes to it: whoever is deployed on the way counts. (Where between
    two heartbeats the script strikes is a chance under the classic protocol too, but one that
    the written times decide as well as any.)
    """
    people = list(everybody_in(scenario))
    return any(spec.config.uses_consumer_protocol for spec in people) or any(
        config.uses_consumer_protocol
        for cluster in scenario.connect
        for sink in (*cluster.connectors, *cluster.later)
        if sink.topics
        for config in sink_settings(sink, people)
    )


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
