"""What the clients and the coordinators print: a file a dialect, each of which registers itself.

A dialect names the marks by which its lines are told (in the order of its file's `order`), and reads
a record into facts. Where a message is spread over lines, or a fact follows from several, `put_together`
makes the facts of one voice whole. Add one by adding a file.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from rebalsim.worlds.logs.facts import Fact, Record

Facts = Sequence[Fact]


@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    """`read` answers None where the line is not of this dialect, and nothing where it says nothing
    that matters.
    """

    name: str
    marks: tuple[str, ...]  # of which a line of this dialect has one
    read: Callable[[Record], Facts | None]
    order: int = 50
    put_together: Callable[[list[Fact]], list[Fact]] | None = None
    is_broker: bool = False
    client: str = "java"  # who prints it, as a scenario names it
    session_ms: int = 45_000  # what that client asks for, where nothing else tells
    tells_more: str = "INFO for its Kafka client"  # what makes it print assignments


@cache
def all_dialects() -> tuple[Dialect, ...]:
    """Every dialect in this folder, the most particular first."""
    found = []
    for module in pkgutil.iter_modules(__path__):
        loaded = importlib.import_module(f"{__name__}.{module.name}")
        if hasattr(loaded, "DIALECT"):
            found.append(loaded.DIALECT)
    return tuple(sorted(found, key=lambda d: (d.order, d.name)))


@cache
def dialect(name: str) -> Dialect:
    """The dialect of that name."""
    return next(d for d in all_dialects() if d.name == name)
