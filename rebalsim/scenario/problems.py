"""Collects everything that is wrong with a file, and tells it in the order in which it stands there."""

from __future__ import annotations

from collections.abc import Iterable

from rebalsim.domain.errors import Problem, ProblemsError
from rebalsim.scenario.document import Node, shorten


class Problems:
    """What was found so far. Reading goes on after a problem; whoever needs a clean result asks `raise_if_any` at the end."""

    __slots__ = ("items",)

    def __init__(self) -> None:
        self.items: list[Problem] = []

    def add(self, node: Node, message: str) -> None:
        self.items.append(node.problem(message))

    def warn(self, node: Node, message: str) -> None:
        self.items.append(node.problem(message, is_warning=True))

    @property
    def errors(self) -> tuple[Problem, ...]:
        return in_order(p for p in self.items if not p.is_warning)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        return in_order(p for p in self.items if p.is_warning)

    def raise_if_any(self) -> None:
        if errors := self.errors:
            raise ProblemsError(errors)


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """As they stand in the file, each once (variants repeat what is wrong with their common part)."""
    return tuple(sorted(dict.fromkeys(problems), key=lambda p: (p.file, p.line, p.column, p.message)))


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that this one was probably meant to be, or nothing."""
    import difflib  # costs more than loading a story; only mistakes pay for it

    lowered = {c.lower(): c for c in known}
    begun = [c for c in lowered if len(word) >= 3 and c.startswith(word.lower())]
    if len(begun) == 1:
        return lowered[begun[0]]
    found = difflib.get_close_matches(word.lower()[:80], list(lowered), 1, 0.6)
    return lowered[found[0]] if found else ""


def or_nearest(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """The second half of a message: the nearest known word, or all of them when they are few."""
    candidates = list(known)
    near = nearest(word, candidates)
    if near:
        return f"did you mean '{near}'?"
    if otherwise:
        return otherwise
    if not candidates:
        return "there is none to name here"
    if len(candidates) <= 12:
        return "write " + one_of(candidates)
    return f"write one of {', '.join(candidates[:10])} …"


def one_of(options: Iterable[str]) -> str:
    listed = [str(o) for o in options]
    return listed[0] if len(listed) == 1 else ", ".join(listed[:-1]) + " or " + listed[-1]


__all__ = ["Problems", "in_order", "nearest", "one_of", "or_nearest", "shorten"]
