"""Collects everything that is wrong with a file, and tells it in the order in which it stands
there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from rebalsim.domain.errors import Problem, ProblemsError
from rebalsim.scenario.document import Node, shorten

MOST = 500  # whoever has more has the wrong file, and hints for all of them would take minutes


class TooMany(ProblemsError):
    """So much is wrong that reading on helps nobody."""


class Problems:
    """What was found so far. Reading goes on after a problem; whoever needs a clean result asks
    `raise_if_any` at the end.
    """

    __slots__ = ("items",)

    def __init__(self) -> None:
        self.items: list[Problem] = []

    def add(self, node: Node, message: str) -> None:
        self.take((node.problem(message),))

    def warn(self, node: Node, message: str) -> None:
        self.take((node.problem(message, is_warning=True),))

    def take(self, found: Sequence[Problem]) -> None:
        """More problems, unless there are too many by now."""
        self.items.extend(found)
        if len(self.items) > MOST:
            raise TooMany(enough(self.items))

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
    """As they stand in the file, each once (variants repeat what is wrong with their common
    part).
    """
    return tuple(
        sorted(dict.fromkeys(problems), key=lambda p: (p.file, p.line, p.column, p.message))
    )


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that this one was probably meant to be, or nothing."""
    return _nearest(word[:80], tuple(known))


@lru_cache(maxsize=4096)
def _nearest(word: str, known: tuple[str, ...]) -> str:
    """Looked up once, for each variant of a story makes the same mistakes."""
    import difflib  # costs more than loading a story; only mistakes pay for it

    from rebalsim.domain.synonyms import meant

    if word not in known and (said := meant(word, known)):
        return said
    candidates = list(known)
    if len(candidates) > _MANY:  # thousands of members: look only at those that begin alike
        start, size = word[:2], len(word)
        candidates = [c for c in candidates if c[:2] == start and abs(len(c) - size) <= 3][:_MANY]
    lowered = {c.lower(): c for c in candidates}
    word = word.lower()
    begun = [c for c in lowered if len(word) >= 3 and c.startswith(word)]
    if len(begun) == 1:
        return lowered[begun[0]]
    found = difflib.get_close_matches(word, lowered, 1, 0.6)
    return lowered[found[0]] if found else ""


_MANY = 100


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


def enough(found: Sequence[Problem]) -> tuple[Problem, ...]:
    """The first of too many problems, and a last one that says so."""
    told = in_order(found)[:MOST]
    last = told[-1]
    more = (
        f"There are more problems than these {MOST:,} — mend them first, or see whether this is "
        "the right file"
    )
    return (*told, Problem(last.file, last.line, last.column, more))


def one_of(options: Iterable[str]) -> str:
    listed = [str(o) for o in options]
    return listed[0] if len(listed) == 1 else ", ".join(listed[:-1]) + " or " + listed[-1]


__all__ = ["Problems", "in_order", "nearest", "one_of", "or_nearest", "shorten"]
