"""Axes of a plan as a file writes them: a list, a range, a log range, a distribution to sample
from, or cases that set several things.

A value keeps the text that the scenario's own reader will judge (`45s`, `200/s`); beside it
stands what it measures, for ordering, conditions and pictures. Units are the file's: a bare
whole number is milliseconds under Kafka's `*.ms` keys only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from rebalsim.domain.draws import Draw
from rebalsim.domain.sweep import Axis, Kind, SampledAxis, Step
from rebalsim.scenario import quantities as q
from rebalsim.scenario.document import Mapping, Node, Scalar, Sequence
from rebalsim.scenario.kinds import (
    BAD,
    DrawOf,
    Field,
    ListOf,
    MapOf,
    Section,
    Text,
    Whole,
    Written,
    shown,
)
from rebalsim.scenario.kinds import Kind as FileKind
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.source import shorten

MOST_STEPS = 100_000
NAME = r"[A-Za-z_][A-Za-z0-9_]{0,59}"
_RANGE = re.compile(r"\s*(?P<low>.+?)\s*(?:\.\.|…|–| to )\s*(?P<high>.+?)\s*")
_NUMBER = re.compile(rf"-?{q._AMOUNT}")


@dataclass(frozen=True, slots=True)
class Amount:
    """A written value and what it measures. `unit` is what stands behind the number, for writing
    others like it.
    """

    kind: Kind
    number: float
    unit: str = ""

    def write(self, number: float, is_whole: bool) -> str:
        """Another amount of this kind, as a file would have it."""
        if self.kind == "duration":
            return q.say_us(round(number))
        if self.unit in q.SIZES:
            return f"{round(number)}B"
        said = str(round(number)) if is_whole else q.say_number(float(f"{number:.6g}"))
        return said + self.unit


def amount_of(text: str, path: str) -> Amount | None:
    """What a value measures, or None where it is a word."""
    if _NUMBER.fullmatch(text):
        number = float(text)
        return (
            Amount("duration", number * 1000) if path.endswith(".ms") else Amount("number", number)
        )
    if (us := q.duration(text)) is not None:
        return Amount("duration", us)
    if (size := q.size(text)) is not None:
        return Amount("number", size, "B")
    for unit, read in (("/s", q.byte_rate), ("/s", q.rate), ("%", q.share)):
        if (found := read(text)) is not None:
            return Amount("number", found * (100 if unit == "%" else 1), unit)
    return None


class AnyScalar(FileKind):
    """A value of whatever kind its place wants; the scenario's reader judges it."""

    says = "a value as the scenario would have it"

    def _read(self, node: Node, out: Problems) -> Any:
        if not isinstance(node, Scalar) or (node.value is None and not node.text):
            return self.wrong(node, out, f"{shown(node)} is no single value — write one, e.g. 45s")
        return node.text

    def schema(self, defs: dict[str, Any]) -> dict[str, Any]:
        return {"type": ["string", "number", "boolean"]}


def _choice_of_numbers(node: Node) -> list[int | float]:
    """The numbers of `{choice: [1, 2]}`; none where it is something else."""
    choice = node.entries.get("choice") if isinstance(node, Mapping) else None
    if not isinstance(choice, Sequence) or not isinstance(node, Mapping) or len(node.entries) > 1:
        return []
    numbers = [
        item.value
        for item in choice.items
        if isinstance(item, Scalar) and isinstance(item.value, (int, float))
    ]
    return numbers if len(numbers) == len(choice.items) else []


class _Sample(FileKind):
    """Numbers as a range or a choice; durations as anything a scenario can draw from. (draw,
    kind, is whole).
    """

    says = "a distribution such as 1s..5s, 3..12, {median: 2ms, p99: 40ms} or {choice: [3, 5]}"
    _DRAW = DrawOf()

    def _read(self, node: Node, out: Problems) -> Any:
        if isinstance(node, Scalar) and (found := _RANGE.fullmatch(node.text)):
            low, high = amount_of(found["low"], ""), amount_of(found["high"], "")
            if low and high and low.kind == high.kind == "number" and low.unit == high.unit:
                if low.number > high.number:
                    return self.wrong(
                        node,
                        out,
                        f"{shown(node)} ends before it begins — write "
                        f"{found['high']}..{found['low']}",
                    )
                is_whole = "." not in found["low"] + found["high"].replace("..", "")
                return Draw("uniform", low.number, high.number), "number", is_whole, low.unit
        if numbers := _choice_of_numbers(node):
            is_whole = all(isinstance(n, int) for n in numbers)
            return Draw("choice", values=tuple(map(float, numbers))), "number", is_whole, ""
        draw = self._DRAW.read(node, out)
        return BAD if draw is BAD else (draw, "duration", False, "")

    def schema(self, defs: dict[str, Any]) -> dict[str, Any]:
        return {
            "anyOf": [
                self._DRAW.schema(defs),
                {"type": "string"},
                {"type": "object", "required": ["choice"]},
            ]
        }


_VALUES = ListOf(AnyScalar(), least=1, most=MOST_STEPS)
_PATH = Text("a setting's path such as group.members", max_length=300)
_LONG = Section(
    "an axis",
    (
        Field(
            "as",
            Text("a name", NAME, hint="a name of letters, digits and _"),
            "What conditions, tables and pictures call this axis.",
        ),
        Field("values", _VALUES, "The values, in order."),
        Field(
            "range",
            Text("two ends such as 5s..45s"),
            "From … to …, both included, in equal steps.",
            example="range: 5s..45s",
        ),
        Field("step", AnyScalar(), "How far apart the values of `range` are."),
        Field(
            "log",
            Text("two ends such as 1s..60s"),
            "From … to …, each value the same factor above the one before.",
            example="log: 1s..60s",
        ),
        Field("count", Whole(2, MOST_STEPS), "How many values `range` or `log` has."),
        Field(
            "sample", _Sample(), "A distribution: each of the plan's `samples` draws from it anew."
        ),
        Field(
            "cases",
            MapOf(
                MapOf(AnyScalar(), _PATH, "settings", least=1),
                Text("a label", max_length=80),
                "cases",
                least=1,
                most=MOST_STEPS,
            ),
            "Cases by name, each with several settings that go together.",
        ),
    ),
    "One varied parameter.",
    exactly_one=("values", "range", "log", "sample", "cases"),
)


class AxisKind(FileKind):
    """An axis: `path: [values]`, or `path: {range: …}`."""

    says = "a list of values, or a block with values, range, log, sample or cases"

    def _read(self, node: Node, out: Problems) -> Any:
        if isinstance(node, Sequence):
            block = Mapping(node.source, node.line, node.column, node.width)
            block.put(Scalar(node.source, node.line, node.column, node.width, "values", True), node)
            return _LONG.read(block, out)
        if not isinstance(node, Mapping):
            return self.wrong(node, out)
        return _LONG.read(node, out)

    def schema(self, defs: dict[str, Any]) -> dict[str, Any]:
        return {"anyOf": [_VALUES.schema(defs), _LONG.schema(defs)]}


def axis_of(key: Scalar, written: Written, out: Problems) -> Axis | SampledAxis | None:
    """The axis that stands under this key (a setting's path), or None with its problems noted."""
    path = key.text
    name = written.get("as") or default_name(path)
    if written.is_bad or sum(way in written for way in _LONG.exactly_one) != 1:
        return None
    if "sample" in written:
        draw, kind, is_whole, unit = written.get("sample")
        return SampledAxis(name, path, kind, draw, is_whole, unit, key.line, key.column)
    if "cases" in written:
        steps = tuple(
            Step(
                label,
                tuple((p, str(v)) for p, v in case.values.items()),
                _first_number(case.values),
            )
            for label, case in written.get("cases").values.items()
        )
        return Axis(name, "text", steps, key.line, key.column)
    if "values" in written:
        return _listed(key, name, path, written, out)
    return _ranged(key, name, path, written, out)


def default_name(path: str) -> str:
    """`group.config.session.timeout.ms` → session_timeout_ms; `group.members` → members."""
    for root in (".config.", ".broker_config.", ".overlay."):
        if root in path:
            path = path.split(root, 1)[1]
            return re.sub(r"\W+", "_", path).strip("_")
    return re.sub(r"\W+", "_", path.rpartition(".")[2]).strip("_") or "axis"


def _first_number(values: dict[str, Any]) -> float | None:
    """Cases are ordered as written; the first number among their settings places them on a
    scale.
    """
    for path, text in values.items():
        if (amount := amount_of(str(text), path)) is not None:
            return amount.number
    return None


def _listed(key: Scalar, name: str, path: str, written: Written, out: Problems) -> Axis | None:
    texts: tuple[str, ...] = written.get("values")
    for name_ in ("step", "count"):
        if name_ in written:
            out.add(
                written.at[name_],
                f"'{name_}' goes with range or log, and this axis lists its values — leave it out",
            )
            return None
    node = written.at["values"]
    assert isinstance(node, Sequence)
    seen: dict[str, Node] = {}
    for text, item in zip(texts, node.items):
        if text in seen:
            out.add(
                item,
                f"'{shorten(text)}' stands here a second time — a point would be played twice; "
                "remove one",
            )
            return None
        seen[text] = item
    amounts = [amount_of(text, path) for text in texts]
    kinds = {a.kind for a in amounts if a}
    if None not in amounts and len(kinds) == 1:
        return Axis(
            name,
            kinds.pop(),
            tuple(Step(t, ((path, t),), a.number) for t, a in zip(texts, amounts) if a),
            key.line,
            key.column,
        )
    return Axis(name, "text", tuple(Step(t, ((path, t),)) for t in texts), key.line, key.column)


def _ranged(key: Scalar, name: str, path: str, written: Written, out: Problems) -> Axis | None:
    how = "log" if "log" in written else "range"
    node, text = written.at[how], written.get(how)
    found = _RANGE.fullmatch(text)
    low, high = (
        (amount_of(found["low"], path), amount_of(found["high"], path)) if found else (None, None)
    )
    if low is None or high is None:
        out.add(node, f"'{shorten(text)}' has no two ends — write {how}: 5s..45s")
        return None
    if low.kind != high.kind or low.unit != high.unit:
        out.add(
            node, f"'{shorten(text)}' has ends of different kinds — write both with the same unit"
        )
        return None
    if low.number >= high.number:
        out.add(node, f"'{shorten(text)}' does not grow — write the smaller end first")
        return None
    is_whole = "." not in text.replace("..", "") and low.kind == "number"
    numbers = (
        _log_steps(low.number, high.number, is_whole, written, out)
        if how == "log"
        else _even_steps(low, high, path, written, out)
    )
    if numbers is None:
        return None
    steps: dict[str, Step] = {}
    for number in numbers:
        said = low.write(number, is_whole and float(number).is_integer())
        amount = amount_of(said, path)
        steps.setdefault(said, Step(said, ((path, said),), amount.number if amount else number))
    return Axis(name, low.kind, tuple(steps.values()), key.line, key.column)


def _even_steps(
    low: Amount, high: Amount, path: str, written: Written, out: Problems
) -> list[float] | None:
    if ("step" in written) == ("count" in written):
        out.add(
            written.at["range"],
            "A range is cut by `step` or by `count` — write one of them, e.g. step: 5s",
        )
        return None
    if "count" in written:
        count = written.get("count")
        return [low.number + (high.number - low.number) * i / (count - 1) for i in range(count)]
    step = amount_of(written.get("step"), path)
    if step is None or step.kind != low.kind or step.unit != low.unit or step.number <= 0:
        out.add(
            written.at["step"],
            f"'{shorten(written.get('step'))}' is no step between these ends — write it in their "
            "unit, above nought",
        )
        return None
    count = int((high.number - low.number) / step.number + 1e-9) + 1
    if count > MOST_STEPS:
        out.add(
            written.at["step"],
            f"This range has {count:,} values — write a larger step (an axis may have "
            f"{MOST_STEPS:,})",
        )
        return None
    return [low.number + step.number * i for i in range(count)]


def _log_steps(
    low: float, high: float, is_whole: bool, written: Written, out: Problems
) -> list[float] | None:
    if "step" in written:
        out.add(written.at["step"], "A log range has no step — write count: how many values it has")
        return None
    if low <= 0:
        out.add(
            written.at["log"], "A log range cannot begin at nought — write a smaller end above it"
        )
        return None
    count = written.get("count", 5)
    # Ends as written; what lies between is rounded to what a person would write.
    between = [float(f"{low * (high / low) ** (i / (count - 1)):.2g}") for i in range(1, count - 1)]
    return [low, *(float(round(n)) if is_whole else n for n in between), high]
