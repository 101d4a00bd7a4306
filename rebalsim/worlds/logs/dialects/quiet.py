"""Lines that speak of groups and say nothing that matters here: known, so not told as strange."""

from __future__ import annotations

import re

from rebalsim.worlds.logs.dialects import Dialect, Facts
from rebalsim.worlds.logs.facts import Record

_LEVEL = re.compile(r"(?<![A-Za-z])(?:DEBUG|TRACE)(?![A-Za-z])")
_KNOWN = (
    "Notifying assignor about",
    "Found no committed offset",
    "Updating assignment with",
    "Reconciling assignment",
    "Cluster ID: ",
    "rebalance protocol",
    "consumer_rebalance_protocol",
    "consumer configuration group.protocol",
    "credentials.client.id",
    "Elected group leader",
    "Elected as the group coordinator",
    "Resetting the last seen epoch",
    "loading of metadata from __consumer_offsets",
    "offsets and group metadata",
    "__consumer_offsets-",
    "GroupCoordinator",
    "ConsumerGroup",
    "ConsumerCoordinator",
    "ConsumerMembershipManager",
    "ClassicKafkaConsumer",
    "AsyncKafkaConsumer",
    "kafka.coordinator",
    "assigned partitions",
    "subscribed topics",
    "Join",
    "kafkajs",
    "kafka.cluster",
    "kafka.net",
    "consumer/broker",
    "consumergroup/",
    "client/",
    "Committed offset",
    "last consumed",
    "Heartbeat",
)
_EMPTY = re.compile(r"\[Consumer [^\]]{0,600}\]\s*$")


def read(record: Record) -> Facts | None:
    """Nothing, of what is known to say nothing."""
    text = record.text
    if any(word in text for word in _KNOWN) or _LEVEL.search(text, 0, 100) is not None:
        return ()
    return () if _EMPTY.search(text[:700]) is not None else None


DIALECT = Dialect("other lines", ("",), read, order=900)
