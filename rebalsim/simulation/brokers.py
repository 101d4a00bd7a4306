"""The brokers: which are up, who leads which partition, who coordinates which group, and what their
clients notice when that changes.

A broker shuts down in order (controlled shutdown): others lead its partitions before its
connections close. Clients learn of a new leader by their next metadata, retry.backoff.ms after
the first refusal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rebalsim.domain.draws import Draw
from rebalsim.domain.habits import NEWEST
from rebalsim.domain.ids import Partition
from rebalsim.domain.scenario import Cluster
from rebalsim.domain.script import BrokerUpgrade
from rebalsim.simulation.broker import Broker
from rebalsim.simulation.coordinator import rules_of
from rebalsim.simulation.engine import SCRIPT
from rebalsim.simulation.follower_fetching import find_replicas, lose_replica
from rebalsim.trace.events import BrokerChanged

if TYPE_CHECKING:
    from rebalsim.simulation.ports import Client, World

NOBODY = -1


class Brokers:
    """All brokers of the cluster."""

    def __init__(self, world: World) -> None:
        self.world = world
        cluster: Cluster = world.scenario.cluster
        self.ids = [broker.id for broker in cluster.brokers]
        self.racks = {broker.id: broker.rack for broker in cluster.brokers}
        self._serving = {broker: Broker(world.engine, broker) for broker in self.ids}
        self.habits = dict.fromkeys(self.ids, cluster.habits)
        self.down: dict[int, None] = {}
        self.replicas: dict[Partition, tuple[int, ...]] = {}  # the first one leads when all are up
        self.everywhere: dict[
            Partition, None
        ] = {}  # replicas are not part of every story: any broker can lead these
        self.leaders: dict[Partition, int] = {}
        self.waits: dict[int, list[Draw]] = {}  # broker → what its other load adds, each way
        self.homes: dict[str, int] = {}  # group → its coordinator when all are up
        self.follows_racks = bool(cluster.config.replica_selector_class)

    def of(self, broker: int) -> Broker:
        """Whoever serves on this one."""
        return self._serving[broker]

    def is_up(self, broker: int) -> bool:
        return broker not in self.down

    @property
    def bootstrap(self) -> int:
        """Whom a client asks that knows nobody else; the first one if all are down."""
        return next((broker for broker in self.ids if broker not in self.down), self.ids[0])

    def next_up(self, broker: int) -> int:
        """The next broker that is up, going round; the same one if there is no other, NOBODY if
        none is up.
        """
        at = self.ids.index(broker) if broker != NOBODY else -1
        for other in (*self.ids[at + 1 :], *self.ids[: at + 1]):
            if other not in self.down:
                return other
        return NOBODY

    def place(self, partition: Partition, replicas: tuple[int, ...], is_said: bool) -> None:
        """A partition is created on these brokers; where the story does not say so (`is_said`),
        all others have a copy too.
        """
        self.replicas[partition] = replicas
        if not is_said:
            self.everywhere[partition] = None
        self.leaders[partition] = self._leader(partition)

    def _leader(self, partition: Partition) -> int:
        replicas = self.replicas[partition]
        for broker in replicas:
            if broker not in self.down:
                return broker
        return self.next_up(replicas[0]) if partition in self.everywhere else NOBODY

    def _leaderless(self) -> tuple[Partition, ...]:
        """What nobody leads now: none of its replicas is on a broker that is up."""
        return tuple(sorted(p for p in self.leaders if self._leader(p) == NOBODY))

    def reads_from(self, partition: Partition, rack: str) -> int:
        """The replica that shall serve a client of this rack: a follower nearby where the
        brokers' selector minds racks (follower_fetching.py).
        """
        leader = self.leaders[partition]
        if self.follows_racks and rack and self.racks.get(leader) != rack:
            for broker in self.replicas[partition]:
                if self.racks[broker] == rack and broker not in self.down:
                    return broker
        return leader

    def join_version(self, broker: int | None) -> int:
        """The highest version of JoinGroup that this broker knows now: since Kafka 3.2 the one
        with SkipAssignment (KIP-814).
        """
        return self.habits[broker].join_version if broker in self.habits else NEWEST.join_version

    def rules(self, broker: int) -> Any:
        """The coordinator that this broker runs."""
        return rules_of(replace(self.world.scenario.cluster, habits=self.habits[broker]))

    # ------------------------------------------------------------------------------------ other load

    def burden(self, broker: int, wait: Draw) -> None:
        """It is busy with other things: all that it is asked waits."""
        self._prepare_links()
        self.waits.setdefault(broker, []).append(_half(wait))
        self._refit_links()

    def relieve(self, broker: int, wait: Draw) -> None:
        self._prepare_links()
        self.waits[broker].remove(_half(wait))
        self._refit_links()

    def _prepare_links(self) -> None:
        for consumer in self.world.consumers.values():
            consumer.link_trouble.prepare()

    def _refit_links(self) -> None:
        for consumer in self.world.consumers.values():
            consumer.link_trouble.refit()

    # -------------------------------------------------------------------------------------- changes

    def go_down(self, broker: int, load: Callable[[], int]) -> None:
        """It hands over what it leads, and closes its connections."""
        if broker in self.down:
            return
        world = self.world
        self.down[broker] = None
        world.tell(BrokerChanged(world.engine.now, broker, False, leaderless=self._leaderless()))
        for host in world.hosts.values():
            if host.broker == broker:
                host.move(self.next_up(broker), load())
        self._lead_anew()
        for consumer in world.consumers.values():
            if consumer.is_alive:
                self._racks_change(consumer, consumer.is_connected_to(broker))
                lose_replica(consumer, broker)
                consumer.lost_broker(broker)

    def come_back(
        self, broker: int, load: Callable[[], int], upgraded: BrokerUpgrade | None = None
    ) -> None:
        """It takes back what it led before; `upgraded`, with another version."""
        world = self.world
        self.down.pop(broker, None)
        kafka = ""
        if upgraded is not None:
            kafka, self.habits[broker] = upgraded.kafka, upgraded.habits
        world.tell(BrokerChanged(world.engine.now, broker, True, kafka, self._leaderless()))
        for group, host in world.hosts.items():
            if self.homes[group] == broker or host.broker == NOBODY:
                host.move(broker, load())
        self._lead_anew()
        for consumer in world.consumers.values():
            if consumer.is_alive:
                self._racks_change(consumer, False)
                find_replicas(consumer)

    def racks_seen(self, counts: dict[str, int]) -> dict[str, tuple[frozenset[str], ...]]:
        """The racks of each partition's replicas as the brokers tell a client: of one that is
        down they do not know any (Node.rack is null).
        """
        racks, down, replicas = self.racks, self.down, self.replicas
        return (
            {
                topic: tuple(
                    [
                        frozenset(
                            ["" if b in down else racks[b] for b in replicas[Partition(topic, n)]]
                        )
                        for n in range(count)
                    ]
                )
                for topic, count in counts.items()
            }
            if any(racks.values())
            else {}
        )

    def _racks_change(self, consumer: Client, is_told: bool) -> None:
        """A client with a rack sees it at its next refresh; one that the broker hung up on
        (`is_told`) asks for it.
        """
        if not consumer.config.client_rack or not any(self.racks.values()):
            return
        consumer.metadata.changed()
        if is_told:
            engine = self.world.engine
            engine.at(
                engine.now + consumer.config.retry_backoff_us,
                SCRIPT,
                _look_again,
                (consumer, consumer.life),
            )

    def _lead_anew(self) -> None:
        """Leaders as they are now; clients that read from another one look for it."""
        changed: dict[Partition, None] = {}
        for partition, before in self.leaders.items():
            leader = self._leader(partition)
            if leader != before:
                self.leaders[partition] = leader
                changed[partition] = None
        if not changed:
            return
        engine = self.world.engine
        for consumer in self.world.consumers.values():
            if consumer.is_alive and (mine := [p for p in consumer.feed.shares if p in changed]):
                consumer.touch()
                consumer.feed.lose_leaders(mine)
                engine.at(
                    engine.now + consumer.config.retry_backoff_us,
                    SCRIPT,
                    _find_leaders,
                    (consumer, consumer.life, mine),
                )


def _half(draw: Draw) -> Draw:
    return replace(
        draw,
        a=draw.a / 2,
        b=draw.b / 2,
        values=tuple(value / 2 for value in draw.values),
        tail_us=draw.tail_us / 2,
    )


def _find_leaders(due: tuple[Client, int, list[Partition]]) -> None:
    consumer, life, partitions = due
    if consumer.is_alive and consumer.life == life:
        consumer.feed.find_leaders(partitions)
        consumer.metadata.look_again()
        consumer.wake_for_business()


def _look_again(due: tuple[Client, int]) -> None:
    consumer, life = due
    if consumer.is_alive and consumer.life == life:
        consumer.metadata.look_again()
