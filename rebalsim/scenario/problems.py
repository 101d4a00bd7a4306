"""Collects everything that is wrong with a file, and tells it in the order in which it stands
there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rebalsim.domain.errors import Problem, ProblemsError
from rebalsim.scenario.document import Node
from rebalsim.scenario.source import shorten

MOST = 500  # whoever has more has the wrong file, and hints for all of them would take minutes


class TooMany(ProblemsError):
    """So many problems were found that reading on helps nobody."""


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
        """Adds problems, and raises TooMany where there are too many by now."""
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


def enough(found: Sequence[Problem]) -> tuple[Problem, ...]:
    """The first of too many problems, and a last one that says that there are more."""
    told = in_order(found)[:MOST]
    last = told[-1]
    more = (
        f"There are more problems than these {MOST:,} — mend them first, or see whether this is "
        "the right file"
    )
    return (*told, Problem(last.file, last.line, last.column, more))


__all__ = ["Problems", "in_order", "shorten"]
