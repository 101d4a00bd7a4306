"""The events of a very long trace: packed, a column for each of their facts, and made into objects
only while somebody looks at them.

An event as an object takes a hundred bytes, packed some fifteen. To look at one takes a
microsecond, so only traces of more than a million events are kept like this (a rolling bounce of
a thousand members has 24 million); all others are plain lists.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any, overload

from rebalsim.trace.events import TraceEvent

LONG = 1 << 20  # events: from there on a trace is packed …
PIECE = 1 << 16  # … and from then on whenever so many more have come
_WIDER = {"b": "h", "h": "i", "i": "q"}  # codes of the array module: one, two, four and eight bytes
_PAGE = 1 << 10  # events; at the beginning of each it is known how many of each kind came before


class _Numbered(dict[Any, int]):
    """The number of each value; one that is new gets the next."""

    def __init__(self) -> None:
        super().__init__()
        self.values_by_number: list[Any] = []

    def __missing__(self, value: Any) -> int:
        number = self[value] = len(self.values_by_number)
        self.values_by_number.append(value)
        return number


class _Column:
    """One fact of all events of a kind: integers as they are, in as few bytes as they fit in; of
    other facts, few of which differ, the number of each value; as they are those that cannot be
    looked up.
    """

    __slots__ = ("_numbered", "numbers", "values")

    def __init__(self, annotation: str) -> None:
        self._numbered = (
            None if annotation == "int" or annotation.startswith("dict[") else _Numbered()
        )
        self.values = self._numbered.values_by_number if self._numbered is not None else None
        self.numbers: Any = [] if annotation.startswith("dict[") else array("b")

    def extend(self, facts: list[Any]) -> None:
        if isinstance(self.numbers, list):
            self.numbers.extend(facts)
            return
        numbers = facts if self._numbered is None else list(map(self._numbered.__getitem__, facts))
        while True:
            try:
                self.numbers.extend(array(self.numbers.typecode, numbers))
                return
            except OverflowError:
                self.numbers = array(_WIDER[self.numbers.typecode], self.numbers)

    def between(self, first: int, last: int) -> Sequence[Any]:
        numbers: Sequence[Any] = self.numbers[first:last]
        return numbers if self.values is None else list(map(self.values.__getitem__, numbers))


class _Kind:
    """All events of one class, in order."""

    __slots__ = ("columns", "count", "kind", "names")

    def __init__(self, kind: type) -> None:
        self.kind = kind
        self.count = 0
        self.names = [field.name for field in fields(kind)]
        self.columns = [_Column(str(field.type)) for field in fields(kind)]

    def extend(self, events: list[TraceEvent]) -> None:
        for name, column in zip(self.names, self.columns, strict=True):
            column.extend(list(map(attrgetter(name), events)))

    def event(self, row: int) -> TraceEvent:
        return self.kind(
            *[
                c.numbers[row] if c.values is None else c.values[c.numbers[row]]
                for c in self.columns
            ]
        )

    def between(self, first: int, last: int) -> Iterator[TraceEvent]:
        return map(self.kind, *[column.between(first, last) for column in self.columns])


class Ledger(Sequence[TraceEvent]):
    """Events in order, to be read like a list of them."""

    __slots__ = ("_kinds", "_number_of", "_pages", "_told")

    def __init__(self) -> None:
        self._kinds: list[_Kind] = []
        self._number_of: dict[type, int] = {}
        self._told = bytearray()  # each event's kind
        self._pages: list[array[int]] = []

    def extend(self, events: Sequence[TraceEvent]) -> None:
        """These come next."""
        by_kind: dict[type, list[TraceEvent]] = {}
        for event in events:
            by_kind.setdefault(type(event), []).append(event)
        for kind, alike in by_kind.items():
            if kind not in self._number_of:
                self._number_of[kind] = len(self._kinds)
                self._kinds.append(_Kind(kind))
            self._kinds[self._number_of[kind]].extend(alike)
        began = len(self._told)
        self._told.extend(map(self._number_of.__getitem__, map(type, events)))
        for at in range(began, len(self._told)):
            if at % _PAGE == 0:
                self._pages.append(array("I", [kind.count for kind in self._kinds]))
            self._kinds[self._told[at]].count += 1

    def __len__(self) -> int:
        return len(self._told)

    @overload
    def __getitem__(self, number: int) -> TraceEvent: ...
    @overload
    def __getitem__(self, number: slice) -> list[TraceEvent]: ...
    def __getitem__(self, number: int | slice) -> TraceEvent | list[TraceEvent]:
        if isinstance(number, slice):
            return [self[at] for at in range(*number.indices(len(self._told)))]
        kind = self._told[number]
        if number < 0:
            number += len(self._told)
        page = self._pages[number // _PAGE]
        before = page[kind] if kind < len(page) else 0
        return self._kinds[kind].event(
            before + self._told.count(kind, number // _PAGE * _PAGE, number)
        )

    def __iter__(self) -> Iterator[TraceEvent]:
        for page in range(len(self._pages)):
            yield from self._read(page)

    def kind_of(self, number: int) -> type:
        """What sort of event that is, without a look at it."""
        return self._kinds[self._told[number]].kind

    def at(self, numbers: Sequence[int]) -> Iterator[TraceEvent]:
        """The events with these ascending numbers; page by page where most of a page is wanted,
        which is quicker.
        """
        first = 0
        while first < len(numbers):
            page = numbers[first] // _PAGE
            last = bisect_left(numbers, (page + 1) * _PAGE, first)
            if last - first < _PAGE // 4:
                yield from map(self.__getitem__, numbers[first:last])
            else:
                events = self._read(page)
                for number in numbers[first:last]:
                    yield events[number - page * _PAGE]
            first = last

    def _read(self, page: int) -> list[TraceEvent]:
        told = self._told[page * _PAGE : (page + 1) * _PAGE]
        before = self._pages[page]
        alike: dict[int, Iterator[TraceEvent]] = {}
        for number in dict.fromkeys(told):
            row = before[number] if number < len(before) else 0
            alike[number] = self._kinds[number].between(row, row + told.count(number))
        return [next(alike[number]) for number in told]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Sequence)
            and len(self) == len(other)
            and all(one == two for one, two in zip(self, other, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]


def kind_at(events: Sequence[TraceEvent], number: int) -> type:
    """What sort of event that is."""
    if type(events) is list:  # by far the most often, and a Ledger is asked for its kind slowly
        return type(events[number])
    return events.kind_of(number) if isinstance(events, Ledger) else type(events[number])


def events_at(events: Sequence[TraceEvent], numbers: Sequence[int]) -> Iterator[TraceEvent]:
    """The events with these ascending numbers."""
    return events.at(numbers) if isinstance(events, Ledger) else map(events.__getitem__, numbers)
