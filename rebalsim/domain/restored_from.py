"""Where the restoration of a Kafka Streams task's stores began."""

from __future__ import annotations

from enum import StrEnum


class RestoredFrom(StrEnum):
    """The codes of `StoreRestored` in traces, and of the metrics of restoration."""

    SCRATCH = "scratch"
    CHECKPOINT = "checkpoint"
    STANDBY = "standby"  # also where there was nothing to restore
    GIVEN_UP = "given-up"  # the task was taken away before, or the story ended
