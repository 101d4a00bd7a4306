"""KafkaJS: JSON with the facts as fields. Eager only; its joins are told when they are over.

A plain custom logger may print the same messages with the fields behind them: those are read, too.
"""

from __future__ import annotations

import json
import re

from rebalsim.worlds.logs.dialects import Dialect, Facts
from rebalsim.worlds.logs.facts import Fact, FactKind, Record, sorted_partitions

_FIELDS = re.compile(r"\{.*\}\s*$", re.DOTALL)


def read(record: Record) -> Facts | None:
    """What a line of KafkaJS proves."""
    text = record.text
    found = next((teller for mark, teller in _TELLERS if mark in text), None)
    if found is None:
        return None
    fields = record.fields if record.fields is not None else _fields_in(text)
    facts = found(record.at_us, fields)
    for fact in facts:
        fact.group = str(fields.get("groupId", ""))
        fact.member = fact.member or str(fields.get("memberId", "") or "")
    return facts


def _fields_in(text: str) -> dict[str, object]:
    found = _FIELDS.search(text)
    try:
        document = json.loads(found[0]) if found is not None else {}
    except (ValueError, RecursionError):
        document = {}
    return document if isinstance(document, dict) else {}


def _joined(at: int, fields: dict[str, object]) -> list[Fact]:
    took = fields.get("duration")
    told = fields.get("memberAssignment")
    where = [
        f"{topic}-{number}"
        for topic, numbers in (told.items() if isinstance(told, dict) else ())
        for number in (numbers if isinstance(numbers, list) else ())
    ]
    protocol = str(fields.get("groupProtocol", ""))
    asked = at - int(took) * 1_000 if isinstance(took, int) else at
    return [
        Fact(asked, FactKind.ASKING),
        Fact(at, FactKind.JOINED, why=protocol),
        Fact(at, FactKind.ASSIGNED, partitions=sorted_partitions(where)),
    ]


def _received(at: int, fields: dict[str, object]) -> list[Fact]:
    generation = fields.get("generationId")
    return [Fact(at, FactKind.SYNCED, generation=generation)] if isinstance(generation, int) else []


def _heard(at: int, fields: dict[str, object]) -> list[Fact]:
    return [Fact(at, FactKind.HEARD), Fact(at, FactKind.GIVES_UP)]


def _thrown_out(at: int, fields: dict[str, object]) -> list[Fact]:
    return [
        Fact(at, FactKind.THROWN_OUT, why="UNKNOWN_MEMBER_ID"),
        Fact(at, FactKind.GIVES_UP),
    ]


_TELLERS = (
    ("[ConsumerGroup] Consumer has joined the group", _joined),
    ("[ConsumerGroup] Received assignment", _received),
    ("[Runner] The group is rebalancing, re-joining", _heard),
    ("[Runner] The coordinator is not aware of this member", _thrown_out),
    ("[Consumer] Starting", lambda at, fields: [Fact(at, FactKind.STARTED)]),
    ("[Consumer] Stopped", lambda at, fields: [Fact(at, FactKind.CLOSED)]),
)


def put_together(facts: list[Fact]) -> list[Fact]:
    """What is given up is what was held."""
    held: tuple[str, ...] = ()
    out = []
    for fact in facts:
        if fact.what == FactKind.ASSIGNED:
            held = fact.partitions
        elif fact.what == FactKind.GIVES_UP:
            if not held:
                continue
            fact = Fact(
                fact.at_us, FactKind.REVOKED, fact.group, member=fact.member, partitions=held
            )
            held = ()
        elif fact.what in (FactKind.CLOSED, FactKind.STARTED):
            held = ()
        out.append(fact)
    return out


DIALECT = Dialect(
    "KafkaJS",
    ("[ConsumerGroup] ", "[Runner] ", "[Consumer] S"),
    read,
    order=15,
    put_together=put_together,
    client="kafkajs",
    session_ms=30_000,
)
