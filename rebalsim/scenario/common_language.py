"""Kinds of values that many blocks share: names, durations, draws, topics."""

from __future__ import annotations

from typing import Any

from rebalsim.scenario.document import Node
from rebalsim.scenario.kinds import DrawOf, Duration, Text

MAX_CONSUMERS = 10_000
MAX_PARTITIONS = 200_000
KAFKA_NAME = r"[a-zA-Z0-9._\-]{1,249}"
NAME = Text("a name of letters, digits, '.', '_' and '-'", r"[a-zA-Z0-9_][a-zA-Z0-9._\-]{0,119}")
PATTERNED = Text("a name such as orders-{n}", r"[a-zA-Z0-9_{][a-zA-Z0-9._\-{}]{0,119}")
TOPIC = Text("a topic name of at most 249 letters, digits, '.', '_' and '-'", KAFKA_NAME)
ANY_TEXT = Text()
DURATION_KIND = Duration()
POSITIVE = Duration(least=1)
MS = Duration(kafka=True, most=2_147_483_647_000)
MS_POSITIVE = Duration(kafka=True, least=1_000, most=2_147_483_647_000)
DRAW = DrawOf()


def word_of(*keys: str) -> Any:
    """A shorthand that names the same key whatever the value is, spelt so that the schema can
    list it.
    """

    def shorthand(node: Node) -> str:
        return keys[0]

    shorthand.keys = keys  # type: ignore[attr-defined]
    return shorthand
