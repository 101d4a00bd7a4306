"""Records that hang their handlers, and who has suffered from them. A group suffers for itself:
each has its own count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebalsim.domain.draws import Draw
from rebalsim.domain.ids import Partition
from rebalsim.simulation.engine import NEVER, SCRIPT
from rebalsim.simulation.randomness import Stream

if TYPE_CHECKING:
    from rebalsim.simulation.ports import World


class Poisoned:
    """One such record."""

    __slots__ = ("delivered", "for_", "offset", "stream", "throws", "times")

    def __init__(
        self, offset: int, for_: Draw, times: int | None, stream: Stream, throws: bool
    ) -> None:
        self.throws = throws
        self.offset = offset
        self.for_ = for_
        self.times = times
        self.stream = stream
        self.delivered: dict[str, int] = {}  # group → how often it hung somebody


class Poisons:
    """All of them, by partition."""

    __slots__ = ("by_partition", "world")

    def __init__(self, world: World) -> None:
        self.world = world
        self.by_partition: dict[Partition, list[Poisoned]] = {}

    def add(
        self,
        partition: Partition,
        offset: int,
        for_: Draw,
        times: int | None,
        stream: Stream,
        throws: bool = False,
    ) -> None:
        """Whoever reads along quietly must look at each record from the instant at which this
        one arrives.
        """
        made = Poisoned(offset, for_, times, stream, throws)
        self.by_partition.setdefault(partition, []).append(made)
        engine = self.world.engine
        arrives = self.world.flow(partition).when(offset)
        if arrives < NEVER:
            engine.at(max(engine.now, arrives - 1), SCRIPT, self._arrives, partition)

    def _arrives(self, partition: Partition) -> None:
        for consumer in self.world.consumers.values():
            if consumer.is_alive and not consumer.is_frozen and partition in consumer.feed.shares:
                consumer.touch()

    def lie_ahead(self, partition: Partition, group: str, offset: int, upto: int) -> bool:
        """Is there one among the records from this offset up to (not with) the other?"""
        return any(
            offset <= poisoned.offset < upto
            and (poisoned.times is None or poisoned.delivered.get(group, 0) < poisoned.times)
            for poisoned in self.by_partition.get(partition, ())
        )

    def throws_at(self, partition: Partition, group: str, first: int, count: int) -> int | None:
        """The first of these records whose handling throws this time."""
        offsets = [
            poisoned.offset
            for poisoned in self.by_partition.get(partition, ())
            if poisoned.throws
            and first <= poisoned.offset < first + count
            and (poisoned.times is None or poisoned.delivered.get(group, 0) < poisoned.times)
        ]
        return min(offsets, default=None)

    def hang_us(self, partition: Partition, group: str, first: int, count: int) -> int:
        """How long a batch with these records hangs."""
        us = 0
        for poisoned in self.by_partition.get(partition, ()):
            if first <= poisoned.offset < first + count:
                had = poisoned.delivered.get(group, 0)
                if poisoned.times is None or had < poisoned.times:
                    poisoned.delivered[group] = had + 1
                    us += poisoned.stream.draw(poisoned.for_)
        return us
