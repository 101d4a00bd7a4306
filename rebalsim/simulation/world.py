"""The world of one run: everything that a scenario describes, put together, played up to the
horizon, and told as a trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from typing import Any

from rebalsim import __version__
from rebalsim.assignors.callable import load_callable
from rebalsim.assignors.registry import ClientAssignor, client_assignor, rebalance_protocol
from rebalsim.domain.collector import seldom_collecting
from rebalsim.domain.commit_style import AfterError, CommitStyle
from rebalsim.domain.consumer import Consumer as Spec
from rebalsim.domain.draws import mean_of
from rebalsim.domain.ids import Partition
from rebalsim.domain.java_hash import string_hash
from rebalsim.domain.lead import lead_of
from rebalsim.domain.life_end import LifeEnd
from rebalsim.domain.machine import Machine
from rebalsim.domain.own_code import is_own_code
from rebalsim.domain.pattern import matcher_of
from rebalsim.domain.scenario import RateStep, Scenario, Topic
from rebalsim.domain.script_shift import long_enough, shift_of
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.messages import FindCoordinatorResponse
from rebalsim.simulation.arrivals import lay_out, share_of, steps_ahead
from rebalsim.simulation.brokers import Brokers
from rebalsim.simulation.bytes_across_racks import tell_bytes
from rebalsim.simulation.clients import client_of, clusters_of, coordinator_of, is_client_of
from rebalsim.simulation.consumer import Consumer
from rebalsim.simulation.coordinator import Coordinator
from rebalsim.simulation.drive import Drive
from rebalsim.simulation.engine import NEVER, SCRIPT, Engine
from rebalsim.simulation.flow import Flow
from rebalsim.simulation.group_coordinator import GroupCoordinator
from rebalsim.simulation.kubelet import Kubelet
from rebalsim.simulation.lag import mark_end
from rebalsim.simulation.network import DISCONNECTED, Call, Link, connect
from rebalsim.simulation.poisons import Poisons
from rebalsim.simulation.process import Process
from rebalsim.simulation.progress import Progress
from rebalsim.simulation.randomness import Randomness
from rebalsim.simulation.script import Script
from rebalsim.simulation.settled import begun, with_lead
from rebalsim.simulation.stores import Stores
from rebalsim.trace.events import TopicChanged
from rebalsim.trace.ledger import LONG, PIECE, Ledger
from rebalsim.trace.trace import ConsumerFacts, FormerFacts, TopicFacts, Trace, TraceHeader


@lru_cache(maxsize=256)
def _assignors(names: tuple[str, ...], code_from: str) -> tuple[ClientAssignor, ...]:
    return tuple(
        [
            load_callable(name, code_from) if is_own_code(name) else client_assignor(name)
            for name in names
        ]
    )


class World:
    """All actors of one run, and what they ask of each other."""

    __slots__ = (
        "_members",
        "_number",
        "_packed",
        "_told",
        "_topics",
        "brokers",
        "clusters",
        "consumers",
        "coordinators",
        "drive",
        "engine",
        "events",
        "flows",
        "former",
        "growth",
        "hosts",
        "is_wire",
        "kubelet",
        "machine",
        "next_specs",
        "partitions",
        "poisons",
        "progress",
        "quiet",
        "randomness",
        "rates",
        "scenario",
        "script",
        "seed",
        "shift_us",
        "specs",
        "stores",
        "tell",
    )

    def __init__(
        self,
        scenario: Scenario,
        seed: int,
        *,
        is_wire: bool,
        drive: Drive | None,
        quiet: Any = None,
    ) -> None:
        self.scenario = scenario
        self.seed = seed
        self.shift_us = shift_of(seed, scenario.shift_within_us) if drive is None else 0
        self.engine = Engine()
        self.randomness = Randomness(seed)
        self.quiet = quiet  # who lets clients skip quiet time, if anybody does
        self.is_wire = is_wire
        self.drive = drive
        self.machine: Machine = scenario.machine
        self.events: list[Any] = []
        self.tell = self.events.append
        self._packed: Ledger | None = None
        self._number = self._told = 0
        self.brokers = Brokers(self)
        self._topics: dict[str, Topic] = {topic.name: topic for topic in scenario.topics}
        self.rates: dict[str, tuple[RateStep, ...]] = {
            topic.name: topic.rate for topic in scenario.topics
        }
        self.growth: dict[
            str, list[tuple[int, int]]
        ] = {}  # topic → when it got how many partitions, after the start
        self.partitions: dict[str, int] = {}
        self.flows: dict[Partition, Flow] = {}
        self.poisons = Poisons(self)
        for topic in scenario.topics:
            if topic.exists_from_start:
                self._create(topic, topic.partitions)
        self.progress = Progress()
        self.stores = Stores(self.engine, self.tell)
        self.coordinators: dict[int, GroupCoordinator] = {}  # by partition of __consumer_offsets
        self.hosts: dict[str, Coordinator] = {}
        self.clusters: dict[str, Any] = clusters_of(self)  # of Connect workers
        self.consumers: dict[str, Consumer] = {}
        self.specs: dict[
            str, Spec
        ] = {}  # what each consumer is now, or will be when it is first started
        self.next_specs: dict[str, Spec] = {}  # what it will be from its next start on
        self.former: dict[
            str, list[FormerFacts]
        ] = {}  # … and what it was before, in other settings than its latest
        self._members: dict[str, list[Consumer]] = {}
        for group in scenario.groups:
            for spec in group.consumers:
                self.add(spec)
        self.kubelet = Kubelet(self)
        self.script = Script(self)

    # ------------------------------------------------------------------------------------- building

    def _create(self, topic: Topic, count: int) -> None:
        before = self.partitions.get(topic.name, 0)
        self.partitions[topic.name] = count
        ids = self.brokers.ids
        offset = list(self._topics).index(topic.name)
        now = self.engine.now
        kinds: dict[float, Flow] = {}  # partitions of one share are alike for ever
        for number in range(before, count):
            partition = Partition(topic.name, number)
            self.brokers.place(
                partition, topic.replicas_of(number, ids, offset), bool(topic.replicas)
            )
            share = share_of(topic, number, count)
            flow = kinds.get(share)
            if flow is None:
                flow = kinds[share] = Flow(topic.backlog if now == 0 else 0)
                lay_out(flow, self.rates[topic.name], share, now)
            self.flows[partition] = flow

    def add(self, spec: Spec) -> Consumer:
        """A consumer that may be started."""
        self.specs[spec.name] = spec
        consumer = self.consumers[spec.name] = client_of(self, spec, len(self.consumers))
        self._members.setdefault(spec.group, []).append(consumer)
        if spec.group not in self.hosts:
            partition = self._place(spec.group)
            if partition not in self.coordinators:
                self.coordinators[partition] = GroupCoordinator(self.engine, partition)
            home = self.brokers.ids[partition % len(self.brokers.ids)]
            self.brokers.homes[spec.group] = home
            self.hosts[spec.group] = coordinator_of(
                self,
                spec.group,
                home,
                self.coordinators[partition],
                self.randomness.stream(f"log/{spec.group}"),
                self._member_id,
            )
        return consumer

    def start(self, name: str, spec: Spec | None = None) -> Consumer:
        """A process of this consumer starts, with its latest settings; not if one runs. `spec`:
        of one that is not known so far.
        """
        if spec is not None and name not in self.consumers:
            self.add(spec)
        consumer = self.consumers[name]
        if not consumer.is_alive:
            latest = self.next_specs.pop(name, spec)
            if latest is not None and latest is not consumer.spec:
                self.specs[name] = latest
                former = self._former(consumer)
                consumer = self._as(consumer, latest)
                consumer.take_spec(latest)
                if self._former(consumer) != former:
                    self.former.setdefault(name, []).append(former)
            consumer.begin()
        return consumer

    def _former(self, consumer: Consumer) -> FormerFacts:
        """What it ran with up to now, as far as a deploy may change it and what is told of a
        pause hangs on it.
        """
        spec, config, broker = consumer.spec, consumer.config, self.scenario.cluster.config
        is_new = config.group_protocol == "consumer"  # then the brokers say how often, and how long
        return FormerFacts(
            self.engine.now,
            f"{spec.client} {spec.client_version}",
            "consumer" if is_new else _protocol_of(consumer),
            broker.group_consumer_session_timeout_us if is_new else config.session_timeout_us,
            broker.group_consumer_heartbeat_interval_us if is_new else config.heartbeat_interval_us,
            config.max_poll_interval_us if spec.habits.has_poll_limit else -1,
            spec.habits,
        )

    def _as(self, consumer: Consumer, spec: Spec) -> Consumer:
        """The consumer with the client that its next life runs: another one when the protocol
        changes.
        """
        if is_client_of(consumer, spec):
            return consumer
        other = client_of(self, spec, consumer.index)
        other.life, other.slowness, other.link_trouble = (
            consumer.life,
            consumer.slowness,
            consumer.link_trouble,
        )
        other.link_trouble.follow(other)
        self.consumers[spec.name] = other
        members = self._members[spec.group]
        members[members.index(consumer)] = other
        return other

    def _starts_first(self, name: str) -> None:
        """Its turn in the order of the first starts, unless the script, a bounce perhaps, was
        quicker.
        """
        if not self.consumers[name].life:
            self.start(name)

    def _place(self, group: str) -> int:
        """The group's partition of __consumer_offsets."""
        count = self.scenario.cluster.config.offsets_topic_num_partitions
        return abs(string_hash(group)) % count

    # -------------------------------------------------------------------------------------- playing

    def play(self) -> Trace:
        """Up to the horizon."""
        if self.drive is not None:
            self.drive.begin(self)
        else:
            for consumer in list(self.consumers.values()):
                starts = consumer.spec.starts_at
                if starts is not None:
                    at = self.randomness.stream("starts").draw_at(starts, consumer.index)
                    self.engine.at(at, SCRIPT, self._starts_first, consumer.name)
            self.script.begin()
            for topic in self.scenario.topics:
                for at_us in steps_ahead(topic.rate, 0):
                    self.engine.at(at_us, SCRIPT, self._rate_changes, topic.name)
        horizon = self.scenario.horizon_us
        self.engine.run_to(horizon)
        for consumer in self.consumers.values():
            if consumer.is_alive:
                self.progress.give_up(consumer, consumer.feed.shares.values(), horizon - 1)
        mark_end(self)
        for consumer in self.consumers.values():
            if consumer.is_alive:
                tell_bytes(consumer, consumer.feed.shares.values(), horizon)
        if self.is_wire:
            self.events.sort(key=_instant)
        if self._packed is None:
            return Trace(self._header(), self.events, self.engine.entries)
        self._packed.extend(self.events)
        return Trace(self._header(), self._packed, self.engine.entries)

    def pack_events(self) -> None:
        """A trace that has grown long is kept packed so far."""
        if len(self.events) >= (LONG if self._packed is None else PIECE) and not self.is_wire:
            if self._packed is None:
                self._packed = Ledger()
            self._packed.extend(self.events)
            self.events.clear()

    def _header(self) -> TraceHeader:
        scenario = self.scenario
        header = TraceHeader(
            rebalsim=__version__,
            title=scenario.title,
            variant=scenario.variant,
            heading=scenario.heading,
            kafka=scenario.cluster.kafka,
            habits=scenario.cluster.habits,
            digest=scenario.digest,
            seed=self.seed,
            horizon_us=scenario.horizon_us,
            shift_us=self.shift_us,
        )
        for topic in scenario.topics:
            rates = tuple(
                [(step.at_us, step.per_second, step.is_ramp) for step in self.rates[topic.name]]
            )
            count = topic.partitions if topic.exists_from_start else 0
            header.topics[topic.name] = TopicFacts(
                count,
                rates,
                topic.weights,
                topic.record_bytes,
                tuple(self.growth.get(topic.name, ())),
            )
        unborn = [
            t.name
            for t in scenario.topics
            if not t.exists_from_start or any(not count for _, count in self.growth.get(t.name, ()))
        ]
        for name, consumer in self.consumers.items():
            spec, config, now = consumer.spec, consumer.config, self._former(consumer)
            is_auto = spec.commits_itself
            header.consumers[name] = ConsumerFacts(
                spec.group,
                spec.process,
                consumer.rack,
                now.client,
                now.protocol,
                () if now.protocol == "consumer" else tuple([a.name for a in consumer.assignors]),
                config.group_instance_id,
                now.session_timeout_us,
                now.heartbeat_interval_us,
                now.max_poll_interval_us,
                spec.handler.poll_timeout_us,
                mean_of(spec.handler.per_record),
                spec.handler.commit is CommitStyle.AUTO,
                config.auto_commit_interval_us if is_auto else -1,
                "" if is_auto else _own_commits(spec.handler.commit),
                tuple([topic for topic in unborn if spec.subscribes_to(topic)]) if unborn else (),
                tuple(self.former.get(name, ())),
                config.max_poll_records,
                now.habits,
            )
        return header

    # -------------------------------------------------------------------------- asked by the actors

    def next_number(self) -> int:
        self._number += 1
        return self._number

    def next_told(self) -> int:
        """The next number of a request in the trace; others are not counted, so that it does not
        matter how many there were.
        """
        self._told += 1
        return self._told

    def receive(self, call: Call) -> None:
        """FindCoordinator: any broker knows."""
        self.brokers.of(self.bootstrap).put(self._find_coordinator, call)

    def _find_coordinator(self, call: Call) -> None:
        broker = self.coordinator_of(call.request.group_id)
        if not self.brokers.is_up(self.brokers.bootstrap):
            call.response = DISCONNECTED
        else:
            error = Error.NONE if broker >= 0 else Error.COORDINATOR_NOT_AVAILABLE
            call.response = FindCoordinatorResponse(error, broker)
        call.consumer.link(self.bootstrap).down(call, call.consumer.answered)

    @property
    def bootstrap(self) -> int:
        """The broker that a client asks first."""
        return self.brokers.bootstrap

    def coordinator_of(self, group: str) -> int:
        return self.hosts[group].broker

    def host_of(self, group: str) -> Coordinator:
        return self.hosts[group]

    def members_of(self, group: str) -> list[Consumer]:
        return self._members[group]

    def connect(self, consumer: Process, broker: int, kind: str) -> Link:
        return connect(
            self.engine,
            self.randomness,
            self.scenario.cluster.network,
            consumer.name,
            consumer.rack,
            broker,
            self.brokers.racks.get(broker, ""),
            consumer.rank,
            kind,
            self.machine.connect_us if consumer.config.group_protocol == "classic" else 0,
        )

    def assignors_of(self, names: tuple[str, ...]) -> tuple[ClientAssignor, ...]:
        return _assignors(names, self.scenario.code_from)

    def topics_matching(self, pattern: str) -> tuple[str, ...]:
        matches = matcher_of(pattern).matches
        return tuple(
            sorted(topic for topic, count in self.partitions.items() if count and matches(topic))
        )

    def flow(self, partition: Partition) -> Flow:
        found = self.flows.get(partition)
        if found is None:
            found = self.flows[partition] = Flow()
        return found

    def leader_of(self, partition: Partition) -> int:
        return self.brokers.leaders.get(partition, self.bootstrap)

    def topic(self, name: str) -> Topic:
        """The topic as the scenario has it."""
        return self._topics[name]

    def record_bytes(self, topic: str) -> int:
        found = self._topics.get(topic)
        return max(1, found.record_bytes) if found else 1

    def has_leader_epochs(self, topic: str) -> bool:
        found = self._topics.get(topic)
        return found.has_leader_epochs if found else True

    def topic_id(self, name: str) -> str:
        """The topic's id: the brokers' assignors walk their maps in an order that depends on it."""
        found = self._topics.get(name)
        if found is not None and found.topic_id:
            return found.topic_id
        return self.randomness.stream(f"topic/{name}").uuid_at(0)

    def client_made_id(self, consumer: Consumer) -> str:
        """Under the consumer protocol the client itself makes its member id, one for each life."""
        given = self.drive.next_member_id(consumer.name) if self.drive is not None else ""
        return given or self.randomness.stream(f"ids/{consumer.name}").uuid_at(consumer.life)

    def by_topic_id(self, partitions: tuple[Partition, ...]) -> dict[str, tuple[int, ...]]:
        """As the consumer protocol's messages hold them."""
        found: dict[str, tuple[int, ...]] = {}
        for partition in partitions:
            topic = self.topic_id(partition.topic)
            found[topic] = (*found.get(topic, ()), partition.number)
        return found

    def by_topic_name(self, given: dict[str, tuple[int, ...]]) -> tuple[Partition, ...]:
        """And back."""
        names = {self.topic_id(name): name for name in self.partitions}
        return tuple(
            sorted(
                [
                    Partition(names[topic], number)
                    for topic, numbers in given.items()
                    if topic in names
                    for number in numbers
                ]
            )
        )

    def replica_racks(self) -> dict[str, tuple[tuple[str, ...], ...]] | None:
        """The racks of each partition's replicas, for assignors that mind them; None where
        brokers have none.
        """
        brokers = self.brokers
        if not any(brokers.racks.values()):
            return None
        return {
            topic: tuple(
                [
                    tuple(
                        [brokers.racks[broker] for broker in brokers.replicas[Partition(topic, n)]]
                    )
                    for n in range(count)
                ]
            )
            for topic, count in self.partitions.items()
        }

    def handled(self, partition: Partition, group: str) -> tuple[int, bool]:
        """How far anybody of the group has been handed the partition's records; and whether
        nobody ever had a position in it.
        """
        furthest = self.progress.of(group, partition)
        return (furthest if furthest >= 0 or self.drive is not None else 0), furthest < 0

    def _member_id(self, consumer: Consumer, base: str) -> str:
        if self.drive is not None:
            given = self.drive.next_member_id(consumer.name)
            if given:
                return given
        stream = self.randomness.stream(f"ids/{consumer.name}")
        text = f"{stream.bits():016x}{stream.bits():016x}"
        return f"{base}-{text[:8]}-{text[8:12]}-4{text[13:16]}-{'89ab'[int(text[16], 16) & 3]}{text[17:20]}-{text[20:]}"

    # ------------------------------------------------------------------------ changed by the script

    def grow(self, topic: str, count: int, per_second: float | None = None) -> None:
        """The topic has more partitions now; clients see it when their metadata are refreshed.
        `per_second`: the rate of each new one.
        """
        before = self.partitions[topic]
        self._create(self._topics[topic], count)
        if per_second is not None:
            for number in range(before, count):
                flow = self.flows[Partition(topic, number)] = Flow()
                flow.change(self.engine.now, per_second)
        self._topic_changed(topic, count)

    def set_partitions(self, topic: str, count: int) -> None:
        """The topic has so many partitions from now on (0: it is deleted), and its records
        spread over them.
        """
        before = self.partitions.get(topic, 0)
        spec = self._topics[topic]
        self._touch_readers(topic)
        if count > before:
            self._create(spec, count)
        else:
            self.partitions[topic] = count
        now = self.engine.now
        self.growth.setdefault(topic, []).append((now, count))
        for number in range(max(before, count)):
            flow = self.flows[Partition(topic, number)]
            flow.cut(now)
            if number < count:
                lay_out(flow, self.rates[topic], share_of(spec, number, count), now)
            else:
                flow.change(now, 0.0)
        self.flows_changed(topic)
        self._topic_changed(topic, count, count < before)

    def _topic_changed(self, topic: str, count: int, has_shrunk: bool = False) -> None:
        self.tell(TopicChanged(self.engine.now, topic, count))
        for host in self.hosts.values():
            host.topics_changed()
        for consumer in self.consumers.values():
            if consumer.is_alive:
                consumer.metadata.changed(topic if has_shrunk else "")

    def lacks(self, partitions: Iterable[Partition]) -> bool:
        """Is one of these partitions gone?"""
        return any(p.number >= self.partitions.get(p.topic, 0) for p in partitions)

    def set_rate(self, topic: str, per_second: float) -> None:
        """From now on so many records a second arrive at the topic, and nothing else changes
        that later.
        """
        now = self.engine.now
        self._touch_readers(topic)
        self.rates[topic] = (
            *[step for step in self.rates[topic] if step.at_us < now],
            RateStep(now, per_second),
        )
        spec, count = self._topics[topic], self.partitions.get(topic, 0)
        for number in range(count):
            flow = self.flows[Partition(topic, number)]
            flow.cut(now)
            lay_out(flow, self.rates[topic], share_of(spec, number, count), now)
        self.flows_changed(topic)

    def _rate_changes(self, topic: str) -> None:
        self._touch_readers(topic)
        self.flows_changed(topic)

    def flows_changed(self, topic: str) -> None:
        """Records come at another rate: whoever counted on the old one looks again."""
        for consumer in self.consumers.values():
            if (
                consumer.is_alive
                and not consumer.is_frozen
                and any(p.topic == topic for p in consumer.feed.shares)
            ):
                consumer.feed.flow_changed()

    def _touch_readers(self, topic: str) -> None:
        """Records will come otherwise from now on: whoever reads them goes on from here as if it
        had played all that came so far.
        """
        for consumer in self.consumers.values():
            if consumer.is_alive and any(p.topic == topic for p in consumer.feed.shares):
                consumer.touch()

    def play_plainly(self, _: None) -> None:
        """The story begins, of which the whole wire is told: no quiet time is skipped any more."""
        self.quiet, self.is_wire = None, True
        for consumer in self.consumers.values():
            if consumer.is_alive:
                consumer.touch()
            consumer.quiet = None

    def exited(self, consumer: Process) -> None:
        """A process is gone. An application that crashes takes the consumers with it that share
        its process.
        """
        self.script.noticed(consumer)
        self.script.changed()
        if (
            consumer.how_ended == LifeEnd.FATAL
            and consumer.spec.handler.on_error is AfterError.CRASH
            and consumer.spec.process
        ):
            for other in self.consumers.values():
                if other.is_alive and other.spec.process == consumer.spec.process:
                    other.kill()
        self.kubelet.exited(consumer)

    def living(self, group: str) -> Iterator[Consumer]:
        return (consumer for consumer in self._members.get(group, ()) if consumer.is_alive)

    def dead_of_exceptions(self, group: str) -> Iterator[Consumer]:
        return (
            consumer
            for consumer in self._members.get(group, ())
            if not consumer.is_alive and consumer.how_ended == LifeEnd.FATAL
        )


def _protocol_of(consumer: Consumer) -> str:
    """How a member of a classic group rebalances, by its own settings."""
    worker = consumer.spec.worker
    if worker is None:
        return rebalance_protocol(consumer.assignors)
    return "eager" if worker.connect_protocol == "eager" else "cooperative"


def _instant(event: Any) -> int:
    at: int = event.at_us
    return at


def play(
    scenario: Scenario,
    *,
    seed: int | None = None,
    plain: bool = False,
    wire: bool = False,
    drive: Drive | None = None,
) -> Trace:
    """Play a resolved scenario and tell what happened.

    `plain`: every poll, fetch, batch, beat, commit and refresh is played, however quiet (the trace is
    the same). `wire`: the trace holds every request, answer and batch too, so all is played then.
    `drive`: what a recording dictates, in place of the scenario's starts and script.
    """
    if drive is None:
        scenario = long_enough(scenario, scenario.seed if seed is None else seed)
    if any(group.streams is not None for group in scenario.groups):
        from rebalsim.simulation.streams.story import play_story

        return play_story(scenario, seed, lambda others: play(others, seed=seed, plain=plain))
    if scenario.start == "settled" and drive is None:
        before = with_lead(scenario)
        return begun(_played(before, seed, plain, wire, None, lead_of(scenario)), scenario)
    return _played(scenario, seed, plain, wire, drive, 0)


def _played(
    scenario: Scenario, seed: int | None, plain: bool, wire: bool, drive: Drive | None, lead_us: int
) -> Trace:
    """Of a trace of the whole wire quiet time is skipped as long as the story has not begun."""
    is_plain = plain or bool(_PLAINLY) or (wire and not lead_us)
    with seldom_collecting():
        world = World(
            scenario,
            scenario.seed if seed is None else seed,
            is_wire=wire and is_plain,
            drive=drive,
            quiet=None if is_plain else _quiet_room_for(scenario),
        )
        if wire and not is_plain:
            world.engine.at(lead_us, SCRIPT, world.play_plainly)
        return world.play()


_PLAINLY: list[bool] = []


@contextmanager
def plainly() -> Iterator[None]:
    """Whatever is played in here is played in full, by whomever."""
    _PLAINLY.append(True)
    try:
        yield
    finally:
        _PLAINLY.pop()


def _quiet_room_for(scenario: Scenario) -> Any:
    """Who lets clients skip quiet time; nobody where that room is taken away. It stands above
    this one, and is brought in from outside.
    """
    try:
        return import_module("rebalsim.quiet").quiet_room_for(scenario)
    except ImportError:
        return None


def _own_commits(style: CommitStyle) -> str:
    """How an application commits whose client does not: not at all, where that was to do it."""
    return str(CommitStyle.NONE if style is CommitStyle.AUTO else style)


__all__ = ["NEVER", "World", "plainly", "play"]
