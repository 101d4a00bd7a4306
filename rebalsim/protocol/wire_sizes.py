"""How long a consumer's metadata and assignment are on the wire, and so in the record of its group:
what message.max.bytes is held against.

ConsumerProtocolSubscription and ConsumerProtocolAssignment in version 3, which every client since
Kafka 3.5 writes; the user data of
`sticky` and `cooperative-sticky` as their schemas have it. An assignor of one's own counts as one
that says the same as these.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rebalsim.domain.ids import Partition
from rebalsim.protocol.classic_member import Subscription

_VERSION, _COUNT, _NUMBER, _LENGTH = (
    2,
    4,
    4,
    2,
)  # of a format · how many follow · a partition, a generation · how long a text is


# the longest topic name that Kafka allows, with one partition
TOPIC = 249 + _LENGTH + _COUNT + _NUMBER
MEMBER = 1_000  # ids, host, rack, timeouts and empty fields


def members_bytes_at_most(members: Iterable[Any]) -> int:
    """More than the members of a group record can have, whatever their topics are called."""
    total = 0
    for member in members:
        said, given = member.metadata, member.assignment
        total += MEMBER + TOPIC * (
            len(said.topics)
            + len(said.owned)
            + (len(said.user_owned) if said.user_owned else 0)
            + (len(given) if given else 0)
        )
    return total


def subscription_bytes(said: Subscription) -> int:
    """What a member says of itself in JoinGroup."""
    topics = sum([_LENGTH + len(topic) for topic in said.topics])
    return (
        _VERSION
        + _COUNT
        + topics
        + _COUNT
        + _user_data_bytes(said)
        + _partitions_bytes(said.owned)
        + _NUMBER
        + _LENGTH
        + len(said.rack)
    )


def assignment_bytes(partitions: tuple[Partition, ...]) -> int:
    """What the leader has for a member in SyncGroup."""
    return _VERSION + _partitions_bytes(partitions) + _COUNT


def _user_data_bytes(said: Subscription) -> int:
    owned, generation = said.user_owned, said.user_generation
    return (0 if owned is None else _partitions_bytes(owned)) + (
        0 if generation is None else _NUMBER
    )


def _partitions_bytes(partitions: Iterable[Partition]) -> int:
    """By topic, each with its partitions."""
    topics = [topic for topic, _ in partitions]
    return (
        _COUNT
        + sum([_LENGTH + len(topic) + _COUNT for topic in set(topics)])
        + _NUMBER * len(topics)
    )
