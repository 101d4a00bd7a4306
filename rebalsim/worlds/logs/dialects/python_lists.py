"""Partitions as the Python clients print them: sets and lists of TopicPartition(topic=…, partition=…)."""

from __future__ import annotations

import re

from rebalsim.worlds.logs.facts import sorted_partitions

_PARTITION = re.compile(r"TopicPartition\(topic='([^']{1,249})', partition=(\d{1,9})\)")


def partitions_in(text: str) -> tuple[str, ...]:
    """The partitions listed in a text, sorted."""
    return sorted_partitions([f"{topic}-{number}" for topic, number in _PARTITION.findall(text)])
