"""The brokers as a Streams application sees them: which are up, which of them coordinates its group,
how busy that one is, and who leads its partitions.

A broker shuts down in order: others lead its partitions before its connections close, so that
records go on coming unless nobody else has a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from rebalsim.domain.draws import Draw
from rebalsim.domain.ids import Partition
from rebalsim.domain.java_hash import string_hash
from rebalsim.domain.scenario import Scenario
from rebalsim.simulation.randomness import Stream

NOBODY = -1


def home_of(scenario: Scenario, group: str) -> int:
    """The broker that coordinates the group while all are up."""
    brokers = scenario.cluster.brokers
    count = scenario.cluster.config.offsets_topic_num_partitions
    return brokers[abs(string_hash(group)) % count % len(brokers)].id


class Movable(Protocol):
    """A group's coordinator, which moves from broker to broker."""

    broker: int
    tells_moves: bool
    slowness: Callable[[], int]

    def move(self, broker: int, load_us: int) -> None: ...


class Brokers:
    """All of them. `hosts` are the group's coordinators, of either protocol, as far as there are."""

    def __init__(self, scenario: Scenario, group: str, stream: Callable[[], Stream]) -> None:
        self._scenario = scenario
        self._stream = stream
        self.ids = [broker.id for broker in scenario.cluster.brokers]
        self.home = self.now = home_of(scenario, group)
        self.hosts: list[Movable] = []
        self._down: dict[int, None] = {}
        self._waits: dict[
            int, list[Draw]
        ] = {}  # broker → what its other load adds to a request and its answer

    def add(self, host: Movable) -> None:
        """A coordinator of the group begins its work, where the group is now."""
        host.broker = self.now
        host.tells_moves = not self.hosts
        if len(self.ids) > 1 or self._waits:
            host.slowness = self._slowness
        self.hosts.append(host)

    def move(self, broker: int, load_us: int) -> None:
        self.now = broker
        for host in self.hosts:
            host.move(broker, load_us)

    def next_up(self, broker: int) -> int:
        """The next one that is up, going round; the same one if there is no other, NOBODY if none
        is up.
        """
        at = self.ids.index(broker) if broker != NOBODY else -1
        for other in (*self.ids[at + 1 :], *self.ids[: at + 1]):
            if other not in self._down:
                return other
        return NOBODY

    def go_down(self, broker: int, load_us: Callable[[], int]) -> bool:
        """Whether it was up."""
        if broker in self._down:
            return False
        self._down[broker] = None
        if self.now == broker:
            self.move(self.next_up(broker), load_us())
        return True

    def come_back(self, broker: int, load_us: Callable[[], int]) -> None:
        self._down.pop(broker, None)
        if broker == self.home or self.now == NOBODY:
            self.move(broker, load_us())

    def leaderless(self) -> tuple[Partition, ...]:
        """What nobody leads now: all brokers that have a copy are down. Where the story does not
        say who has one, all do.
        """
        found = []
        for offset, topic in enumerate(self._scenario.topics):
            for number in range(topic.partitions):
                replicas: Sequence[int] = self.ids
                if topic.replicas:
                    replicas = topic.replicas_of(number, self.ids, offset)
                if all(broker in self._down for broker in replicas):
                    found.append(Partition(topic.name, number))
        return tuple(sorted(found))

    def burden(self, broker: int, wait: Draw) -> None:
        """It is busy with other things: half of the wait is each way's."""
        self._waits.setdefault(broker, []).append(wait)
        for host in self.hosts:
            host.slowness = self._slowness

    def relieve(self, broker: int, wait: Draw) -> None:
        self._waits[broker].remove(wait)

    def _slowness(self) -> int:
        waits = self._waits.get(self.now)
        return sum(int(self._stream().draw(wait) / 2) for wait in waits) if waits else 0
