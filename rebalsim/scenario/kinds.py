"""Kinds of values: what may stand at a place in a scenario. Each reads a node, says what is wrong
with it, and describes itself to JSON Schema; so loader, schema and `show` cannot disagree. The
table of places is in language.py; this file knows no Kafka.

Libraries made for this were measured and left out. Importing one and building one model costs, in
processor time on top of Python's own 6 ms: msgspec 16 ms, attrs with cattrs 28 ms, pydantic 42 ms
(this table whole, PyYAML included, 60 ms). For two wrong values and an unknown key msgspec tells the
first alone, cattrs and pydantic all three, none of them with a line of the file or the word that was
meant; marks, the resolution of scalars and every message would have to be rewritten around them.

Reading is pure and remembers its result on the node, so a tree that shares most of its nodes
with one already read (overrides, sweeps) costs only what is new.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from rebalsim.domain.draws import Draw
from rebalsim.scenario import quantities as q
from rebalsim.scenario.document import Mapping, Node, Scalar, Sequence
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.source import shorten
from rebalsim.words.lists import one_of
from rebalsim.words.nearest import nearest, or_nearest


class _Bad:
    """What a value is when it could not be read; its problem is noted already."""

    def __repr__(self) -> str:
        return "BAD"


T = TypeVar("T")
BAD: Final = _Bad()
Schema = dict[str, Any]


def named_schema(defs: dict[str, Schema], name: str, make: Callable[[], Schema]) -> Schema:
    """A shape that stands in many places, written once."""
    if name not in defs:
        defs[name] = make()
    return {"$ref": f"#/$defs/{name.replace(' ', '%20')}"}


def shown(node: Node) -> str:
    """The value as a message shows it."""
    if isinstance(node, Scalar):
        return (
            "nothing"
            if node.value is None and not node.text
            else f"'{shorten(node.text, 40)}'"
            if isinstance(node.value, str)
            else shorten(node.text, 40)
        )
    return "a list" if isinstance(node, Sequence) else "a block"


class Kind:
    """What may stand somewhere. `says` completes the sentence "write …"."""

    says = "something else"

    def read(self, node: Node, out: Problems) -> Any:
        """The value, or BAD with its problems noted."""
        if node.kind is not self:
            mine = Problems()
            if isinstance(node, Scalar) and node.trap:
                mine.add(node, node.trap)
                node.value_read = BAD
            else:
                node.value_read = self._read(node, mine)
            node.found = mine.items
            node.kind = self
        if node.found:
            out.take(node.found)
        return node.value_read

    def _read(self, node: Node, out: Problems) -> Any:
        raise NotImplementedError

    def schema(self, defs: dict[str, Schema]) -> Schema:
        raise NotImplementedError

    def say(self, value: Any) -> str:
        """The value as a file would write it."""
        if value is None:
            return "none"
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(str(v) for v in value) + "]"
        return str(value)

    def wrong(self, node: Node, out: Problems, why: str = "") -> Any:
        said = why or f"{shown(node)} does not fit here — write {self.says}"
        out.add(
            node,
            said[0].upper() + said[1:]
            if said.startswith(("a list", "a block", "nothing"))
            else said,
        )
        return BAD


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
        return text

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return {"enum": [*self.options, *([None] if "" in self.options else [])]}


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


class Share(Kind):
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


_PLUS_MINUS = r"(?:±|\+/-|\+-)"
_TAIL = rf"(?:, ?(?P<share>{q._AMOUNT}) ?% up to (?P<tail>{q.DURATION}))?"
_SPAN = re.compile(rf"(?P<low>{q.DURATION}) ?(?:\.\.|…|–| to ) ?(?P<high>{q.DURATION}){_TAIL}")
_AROUND = re.compile(rf"(?P<mid>{q.DURATION}) ?{_PLUS_MINUS} ?(?P<by>{q.DURATION}){_TAIL}")
_PLAIN = re.compile(rf"(?P<a>{q.DURATION}){_TAIL}")
DRAW_TEXT = (
    rf"{q.DURATION}(?: ?(?:{_PLUS_MINUS}|\.\.|…|–| to ) ?{q.DURATION})?"
    rf"(?:, ?{q._AMOUNT} ?% up to {q.DURATION})?"
)
_DRAW_KEYS: dict[str, tuple[str, ...]] = {
    "median": ("median", "p99"),
    "mean": ("mean", "deviation"),
    "exponential": ("exponential", "max"),
    "uniform": ("uniform",),
    "choice": ("choice",),
}
_FINE = Duration()


class DrawOf(Kind):
    """A duration that is constant or drawn: text such as `18s ± 6s` (anything between 12 s and
    24 s), `1s..5s`, `2ms, 1% up to 40ms`, or a block: {median, p99}, {mean, deviation},
    {exponential, max}, {uniform: [a, b]}, {choice: […]}, each with a tail if wanted.
    """

    says = "a duration such as 45s, 18s ± 6s, 1s..5s or {median: 2ms, p99: 40ms}"

    def _read(self, node: Node, out: Problems) -> Any:
        if isinstance(node, Mapping):
            return self._block(node, out)
        if not isinstance(node, Scalar) or isinstance(node.value, bool) or node.value is None:
            return self.wrong(node, out)
        if node.value == 0 and isinstance(node.value, int):
            return Draw()
        draw = draw_of(node.text)
        if isinstance(draw, str):
            return self.wrong(
                node, out, draw or f"{shown(node)} is no duration — write {self.says}"
            )
        return draw

    def _block(self, node: Mapping, out: Problems) -> Any:
        shapes = [key for key in _DRAW_KEYS if key in node.entries]
        if len(shapes) != 1:
            return self.wrong(
                node,
                out,
                "A distribution is written as one of {median, p99}, {mean, deviation}, "
                "{exponential, max}, "
                f"{{uniform: [a, b]}} or {{choice: [a, b, …]}} — "
                f"{'name one' if not shapes else 'keep one of ' + one_of(shapes)}",
            )
        shape = shapes[0]
        known = (*_DRAW_KEYS[shape], "tail")
        values: dict[str, Any] = {}
        is_bad = False
        for key, value in node.entries.items():
            if key not in known:
                out.add(
                    node.keys[key],
                    f"'{shorten(key)}' does not go with {shape} — {or_nearest(key, known)}",
                )
                is_bad = True
                continue
            if key == "tail":
                values[key] = self._tail(value, out)
            elif key in ("uniform", "choice"):
                values[key] = _DURATIONS.read(value, out)
            else:
                values[key] = _FINE.read(value, out)
            is_bad = is_bad or values[key] is BAD
        if is_bad:
            return BAD
        share, tail_us = values.get("tail", (0.0, 0.0))
        if shape == "uniform":
            if len(values["uniform"]) != 2 or values["uniform"][0] > values["uniform"][1]:
                return self.wrong(
                    node.entries["uniform"],
                    out,
                    "uniform takes the least and the most — write uniform: [1s, 5s]",
                )
            low, high = values["uniform"]
            return Draw("uniform", float(low), float(high), (), share, tail_us)
        if shape == "choice":
            if not values["choice"]:
                return self.wrong(
                    node.entries["choice"],
                    out,
                    "choice has nothing to choose from — write choice: [1s, 5s]",
                )
            return Draw("choice", 0.0, 0.0, tuple(map(float, values["choice"])), share, tail_us)
        first, second = _DRAW_KEYS[shape]
        if second not in values and shape != "exponential":
            return self.wrong(
                node,
                out,
                f"{first} needs {second} beside it — write {{{first}: 2ms, {second}: 40ms}}",
            )
        a, b = float(values[first]), float(values.get(second, 0))
        if shape == "median":
            if b < a or a <= 0:
                return self.wrong(
                    node,
                    out,
                    "median must be above 0 and p99 no less than median — write {median: 2ms, "
                    "p99: 40ms}",
                )
            return Draw("lognormal", a, b, (), share, tail_us)
        if shape == "mean":
            return Draw("normal", a, b, (), share, tail_us)
        if b and b < a:
            return self.wrong(
                node, out, "max is less than the mean — write {exponential: 2s, max: 1m}"
            )
        return Draw("exponential", a, b, (), share, tail_us)

    def _tail(self, node: Node, out: Problems) -> Any:
        """`1% up to 40ms`, or {share: 1%, up_to: 40ms}."""
        if isinstance(node, Mapping):
            share: Any = _SHARE.read(node.entries["share"], out) if "share" in node.entries else BAD
            up_to: Any = _FINE.read(node.entries["up_to"], out) if "up_to" in node.entries else BAD
            extra = [k for k in node.entries if k not in ("share", "up_to")]
            if len(node.entries) != 2 or extra:
                return self.wrong(
                    node,
                    out,
                    "A tail says how many and how long — write tail: {share: 1%, up_to: 40ms}",
                )
            return BAD if share is BAD or up_to is BAD else (share, float(up_to))
        if isinstance(node, Scalar) and (
            found := re.fullmatch(rf"({q._AMOUNT}) ?% up to ({q.DURATION})", node.text)
        ):
            up_to_us = q.duration(found.group(2))
            if up_to_us is not None and float(found.group(1)) <= 100:
                return (float(found.group(1)) / 100, up_to_us)
        return self.wrong(node, out, f"{shown(node)} is no tail — write tail: 1% up to 40ms")

    def schema(self, defs: dict[str, Schema]) -> Schema:
        if "draw" not in defs:
            span: Schema = {"type": "array", "items": _FINE.schema(defs), "minItems": 1}
            tail: Schema = {
                "anyOf": [
                    {"type": "string", "pattern": rf"^{q._AMOUNT} ?% up to {q.DURATION}$"},
                    {
                        "type": "object",
                        "properties": {"share": _SHARE.schema(defs), "up_to": _FINE.schema(defs)},
                        "required": ["share", "up_to"],
                        "additionalProperties": False,
                    },
                ]
            }

            def block(required: list[str], **properties: Schema) -> Schema:
                return {
                    "type": "object",
                    "properties": {**properties, "tail": tail},
                    "required": required,
                    "additionalProperties": False,
                }

            one = _FINE.schema(defs)
            defs["draw"] = {
                "description": "A duration, constant or drawn: 45s · 18s ± 6s · 1s..5s · 2ms, 1% "
                "up to 40ms "
                "· {median: 2ms, p99: 40ms} · …",
                "anyOf": [
                    {"type": "string", "pattern": f"^(?:{DRAW_TEXT})$"},
                    {"const": 0},
                    block(["median", "p99"], median=one, p99=one),
                    block(["mean", "deviation"], mean=one, deviation=one),
                    block(["exponential"], exponential=one, max=one),
                    block(["uniform"], uniform={**span, "minItems": 2, "maxItems": 2}),
                    block(["choice"], choice=span),
                ],
            }
        return {"$ref": "#/$defs/draw"}

    def say(self, value: Any) -> str:
        return "never" if value is None else say_draw(value)


def draw_of(text: str) -> Draw | str:
    """A draw written as text, or why it is none."""
    if text.startswith(".") or len(text) > 120:
        return ""
    if found := _PLAIN.fullmatch(text):
        a = q.duration(found["a"])
        made = Draw("constant", a) if a is not None else q.why_no_duration(found["a"])
    elif found := _AROUND.fullmatch(text):
        mid, by = q.duration(found["mid"]), q.duration(found["by"])
        if mid is None or by is None:
            return ""
        if by > mid:
            return f"'{text}' would go below nought — write at most {found['mid']} after the ±"
        made = Draw("uniform", mid - by, mid + by)
    elif found := _SPAN.fullmatch(text):
        low, high = q.duration(found["low"]), q.duration(found["high"])
        if low is None or high is None:
            return ""
        if low > high:
            return f"'{text}' ends before it begins — write {found['high']}..{found['low']}"
        made = Draw("uniform", low, high)
    else:
        return q.why_no_duration(text)
    if isinstance(made, Draw) and found["share"]:
        tail = q.duration(found["tail"])
        share = float(found["share"]) / 100
        if tail is None or share > 1:
            return f"'{text}' has no tail to speak of — write e.g. 2ms, 1% up to 40ms"
        made = Draw(made.shape, made.a, made.b, made.values, share, tail)
    return made


def say_draw(draw: Draw) -> str:
    a, b = q.say_us(draw.a), q.say_us(draw.b)
    text = {
        "constant": a,
        "uniform": f"{a}..{b}",
        "normal": f"{{mean: {a}, deviation: {b}}}",
        "lognormal": f"{{median: {a}, p99: {b}}}",
        "exponential": f"{{exponential: {a}" + (f", max: {b}}}" if draw.b else "}"),
        "choice": "{choice: [" + ", ".join(q.say_us(v) for v in draw.values) + "]}",
    }[draw.shape]
    if not draw.tail_share:
        return text
    tail = f"{q.say_share(draw.tail_share)} up to {q.say_us(draw.tail_us)}"
    return f"{text[:-1]}, tail: {tail}}}" if text.endswith("}") else f"{text}, {tail}"


class Nullable(Kind):
    """A word that stands for nothing (`never`, `none`), or the other kind."""

    def __init__(self, word: str, inner: Kind) -> None:
        self.word, self.inner = word, inner
        self.says = f"{word}, or {inner.says}"

    def _read(self, node: Node, out: Problems) -> Any:
        if isinstance(node, Scalar) and node.text == self.word:
            return None
        if (
            isinstance(self.inner, Whole)
            and isinstance(node, Scalar)
            and isinstance(node.value, str)
            and not node.trap
        ):
            return self.wrong(node, out)  # no word but this one
        return self.inner.read(node, out)

    def read(self, node: Node, out: Problems) -> Any:
        return self._read(node, out)  # the inner kind remembers

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return {"anyOf": [{"const": self.word}, self.inner.schema(defs)]}

    def say(self, value: Any) -> str:
        return self.word if value is None else self.inner.say(value)


class ListOf(Kind):
    """Several of a kind; one may stand without its brackets (`is_lenient`), or text be split at
    commas as Kafka's lists are.
    """

    def __init__(
        self,
        item: Kind,
        is_lenient: bool = False,
        splits: bool = False,
        least: int = 0,
        says: str = "",
        most: int = 20_000,
        goes_on: bool = False,
    ) -> None:
        self.goes_on = goes_on  # blocks that cannot be read stay, marked as bad
        self.item, self.is_lenient, self.splits, self.least, self.most = (
            item,
            is_lenient or splits,
            splits,
            least,
            most,
        )
        self.says = says or f"a list such as [{item.says}]"

    def _read(self, node: Node, out: Problems) -> Any:
        if isinstance(node, Sequence):
            if len(node.items) < self.least:
                return self.wrong(node, out, f"The list is empty — write at least {self.least}")
            if len(node.items) > self.most:
                return self.wrong(
                    node,
                    out,
                    f"The list has {len(node.items):,} entries — write at most {self.most:,}",
                )
            values = [self.item.read(item, out) for item in node.items]
            if self.goes_on and isinstance(self.item, Section):
                return tuple(
                    Written(at, self.item, is_bad=True) if v is BAD else v
                    for v, at in zip(values, node.items)
                )
            return BAD if any(v is BAD for v in values) else tuple(values)
        if (
            self.splits
            and isinstance(node, Scalar)
            and isinstance(node.value, str)
            and "," in node.value
        ):
            parts = [
                Scalar(node.source, node.line, node.column, node.width, part.strip(), True)
                for part in node.value.split(",")
                if part.strip()
            ]
            values = [self.item.read(part, out) for part in parts]
            return BAD if any(v is BAD for v in values) else tuple(values)
        if self.is_lenient and isinstance(node, Scalar) and node.value is not None:
            value = self.item.read(node, out)
            return BAD if value is BAD else (value,)
        return self.wrong(node, out)

    def schema(self, defs: dict[str, Schema]) -> Schema:
        items = self.item.schema(defs)
        listed: Schema = {"type": "array", "items": items}
        if self.least:
            listed["minItems"] = self.least
        if self.splits:
            return {"anyOf": [listed, {"type": "string"}]}
        return {"anyOf": [listed, items]} if self.is_lenient else listed

    def say(self, value: Any) -> str:
        return "[" + ", ".join(self.item.say(v) for v in value) + "]"


_DURATIONS = ListOf(_FINE)
_SHARE = Share()


# ------------------------------------------------------------------------------------------- blocks


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One key of a block: what may stand there, what it means, and where it goes in the domain."""

    name: str
    kind: Kind
    doc: str
    target: str = ""  # the attribute it sets; empty: resolve knows
    is_required: bool = False
    aliases: tuple[str, ...] = ()
    kafka: bool = False  # Kafka's own key
    default: str = ""  # for people, where no attribute's default says it
    example: str = ""


@dataclass(slots=True, eq=False)
class Written:
    """A block as written: what was read, and where each value stands."""

    node: Node
    section: Section
    values: dict[str, Any] = field(default_factory=dict)
    at: dict[str, Node] = field(default_factory=dict)
    is_bad: bool = False
    unset: dict[str, Node] = field(default_factory=dict)  # keys written as null, and where

    def get(self, name: str, default: Any = None) -> Any:
        return self.values.get(name, default)

    def __contains__(self, name: str) -> bool:
        return name in self.values


def _is_null(node: Node) -> bool:
    """Is it the word null (or ~), rather than nothing at all, which is more often an oversight?"""
    return isinstance(node, Scalar) and node.value is None and bool(node.text)


_MOST_UNKNOWN = 100  # in one block; whoever has more has the wrong file


class Section(Kind):
    """A block of known keys. `shorthand` names the key that a bare value (no block) stands for."""

    def __init__(
        self,
        name: str,
        fields: Iterable[Field],
        doc: str = "",
        shorthand: str | Callable[[Node], str] = "",
        allows_nothing: bool = False,
        exactly_one: tuple[str, ...] = (),
        ignored: dict[str, str] | None = None,
        elsewhere: Callable[[str], str] | None = None,
        refused: dict[str, str] | None = None,
        after: Callable[[Written, Problems], None] | None = None,
        title: str = "",
        can_unset: Iterable[str] | bool = False,
    ) -> None:
        """`can_unset`: the keys that null takes back, as if no layer below had written them; True:
        all of them. Where `none` is a value of its own, null might mean that, and is refused.
        """
        self.name = name
        self.title = title or name
        self.after = after
        self.fields: dict[str, Field] = {f.name: f for f in fields}
        wanted = self.fields if can_unset is True else set(can_unset or ())
        self.can_unset = frozenset(
            f.name
            for f in self.fields.values()
            if f.name in wanted and "none" not in getattr(f.kind, "options", ())
        )
        self.by_key: dict[str, Field] = {
            **self.fields,
            **{a: f for f in self.fields.values() for a in f.aliases},
        }
        self.doc = doc
        self.shorthand = shorthand
        self.allows_nothing = allows_nothing
        self.exactly_one = exactly_one
        self.ignored = ignored or {}
        self.refused = refused or {}
        self.elsewhere = elsewhere
        self.required = tuple(f.name for f in self.fields.values() if f.is_required)
        self.says = f"a block of settings with keys such as {one_of(list(self.fields)[:3])}"

    def expand(self, node: Node) -> Mapping | None:
        """The block that this node is, or stands for."""
        if isinstance(node, Mapping):
            return node
        if isinstance(node, Scalar) and node.value is None and not node.text:
            if not self.allows_nothing:
                return None
            return Mapping(node.source, node.line, node.column, node.width)
        key = self.shorthand(node) if callable(self.shorthand) else self.shorthand
        if not key:
            return None
        made = Mapping(node.source, node.line, node.column, node.width)
        made.put(Scalar(node.source, node.line, node.column, node.width, key, True), node)
        return made

    def _read(self, node: Node, out: Problems) -> Any:
        block = self.expand(node)
        if block is None:
            return self.wrong(
                node,
                out,
                f"{shown(node)} stands where {self.title} is a block of settings — "
                "write its keys below it, indented: "
                f"{', '.join(list(self.fields)[:4])}{' …' if len(self.fields) > 4 else ''}",
            )
        written = Written(block, self)
        meant: list[str] = []  # known keys that unknown ones were probably meant to be
        spelt: dict[str, str] = {}
        for key, value in block.entries.items():
            f = self.by_key.get(key)
            if f is None and len(meant) >= _MOST_UNKNOWN:
                out.add(
                    block.keys[key],
                    f"There are more unknown keys in the {self.title} than these {_MOST_UNKNOWN} "
                    "— mend them first",
                )
                written.is_bad = True
                break
            if f is None:
                meant.append(self._unknown(block, key, out))
                written.is_bad = written.is_bad or key not in self.ignored
                continue
            if f.name in written.at:
                out.add(
                    block.keys[key],
                    f"'{key}' says the same as '{spelt[f.name]}' — keep one of the two",
                )
                continue
            spelt[f.name] = key
            if f.name in self.can_unset and _is_null(value):
                written.unset[f.name] = value
                continue
            written.at[f.name] = value
            got = f.kind.read(value, out)
            if got is BAD:
                written.is_bad = True
            else:
                written.values[f.name] = got
                if isinstance(got, Written) and got.is_bad:
                    written.is_bad = True
        for name in self.required:
            if name not in written.at and name in meant:
                written.is_bad = True
            elif name not in written.at:
                example = self.fields[name].example
                out.add(
                    block,
                    f"The {self.title} lacks '{name}' — write "
                    f"{example or name + ': ' + self.fields[name].kind.says}",
                )
                written.is_bad = True
        if self.exactly_one:
            present = [n for n in self.exactly_one if n in written.at]
            if not present:
                if not any(name in self.exactly_one for name in meant):
                    out.add(
                        block,
                        f"The {self.title} does not say what happens — add one of "
                        f"{', '.join(self.exactly_one[:6])} …",
                    )
                written.is_bad = True
            elif len(present) > 1:
                out.add(
                    block.keys[spelt[present[1]]],
                    f"'{present[1]}' stands beside '{present[0]}' — one entry does one thing; "
                    "put this into an entry of its own",
                )
                written.is_bad = True
        if self.after:
            self.after(written, out)
        return written

    def _unknown(self, block: Mapping, key: str, out: Problems) -> str:
        """Says what is wrong with the key, and returns the one that it was probably meant to be."""
        at = block.keys[key]
        if key in self.ignored:
            out.warn(at, f"'{key}' is Kafka's, but {self.ignored[key]} — leave it out")
        elif key in self.refused:
            out.add(at, f"'{key}' {self.refused[key]}")
        else:
            hint = self.elsewhere(key) if self.elsewhere else ""
            out.add(
                at,
                f"'{shorten(key)}' is not a key of the {self.title} — "
                f"{hint or or_nearest(key, self.by_key)}",
            )
            return "" if hint else nearest(key, self.by_key)
        return ""

    def schema(self, defs: dict[str, Schema]) -> Schema:
        if self.name not in defs:
            defs[self.name] = {}  # against endless recursion
            properties: dict[str, Schema] = {}
            for key, f in self.by_key.items():
                described: Schema = dict(f.kind.schema(defs))
                text = f.doc if key == f.name else f"The same as {f.name}."
                if f.name in self.can_unset:
                    described = {"anyOf": [described, {"type": "null"}]}
                if "$ref" in described:
                    described = {"allOf": [described]}
                described["description"] = text + (" (Kafka's own key.)" if f.kafka else "")
                if f.default:
                    described["default"] = f.default
                properties[key] = described
            for key, why in self.ignored.items():
                properties[key] = {"description": f"Kafka's, but {why}.", "deprecated": True}
            block: Schema = {
                "type": "object",
                "properties": properties,
                "additionalProperties": False,
            }
            if self.doc:
                block["description"] = self.doc
            if self.required:
                block["required"] = [n for n in self.required if not self.fields[n].aliases]
                spelt = [
                    {"anyOf": [{"required": [k]} for k in (n, *self.fields[n].aliases)]}
                    for n in self.required
                    if self.fields[n].aliases
                ]
                if spelt:
                    block["allOf"] = spelt
            if self.exactly_one:
                block["oneOf"] = [{"required": [n]} for n in self.exactly_one]
            defs[self.name] = self._with_shorthand(block, defs)
        return {"$ref": f"#/$defs/{self.name.replace(' ', '%20')}"}

    def shorthand_keys(self) -> tuple[str, ...]:
        if not self.shorthand:
            return ()
        return (
            (self.shorthand,)
            if isinstance(self.shorthand, str)
            else tuple(getattr(self.shorthand, "keys", ()))
        )

    def _with_shorthand(self, block: Schema, defs: dict[str, Schema]) -> Schema:
        forms = [block] + [self.fields[k].kind.schema(defs) for k in self.shorthand_keys()]
        if self.allows_nothing:
            forms.append({"type": "null"})
        return block if len(forms) == 1 else {"anyOf": forms}


class MapOf(Kind):
    """A block of free names, each with a value of one kind, in the file's order: {name: (value,
    key node)}.
    """

    def __init__(
        self, value: Kind, key: Text, what: str, least: int = 0, most: int = 10_000
    ) -> None:
        self.value, self.key, self.what, self.least, self.most = value, key, what, least, most
        self.says = f"a block of {what}: a name, a colon and its settings"

    def _read(self, node: Node, out: Problems) -> Any:
        if not isinstance(node, Mapping):
            return self.wrong(node, out)
        if len(node.entries) < self.least:
            return self.wrong(node, out, f"There are no {self.what} here — name at least one")
        if len(node.entries) > self.most:
            return self.wrong(
                node, out, f"There are {len(node.entries)} {self.what} — write at most {self.most}"
            )
        values: dict[str, Any] = {}
        is_bad = False
        for key, at in node.keys.items():
            name = Scalar(at.source, at.line, at.column, at.width, at.text, True)
            value = (
                BAD if self.key.read(name, out) is BAD else self.value.read(node.entries[key], out)
            )
            if value is BAD:
                is_bad = True
            else:
                values[key] = value
        return Named(node, values, is_bad)

    def schema(self, defs: dict[str, Schema]) -> Schema:
        made: Schema = {"type": "object", "additionalProperties": self.value.schema(defs)}
        if self.key.pattern:
            made["propertyNames"] = {"pattern": f"^(?:{self.key.pattern.pattern})$"}
        if self.least:
            made["minProperties"] = self.least
        return made


@dataclass(slots=True, eq=False)
class Named:
    """A block of free names as written."""

    node: Mapping
    values: dict[str, Any]
    is_bad: bool = False


def build(cls: type[T], written: Written | None, **more: Any) -> T:
    """The domain object that a block describes: each field that has a target sets it, the rest
    keeps the domain's default.
    """
    values: dict[str, Any] = {}
    if written is not None:
        fields = written.section.fields
        for name, value in written.values.items():
            target = fields[name].target
            if target:
                values[target] = value
    values.update(more)
    return cls(**values)


def merge(base: Written, over: Written | None) -> Written:
    """`over` laid upon `base`, block by block; what a --set option wrote or took back stays."""
    if over is None or (not over.values and not over.unset and not over.is_bad):
        return base
    values, at, unset = dict(base.values), dict(base.at), dict(base.unset)
    for name, node in over.unset.items():
        if not _stays(at.get(name), node):
            values.pop(name, None)
            at.pop(name, None)
            unset[name] = node
    for name, value in over.values.items():
        before = values.get(name)
        if isinstance(value, Written) and isinstance(before, Written):
            values[name] = merge(before, value)
            at[name] = over.at[name]
        elif not _stays(at.get(name) or unset.get(name), over.at[name]):
            values[name] = value
            at[name] = over.at[name]
            unset.pop(name, None)
    return Written(base.node, base.section, values, at, base.is_bad or over.is_bad, unset)


def _stays(below: Node | None, above: Node) -> bool:
    """Does what a --set option wrote below outlast what a file wrote above?"""
    return below is not None and below.source.is_override and not above.source.is_override
