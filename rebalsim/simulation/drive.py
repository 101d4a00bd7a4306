"""What a recording dictates to a replay: when each life joins, which member ids were handed out,
and what was done to the processes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rebalsim.domain.consumer import Consumer as Spec
from rebalsim.simulation.engine import SCRIPT
from rebalsim.simulation.flow import Flow

if TYPE_CHECKING:
    from rebalsim.simulation.ports import World


@dataclass(slots=True)
class Strike:
    """Something done to the world at an instant: close | kill | freeze | thaw | hang | grow."""

    at_us: int
    what: str
    target: str  # a consumer, or a topic
    argument: int = 0  # µs of a hang, partitions of a topic


@dataclass(slots=True)
class Life:
    """One process of a consumer: with which settings, and when it sends its first JoinGroup (or
    ConsumerGroupHeartbeat).
    """

    spec: Spec
    joins_us: int
    polls_us: int = -1  # consumer protocol: its first poll() …
    arrives_us: int = 0  # … when the coordinator took it in …
    acks_us: int = (
        0  # … and its second heartbeat, which mostly acknowledges what it was given; 0: not known
    )

    @property
    def begins_us(self) -> int:
        return self.polls_us if self.polls_us >= 0 else self.joins_us


@dataclass(slots=True)
class Drive:
    """The driver's seat."""

    lives: list[Life]
    deeds: list[Strike] = field(default_factory=list)
    member_ids: dict[str, list[str]] = field(
        default_factory=dict
    )  # per consumer in the order in which they were handed out
    arrivals_us: tuple[int, int] = (
        0,
        0,
    )  # records come so late, and so much later for each partition
    per_partition: float | None = None  # records a second of partitions that are added
    lingers_us: int = 0  # records reach the broker so long after they were made …
    apart_us: int = 0  # … and one partition so long after another

    is_connected: bool = False  # with all brokers from the start

    def begin(self, world: World) -> None:
        late, apart = self.arrivals_us
        for i, partition in enumerate(world.flows if late or apart else ()):
            flow = world.flows[partition] = world.flows[partition].copy()
            flow.delay(late + apart * i)
        for life in self.lives:
            world.engine.at(life.begins_us, SCRIPT, self._start, (world, life))
        if self.lingers_us and self.per_partition is not None:
            for i, partition in enumerate(world.flows):
                flow = world.flows[partition] = Flow()
                flow.change(self.lingers_us + i * self.apart_us, self.per_partition)
        for deed in self.deeds:
            world.engine.at(deed.at_us, SCRIPT, self._do, (world, deed))

    def next_member_id(self, consumer: str) -> str:
        left = self.member_ids.get(consumer)
        return left.pop(0) if left else ""

    def _start(self, begun: tuple[World, Life]) -> None:
        world, life = begun
        consumer = world.consumers[life.spec.name]
        if consumer.is_alive:
            consumer.kill()  # ours has not gone yet, the real one had
        consumer.take_spec(life.spec)
        consumer.driven = life
        consumer.begin(world.engine.now)
        if self.is_connected:
            for broker in world.brokers.ids:
                consumer.link(broker).is_open = True

    def _do(self, due: tuple[World, Strike]) -> None:
        world, deed = due
        if deed.what == "grow":
            world.grow(deed.target, deed.argument, self.per_partition)
            return
        consumer = world.consumers[deed.target]
        if not consumer.is_alive:
            return
        if deed.what == "close":
            consumer.stop()
        elif deed.what == "kill":
            consumer.kill()
        elif deed.what == "freeze":
            consumer.freeze()
        elif deed.what == "thaw":
            consumer.thaw()
        elif deed.what == "hang":
            consumer.hang(deed.argument, is_seen=True)
