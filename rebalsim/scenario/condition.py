"""Conditions of a plan: `session >= 3 * heartbeat and members <= partitions`. A small language over
axis names, read once, asked per point.

Numbers, durations (`45s`: µs), words in quotes; + - * /, comparisons that may be chained, `and`,
`or`, `not`, parentheses. Not Python's
`eval`: a plan may come from anybody, and every name must be an axis.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rebalsim.domain.instants import DAY, HOUR, MINUTE, MS, SECOND, US

Value = float | str | bool
Ask = Callable[[Mapping[str, Value]], Value]

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)(?P<unit>[A-Za-zµ%]*)|(?P<word>[A-Za-z_][A-Za-z0-9_.\-]*)|(?P<text>\"[^\"]*\"|'[^']*')"
    r"|(?P<sign><=|>=|==|!=|[-<>+*/()]))"
)
_UNITS = {"": 1, "us": US, "µs": US, "ms": MS, "s": SECOND, "m": MINUTE, "h": HOUR, "d": DAY}
_COMPARE: dict[str, Callable[[Value, Value], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_ADD: dict[str, Callable[[float, float], float]] = {"+": operator.add, "-": operator.sub}
_TIMES: dict[str, Callable[[float, float], float]] = {
    "*": operator.mul,
    "/": lambda a, b: a / b if b else float("inf"),
}
DEEPEST = 40


class ConditionError(ValueError):
    """What is wrong with a condition; `column` counts from 0 within its text."""

    def __init__(self, message: str, column: int = 0, width: int = 1) -> None:
        super().__init__(message, column, width)
        self.message = message
        self.column = column
        self.width = width


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str  # number | word | text | sign | end
    text: str
    value: float = 0.0
    column: int = 0


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition as read: the names of the columns it asks for, and the test itself."""

    text: str
    names: tuple[str, ...]
    ask: Ask

    def holds(self, values: Mapping[str, Value]) -> bool:
        return bool(self.ask(values))


def parse_condition(text: str, kinds: Mapping[str, str]) -> Condition:
    """Understand `text`; `kinds` says of each name whether it is a number, a duration or text."""
    reader = _Reader(_tokens(text), kinds)
    ask, kind = reader.either()
    left = reader.peek()
    if left.kind != "end":
        raise ConditionError(
            f"'{left.text}' is not expected here — write one condition, e.g. session >= 3 * "
            "heartbeat",
            left.column,
            len(left.text),
        )
    if kind != "flag":
        raise ConditionError(
            "this is a value, not a condition — compare it with something, e.g. members <= 12",
            0,
            len(text),
        )
    return Condition(text, tuple(dict.fromkeys(reader.names)), ask)


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    at = 0
    while at < len(text.rstrip()):
        found = _TOKEN.match(text, at)
        if found is None:
            skip = len(text) - len(text[at:].lstrip())
            raise ConditionError(
                f"'{text[skip]}' means nothing in a condition — use names of axes, numbers, and "
                "< <= > >= == != + - * / and or not",
                skip,
            )
        column = (
            found.start(found.lastgroup or 0)
            if found.lastgroup != "unit"
            else found.start("number")
        )
        if (number := found["number"]) is not None:
            if found["unit"] not in _UNITS:
                raise ConditionError(
                    f"'{number}{found['unit']}' has a unit that conditions do not know — write "
                    "ms, s, m or h",
                    column,
                    len(found[0].strip()),
                )
            tokens.append(
                _Token(
                    "duration" if found["unit"] else "number",
                    found[0].strip(),
                    float(number) * _UNITS[found["unit"]],
                    column,
                )
            )
        elif found["text"] is not None:
            tokens.append(_Token("text", found["text"][1:-1], column=column))
        elif found["word"] is not None:
            tokens.append(_Token("word", found["word"], column=column))
        else:
            tokens.append(_Token("sign", found["sign"], column=column))
        at = found.end()
    tokens.append(_Token("end", "the end", column=len(text)))
    return tokens


class _Reader:
    """Recursive descent, one method a level of precedence; each gives the question and what kind
    of answer it has.
    """

    def __init__(self, tokens: list[_Token], kinds: Mapping[str, str]) -> None:
        self._tokens = tokens
        self._kinds = kinds
        self._at = 0
        self._depth = 0
        self.names: list[str] = []

    def peek(self) -> _Token:
        return self._tokens[self._at]

    def take(self) -> _Token:
        token = self._tokens[self._at]
        self._at += token.kind != "end"
        return token

    def is_next(self, *texts: str) -> bool:
        token = self.peek()
        return token.kind in ("word", "sign") and token.text in texts

    def either(self) -> tuple[Ask, str]:
        ask, kind = self.both()
        while self.is_next("or"):
            token = self.take()
            other, other_kind = self.both()
            self._must_be(kind, "flag", token)
            self._must_be(other_kind, "flag", token)
            ask = _or(ask, other)
        return ask, kind

    def both(self) -> tuple[Ask, str]:
        ask, kind = self.negated()
        while self.is_next("and"):
            token = self.take()
            other, other_kind = self.negated()
            self._must_be(kind, "flag", token)
            self._must_be(other_kind, "flag", token)
            ask = _and(ask, other)
        return ask, kind

    def negated(self) -> tuple[Ask, str]:
        if self.is_next("not"):
            token = self.take()
            self._deeper(token)
            ask, kind = self.negated()
            self._must_be(kind, "flag", token)
            return (lambda v: not ask(v)), "flag"
        return self.compared()

    def compared(self) -> tuple[Ask, str]:
        ask, kind = self.sum()
        links: list[Ask] = []
        while self.is_next(*_COMPARE):
            token = self.take()
            other, other_kind = self.sum()
            both, why = {kind, other_kind}, ""
            if "flag" in both or ("text" in both and kind != other_kind):
                why = f"cannot compare {_a(kind)} with {_a(other_kind)}"
            elif both == {"number", "duration"}:
                write = "write the number with its unit, e.g. 10s"
                why = f"compares a duration with a plain number — {write}"
            if why:
                raise ConditionError(f"'{token.text}' {why}", token.column, len(token.text))
            links.append(_link(_COMPARE[token.text], ask, other))
            ask, kind = other, other_kind
        if not links:
            return ask, kind
        return (links[0] if len(links) == 1 else lambda v: all(link(v) for link in links)), "flag"

    def sum(self) -> tuple[Ask, str]:
        ask, kind = self.product()
        while self.is_next(*_ADD):
            token = self.take()
            other, other_kind = self.product()
            self._numbers(kind, other_kind, token)
            if kind != other_kind:
                raise ConditionError(
                    f"'{token.text}' mixes a duration with a plain number — write the number "
                    "with its unit, e.g. 10s",
                    token.column,
                )
            ask = _arithmetic(_ADD[token.text], ask, other)
        return ask, kind

    def product(self) -> tuple[Ask, str]:
        ask, kind = self.factor()
        while self.is_next(*_TIMES):
            token = self.take()
            other, other_kind = self.factor()
            self._numbers(kind, other_kind, token)
            if token.text == "*" and kind == other_kind == "duration":
                raise ConditionError("a duration times a duration is no duration", token.column)
            if token.text == "/" and kind == "number" and other_kind == "duration":
                raise ConditionError(
                    "a number divided by a duration is a rate, and conditions know none",
                    token.column,
                )
            ask = _arithmetic(_TIMES[token.text], ask, other)
            if token.text == "*":
                kind = "duration" if "duration" in (kind, other_kind) else "number"
            else:
                kind = "number" if kind == other_kind else "duration"
        return ask, kind

    def factor(self) -> tuple[Ask, str]:
        token = self.take()
        if token.kind in ("number", "duration"):
            value = token.value
            return (lambda v: value), token.kind
        if token.kind == "text":
            text = token.text
            return (lambda v: text), "text"
        if token.kind == "word" and token.text not in ("and", "or", "not"):
            name = token.text
            if name not in self._kinds:
                from rebalsim.words.nearest import or_nearest

                raise ConditionError(
                    f"'{name}' is no axis of this plan — {or_nearest(name, self._kinds)}",
                    token.column,
                    len(name),
                )
            self.names.append(name)
            return (lambda v: v[name]), self._kinds[name]
        if token.text == "(":
            self._deeper(token)
            ask, kind = self.either()
            closing = self.take()
            if closing.text != ")":
                raise ConditionError("this parenthesis is not closed — write )", token.column)
            return ask, kind
        if token.text == "-":
            self._deeper(token)
            ask, kind = self.factor()
            self._numbers(kind, kind, token)
            return _arithmetic(operator.sub, lambda v: 0.0, ask), kind
        what = (
            "the condition ends here"
            if token.kind == "end"
            else f"'{token.text}' is not expected here"
        )
        raise ConditionError(
            f"{what} — a name, a number or a duration must follow",
            token.column,
            max(1, len(token.text)),
        )

    def _deeper(self, token: _Token) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise ConditionError(
                "this is nested too deeply — write several conditions", token.column
            )

    @staticmethod
    def _must_be(kind: str, wanted: str, token: _Token) -> None:
        if kind != wanted:
            raise ConditionError(
                f"'{token.text}' joins conditions, and {_a(kind)} is none — compare it with "
                "something",
                token.column,
                len(token.text),
            )

    @staticmethod
    def _numbers(kind: str, other: str, token: _Token) -> None:
        if not {kind, other} <= {"number", "duration"}:
            raise ConditionError(
                f"'{token.text}' needs numbers or durations on both sides",
                token.column,
                len(token.text),
            )


def _a(kind: str) -> str:
    return {
        "flag": "a condition",
        "text": "a word",
        "number": "a number",
        "duration": "a duration",
    }[kind]


def _link(compare: Callable[[Value, Value], bool], one: Ask, other: Ask) -> Ask:
    return lambda v: compare(one(v), other(v))


def _arithmetic(apply: Callable[[float, float], float], one: Ask, other: Ask) -> Ask:
    return lambda v: apply(one(v), other(v))  # type: ignore[arg-type]   # the reader has seen to it that both are numbers


def _or(one: Ask, other: Ask) -> Ask:
    return lambda v: bool(one(v)) or bool(other(v))


def _and(one: Ask, other: Ask) -> Ask:
    return lambda v: bool(one(v)) and bool(other(v))
