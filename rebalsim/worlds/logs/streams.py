"""From lines to facts: one stream for each process whose lines a file holds."""

from __future__ import annotations

import itertools
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from rebalsim.worlds.logs import heads
from rebalsim.worlds.logs.dialects import Dialect, Facts, all_dialects
from rebalsim.worlds.logs.facts import Fact, Record
from rebalsim.worlds.logs.sieve import may_matter
from rebalsim.worlds.logs.times import DAY_US, Stamp, stamp_of
from rebalsim.worlds.logs.wrappings import Unwrapped, Wrapping, wrapping_of

SAMPLE = 200  # lines by which the wrapping is told
ZONE_STEP_US = 15 * 60 * 1_000_000
LONGEST_PART = 1 << 20
REMEMBERED = 64  # lines back to which the last one before a silence is looked for
SILENCE_US = 1_200_000


@dataclass(slots=True)
class Stream:
    """What one process said: its facts in the order of its lines, by its own clock."""

    host: str
    file: str
    source: str = ""
    told: list[tuple[Dialect, Fact]] = field(default_factory=list)
    coarse: int = 0  # how many times were told in whole seconds
    fine: int = 0
    collected_us: int = 1_000  # the resolution of its collector's
    has_zone: bool = True
    has_date: bool = True
    has_time: bool = True
    last_us: int = -1
    day: int = 0  # how many midnights a log without dates has passed
    spoke_us: int = -1  # the last line that says nothing else

    @property
    def step_us(self) -> int:
        """The resolution of its times."""
        if self.coarse + self.fine:
            return 1_000_000 if self.coarse > self.fine else 1_000
        return self.collected_us

    @property
    def is_broker(self) -> bool:
        """A coordinator speaks here."""
        return any(dialect.is_broker for dialect, _ in self.told)


@dataclass(slots=True)
class Census:
    """How much was read, and what was not understood: by kind, an example each."""

    lines: int = 0
    taken: int = 0
    wrappings: Counter[str] = field(default_factory=Counter)
    dialects: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    levels: Counter[str] = field(default_factory=Counter)

    def add_unknown(self, text: str) -> None:
        """Count a line that mentions groups and is of no known template."""
        kind = _MASKED.sub("#", text)[:120]
        if len(self.unknown) < 2_000 or kind in self.unknown:
            self.unknown[kind] += 1
            self.examples.setdefault(kind, text[:300])


_MASKED = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d+")
_MARKS: list[tuple[str, Dialect]] = []


def marks() -> list[tuple[str, Dialect]]:
    """Every dialect's marks, the most particular dialect first."""
    if not _MARKS:
        _MARKS.extend((mark, d) for d in all_dialects() for mark in d.marks)
    return _MARKS


class Reader:
    """Reads the lines of one file into streams."""

    def __init__(self, file: str, host: str, streams: dict[str, Stream], census: Census) -> None:
        self.file, self.host, self.streams, self.census = file, host, streams, census
        self.recent: deque[str] = deque(maxlen=REMEMBERED)
        self.wrapping: Wrapping | None = None

    def read(self, lines: Iterable[str]) -> None:
        """All lines of the file."""
        coming = iter(lines)
        head = list(itertools.islice(coming, SAMPLE))
        wrapping = wrapping_of(head)
        if wrapping is not None:
            self.census.wrappings[wrapping.name] += 1
        self.go_on(itertools.chain(head, coming), wrapping)
        for stream in list(self.streams.values()):
            if stream.host == self.host and stream.told:
                self._remember(stream, 1 << 62)

    def go_on(self, lines: Iterable[str], wrapping: Wrapping | None) -> None:
        """More lines, wrapped so."""
        whole = _joined(lines, wrapping) if wrapping is not None and wrapping.can_tear else lines
        self.wrapping = wrapping
        count, remember = 0, self.recent.append
        for line in whole:
            count += 1
            if may_matter(line):
                self._take(line)
            else:
                remember(line)
        self.census.lines += count

    def _take(self, line: str) -> None:
        unwrapped = self._unwrapped(line)
        text, fields, thread, logger = unwrapped.text, None, "", ""
        document = heads.document_in(text) if text.startswith("{") else None
        if document is not None and (message := heads.message_in(document)):
            fields, text = document, message
            stamp = heads.stamp_in(document)
            thread, logger = heads.thread_in(document), heads.logger_in(document)
        else:
            stamp = stamp_of(text)
        stream = self._stream(unwrapped.source)
        before = stream.last_us
        at = _instant(stream, stamp, unwrapped.stamp)
        if 0 <= before < at - SILENCE_US:
            self._remember(stream, at)
        self._hear(stream, Record(at, text, thread, logger, fields))

    def _unwrapped(self, line: str) -> Unwrapped:
        found = self.wrapping.take(line) if self.wrapping is not None else None
        return found or Unwrapped(line)

    def _remember(self, stream: Stream, until_us: int) -> None:
        """The last line of any kind before a silence: the process was alive then."""
        for line in reversed(self.recent):
            unwrapped = self._unwrapped(line)
            if self._stream(unwrapped.source) is not stream:
                continue
            stamp = stamp_of(unwrapped.text)
            if stamp is None and unwrapped.stamp is None:
                continue
            was = stream.last_us, stream.day
            at = _instant(stream, stamp, unwrapped.stamp)
            stream.last_us, stream.day = was
            if at < until_us - SILENCE_US or until_us >= 1 << 61:
                stream.spoke_us = max(stream.spoke_us, at)
                break
        last = stream.told[-1][1].at_us if stream.told else -1
        if stream.told and stream.spoke_us > last:
            stream.told.append((stream.told[-1][0], Fact(stream.spoke_us, "spoke")))

    def _stream(self, source: str) -> Stream:
        key = f"{self.host}\n{source}"
        found = self.streams.get(key)
        if found is None:
            found = self.streams[key] = Stream(self.host, self.file, source)
        found.file = self.file
        return found

    def _hear(self, stream: Stream, record: Record) -> None:
        for dialect, facts in _read_by(record):
            self.census.taken += 1
            self.census.dialects[dialect.name] += 1
            if not facts:
                stream.spoke_us = record.at_us
            for fact in facts:
                fact.place = len(stream.told)
                stream.told.append((dialect, fact))
            return
        stream.spoke_us = record.at_us
        self.census.add_unknown(record.text)


def _read_by(record: Record) -> Iterator[tuple[Dialect, Facts]]:
    """The first dialect that takes the record for its own."""
    text, tried = record.text, None
    for mark, dialect in marks():
        if mark in text and dialect is not tried:
            tried = dialect
            facts = dialect.read(record)
            if facts is not None:
                yield dialect, facts


def _joined(lines: Iterable[str], wrapping: Wrapping) -> Iterator[str]:
    """Long lines made whole again: the collector marks all parts but the last."""
    pending: dict[str, list[Unwrapped]] = {}
    for line in lines:
        unwrapped = wrapping.take(line)
        if unwrapped is None or not (unwrapped.goes_on or unwrapped.source in pending):
            yield line
            continue
        parts = pending.setdefault(unwrapped.source, [])
        parts.append(unwrapped)
        if unwrapped.goes_on and sum(len(p.text) for p in parts) < LONGEST_PART:
            continue
        del pending[unwrapped.source]
        yield "".join(p.text for p in parts)
    for parts in pending.values():
        yield "".join(p.text for p in parts)


def _instant(stream: Stream, own: Stamp | None, collected: Stamp | None) -> int:
    """When the line was written, by its own word before the collector's; the collector's helps out
    with the day and the zone.
    """
    best = own or collected
    if best is None:
        stream.has_time = stream.last_us >= 0
        return max(stream.last_us, 0)
    at = best.at_us
    if best is own and collected is not None and not (own.has_zone and own.has_date):
        at = _helped(at, own, collected)
    elif not best.has_date:
        at = _undated(stream, at)
        stream.has_date = stream.has_zone = False
    elif not best.has_zone:
        stream.has_zone = False
    if best is collected:
        stream.collected_us = max(1_000, best.step_us)
    elif best.step_us >= 1_000_000:
        stream.coarse += 1
    else:
        stream.fine += 1
    stream.last_us = at
    return at


def _helped(at: int, own: Stamp, collected: Stamp) -> int:
    """The line's time in the collector's day and zone."""
    if not collected.has_date:
        return at
    if not own.has_date:
        days = round((collected.at_us - at) / DAY_US)
        at += days * DAY_US
    ahead = at - collected.at_us
    if abs(ahead) > ZONE_STEP_US * 2 // 3 and not own.has_zone:
        at -= round(ahead / ZONE_STEP_US) * ZONE_STEP_US
    return at


def _undated(stream: Stream, at: int) -> int:
    """A time of day, in the day counted from the log's first one."""
    now = stream.day * DAY_US + at
    if stream.last_us >= 0 and now < stream.last_us - DAY_US // 2:
        stream.day += 1
        now += DAY_US
    return now
