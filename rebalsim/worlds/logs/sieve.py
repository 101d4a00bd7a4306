"""Which lines can matter at all: a few words, one of which is in every line of every dialect.

Most lines of a log are of other things; this is what makes reading fast.
"""

from __future__ import annotations

WORDS = (
    "roup",
    "offset for partition ",
    "[thrd:",
    "stream-",
    "onsumer",
    "coordinator",
    ": partitions ",
    "client/",
    "new client",
    "Closing Client",
    " map[",
    "balanced; plan: ",
    "Kafka version: ",
    "session.timeout.ms = ",
    "heartbeat.interval.ms = ",
    "poll.interval.ms = ",
    "poll.records = ",
    "partition.assignment.strategy = ",
    "auto.commit",
    "metadata.max.age.ms = ",
    "client.id = ",
    "newly assigned partitions",
    "assigned partitions",
    "Heartbeat",
    "subscribed topics",
    "poll timeout",
)


def may_matter(line: str) -> bool:
    """Whether a dialect may have a word to say about it."""
    return any(word in line for word in WORDS)
