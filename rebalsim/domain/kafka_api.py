"""The requests of Kafka's protocol that a group's members send."""

from __future__ import annotations

from enum import StrEnum


class KafkaApi(StrEnum):
    """A request by its name in Kafka's protocol, which is also how traces and recordings write
    it.
    """

    FIND_COORDINATOR = "FindCoordinator"
    JOIN = "JoinGroup"
    SYNC = "SyncGroup"
    HEARTBEAT = "Heartbeat"
    LEAVE = "LeaveGroup"
    CONSUMER_HEARTBEAT = "ConsumerGroupHeartbeat"
    STREAMS_HEARTBEAT = "StreamsGroupHeartbeat"
    OFFSET_COMMIT = "OffsetCommit"
    OFFSET_FETCH = "OffsetFetch"
