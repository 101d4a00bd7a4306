"""Topics: partitions, replicas, and how records arrive."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from rebalsim.scenario.common_language import DURATION_KIND, MAX_PARTITIONS, word_of
from rebalsim.scenario.document import Mapping, Node, Scalar, Sequence
from rebalsim.scenario.kinds import (
    BAD,
    Duration,
    Field,
    Flag,
    Kind,
    ListOf,
    Number,
    Schema,
    Section,
    Size,
    Whole,
    Written,
    shown,
)
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.quantities import RATE, rate, say_number, say_rate


class RateText(Kind):
    """`200/s` for a whole topic, `20/s/partition` for each: (a second, is it per partition)."""

    says = "a rate such as 200/s, or 20/s/partition"

    def _read(self, node: Node, out: Problems) -> Any:
        if isinstance(node, Scalar):
            if node.value == 0 and isinstance(node.value, int):
                return (0.0, False)
            if isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
                return self.wrong(node, out, f"{shown(node)} has no unit — write {node.text}/s")
            if isinstance(node.value, str):
                text = node.value.removesuffix("/partition").rstrip()
                found = rate(text)
                if found is not None and found <= 1e9:
                    return (found, text != node.value)
        return self.wrong(node, out)

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return {
            "anyOf": [{"type": "string", "pattern": f"^(?:{RATE}(?: ?/partition)?)$"}, {"const": 0}]
        }

    def say(self, value: Any) -> str:
        return say_rate(value[0]) + ("/partition" if value[1] else "")


RATE_KIND = RateText()
RATE_STEP = Section(
    "rate step",
    (
        Field("at", DURATION_KIND, "When this rate begins.", is_required=True),
        Field("rate", RATE_KIND, "The rate from then on.", is_required=True),
        Field(
            "ramp",
            Flag(),
            "Reach it in a straight line from the step before, instead of at once.",
            default="false",
        ),
    ),
)
DAILY = Section(
    "daily curve",
    (
        Field("low", RATE_KIND, "The rate at the quietest hour.", is_required=True),
        Field("high", RATE_KIND, "The rate at the busiest hour.", is_required=True),
        Field(
            "peak",
            DURATION_KIND,
            "When in the day the busiest moment is, counted from the story's start.",
            default="12h",
        ),
        Field("period", Duration(least=60_000_000), "The length of the day.", default="24h"),
    ),
)
DAILY_BLOCK = Section(
    "rate",
    (
        Field(
            "daily",
            DAILY,
            "A curve between a low and a high that repeats every day.",
            is_required=True,
        ),
    ),
)


class RateKind(Kind):
    """A rate, steps of it over time, or a daily curve."""

    says = (
        "a rate such as 200/s, a list of {at: 5m, rate: 500/s}, or {daily: {low: 10/s, high: "
        "500/s}}"
    )

    def _read(self, node: Node, out: Problems) -> Any:
        if isinstance(node, Sequence):
            return self._steps(node, out)
        if isinstance(node, Mapping):
            block = DAILY_BLOCK.read(node, out)
            daily = BAD if block is BAD else block.get("daily", BAD)
            return BAD if daily is BAD or daily.is_bad or block.is_bad else daily
        found = RATE_KIND.read(node, out)
        return BAD if found is BAD else ((0, found, False),)

    def _steps(self, node: Sequence, out: Problems) -> Any:
        steps = [RATE_STEP.read(item, out) for item in node.items]
        if not steps:
            return self.wrong(node, out, f"The list is empty — write {self.says}")
        if any(s is BAD or s.is_bad for s in steps):
            return BAD
        for before, after in pairwise(steps):
            if after.get("at") <= before.get("at"):
                return self.wrong(
                    after.at["at"],
                    out,
                    f"{shown(after.at['at'])} is not after the step before — put the steps in "
                    "order of time",
                )
        return tuple((s.get("at"), s.get("rate"), s.get("ramp", False)) for s in steps)

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return {
            "anyOf": [
                RATE_KIND.schema(defs),
                {"type": "array", "items": RATE_STEP.schema(defs), "minItems": 1},
                DAILY_BLOCK.schema(defs),
            ]
        }

    def say(self, value: Any) -> str:
        if isinstance(value, Written):
            return (
                f"between {RATE_KIND.say(value.get('low'))} and "
                f"{RATE_KIND.say(value.get('high'))} a day"
            )
        return ", ".join(
            RATE_KIND.say(v) + (f" from {DURATION_KIND.say(at)}" if at else "")
            for at, v, _ in value
        )


class Skew(Kind):
    """How the records of a topic spread over its partitions: `zipf 1.1`, or a weight for each."""

    says = "zipf 1.1, or a list of weights such as [5, 1, 1]"
    _zipf = re.compile(r"zipf (0|[1-9][0-9]{0,2})(\.[0-9]{1,6})?")

    def _read(self, node: Node, out: Problems) -> Any:
        if (
            isinstance(node, Scalar)
            and isinstance(node.value, str)
            and self._zipf.fullmatch(node.value)
        ):
            return float(node.value[5:])
        if isinstance(node, Sequence):
            weights = _WEIGHTS.read(node, out)
            if weights is BAD:
                return BAD
            if not weights or sum(weights) <= 0:
                return self.wrong(
                    node,
                    out,
                    "The weights add up to nothing — give at least one partition a weight above 0",
                )
            return weights
        return self.wrong(node, out)

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return {
            "anyOf": [
                {"type": "string", "pattern": rf"^(?:{self._zipf.pattern})$"},
                {"type": "array", "items": {"type": "number", "minimum": 0}, "minItems": 1},
            ]
        }

    def say(self, value: Any) -> str:
        return (
            f"zipf {say_number(value)}"
            if isinstance(value, float)
            else "[" + ", ".join(say_number(w) for w in value) + "]"
        )


_WEIGHTS = ListOf(Number(0, 1e9))


class Replicas(Kind):
    """A replication factor, or each partition's brokers, leader first."""

    says = (
        "a number of replicas such as 3, or a list of brokers for each partition such as [[0, "
        "1], [1, 2]]"
    )

    def _read(self, node: Node, out: Problems) -> Any:
        if isinstance(node, Scalar):
            return _FACTOR.read(node, out)
        return _PLACES.read(node, out)

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return {"anyOf": [_FACTOR.schema(defs), _PLACES.schema(defs)]}


_FACTOR = Whole(1, 100, "a number of replicas such as 3, or a list of brokers for each partition")
_PLACES = ListOf(ListOf(Whole(0, 100_000), least=1), least=1)
_OTHER_WORDS = {
    "lag": "records that wait at the start, in each partition, are its backlog: backlog: 5000",
    "throughput": "write rate: 200/s",
    "replication_factor": "write replicas: 3",
    "replication.factor": "write replicas: 3",
    "size": "write record_size: 1KB",
    "message_size": "write record_size: 1KB",
    "count": "write partitions: 12",
    "num_partitions": "write partitions: 12",
}


def _in_other_words(key: str) -> str:
    return _OTHER_WORDS.get(key, "")


TOPIC_BLOCK = Section(
    "topic",
    (
        Field(
            "partitions",
            Whole(1, MAX_PARTITIONS),
            "How many partitions.",
            target="partitions",
            is_required=True,
        ),
        Field(
            "rate",
            RateKind(),
            "Records that arrive: of the whole topic (200/s) or of each partition "
            "(20/s/partition).",
            default="0/s",
        ),
        Field("skew", Skew(), "How they spread over the partitions.", default="evenly"),
        Field(
            "record_size",
            Size(least=1, most=1 << 31),
            "The size of a record.",
            target="record_bytes",
        ),
        Field(
            "backlog",
            Whole(0, 10**15),
            "Records per partition that wait at the start.",
            target="backlog",
        ),
        Field(
            "replicas",
            Replicas(),
            "How many, or on which brokers: only these can lead a partition.",
            default="any broker can lead any partition",
        ),
        Field(
            "leader_epochs",
            Flag(),
            "Whether its records carry leader epochs (clients then check them before fetching).",
            target="has_leader_epochs",
        ),
        Field(
            "exists",
            Flag(),
            "Whether it exists from the start, or is created by an action.",
            target="exists_from_start",
        ),
    ),
    "A topic. A number alone is its partitions.",
    shorthand=word_of("partitions"),
    elsewhere=_in_other_words,
)
