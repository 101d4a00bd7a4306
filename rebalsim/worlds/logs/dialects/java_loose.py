"""Java's lines that lack the consumer's prefix: positions (ConsumerUtils), settings, what closes.

Whose they are, the thread tells, or the partition.
"""

from __future__ import annotations

import re

from rebalsim.worlds.logs.dialects import Dialect, Facts
from rebalsim.worlds.logs.dialects.java_lists import partitions_in
from rebalsim.worlds.logs.facts import Fact, FactKind, Record
from rebalsim.worlds.logs.heads import thread_before, thread_behind

SETTINGS = (
    "group.id",
    "client.id",
    "group.instance.id",
    "group.protocol",
    "session.timeout.ms",
    "heartbeat.interval.ms",
    "max.poll.interval.ms",
    "max.poll.records",
    "partition.assignment.strategy",
    "group.remote.assignor",
    "enable.auto.commit",
    "auto.commit.interval.ms",
    "metadata.max.age.ms",
)
_WANTED = frozenset(SETTINGS)
_SETTING = re.compile(r"^\s*([a-z][a-z.]{3,60}) = (.{0,400}?)\s*$", re.MULTILINE)
_POSITION = re.compile(
    r"offset for partition (\S{1,300}) to (?:the committed offset |position )?"
    r"FetchPosition\{offset=(\d{1,19})"
)
_UNREGISTERED = re.compile(r"App info kafka\.consumer for (\S{1,300}) unregistered")
_VERSION = re.compile(r"Kafka version: (\d[\w.-]{0,40})")


def read(record: Record) -> Facts | None:
    """What such a line proves."""
    text = record.text
    if text[:1] == "\t":  # a line of its own in a block of settings: most are that
        key, equals, value = text[1:].partition(" = ")
        told = Fact(record.at_us, FactKind.SETTING, why=key, other=value.strip()[:400])
        return (told,) if equals and key in _WANTED else None
    if "ConsumerConfig values" in text:
        return [Fact(record.at_us, FactKind.SETTINGS), *settings_in(text, record.at_us)]
    if (found := _POSITION.search(text)) is not None:
        thread = record.thread or thread_before(text, found.start()) or thread_behind(text)
        where = partitions_in(found[1])
        return (Fact(record.at_us, FactKind.POSITIONED, partitions=where, thread=thread),)
    if (found := _UNREGISTERED.search(text)) is not None:
        return (Fact(record.at_us, FactKind.CLOSED, client=found[1]),)
    if (found := _VERSION.search(text)) is not None:
        return (Fact(record.at_us, FactKind.VERSION, why=found[1]),)
    return settings_in(text, record.at_us) or None


def settings_in(text: str, at_us: int) -> list[Fact]:
    """The printed settings that bear on a group's life."""
    return [
        Fact(at_us, FactKind.SETTING, why=found[1], other=found[2])
        for found in _SETTING.finditer(text)
        if found[1] in SETTINGS
    ]


DIALECT = Dialect(
    "Java without prefix",
    (
        "offset for partition ",
        "ConsumerConfig values",
        "App info kafka.consumer",
        "Kafka version: ",
        *(f"{key} = " for key in SETTINGS),
    ),
    read,
    order=30,
)
