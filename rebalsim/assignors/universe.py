"""All partitions that a group can get, numbered once: the assignors count, compare and look up by
these numbers.

Partition objects are made once per set of topics and then shared, so that an assignment of ten
thousand partitions allocates lists and nothing else, and a claim that comes back from it is
found by identity.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache, partial
from itertools import chain, repeat
from typing import cast

from rebalsim.assignors.claim import Claim, Topics
from rebalsim.domain.ids import Partition

# Partition((topic, number)), without the keyword machinery
_partition = cast("type[Partition]", partial(tuple.__new__, Partition))


class Universe:
    """The known topics that somebody subscribes to, in name order, with their partitions by
    topic and number.
    """

    def __init__(self, topics: tuple[tuple[str, int], ...]) -> None:
        self.topics: dict[str, int] = dict(topics)
        self.partitions: list[Partition] = []
        self.first: dict[str, int] = {}  # topic → where its partitions begin
        for name, count in topics:
            self.first[name] = len(self.partitions)
            self.partitions.extend(map(_partition, zip(repeat(name), range(count))))

    @cached_property
    def index(self) -> dict[Partition, int]:
        return dict(zip(self.partitions, range(len(self.partitions))))

    @cached_property
    def same(self) -> dict[Partition, Partition]:
        """An equal partition → the shared object."""
        return dict(zip(self.partitions, self.partitions))

    @cached_property
    def topic_of(self) -> list[int]:
        """A partition's index → its topic's position."""
        return [
            position for position, count in enumerate(self.topics.values()) for _ in range(count)
        ]

    def of(self, topic: str) -> list[Partition]:
        """The partitions of one topic, ascending."""
        begin = self.first[topic]
        return self.partitions[begin : begin + self.topics[topic]]

    def known(self, partitions: Sequence[Partition]) -> list[Partition]:
        """Those of the partitions that exist, in the order given.

        Kafka looks at the topic only. A claim on a partition number that its topic does not have
        (a topic made anew, smaller) makes the sticky assignors hand out partitions twice; that
        is not followed: such a claim is dropped here.
        """
        if not partitions:
            return []
        found = list(map(self.same.get, partitions))
        return [p for p in found if p is not None]


_remembered = lru_cache(maxsize=64)(Universe)


def universe_of(topics: Topics, members: Sequence[Claim]) -> Universe:
    """The universe of a group: the union of its subscriptions, without topics that are unknown
    or have no partitions.
    """
    wanted = {
        member.topics: None for member in members
    }  # most groups have one subscription, however many members
    names = next(iter(wanted)) if len(wanted) == 1 else tuple(chain.from_iterable(wanted))
    return _remembered(
        tuple(sorted({(name, topics[name]): None for name in names if topics.get(name, 0) > 0}))
    )


def forget_universes() -> None:
    """Drop the shared partition objects (a benchmark that must not profit from them)."""
    _remembered.cache_clear()
