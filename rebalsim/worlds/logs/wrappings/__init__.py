"""What collectors put around a line: a file a wrapping, each of which registers itself here.

A wrapping takes its prefix off, and tells the time that the collector saw the line, whose line it is
where one file holds many, and whether the line goes on in the next one. Add one by adding a file.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from rebalsim.worlds.logs.times import Stamp


@dataclass(slots=True)
class Unwrapped:
    """A line without its collector's prefix."""

    text: str
    stamp: Stamp | None = None
    source: str = ""  # pod, host and process; empty where the file is one process's
    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class Wrapping:
    """`take` answers None for a line that is not wrapped so. Most particular first (`order`)."""

    name: str
    take: Callable[[str], Unwrapped | None]
    order: int = 50
    may_go_on: Callable[[str], bool] | None = None  # where long lines come in parts: a quick look


@cache
def all_wrappings() -> tuple[Wrapping, ...]:
    """Every wrapping in this folder, the most particular first."""
    found = [
        importlib.import_module(f"{__name__}.{module.name}").WRAPPING
        for module in pkgutil.iter_modules(__path__)
    ]
    return tuple(sorted(found, key=lambda w: (w.order, w.name)))


def wrapping_of(lines: list[str]) -> Wrapping | None:
    """How most of these lines are wrapped; None where they are bare."""
    told = [line for line in lines if line.strip()]
    for wrapping in all_wrappings():
        fitting = sum(1 for line in told if wrapping.take(line) is not None)
        if fitting and fitting * 10 >= len(told) * 8:
            return wrapping
    return None
