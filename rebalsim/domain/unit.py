"""What a metric counts, and which way of it is well; what a limit was written as."""

from __future__ import annotations

from enum import StrEnum


class Unit(StrEnum):
    """What a metric counts, in its base unit."""

    DURATION = "duration"  # µs
    PARTITION_TIME = "partition-time"  # µs, summed over partitions
    COUNT = "count"
    RECORDS = "records"
    PARTITIONS = "partitions"
    SHARE = "share"
    PER_HOUR = "per-hour"

    @property
    def is_time(self) -> bool:
        return self in (Unit.DURATION, Unit.PARTITION_TIME)

    @property
    def is_number(self) -> bool:
        """Whether it counts things, and is a whole number therefore."""
        return self in (Unit.COUNT, Unit.RECORDS, Unit.PARTITIONS)


class Better(StrEnum):
    """Which way of a metric is well."""

    LESS = "less"
    MORE = "more"
    NEITHER = "neither"


class Population(StrEnum):
    """What a metric is the maximum, percentile or sum of."""

    RUN = "run"
    PAUSES = "pauses"
    PARTITIONS = "partitions"
    DISTURBANCES = "disturbances"
    MEMBERS = "members"
    RECORDS = "records"


class Amount(StrEnum):
    """What the limit of a budget was written as."""

    NONE = ""
    DURATION = "duration"
    COUNT = "count"
    SHARE = "share"
    BYTES = "bytes"
    RATE = "rate"
    BYTE_RATE = "byte_rate"
    FACTOR = "factor"  # of another variant's
