"""Regular expressions of strangers, matched against topic names in bounded time.

Python's own matcher tries one way after another, and `(a?){40}b` has more ways than there is time.
Here all ways are walked at once, a state for each place in the expression (Thompson's construction),
so that a match costs at most the name's length times the expression's. What cannot be walked so
(references back to a group, looking behind) is refused beforehand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

_sre: Any = re._parser  # type: ignore[attr-defined]
MOST_STATES = 2_000
MOST_LOOKS = 2  # each is walked anew at every place: one within the other squares that
_MANY = 1 << 20
Test = Callable[[str], bool]
State = tuple[Any, ...]


class BadPattern(ValueError):
    """What is wrong with an expression."""


class Matcher:
    """An expression, ready to be asked."""

    def __init__(self, pattern: str, most: int = MOST_STATES) -> None:
        self._most = most
        try:
            tree = _sre.parse(pattern)
        except (re.error, OverflowError, RecursionError) as e:
            raise BadPattern(f"it is no regular expression ({e})") from None
        self._looks = 0
        self._states: list[State] = []
        try:
            self._add("end")
            self._start = self._sequence(tree, 0, tree.state.flags)
        except RecursionError:
            raise BadPattern("it is nested too deeply") from None

    def matches(self, text: str) -> bool:
        """Whether the expression matches all of the text."""
        return self._run(self._start, text, 0, is_whole=True)

    # ------------------------------------------------------------------------------------ building

    def _add(self, *state: Any) -> int:
        if len(self._states) >= self._most:
            raise BadPattern("it repeats too much to be matched in bounded time")
        self._states.append(state)
        return len(self._states) - 1

    def _sequence(self, items: Iterable[Any], then: int, flags: int) -> int:
        for op, argument in reversed(list(items)):
            then = self._item(str(op), argument, then, flags)
        return then

    def _item(self, op: str, arg: Any, then: int, flags: int) -> int:
        if op in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            return self._add("char", _test(op, arg, flags), then)
        if op == "BRANCH":
            return self._add("split", tuple(self._sequence(way, then, flags) for way in arg[1]))
        if op == "SUBPATTERN":
            return self._sequence(arg[3], then, (flags | arg[1]) & ~arg[2])
        if op in ("MAX_REPEAT", "MIN_REPEAT"):
            return self._repeat(arg, then, flags)
        if op in ("ASSERT", "ASSERT_NOT") and arg[0] > 0 and self._looks < MOST_LOOKS:
            self._looks += 1
            return self._add("look", self._sequence(arg[1], 0, flags), op == "ASSERT", then)
        if op == "AT":
            return self._add("at", _edge(str(arg), flags), then)
        raise BadPattern(
            "it refers back to a group, keeps what it took, looks behind or often ahead, which "
            "takes a time that nobody can bound"
        )

    def _repeat(self, arg: Any, then: int, flags: int) -> int:
        least, most, items = arg[0], arg[1], arg[2]
        if int(most) >= _MANY:
            again = self._add("split", ())
            self._states[again] = ("split", (self._sequence(items, again, flags), then))
            then = again
        else:
            for _ in range(int(most) - least):
                then = self._add("split", (self._sequence(items, then, flags), then))
        for _ in range(least):
            then = self._sequence(items, then, flags)
        return then

    # ------------------------------------------------------------------------------------- walking

    def _run(self, start: int, text: str, at: int, is_whole: bool) -> bool:
        now = self._reach({start: None}, text, at)
        while True:
            if 0 in now and (not is_whole or at == len(text)):
                return True
            if at == len(text) or not now:
                return False
            c = text[at]
            at += 1
            stepped = {
                state[2]: None
                for n in now
                if (state := self._states[n])[0] == "char" and state[1](c)
            }
            now = self._reach(stepped, text, at)

    def _reach(self, states: dict[int, None], text: str, at: int) -> dict[int, None]:
        """These states, and what they lead to without a character."""
        found: dict[int, None] = {}
        ahead = list(states)
        while ahead:
            n = ahead.pop()
            if n in found:
                continue
            found[n] = None
            state = self._states[n]
            if state[0] == "split":
                ahead += state[1]
            elif state[0] == "at":
                if state[1](text, at):
                    ahead.append(state[2])
            elif state[0] == "look" and (self._run(state[1], text, at, is_whole=False) == state[2]):
                ahead.append(state[3])
        return found


def _edge(name: str, flags: int) -> Callable[[str, int], bool]:
    """Whether a place in a text is the edge that is meant."""
    is_lines = bool(flags & re.MULTILINE)
    if name == "AT_BEGINNING":
        return lambda text, at: at == 0 or (is_lines and text[at - 1] == "\n")
    if name == "AT_BEGINNING_STRING":
        return lambda text, at: at == 0
    if name == "AT_END":
        return lambda text, at: (
            at == len(text) or (text[at] == "\n" and (is_lines or at == len(text) - 1))
        )
    if name == "AT_END_STRING":
        return lambda text, at: at == len(text)
    word = re.compile(r"\w", flags & re.ASCII).match
    is_inside = name != "AT_BOUNDARY"

    def met(text: str, at: int) -> bool:
        before = at > 0 and word(text[at - 1]) is not None
        after = at < len(text) and word(text[at]) is not None
        return (before == after) == is_inside

    return met


def _test(op: str, arg: Any, flags: int) -> Test:
    """Whether a character is the one, or of those, that are meant."""
    test = _char(op, arg, flags)
    if not flags & re.IGNORECASE:
        return test
    is_not = op == "NOT_LITERAL" or (op == "IN" and str(arg[0][0]) == "NEGATE")
    if is_not:
        return lambda c: test(c) and test(c.lower()) and test(c.upper())
    return lambda c: test(c) or test(c.lower()) or test(c.upper())


def _char(op: str, arg: Any, flags: int) -> Test:
    if op == "ANY":
        return (lambda c: True) if flags & re.DOTALL else (lambda c: c != "\n")
    if op == "LITERAL":
        return lambda c: ord(c) == arg if len(c) == 1 else False
    if op == "NOT_LITERAL":
        return lambda c: ord(c) != arg if len(c) == 1 else True
    tests = [_member(str(kind), what, flags) for kind, what in arg if str(kind) != "NEGATE"]
    if str(arg[0][0]) == "NEGATE":
        return lambda c: not any(test(c) for test in tests)
    return lambda c: any(test(c) for test in tests)


def _member(kind: str, what: Any, flags: int) -> Test:
    if kind == "LITERAL":
        return lambda c: len(c) == 1 and ord(c) == what
    if kind == "RANGE":
        return lambda c: len(c) == 1 and what[0] <= ord(c) <= what[1]
    name = str(what).removeprefix("CATEGORY_")
    is_not = name.startswith("NOT_")
    letter = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}[name.removeprefix("NOT_")]
    one = re.compile(letter, flags & re.ASCII).match
    return lambda c: (one(c) is None) == is_not


@lru_cache(maxsize=256)
def matcher_of(pattern: str) -> Matcher:
    """The pattern's matcher, built once. BadPattern says why it has none."""
    return Matcher(pattern)
