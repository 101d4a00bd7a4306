"""Kinds of single values: words, flags, numbers, shares, durations, sizes."""

from __future__ import annotations

import re
from typing import Any

from rebalsim.scenario import quantities as q
from rebalsim.scenario.document import Node, Scalar
from rebalsim.scenario.kind import Kind, Schema, named_schema, shown
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.source import shorten
from rebalsim.words.lists import one_of
from rebalsim.words.nearest import or_nearest


class Text(Kind):
    """Any text; numbers and flags are taken as the text they are, where that is harmless."""

    def __init__(
        self, says: str = "a text", pattern: str = "", max_length: int = 10_000, hint: str = ""
    ) -> None:
        self.says = says
        self.pattern = re.compile(pattern) if pattern else None
        self.max_length = max_length
        self.hint = hint

    def _read(self, node: Node, out: Problems) -> Any:
        if not isinstance(node, Scalar) or node.value is None or isinstance(node.value, bool):
            return self.wrong(node, out)
        if len(node.text) > self.max_length:
            return self.wrong(
                node,
                out,
                f"'{shorten(node.text, 30)}' has {len(node.text):,} characters — write at most "
                f"{self.max_length}",
            )
        if self.pattern and not self.pattern.fullmatch(node.text):
            return self.wrong(
                node, out, f"{shown(node)} does not fit here — write {self.hint or self.says}"
            )
        return node.text

    def schema(self, defs: dict[str, Schema]) -> Schema:
        if self.pattern:
            return {"type": ["string", "number"], "pattern": f"^(?:{self.pattern.pattern})$"}
        return {"type": ["string", "number"]}


class Choice(Kind):
    """One word of several; none at all where the empty one is among them."""

    def __init__(self, *options: str, lower: bool = False) -> None:
        self.options = options
        self.lower = lower
        self.words = tuple(option for option in options if option)
        self.says = one_of(
            self.words if len(self.words) == len(options) else (*self.words, "nothing")
        )

    def _read(self, node: Node, out: Problems) -> Any:
        if isinstance(node, Scalar) and node.value is None and not node.text and "" in self.options:
            return ""
        if not isinstance(node, Scalar) or isinstance(node.value, bool) or node.value is None:
            return self.wrong(node, out)
        text = node.text.lower() if self.lower else node.text
        if text not in self.options:
            return self.wrong(
                node,
                out,
                f"{shown(node)} is not known here — "
                f"{or_nearest(node.text, self.words, 'write ' + self.says)}",
            )
        return self.options[self.options.index(text)]  # which may be a member of an enumeration

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return {"enum": [*map(str, self.options), *([None] if "" in self.options else [])]}


class Flag(Kind):
    says = "true or false"

    def _read(self, node: Node, out: Problems) -> Any:
        if isinstance(node, Scalar) and isinstance(node.value, bool):
            return node.value
        return self.wrong(node, out)

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return {"type": "boolean"}


class Whole(Kind):
    """A whole number within bounds."""

    def __init__(self, least: int = 0, most: int = 2_147_483_647, says: str = "") -> None:
        self.least, self.most = least, most
        self.says = says or f"a whole number from {least}" + (
            f" to {most}" if most < 2_147_483_647 else ""
        )

    def _read(self, node: Node, out: Problems) -> Any:
        if (
            not isinstance(node, Scalar)
            or isinstance(node.value, bool)
            or not isinstance(node.value, int)
        ):
            return self.wrong(node, out)
        if not self.least <= node.value <= self.most:
            return self.wrong(node, out, f"{node.value} is out of bounds — write {self.says}")
        return node.value

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


class Number(Kind):
    """A number within bounds."""

    def __init__(
        self, least: float = 0.0, most: float = 1e12, says: str = "", suffix: str = ""
    ) -> None:
        self.least, self.most, self.suffix = least, most, suffix
        self.says = says or "a number"
        self.text = re.compile(rf"({q._AMOUNT})[{suffix}]") if suffix else None

    def _read(self, node: Node, out: Problems) -> Any:
        value = node.value if isinstance(node, Scalar) else None
        if self.text and isinstance(value, str) and (found := self.text.fullmatch(value)):
            value = float(found.group(1))
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return self.wrong(node, out)
        if not self.least <= value <= self.most:
            return self.wrong(node, out, f"{shown(node)} is out of bounds — write {self.says}")
        return float(value)

    def schema(self, defs: dict[str, Schema]) -> Schema:
        number: Schema = {"type": "number", "minimum": self.least, "maximum": self.most}
        return (
            {"anyOf": [number, {"type": "string", "pattern": f"^(?:{self.text.pattern})$"}]}
            if self.text
            else number
        )

    def say(self, value: Any) -> str:
        return q.say_number(value)


class Percentage(Kind):
    """A percentage, kept as a number from 0 to 1."""

    says = "a percentage such as 25%"

    def _read(self, node: Node, out: Problems) -> Any:
        if isinstance(node, Scalar) and isinstance(node.value, str):
            found = q.share(node.value)
            if found is not None and found <= 1:
                return found
            if found is not None:
                return self.wrong(
                    node, out, f"{shown(node)} is more than everything — write at most 100%"
                )
        if (
            isinstance(node, Scalar)
            and isinstance(node.value, (int, float))
            and not isinstance(node.value, bool)
        ):
            return self.wrong(node, out, f"{shown(node)} has no unit — write it as {self.says}")
        return self.wrong(node, out)

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return {"type": "string", "pattern": f"^(?:{q.SHARE})$"}

    def say(self, value: Any) -> str:
        return q.say_share(value)


class ShareOrWhole(Kind):
    """A number of things or a percentage of them: (2, None) or (None, 0.25)."""

    says = "a number such as 1, or a percentage such as 25%"

    def _read(self, node: Node, out: Problems) -> Any:
        if isinstance(node, Scalar):
            if (
                isinstance(node.value, int)
                and not isinstance(node.value, bool)
                and 0 <= node.value <= 1_000_000
            ):
                return (node.value, None)
            if (
                isinstance(node.value, str)
                and (found := q.share(node.value)) is not None
                and found <= 1
            ):
                return (None, found)
        return self.wrong(node, out)

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return {
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": 1_000_000},
                {"type": "string", "pattern": f"^(?:{q.SHARE})$"},
            ]
        }

    def say(self, value: Any) -> str:
        return str(value[0]) if value[1] is None else q.say_share(value[1])


class Duration(Kind):
    """A length of time in µs. Under Kafka's `*.ms` keys (`kafka`) a plain integer means
    milliseconds, as in Kafka itself.
    """

    def __init__(
        self,
        least: int = 0,
        kafka: bool = False,
        most: int = q.LONGEST_US,
        also: tuple[int, ...] = (),
    ) -> None:
        self.least, self.most, self.kafka, self.also = least, most, kafka, also
        self.says = (
            "a duration such as 45s, 1m30s or 300ms"
            if not kafka
            else "a duration such as 45s, or milliseconds such as 45000"
        )

    def _read(self, node: Node, out: Problems) -> Any:
        if not isinstance(node, Scalar) or isinstance(node.value, bool) or node.value is None:
            return self.wrong(node, out)
        us: float | None
        if isinstance(node.value, int):
            if node.value in self.also:
                return node.value
            us = node.value * 1000 if self.kafka or node.value == 0 else None
        else:
            us = q.duration(node.text)
        if us is None:
            why = q.why_no_duration(node.text)
            return self.wrong(
                node,
                out,
                why or f"{shown(node)} is no duration — write one such as 45s, 1m30s or 300ms",
            )
        if us != int(us):
            return self.wrong(
                node, out, f"{shown(node)} is finer than a microsecond — write a whole number of us"
            )
        if us < self.least:
            return self.wrong(
                node, out, f"{shown(node)} is too short here — write {q.say_us(self.least)} or more"
            )
        if us > self.most:
            return self.wrong(
                node, out, f"{shown(node)} is too long here — write {q.say_us(self.most)} or less"
            )
        return int(us)

    def schema(self, defs: dict[str, Schema]) -> Schema:
        text = named_schema(
            defs, "duration text", lambda: {"type": "string", "pattern": f"^(?:{q.DURATION})$"}
        )
        if self.kafka:
            return {
                "anyOf": [
                    text,
                    {
                        "type": "integer",
                        "minimum": min((self.least // 1000, *self.also)),
                        "maximum": 2_147_483_647,
                    },
                ]
            }
        return (
            named_schema(defs, "duration", lambda: {"anyOf": [text, {"const": 0}]})
            if self.least == 0
            else text
        )

    def say(self, value: Any) -> str:
        return str(value) if value in self.also else q.say_us(value)


class Size(Kind):
    """Bytes. Under Kafka's own keys a plain integer is right too."""

    def __init__(self, kafka: bool = False, least: int = 0, most: int = 1 << 50) -> None:
        self.kafka, self.least, self.most = kafka, least, most
        self.says = (
            "a size such as 4GiB, 50MB or 1KB"
            if not kafka
            else "a number of bytes such as 1048576, or 1MiB"
        )

    def _read(self, node: Node, out: Problems) -> Any:
        found: int | None = None
        if isinstance(node, Scalar) and not isinstance(node.value, bool):
            if isinstance(node.value, int):
                if not self.kafka and node.value:
                    return self.wrong(
                        node, out, f"{node.value} has no unit — write {node.value}B, or {self.says}"
                    )
                found = node.value
            elif isinstance(node.value, str):
                found = q.size(node.value)
        if found is None:
            return self.wrong(node, out)
        if not self.least <= found <= self.most:
            return self.wrong(
                node,
                out,
                f"{shown(node)} is out of bounds — write from {q.say_bytes(self.least)} to "
                f"{q.say_bytes(self.most)}",
            )
        return found

    def schema(self, defs: dict[str, Schema]) -> Schema:
        text: Schema = {"type": "string", "pattern": f"^(?:{q.SIZE})$"}
        if self.kafka:
            return {
                "anyOf": [text, {"type": "integer", "minimum": self.least, "maximum": self.most}]
            }
        return {"anyOf": [text, {"const": 0}]} if self.least == 0 else text

    def say(self, value: Any) -> str:
        return q.say_bytes(value)


class ByteRate(Kind):
    says = "bytes a second such as 50MB/s"

    def _read(self, node: Node, out: Problems) -> Any:
        if isinstance(node, Scalar) and isinstance(node.value, str):
            found = q.byte_rate(node.value)
            if found:
                return found
            if q.size(node.value) is not None:
                return self.wrong(node, out, f"{shown(node)} is a size — write {node.value}/s")
        return self.wrong(node, out)

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return {"type": "string", "pattern": f"^(?:{q.BYTE_RATE})$"}

    def say(self, value: Any) -> str:
        return f"{q.say_bytes(value)}/s"
