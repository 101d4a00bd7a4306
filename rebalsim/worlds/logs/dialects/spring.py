"""Spring's listener containers: `GROUP: partitions assigned: […]`, printed after the fact.

Java's own lines say it earlier and better; these stand in where a logging configuration keeps
Kafka's own loggers quiet. The thread tells the consumer.
"""

from __future__ import annotations

import re

from rebalsim.worlds.logs.dialects import Dialect, Facts
from rebalsim.worlds.logs.dialects.java_lists import partitions_in
from rebalsim.worlds.logs.facts import Fact, FactKind, Record
from rebalsim.worlds.logs.heads import thread_before

_LINE = re.compile(r"(?:^|[\s:])(\S{1,249}): partitions (assigned|revoked|lost): (\[.*?\])")
_ENDS = (
    ("Consumer stopped", FactKind.CLOSED, ""),
    ("Stopping container due to fencing", FactKind.THROWN_OUT, "FENCED_INSTANCE_ID"),
    ("Fatal consumer exception; stopping container", FactKind.THROWN_OUT, "fatal exception"),
)
_STOPPED = re.compile(r"(?:^|[\s:])(\S{1,249}): Consumer stopped")


def read(record: Record) -> Facts | None:
    """What a container's line proves."""
    found = _LINE.search(record.text)
    if found is None:
        return _stops(record)
    thread = record.thread or thread_before(record.text, found.start())
    what, where = FactKind(found[2]), partitions_in(found[3])
    told = Fact(record.at_us, what, found[1], partitions=where, thread=thread, is_second_hand=True)
    return (told,)


def _stops(record: Record) -> Facts | None:
    """A container stops, or is about to: it was fenced, or met what it cannot go on after."""
    for mark, what, why in _ENDS:
        begin = record.text.find(mark)
        if begin < 0:
            continue
        stopped = _STOPPED.search(record.text)
        thread = record.thread or thread_before(record.text, begin)
        group = stopped[1] if stopped is not None else ""
        fact = Fact(record.at_us, what, group, why=why, thread=thread, is_second_hand=True)
        return (fact,)
    return None


DIALECT = Dialect(
    "Spring",
    (
        ": partitions assigned: ",
        ": partitions revoked: ",
        ": partitions lost: ",
        *(mark for mark, _, _ in _ENDS),
    ),
    read,
    order=40,
)
