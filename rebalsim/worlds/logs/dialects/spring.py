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
_STOPPED = re.compile(r"(?:^|[\s:])(\S{1,249}): Consumer stopped")


def read(record: Record) -> Facts | None:
    """What a container's line proves."""
    found = _LINE.search(record.text)
    if found is None:
        stopped = _STOPPED.search(record.text)
        if stopped is None:
            return None
        thread = record.thread or thread_before(record.text, stopped.start())
        return (Fact(record.at_us, FactKind.CLOSED, stopped[1], thread=thread),)
    thread = record.thread or thread_before(record.text, found.start())
    what, where = FactKind(found[2]), partitions_in(found[3])
    told = Fact(record.at_us, what, found[1], partitions=where, thread=thread, is_second_hand=True)
    return (told,)


DIALECT = Dialect(
    "Spring",
    (
        ": partitions assigned: ",
        ": partitions revoked: ",
        ": partitions lost: ",
        "Consumer stopped",
    ),
    read,
    order=40,
)
