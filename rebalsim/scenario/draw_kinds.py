"""Values that are drawn: `2s`, `1s..3s`, `2s ± 1s`, and blocks with a shape."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from rebalsim.domain.draws import LISTED, Draw, Shape
from rebalsim.scenario import quantities as q
from rebalsim.scenario.document import Mapping, Node, Scalar
from rebalsim.scenario.kind import BAD, Kind, Schema, shown
from rebalsim.scenario.list_kinds import ListOf
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.scalar_kinds import Duration, Percentage
from rebalsim.scenario.source import shorten
from rebalsim.words.lists import one_of
from rebalsim.words.nearest import or_nearest

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
    "in_turn": ("in_turn",),
}
_FINE = Duration()


def _listed(shape: str, values: dict[str, Any]) -> Draw | str:
    if not values[shape]:
        return f"{shape} has nothing to choose from — write {shape}: [1s, 5s]"
    return Draw(cast(Shape, shape), values=tuple(map(float, values[shape])))


def _uniform(shape: str, values: dict[str, Any]) -> Draw | str:
    ends = values["uniform"]
    if len(ends) != 2 or ends[0] > ends[1]:
        return "uniform takes the least and the most — write uniform: [1s, 5s]"
    return Draw("uniform", float(ends[0]), float(ends[1]))


def _lognormal(shape: str, values: dict[str, Any]) -> Draw | str:
    if "p99" not in values:
        return _lacks("median", "p99")
    median, p99 = float(values["median"]), float(values["p99"])
    if p99 < median or median <= 0:
        return "median must be above 0 and p99 no less than median — write {median: 2ms, p99: 40ms}"
    return Draw("lognormal", median, p99)


def _normal(shape: str, values: dict[str, Any]) -> Draw | str:
    if "deviation" not in values:
        return _lacks("mean", "deviation")
    return Draw("normal", float(values["mean"]), float(values["deviation"]))


def _exponential(shape: str, values: dict[str, Any]) -> Draw | str:
    mean, most = float(values["exponential"]), float(values.get("max", 0))
    if most and most < mean:
        return "max is less than the mean — write {exponential: 2s, max: 1m}"
    return Draw("exponential", mean, most)


def _lacks(first: str, second: str) -> str:
    return f"{first} needs {second} beside it — write {{{first}: 2ms, {second}: 40ms}}"


# the draw of a block with this key, or what is wrong with it
_SHAPES: dict[str, Callable[[str, dict[str, Any]], Draw | str]] = {
    "median": _lognormal,
    "mean": _normal,
    "exponential": _exponential,
    "uniform": _uniform,
    **dict.fromkeys(LISTED, _listed),
}


class DrawOf(Kind):
    """A duration that is constant or drawn: text such as `18s ± 6s` (anything between 12 s and
    24 s), `1s..5s`, `2ms, 1% up to 40ms`, or a block: {median, p99}, {mean, deviation},
    {exponential, max}, {uniform: [a, b]}, {choice: […]}, {in_turn: […]}, each with a tail if wanted.
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
                f"{{uniform: [a, b]}}, {{choice: [a, b, …]}} or {{in_turn: [a, b, …]}} — "
                f"{'name one' if not shapes else 'keep one of ' + one_of(shapes)}",
            )
        shape = shapes[0]
        values = self._values(node, shape, out)
        if values is None:
            return BAD
        share, tail_us = values.get("tail", (0.0, 0.0))
        found = _SHAPES[shape](shape, values)
        if isinstance(found, str):
            is_list = shape in ("uniform", *LISTED)
            return self.wrong(node.entries[shape] if is_list else node, out, found)
        return replace(found, tail_share=share, tail_us=tail_us)

    def _values(self, node: Mapping, shape: str, out: Problems) -> dict[str, Any] | None:
        """The block's values, or None where one of them is wrong."""
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
            elif key in ("uniform", *LISTED):
                values[key] = _DURATIONS.read(value, out)
            else:
                values[key] = _FINE.read(value, out)
            is_bad = is_bad or values[key] is BAD
        return None if is_bad else values

    def _tail(self, node: Node, out: Problems) -> Any:
        """`1% up to 40ms`, or {share: 1%, up_to: 40ms}."""
        if isinstance(node, Mapping):
            if node.entries.keys() != {"share", "up_to"}:
                write = "write tail: {share: 1%, up_to: 40ms}"
                return self.wrong(node, out, f"A tail says how many and how long — {write}")
            share = _SHARE.read(node.entries["share"], out)
            up_to = _FINE.read(node.entries["up_to"], out)
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
                    block(["in_turn"], in_turn=span),
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
    return _with_tail(made, found, text) if isinstance(made, Draw) and found["share"] else made


def _with_tail(made: Draw, found: re.Match[str], text: str) -> Draw | str:
    tail, share = q.duration(found["tail"]), float(found["share"]) / 100
    if tail is None or share > 1:
        return f"'{text}' has no tail to speak of — write e.g. 2ms, 1% up to 40ms"
    return Draw(made.shape, made.a, made.b, made.values, share, tail)


def say_draw(draw: Draw) -> str:
    a, b = q.say_us(draw.a), q.say_us(draw.b)
    text = {
        "constant": a,
        "uniform": f"{a}..{b}",
        "normal": f"{{mean: {a}, deviation: {b}}}",
        "lognormal": f"{{median: {a}, p99: {b}}}",
        "exponential": f"{{exponential: {a}" + (f", max: {b}}}" if draw.b else "}"),
        "choice": "{choice: [" + ", ".join(q.say_us(v) for v in draw.values) + "]}",
        "in_turn": "{in_turn: [" + ", ".join(q.say_us(v) for v in draw.values) + "]}",
    }[draw.shape]
    if not draw.tail_share:
        return text
    tail = f"{q.say_share(draw.tail_share)} up to {q.say_us(draw.tail_us)}"
    return f"{text[:-1]}, tail: {tail}}}" if text.endswith("}") else f"{text}, {tail}"


_DURATIONS = ListOf(_FINE)
_SHARE = Percentage()
