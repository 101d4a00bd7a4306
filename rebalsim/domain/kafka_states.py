"""The states that Kafka gives groups and members, as it prints them and as traces write them.

Which of them a protocol has, and what may follow what, stands with that protocol's rules.
"""

from __future__ import annotations

from enum import StrEnum


class KafkaGroupState(StrEnum):
    """What a coordinator says of a group: of the classic protocol, of the consumer protocol and of
    the one for Kafka Streams.
    """

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    NOT_READY = "NotReady"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"
    DEAD = "Dead"


AT_REST = (KafkaGroupState.STABLE, KafkaGroupState.EMPTY, KafkaGroupState.DEAD)


class KafkaMemberState(StrEnum):
    """How far a coordinator of the consumer protocol takes a member to be with its target."""

    STABLE = "Stable"
    UNREVOKED_PARTITIONS = "UnrevokedPartitions"  # it has yet to give some up
    UNRELEASED_PARTITIONS = "UnreleasedPartitions"  # it waits for some that others still hold


class KafkaClientState(StrEnum):
    """What a client of the consumer protocol logs of itself."""

    UNSUBSCRIBED = "UNSUBSCRIBED"
    JOINING = "JOINING"
    RECONCILING = "RECONCILING"
    ACKNOWLEDGING = "ACKNOWLEDGING"
    STABLE = "STABLE"
    FENCED = "FENCED"
    PREPARE_LEAVING = "PREPARE_LEAVING"
    LEAVING = "LEAVING"
    STALE = "STALE"
    FATAL = "FATAL"


ON_THEIR_WAY = (  # to what they were told last
    KafkaClientState.RECONCILING,
    KafkaClientState.ACKNOWLEDGING,
    KafkaClientState.JOINING,
)


class KafkaStreamsState(StrEnum):
    """What an instance of a Kafka Streams application says of itself (`KafkaStreams.State`)."""

    CREATED = "CREATED"
    REBALANCING = "REBALANCING"
    RUNNING = "RUNNING"
    PENDING_SHUTDOWN = "PENDING_SHUTDOWN"
    NOT_RUNNING = "NOT_RUNNING"
    PENDING_ERROR = "PENDING_ERROR"
    ERROR = "ERROR"
