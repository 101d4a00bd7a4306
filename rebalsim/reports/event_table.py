"""The whole exchange of a trace as a table: time, who, event, effect; filtered as one likes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from rebalsim.analysis.index import BULK
from rebalsim.domain.ids import Partition
from rebalsim.reports.events_told import Told, tell_event
from rebalsim.reports.ink import Line
from rebalsim.reports.names import ascii_of, clip
from rebalsim.reports.view import View
from rebalsim.trace.events import TraceEvent
from rebalsim.trace.trace import Trace
from rebalsim.words.times import say_instant

NAME_WIDTH = 22
_QUIET = frozenset(BULK)


@dataclass(frozen=True, slots=True)
class Filter:
    """What is shown: by kind of event (class or API, patterns), by numbers, and whether the many
    records' events are too.
    """

    events: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    with_records: bool = False


def rows(trace: Trace, view: View, wanted: Filter = Filter()) -> Iterator[Told]:
    """The events that pass, in order."""
    numbers = frozenset(wanted.numbers)
    for number, event in enumerate(trace.events):
        if numbers and number not in numbers:
            continue
        if view.from_us is not None and event.at_us < view.from_us:
            continue
        if view.until_us is not None and event.at_us >= view.until_us:
            break
        if not numbers and not wanted.with_records and type(event) in _QUIET and not wanted.events:
            continue
        if not _is_of(event, wanted.events) or not _concerns(event, view):
            continue
        yield tell_event(number, event, trace.header.consumers)


def _is_of(event: TraceEvent, patterns: tuple[str, ...]) -> bool:
    if not patterns:
        return True
    names = (type(event).__name__, getattr(event, "api", ""))
    return any(
        fnmatchcase(name.lower(), pattern.lower()) for pattern in patterns for name in names if name
    )


def _concerns(event: TraceEvent, view: View) -> bool:
    """The member is named by the event, or the partition is; events of the whole group pass a
    filter by member where they name it.
    """
    if view.members:
        named = [
            getattr(event, "consumer", ""),
            getattr(event, "last", ""),
            *getattr(event, "targets", ()),
            *getattr(event, "kicked", ()),
        ]
        if not any(view.shows_member(name) for name in named if name):
            return False
    if view.partitions:
        return any(view.shows_partition(str(p), p.topic) for p in partitions_of(event))
    return True


def partitions_of(event: TraceEvent) -> tuple[Partition, ...]:
    """The partitions that an event names."""
    one = getattr(event, "partition", None)
    if one is not None:
        return (one,)
    return (
        tuple(getattr(event, "partitions", None) or getattr(event, "batch", None) or ())
        if not isinstance(getattr(event, "partitions", None), int)
        else ()
    )


def render(trace: Trace, view: View, wanted: Filter = Filter()) -> str:
    """The table; a line that does not fit goes on under its own column."""
    found = list(rows(trace, view, wanted))
    if not found:
        return "No event passes these filters.\n"
    precision = 1 if any(told.at_us % 1_000 for told in found) else 1_000
    times = [say_instant(told.at_us, precision) for told in found]
    widths = (
        max(len(str(found[-1].number)), 1),
        max(map(len, times)),
        min(16, max(len(told.who) for told in found)),
        min(NAME_WIDTH, max(len(told.name) for told in found)),
    )
    lines: list[str] = []
    left = sum(widths) + 2 * len(widths)
    for told, at in zip(found, times):
        text = ascii_of(told.text) if view.is_ascii else told.text
        first, *rest = textwrap.wrap(text, max(20, view.width - left)) or [""]
        line = (
            Line(f"{told.number:>{widths[0]}}", "dim")
            .add(f"  {at:>{widths[1]}}")
            .add(f"  {clip(told.who, widths[2], view.is_ascii):<{widths[2]}}", "bold")
        )
        lines.append(
            line.add(f"  {clip(told.name, widths[3], view.is_ascii):<{widths[3]}}  ")
            .add(first)
            .written(view.is_coloured)
        )
        lines += [" " * left + more for more in rest]
    return "\n".join(lines) + "\n"
