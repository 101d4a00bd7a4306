"""What is done to the cluster around a Streams application: brokers that restart, are upgraded or are
busy, coordinators that move, topics that grow, come, go and change their rate.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any, Protocol

from rebalsim.domain.deed import Deed
from rebalsim.domain.draws import Draw
from rebalsim.domain.ids import Partition
from rebalsim.domain.instants import SECOND
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import (
    AddPartitions,
    BrokerBusy,
    BrokerRestart,
    BrokerUpgrade,
    CreateTopic,
    DeleteTopic,
    Failover,
    Poison,
    SetRate,
)
from rebalsim.scenario.script_words import say_deed
from rebalsim.simulation.streams.brokers import Brokers
from rebalsim.simulation.streams.happenings import Heard
from rebalsim.simulation.streams.play import StreamsWorld
from rebalsim.simulation.streams.poisons import Poison as Poisoned

Carried = Generator[Any, Any, None]


class Stage(Protocol):
    """The story that carries its script out."""

    scenario: Scenario
    world: StreamsWorld
    brokers: Brokers
    rates: dict[str, float]  # of whole topics, as they are now

    def tell(self, name: str, kind: str, text: str, targets: tuple[str, ...]) -> None: ...

    def wait(self, length_us: int) -> Carried: ...

    def draw(self, stream: str, what: Draw) -> int: ...


def _tell(stage: Stage, name: str, deed: Deed, *targets: str) -> None:
    stage.tell(name, type(deed).__name__, say_deed(deed), targets)


# ------------------------------------------------------------------------------------------ brokers


def restart(stage: Stage, name: str, deed: BrokerRestart) -> Carried:
    """Away for a while; others lead its partitions meanwhile, and coordinate its groups."""
    broker = stage.brokers.now if deed.broker is None else deed.broker
    if broker in stage.brokers.ids:
        _tell(stage, name, replace(deed, broker=broker), f"broker-{broker}")
        yield from _restart(stage, name, broker, deed.down, deed.load)


def upgrade(stage: Stage, name: str, deed: BrokerUpgrade) -> Carried:
    """One after another, each back with the new version before the next one goes."""
    _tell(stage, name, deed)
    for i, broker in enumerate(stage.brokers.ids):
        if i:
            yield from stage.wait(deed.settle_us)
        yield from _restart(stage, name, broker, deed.down, deed.load, deed.kafka)


def _restart(
    stage: Stage, name: str, broker: int, down: Draw, load: Draw, kafka: str = ""
) -> Carried:
    def load_us() -> int:
        return stage.draw(f"script/{name}", load)

    if stage.brokers.go_down(broker, load_us):
        _broker_changed(stage, broker, is_up=False)
    yield from stage.wait(stage.draw(f"script/{name}", down))
    stage.brokers.come_back(broker, load_us)
    _broker_changed(stage, broker, is_up=True, kafka=kafka)


def _broker_changed(stage: Stage, broker: int, *, is_up: bool, kafka: str = "") -> None:
    facts = {"broker": broker, "is_up": is_up, "kafka": kafka}
    facts["leaderless"] = stage.brokers.leaderless()
    stage.world.port.tell(Heard(stage.world.port.now, "", 0, "BrokerChanged", facts))


def be_busy(stage: Stage, name: str, deed: BrokerBusy) -> Carried:
    """Whatever it is asked takes longer for a while."""
    broker = stage.brokers.now if deed.broker is None else deed.broker
    if broker in stage.brokers.ids:
        _tell(stage, name, replace(deed, broker=broker), f"broker-{broker}")
        stage.brokers.burden(broker, deed.wait)
        yield from stage.wait(deed.for_us)
        stage.brokers.relieve(broker, deed.wait)


def fail_over(stage: Stage, name: str, deed: Failover) -> Carried:
    """Another broker (the same one, where there is no other) coordinates the group, once it has
    read it.
    """
    _tell(stage, name, deed)
    load_us = stage.draw(f"script/{name}", deed.load)
    stage.brokers.move(stage.brokers.next_up(stage.brokers.now), load_us)
    yield from stage.wait(load_us)


# ------------------------------------------------------------------------------------------- topics


def add_partitions(stage: Stage, name: str, deed: AddPartitions) -> Carried:
    """Producers spread over all of them at once."""
    _tell(stage, name, deed, deed.topic)
    stage.world.set_partitions(deed.topic, deed.to, stage.rates[deed.topic])
    yield from ()


def create(stage: Stage, name: str, deed: CreateTopic) -> Carried:
    _tell(stage, name, deed, deed.topic)
    topic = next(topic for topic in stage.scenario.topics if topic.name == deed.topic)
    stage.world.set_partitions(deed.topic, topic.partitions, stage.rates[deed.topic])
    yield from ()


def delete(stage: Stage, name: str, deed: DeleteTopic) -> Carried:
    _tell(stage, name, deed, deed.topic)
    stage.world.set_partitions(deed.topic, 0, 0.0)
    yield from ()


def set_rate(stage: Stage, name: str, deed: SetRate) -> Carried:
    _tell(stage, name, deed, deed.topic)
    stage.rates[deed.topic] = deed.per_second
    stage.world.set_rate(deed.topic, deed.per_second)
    yield from ()


def poison(stage: Stage, name: str, deed: Poison) -> Carried:
    """From now on it is there, or comes when its offset does."""
    partition = Partition(deed.topic, deed.partition)
    _tell(stage, name, deed, str(partition), deed.topic)
    while deed.offset is not None:
        come, rate = stage.world.come(partition)
        if come >= deed.offset:
            break
        yield from stage.wait(int((deed.offset - come) / rate * SECOND) + 1 if rate else SECOND)
    reader = stage.world.topology.readers.get(partition)
    if reader is not None:
        stage.world.poison(
            Poisoned(
                reader,
                partition,
                lambda: stage.draw(f"script/{name}", deed.for_),
                deed.throws,
                deed.times,
            )
        )


CARRIED_OUT: dict[type, Callable[..., Carried]] = {
    AddPartitions: add_partitions,
    BrokerBusy: be_busy,
    BrokerRestart: restart,
    BrokerUpgrade: upgrade,
    CreateTopic: create,
    DeleteTopic: delete,
    Failover: fail_over,
    Poison: poison,
    SetRate: set_rate,
}
