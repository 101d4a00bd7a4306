"""aiokafka, which grew out of kafka-python and prints nearly its lines; its loggers bear its own name."""

from __future__ import annotations

from rebalsim.worlds.logs.dialects import Dialect, Facts
from rebalsim.worlds.logs.dialects import python_clients as like
from rebalsim.worlds.logs.facts import Record


def read(record: Record) -> Facts | None:
    """What a line of aiokafka's proves."""
    return like.read(record) if "aiokafka" in record.text else None


DIALECT = Dialect(
    "aiokafka",
    like.DIALECT.marks,
    read,
    order=79,
    client="aiokafka",
    session_ms=10_000,
)
