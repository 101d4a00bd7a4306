"""What the coordinator knows of the cluster's topics: one image, shared by all groups and
replaced whole when something changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rebalsim.domain.java_hash import copied_set_capacity, hash_ordered, string_hash


class Topic(NamedTuple):
    """A topic as a group sees it. Replicas' racks count because a change of theirs is a change
    of metadata (KIP-848).
    """

    topic_id: str
    partitions: int
    racks: tuple[tuple[str, ...], ...] = ()  # by partition; empty where racks are not modelled


class TopicsImage:
    """The topics that exist, by name and by id. Never changed: a new image takes its place."""

    __slots__ = ("by_name", "name_of", "version")

    def __init__(self, by_name: Mapping[str, Topic], version: int = 0) -> None:
        self.by_name = dict(by_name)
        self.name_of = {topic.topic_id: name for name, topic in self.by_name.items()}
        self.version = (
            version  # grows with every image; tells a regular expression that it is out of date
        )

    @property
    def partitions(self) -> dict[str, int]:
        """Topic id → number of partitions."""
        return {topic.topic_id: topic.partitions for topic in self.by_name.values()}


NO_TOPICS = TopicsImage({})


class Names:
    """A set of subscribed topic names that remembers in which order Java's HashSet yields them:
    topics are handed out in it.
    """

    __slots__ = ("in_order", "names")

    def __init__(self, in_order: tuple[str, ...]) -> None:
        self.in_order = in_order
        self.names = frozenset(in_order)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __len__(self) -> int:
        return len(self.names)


NO_NAMES = Names(())
_MADE: dict[tuple[str, ...], Names] = {}


def names_of(given: tuple[str, ...]) -> Names:
    """`new HashSet<>(given)`; members with one list share one set."""
    found = _MADE.get(given)
    if found is None:
        if len(_MADE) > 4096:
            _MADE.clear()
        distinct = tuple(dict.fromkeys(given))
        found = _MADE[given] = (
            Names(tuple(hash_ordered(distinct, string_hash, copied_set_capacity(len(given)))))
            if distinct
            else NO_NAMES
        )
    return found
