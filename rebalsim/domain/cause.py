"""Why a pause happened: the kinds of causes. Their words stand in `rebalsim/reports/causes_told.py`."""

from __future__ import annotations

from enum import StrEnum


class CauseKind(StrEnum):
    """The codes that results share."""

    SCALE_OUT = "scale-out"
    RESTART = "restart"
    REJOINED = "rejoined"
    LEFT = "left"
    STOPPED = "stopped"  # without a word, as static members do
    CRASHED = "crashed"
    FATAL = "fatal"  # an error of its own ended it
    FROZE = "froze"
    STUCK = "stuck"
    PUNCTUATOR = "punctuator"  # Kafka Streams: a call that its thread makes every so often
    NOT_READY = "not-ready"  # Kafka Streams: its group was not, and nobody in it processed anything
    COMMIT_UNANSWERED = "commit-unanswered"
    POLL_INTERVAL_EXCEEDED = "poll-interval-exceeded"
    SESSION_EXPIRED = "session-expired"
    CUT_OFF = "cut-off"
    STATIC_RESTART = "static-restart"
    TOPIC_CHANGED = "topic-changed"
    SUBSCRIPTION_CHANGED = "subscription-changed"
    ENFORCED = "enforced"
    COORDINATOR_MOVED = "coordinator-moved"
    COORDINATOR_LOST = "coordinator-lost"  # Connect: out of reach, so workers stopped their work
    CONNECTOR_CHANGED = "connector-changed"
    CONNECTOR_RESTARTED = "connector-restarted"
    TASK_FAILED = "task-failed"
    TASK_STARTED = "task-started"  # Connect: a sink's consumer came, …
    TASK_STOPPED = "task-stopped"  # … or went, as its worker would have it
    CALLBACK = "callback"
    START = "start"  # the group formed
    REBALANCE = "rebalance"  # whatever set it off
