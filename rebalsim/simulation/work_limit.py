"""How much a playing may cost, for whoever only tries something.

What a run tells is no measure of that: a member that never keeps up works for months and tells
next to nothing. So the entries of the engine's queue are counted, and a playing that comes to more
than it was allowed is given up.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


class TooMuchWork(Exception):
    """The playing came to more than was allowed."""


@dataclass(slots=True)
class Allowance:
    """The entries that may still be played."""

    left: int

    def spend(self, entries: int) -> None:
        self.left -= entries
        if self.left < 0:
            raise TooMuchWork


_ALLOWED: ContextVar[Allowance | None] = ContextVar("allowed_work", default=None)


def allowance() -> Allowance | None:
    """What is allowed just now; None: anything."""
    return _ALLOWED.get()


@contextmanager
def at_most(entries: int) -> Iterator[None]:
    """Whatever is played meanwhile comes to no more than that, or to a TooMuchWork."""
    token = _ALLOWED.set(Allowance(entries))
    try:
        yield
    finally:
        _ALLOWED.reset(token)
