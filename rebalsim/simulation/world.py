"""The world of one run: everything that a scenario describes, put together, played up to the horizon, and told as a trace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from rebalsim import __version__
from rebalsim.assignors.registry import ClientAssignor, client_assignor, rebalance_protocol
from rebalsim.domain.ids import Partition
from rebalsim.domain.java_hash import string_hash
from rebalsim.domain.machine import Machine
from rebalsim.domain.scenario import Consumer as Spec
from rebalsim.domain.scenario import Scenario, Topic
from rebalsim.protocol.messages import Error, FindCoordinatorResponse
from rebalsim.simulation.consumer import Consumer
from rebalsim.simulation.coordinator import Coordinator
from rebalsim.simulation.drive import Drive
from rebalsim.simulation.engine import NEVER, SCRIPT, Engine, Once
from rebalsim.simulation.flow import Flow
from rebalsim.simulation.network import Call, Link, connect
from rebalsim.simulation.randomness import Randomness, mean_of
from rebalsim.simulation.script import Script
from rebalsim.trace.events import TopicChanged
from rebalsim.trace.trace import ConsumerFacts, TopicFacts, Trace, TraceHeader


@lru_cache(maxsize=256)
def _assignors(names: tuple[str, ...]) -> tuple[ClientAssignor, ...]:
    return tuple([client_assignor(name) for name in names])


class World:
    """All actors of one run, and what they ask of each other."""

    def __init__(self, scenario: Scenario, seed: int, *, is_dense: bool, is_wire: bool, drive: Drive | None) -> None:
        self.scenario = scenario
        self.seed = seed
        self.engine = Engine()
        self.randomness = Randomness(seed)
        self.is_dense = is_dense
        self.is_wire = is_wire
        self.sleeps = not is_dense and not is_wire
        self.drive = drive
        self.machine: Machine = scenario.machine
        self.events: list[Any] = []
        self.tell = self.events.append
        self._number = 0
        self._racks = {broker.id: broker.rack for broker in scenario.cluster.brokers}
        self._broker_ids = [broker.id for broker in scenario.cluster.brokers]
        self.bootstrap = self._broker_ids[0]
        self._topics: dict[str, Topic] = {topic.name: topic for topic in scenario.topics}
        self.partitions: dict[str, int] = {}
        self.flows: dict[Partition, Flow] = {}
        self._leaders: dict[Partition, int] = {}
        for topic in scenario.topics:
            if topic.exists_from_start:
                self._create(topic, topic.partitions)
        self.hosts: dict[str, Coordinator] = {}
        self.consumers: dict[str, Consumer] = {}
        self._members: dict[str, list[Consumer]] = {}
        self._given_ids: dict[str, int] = {}
        for group in scenario.groups:
            for spec in group.consumers:
                self.add(spec)
        self.script = Script(self)

    # ---------------------------------------------------------------------------------------------- building

    def _create(self, topic: Topic, count: int) -> None:
        before = self.partitions.get(topic.name, 0)
        self.partitions[topic.name] = count
        offset = list(self._topics).index(topic.name)
        now = self.engine.now
        weights = topic.weights or (1.0,) * count
        whole = sum(weights[:count]) or 1.0
        for number in range(before, count):
            partition = Partition(topic.name, number)
            flow = self.flows[partition] = Flow(topic.backlog if now == 0 else 0)
            share = (weights[number] if number < len(weights) else 1.0) / whole
            steps = topic.rate
            for i, step in enumerate(steps):
                ramp = steps[i + 1] if i + 1 < len(steps) and steps[i + 1].is_ramp else None
                flow.change(max(step.at_us, 0), step.per_second * share,
                            ramp.at_us if ramp else None, ramp.per_second * share if ramp else 0.0)
            if number < len(topic.replicas):
                self._leaders[partition] = topic.replicas[number][0]
            else:
                self._leaders[partition] = self._broker_ids[(offset + number) % len(self._broker_ids)]

    def add(self, spec: Spec) -> Consumer:
        """A consumer that may be started."""
        consumer = self.consumers[spec.name] = Consumer(self, spec, len(self.consumers))
        self._members.setdefault(spec.group, []).append(consumer)
        if spec.group not in self.hosts:
            self.hosts[spec.group] = Coordinator(
                self, spec.group, self._place(spec.group), self.randomness.stream(f"log/{spec.group}"), self._member_id)
        return consumer

    def _place(self, group: str) -> int:
        """The broker that leads the group's partition of __consumer_offsets."""
        count = self.scenario.cluster.config.offsets_topic_num_partitions
        return self._broker_ids[abs(string_hash(group)) % count % len(self._broker_ids)]

    # ---------------------------------------------------------------------------------------------- playing

    def play(self) -> Trace:
        """Up to the horizon."""
        if self.drive is not None:
            self.drive.begin(self)
        else:
            for consumer in list(self.consumers.values()):
                starts = consumer.spec.starts_at
                if starts is not None:
                    at = self.randomness.stream("starts").draw_at(starts, consumer.index)
                    self.engine.at(at, SCRIPT, _begin, consumer)
            self.script.begin()
        horizon = self.scenario.horizon_us
        self.engine.at(horizon, 0, _nothing)          # so that the queue is never empty before
        self.engine.run(horizon)
        for consumer in self.consumers.values():
            if self.is_wire and consumer.is_alive and not consumer.is_frozen and consumer.feed.cycle is not None:
                consumer.feed.tell_steady(horizon)
        if self.is_wire:
            self.events.sort(key=_instant)
        return Trace(self._header(), self.events)

    def _header(self) -> TraceHeader:
        scenario = self.scenario
        header = TraceHeader(
            rebalsim=__version__, title=scenario.title, variant=scenario.variant, heading=scenario.heading,
            kafka=scenario.cluster.kafka, digest=scenario.digest, seed=self.seed, horizon_us=scenario.horizon_us,
        )
        for topic in scenario.topics:
            rates = tuple([(step.at_us, step.per_second, step.is_ramp) for step in topic.rate])
            header.topics[topic.name] = TopicFacts(topic.partitions, rates, topic.weights, topic.record_bytes)
        for name, consumer in self.consumers.items():
            spec, config = consumer.spec, consumer.config
            header.consumers[name] = ConsumerFacts(
                spec.group, spec.process, consumer.rack, f"{spec.client} {spec.client_version}",
                rebalance_protocol(consumer.assignors), tuple([a.name for a in consumer.assignors]), config.group_instance_id,
                config.session_timeout_us, config.heartbeat_interval_us, config.max_poll_interval_us,
                spec.handler.poll_timeout_us, mean_of(spec.handler.per_record), spec.handler.commit == "auto",
            )
        return header

    # ---------------------------------------------------------------------------------------------- asked by the actors

    def next_number(self) -> int:
        self._number += 1
        return self._number

    def receive(self, event: Once) -> None:
        """FindCoordinator: any broker knows."""
        call: Call = event.value
        call.response = FindCoordinatorResponse(Error.NONE, self.coordinator_of(call.request.group_id))
        call.consumer.link(self.bootstrap).down(call, call.consumer.answered)

    def coordinator_of(self, group: str) -> int:
        return self.hosts[group].broker

    def host_of(self, group: str) -> Coordinator:
        return self.hosts[group]

    def members_of(self, group: str) -> list[Consumer]:
        return self._members[group]

    def connect(self, consumer: Consumer, broker: int, kind: str) -> Link:
        return connect(self.engine, self.randomness, self.scenario.cluster.network, consumer.name, consumer.rack, broker,
                       self._racks.get(broker, ""), consumer.rank, kind)

    def assignors_of(self, names: tuple[str, ...]) -> tuple[ClientAssignor, ...]:
        return _assignors(names)

    def topics_matching(self, pattern: str) -> tuple[str, ...]:
        matches = re.compile(pattern).fullmatch
        return tuple(sorted(topic for topic, count in self.partitions.items() if count and matches(topic)))

    def flow(self, partition: Partition) -> Flow:
        found = self.flows.get(partition)
        if found is None:
            found = self.flows[partition] = Flow()
        return found

    def leader_of(self, partition: Partition) -> int:
        return self._leaders.get(partition, self.bootstrap)

    def record_bytes(self, topic: str) -> int:
        found = self._topics.get(topic)
        return max(1, found.record_bytes) if found else 1

    def has_leader_epochs(self, topic: str) -> bool:
        found = self._topics.get(topic)
        return found.has_leader_epochs if found else True

    def replica_racks(self) -> None:
        """No racks so far."""
        return None

    def handled(self, partition: Partition) -> int:
        """How far anybody has handled the partition: unknown so far."""
        return -1

    def _member_id(self, consumer: Consumer, base: str) -> str:
        if self.drive is not None:
            given = self.drive.next_member_id(consumer.name)
            if given:
                return given
        stream = self.randomness.stream(f"ids/{consumer.name}")
        text = f"{stream.bits():016x}{stream.bits():016x}"
        return f"{base}-{text[:8]}-{text[8:12]}-4{text[13:16]}-{'89ab'[int(text[16], 16) & 3]}{text[17:20]}-{text[20:]}"

    # ---------------------------------------------------------------------------------------------- changed by the script

    def grow(self, topic: str, count: int, per_second: float | None = None) -> None:
        """The topic has more partitions now; clients see it when their metadata are refreshed. `per_second`: the rate of each new one."""
        before = self.partitions[topic]
        self._create(self._topics[topic], count)
        if per_second is not None:
            for number in range(before, count):
                flow = self.flows[Partition(topic, number)] = Flow()
                flow.change(self.engine.now, per_second)
        self.tell(TopicChanged(self.engine.now, topic, count))
        for consumer in self.consumers.values():
            if consumer.is_alive:
                consumer.metadata.changed()

    def exited(self, consumer: Consumer) -> None:
        """A process is gone."""
        self.script.exited(consumer)

    def living(self, group: str) -> Iterator[Consumer]:
        return (consumer for consumer in self._members.get(group, ()) if consumer.is_alive)


def _begin(event: Once) -> None:
    event.value.begin()


def _nothing(event: Once) -> None:
    """The horizon's own event."""


def _instant(event: Any) -> int:
    at: int = event.at_us
    return at


def play(
    scenario: Scenario, *, seed: int | None = None, dense: bool = False, wire: bool = False, drive: Drive | None = None,
) -> Trace:
    """Play a resolved scenario and tell what happened.

    `dense`: no tick is skipped, however quiet (the trace is the same). `wire`: the trace holds every request, answer and batch too.
    `drive`: what a recording dictates, in place of the scenario's starts and script.
    """
    return World(scenario, scenario.seed if seed is None else seed, is_dense=dense, is_wire=wire, drive=drive).play()


__all__ = ["NEVER", "World", "play"]
