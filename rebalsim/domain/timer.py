"""The timers that end a wait, by the setting that each takes its length from."""

from __future__ import annotations

from enum import StrEnum


class Timer(StrEnum):
    """Kafka's key, except for the brokers' patience with a member that does not join: JoinGroup
    brings it, and each client takes it from a setting of its own.
    """

    NONE = ""
    SESSION = "session.timeout.ms"
    POLL = "max.poll.interval.ms"
    HEARTBEAT = "heartbeat.interval.ms"
    BROKERS_HEARTBEAT = "group.consumer.heartbeat.interval.ms"
    REBALANCE_TIMEOUT = "rebalance_timeout_ms"
    METADATA = "metadata.max.age.ms"
    INITIAL_DELAY = "group.initial.rebalance.delay.ms"
    ASSIGNMENT_INTERVAL = "group.consumer.assignment.interval.ms"
    CONNECT_DELAY = "scheduled.rebalance.max.delay.ms"
