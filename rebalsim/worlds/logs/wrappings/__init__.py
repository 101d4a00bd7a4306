"""What collectors put around a line: a file a wrapping, each of which registers itself here.

A wrapping takes its prefix off, and tells the time that the collector saw the line, whose line it is
where one file holds many, and whether the line goes on in the next one. Add one by adding a file.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from rebalsim.worlds.logs.times import Stamp, stamp_of


@dataclass(slots=True)
class Unwrapped:
    """A line without its collector's prefix."""

    text: str
    stamp: Stamp | None = None
    source: str = ""  # pod, host and process; empty where the file is one process's
    goes_on: bool = False


def document_of(line: str, key: str) -> tuple[dict[str, Any], str] | None:
    """A line that is a JSON object, and the text under this key; None for any other."""
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return None
    text = document.get(key) if isinstance(document, dict) else None
    return (document, text) if isinstance(text, str) else None


def process_of(host: str, program: str, number: object) -> str:
    """A host's process: of one program there may be several side by side."""
    return f"{host}/{program}[{number}]" if number else f"{host}/{program}"


def of_container(head: re.Pattern[str], time: re.Pattern[str]) -> Callable[[str], Unwrapped | None]:
    """Takes off a prefix that names pod and container, and the time behind it where there is one."""

    def take(line: str) -> Unwrapped | None:
        found = head.match(line)
        if found is None:
            return None
        text, stamp = without_time(line[found.end() :], time)
        return Unwrapped(text, stamp, f"{found[1]}/{found[2]}")

    return take


def without_time(text: str, time: re.Pattern[str]) -> tuple[str, Stamp | None]:
    """What stands behind a time, if one stands first, and that time."""
    found = time.match(text)
    return (text, None) if found is None else (text[found.end() :], stamp_of(found[1]))


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
