"""From lines to facts: one stream for each process whose lines a file holds."""

from __future__ import annotations

import gc
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache

from rebalsim.worlds.logs import heads
from rebalsim.worlds.logs.dialects import Dialect, Facts, dialect
from rebalsim.worlds.logs.discretion import WORDED_BY_US, is_discreet, masked, without_own_words
from rebalsim.worlds.logs.facts import Fact, FactKind, Record
from rebalsim.worlds.logs.sieve import SETTING, Picked, Sieve, other_marks
from rebalsim.worlds.logs.times import DAY_US, Stamp, quick_us, stamp_of
from rebalsim.worlds.logs.wrappings import Unwrapped, Wrapping, wrapping_of

SAMPLE = 200  # lines by which the wrapping is told
ZONE_STEP_US = 15 * 60 * 1_000_000
LONGEST_PART = 1 << 20
SILENT_LINES = 8_000  # of others, after which a process is not looked for any more
REMEMBERED = 12  # lines back to which the last one before a silence is looked for
SILENCE_US = 1_200_000
# what a process says first, as opposed to one whose clock was set back
FIRST_WORDS = (FactKind.SETTINGS, FactKind.VERSION, FactKind.STARTED)
_OF_A_BEGINNING = (*FIRST_WORDS, FactKind.SETTING)
BACK_US = 2_000_000  # by which times go back from one process's lines to another's
FAR_BACK_US = 300_000_000  # by which hardly a clock is set back
HOUR_US = 3_600_000_000
_HOUR_END, _MOMENT_END = 14, 24  # of `[2026-01-05 10:00:07,559`, which sorts as its time does
BEGINNING = 60  # characters of a line that its own time stands in


TURN = "#"  # after a source: the process that spoke before another began in the same file


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
    modified_us: int = -1  # when its file was written last
    spoke_us: int = -1  # the last line that says nothing else
    parts: tuple[str, ...] = ()  # other files that are parts of the same log
    before: int = 0  # facts of an earlier reading, which are not at hand …
    latest: tuple[Dialect, Fact] | None = None  # … but for the last of them

    @property
    def step_us(self) -> int:
        """The resolution of its times."""
        if self.coarse + self.fine:
            return 1_000_000 if self.coarse > self.fine else 1_000
        return self.collected_us

    @property
    def whose(self) -> str:
        """Its source without the number of its turn in a file of several processes."""
        return self.source.partition(TURN)[0]

    @property
    def is_broker(self) -> bool:
        """A coordinator speaks here."""
        return any(dialect.is_broker for dialect, _ in self.told)

    @property
    def last(self) -> tuple[Dialect, Fact] | None:
        """Who spoke last, and what that proved."""
        return self.told[-1] if self.told else self.latest

    def add(self, speaker: Dialect, fact: Fact) -> None:
        """One more fact, behind all others."""
        fact.place = self.before + len(self.told)
        self.told.append((speaker, fact))

    def note_life(self, at_us: int) -> None:
        """It said something then, of whatever; it stands behind what was told before."""
        if self.last is not None:
            self.add(self.last[0], Fact(at_us, FactKind.SPOKE))


@dataclass(slots=True)
class Census:
    """How much was read, and what was not understood: by kind, an example each."""

    lines: int = 0
    taken: int = 0
    doubled: int = 0  # lines that came twice, one after the other
    withheld: int = 0  # lines in which something like a secret stands where a name belongs
    wrappings: Counter[str] = field(default_factory=Counter)
    dialects: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    levels: Counter[str] = field(default_factory=Counter)

    def add_unknown(self, text: str) -> None:
        """Count a line that mentions groups and is of no known template."""
        kind = _MASKED.sub("#", text[:_LOOKED_AT])[:120]
        if len(self.unknown) < 2_000 or kind in self.unknown:
            self.unknown[kind] += 1
            if kind not in self.examples:
                self.examples[kind] = masked(text[:300])


_LOOKED_AT = 500  # characters by which a kind of line is told
_MASKED = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d+")


class Reader:
    """Reads the lines of one file into streams."""

    def __init__(self, file: str, host: str, streams: dict[str, Stream], census: Census) -> None:
        self.file, self.host, self.streams, self.census = file, host, streams, census
        self.recent: list[str] = []  # lines among which the last one before a silence is looked for
        self.wrapping: Wrapping | None = None
        self.is_new = True
        self.sieve = Sieve()
        self.heard: Counter[Dialect] = Counter()
        self.parts: dict[str, list[Unwrapped]] = {}  # of long lines that a collector has cut
        self.former = ""  # the last line that could matter
        # of a file of several: who may speak again, and how many lines came without one of its own
        self.lively: dict[str, int] = {}
        self.seen_us: dict[str, int] = {}  # and when each spoke last, of whatever
        self.record = Record(0, "")
        self.bare: Stream | None = None  # whose lines those without a collector's prefix are

    def read(self, lines: Iterable[str]) -> None:
        """All lines of the file."""
        self.go_on(list(lines))
        self.end()

    def read_all(self, chunks: Iterable[list[str]]) -> None:
        """All lines of the file, in lists of many."""
        with without_collecting():
            for chunk in chunks:
                self.go_on(chunk)
            self.end()

    def go_on(self, lines: list[str]) -> None:
        """More lines of the file."""
        self.census.lines += len(lines)
        if self.is_new:
            self.is_new = False
            self.wrapping = wrapping_of(lines[:SAMPLE])
            self.sieve.look_at(lines[:SAMPLE])
            if self.wrapping is not None:
                self.census.wrappings[self.wrapping.name] += 1
        if self.wrapping is not None and self.wrapping.may_go_on is not None:
            lines = list(_joined(lines, self.wrapping, self.parts))
        self._read(lines)
        if self.lively:
            self._see_last(lines)

    def _see_last(self, lines: Sequence[str]) -> None:
        """The last line of each process of this file, from the end: a process of which there is none among
        many lines is not looked for any more, until it speaks again.
        """
        assert self.wrapping is not None
        wanted = set(self.lively)
        for line in reversed(lines):
            if not wanted:
                break
            unwrapped = self.wrapping.take(line)
            if unwrapped is None or unwrapped.source not in wanted:
                continue
            stamp = stamp_of(unwrapped.text[:BEGINNING])
            if stamp is not None or unwrapped.stamp is not None:
                source = unwrapped.source
                self.seen_us[source] = _looked_at(self._stream(source), stamp, unwrapped.stamp)
                self.lively[source] = 0
                wanted.remove(source)
        for source in wanted:
            self.lively[source] += len(lines)
            if self.lively[source] > SILENT_LINES:
                del self.lively[source]

    def _read(self, lines: list[str]) -> None:
        before = len(self.recent)
        self.recent += lines
        picked = self._picked(lines)
        take = self._take if self.wrapping is not None else self._take_bare
        for place, speaker, line, begin in picked:
            if line == self.former and line[:1] != "\t":
                self.census.doubled += (
                    1  # by a collector that sends again what was not acknowledged
                )
                continue
            self.former = line
            take(line, speaker, before + place, begin)
        del self.recent[: -REMEMBERED * 4]

    def _picked(self, lines: list[str]) -> list[Picked]:
        """The lines that can matter. From the line on in which a dialect is heard for the first time its
        seldom marks count, too: wherever the file is cut into pieces, it comes to the same.
        """
        picked, start = self.sieve.sift(lines), 0
        while (place := self._news(picked, start)) >= 0:
            start = place + 1
            later = self.sieve.sift(lines[start:])
            picked = [p for p in picked if p[0] < start]
            picked += [(at + start, speaker, line, begin) for at, speaker, line, begin in later]
        return picked

    def _news(self, picked: Sequence[Picked], start: int) -> int:
        """The first line in which somebody speaks whose seldom marks matter from now on; −1: nobody."""
        strangers = {speaker.name for _, speaker, _, _ in picked} - self.sieve.speaking
        if not strangers:
            return -1
        for place, speaker, _, _ in picked:
            if place >= start and speaker.name in strangers and self.sieve.heard(speaker.name):
                return place
        return -1

    def end(self) -> None:
        """No more lines: the last of any kind tells until when each process lived."""
        if self.parts:  # of lines whose end never came
            self._read(["".join(p.text for p in parts) for parts in self.parts.values()])
            self.parts.clear()
        for speaker, count in self.heard.items():
            self.census.taken += count
            self.census.dialects[speaker.name] += count
        self.heard.clear()
        for stream in list(self.streams.values()):
            if stream.host == self.host and stream.last is not None:
                self._remember(stream, 1 << 62, len(self.recent))
                seen_us = self.seen_us.get(stream.source, -1)
                if seen_us > stream.last[1].at_us:
                    stream.note_life(seen_us)

    def _take(self, line: str, speaker: Dialect, place: int, begin: int) -> None:
        source, collected = "", None
        text = line
        if self.wrapping is not None and (unwrapped := self.wrapping.take(line)) is not None:
            text, source, collected = unwrapped.text, unwrapped.source, unwrapped.stamp
        fields, thread = None, ""
        document = heads.document_in(text) if text[:1] == "{" else None
        if document is not None and (message := heads.message_in(document)):
            fields, text = document, message
            stamp = heads.stamp_in(document)
            thread = heads.thread_in(document)
        else:
            stamp = stamp_of(text)
            text = heads.unquoted(text)
        if stamp is None and (collected is None or not collected.has_date):
            above = self._stamp_before(source, place)
            stamp = above if collected is None or _are_near(above, collected) else None
        stream = self._stream(source)
        if source:
            self.lively[source] = 0
        before = stream.last_us
        at = _instant(stream, stamp, collected)
        if 0 <= before < at - SILENCE_US:
            self._remember(stream, at, place)
        self._hear(stream, Record(at, text, thread, fields), speaker, place)

    def _take_bare(self, line: str, speaker: Dialect, place: int, begin: int) -> None:
        """The usual line, of the one process that the file is of."""
        first = line[:1]
        if first == "{" or 'msg="' in line:
            self._take(line, speaker, place, begin)
            return
        stream = self.bare = self.bare or self._stream("")
        before = stream.last_us
        if first == "\t" and before >= 0:  # a line of settings has no time of its own
            at = before
            if speaker is SETTING and stream.last is not None:
                self._hear_setting(stream, line)
                return
        elif stream.has_date and (at := quick_us(line)) >= 0:
            stream.has_zone = stream.has_zone and first == "%"
            stream.fine += 1
            stream.last_us = at
        else:
            at = _instant(stream, stamp_of(line) or self._stamp_before("", place), None)
        if 0 <= before < at - SILENCE_US:
            self._remember(stream, at, place)
        record = self.record  # of which only these change from one such line to the next
        record.at_us, record.text, record.begin = at, line, begin
        self._hear(stream, record, speaker, place)

    def _hear_setting(self, stream: Stream, line: str) -> None:
        """A line of its own in a block of settings, as the sieve has made sure."""
        key, _, value = line[1:].partition(" = ")
        self.heard[SETTING] += 1
        fact = Fact(stream.last_us, FactKind.SETTING, why=key, other=value.strip()[:400])
        if self._are_discreet((fact,)):
            stream.add(SETTING, fact)

    def _are_discreet(self, facts: Facts) -> bool:
        """None tells a secret where a name belongs: such a line is torn, or no line of Kafka's."""
        for fact in facts:
            if fact.why and fact.what not in WORDED_BY_US:
                without_own_words(fact)
            if not is_discreet(fact):
                self.census.withheld += 1
                return False
        return True

    def _stamp_before(self, source: str, place: int) -> Stamp | None:
        """The time of the line above, of which this one is the rest: java.util.logging breaks its
        lines in two, and messages of several lines have one time.
        """
        for line in reversed(self.recent[max(0, place - REMEMBERED) : place]):
            if (stamp := self._stamp_of(line, source)) is not None:
                return stamp
        return None

    def _remember(self, stream: Stream, until_us: int, place: int, most: int = REMEMBERED) -> None:
        """The last line of any kind before a silence: the process was alive then."""
        told_us = stream.last[1].at_us if stream.last is not None else -1
        is_quick = self.wrapping is None and stream.has_date and not stream.whose
        for line in reversed(self.recent[max(0, place - most) : place]):
            at = quick_us(line) if is_quick else -1
            if at < 0 and (at := self._when(stream, line)) < 0:
                continue
            if at < told_us - SILENCE_US:
                continue  # of another process, which has begun
            if at < until_us - SILENCE_US:
                stream.spoke_us = max(stream.spoke_us, at)
                break
        if stream.last is not None and stream.spoke_us > stream.last[1].at_us:
            stream.note_life(stream.spoke_us)

    def _when(self, stream: Stream, line: str) -> int:
        """When a line was written; −1 where it tells no time, or is not of this stream."""
        unwrapped = (self.wrapping.take(line) if self.wrapping is not None else None) or (
            Unwrapped(line)
        )
        if unwrapped.source != stream.whose:
            return -1
        stamp = stamp_of(unwrapped.text)
        if stamp is None and unwrapped.stamp is None:
            return -1
        return _looked_at(stream, stamp, unwrapped.stamp)

    def _stream(self, source: str) -> Stream:
        key = f"{self.host}\n{source}"
        found = self.streams.get(key)
        if found is None:
            found = self.streams[key] = Stream(self.host, self.file, source)
        found.file = self.file
        return found

    def _hear(self, stream: Stream, record: Record, likely: Dialect, place: int) -> None:
        speaker, facts = likely, likely.read(record)
        if facts is None:
            other, facts = _read_by_others(record, likely)
            if other is None:
                stream.spoke_us = record.at_us
                self.census.add_unknown(record.text)
                return
            speaker = other
        self.heard[speaker] += 1
        if not facts or not self._are_discreet(facts):
            stream.spoke_us = record.at_us
            return
        told, first = stream.told, facts[0]
        last = told[-1] if told else stream.latest
        if last is not None and (
            first.what in FIRST_WORDS or last[1].at_us - first.at_us >= BACK_US
        ):
            stream = self._whose_turn(stream, last[1], first, place)
            told = stream.told
        number = stream.before + len(told)
        for fact in facts:
            fact.place = number
            number += 1
            told.append((speaker, fact))

    def _whose_turn(self, stream: Stream, former: Fact, first: Fact, place: int) -> Stream:
        """Whose fact this is: this process's, or one's that speaks from here on. Before what may begin one,
        the lines above are looked at, too, which need not be about groups.
        """
        if first.what in FIRST_WORDS and former.what not in _OF_A_BEGINNING:
            is_anothers = _is_another(first, max(former.at_us, self._above_us(stream, place)))
        else:
            is_anothers = _is_another(first, former.at_us)
        if not is_anothers:
            return stream
        self._remember(stream, 1 << 62, place, REMEMBERED * 4)
        self.recent[:place] = [""] * place  # which were the former's
        return self._next_process(stream)

    def _above_us(self, stream: Stream, place: int) -> int:
        """The latest time among the lines above that are later than this one; −1 where none is, or
        these have none.
        """
        latest, whose = -1, stream.whose
        is_quick = self.wrapping is None and stream.has_date
        own = self.recent[place]
        hour, moment = own[:_HOUR_END], own[:_MOMENT_END]
        for line in self.recent[max(0, place - REMEMBERED * 4) : place]:
            if line[:_MOMENT_END] <= moment and line[:_HOUR_END] == hour and is_quick:
                continue  # which is the usual case, and seen without reading its time
            at = quick_us(line) if is_quick else -1
            if at < 0 and (stamp := self._stamp_of(line, whose)) is not None:
                at = _looked_at(stream, stamp, None)
            latest = max(latest, at)
        return latest

    def _stamp_of(self, line: str, whose: str) -> Stamp | None:
        """The time that a line begins with; None where it tells none, or is not this process's."""
        if self.wrapping is not None and (unwrapped := self.wrapping.take(line)) is not None:
            if unwrapped.source != whose:
                return None
            line = unwrapped.text
        return _stamp_in(line[:BEGINNING])

    def _next_process(self, stream: Stream) -> Stream:
        """One file holds the logs of several processes, one after the other."""
        turns = sum(1 for s in self.streams.values() if s.host == stream.host) + 1
        key, whose = f"{stream.host}\n{stream.whose}", stream.whose
        self.streams[f"{key}{TURN}{turns}"] = stream
        found = Stream(stream.host, self.file, f"{whose}{TURN}{turns}")
        found.last_us, found.has_zone, found.has_date = (
            stream.last_us,
            stream.has_zone,
            stream.has_date,
        )
        found.coarse, found.fine = stream.coarse, stream.fine
        self.streams[key] = found
        self.bare = found if stream is self.bare else self.bare
        return found


@contextmanager
def without_collecting() -> Iterator[None]:
    """Facts never refer to each other in a circle: nothing is gained by looking for circles again and
    again while there come more and more of them.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@lru_cache(4_096)
def _stamp_in(beginning: str) -> Stamp | None:
    """The time in it: settings, stack traces and other rests of messages recur, and have none."""
    return stamp_of(beginning)


def _is_another(first: Fact, former_us: int) -> bool:
    """Times go back, and a process begins: it is not the one that spoke until now. An hour back may be
    the end of summer time.
    """
    back = former_us - first.at_us
    if back < BACK_US or first.at_us <= 0:
        return False
    from_hour = abs((back + HOUR_US // 2) % HOUR_US - HOUR_US // 2)
    is_summers_end = back > HOUR_US // 2 and from_hour < FAR_BACK_US
    return _begins(first) or (back > FAR_BACK_US and not is_summers_end)


def _begins(fact: Fact) -> bool:
    """Only a process that begins says so: librdkafka leaves its first state, the Python clients give up
    what they do not have yet.
    """
    if fact.what == FactKind.RD_STATE:
        return fact.why.startswith("init>")
    return fact.what in FIRST_WORDS or (fact.what == FactKind.REVOKED and not fact.partitions)


def _read_by_others(record: Record, tried: Dialect) -> tuple[Dialect | None, Facts]:
    """The dialect that takes for its own what the likely one does not know, and what it proves."""
    for mark, speaker in other_marks():
        if mark in record.text and speaker is not tried:
            tried = speaker
            if (facts := speaker.read(record)) is not None:
                return speaker, facts
    if dialect("other lines").read(record) is not None:
        return dialect("other lines"), ()
    return None, ()


def _looked_at(stream: Stream, own: Stamp | None, collected: Stamp | None) -> int:
    """When a line was written, without taking note of it."""
    was = stream.last_us, stream.day, stream.coarse, stream.fine, stream.has_zone
    at = _instant(stream, own, collected)
    stream.last_us, stream.day, stream.coarse, stream.fine, stream.has_zone = was
    return at


def _joined(
    lines: Iterable[str], wrapping: Wrapping, pending: dict[str, list[Unwrapped]]
) -> Iterator[str]:
    """Long lines made whole again: the collector marks all parts but the last. `pending`: what has
    come of lines that are not whole yet.
    """
    for line in lines:
        if not pending and wrapping.may_go_on is not None and not wrapping.may_go_on(line):
            yield line
            continue
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


def _instant(stream: Stream, own: Stamp | None, collected: Stamp | None) -> int:
    """When the line was written, by its own word before the collector's; the collector's helps out
    with the day and the zone.
    """
    best = own or collected
    if best is None:
        stream.has_time = stream.last_us >= 0
        return max(stream.last_us, 0)
    at = best.at_us
    is_whole = best.has_zone and best.has_date
    if own is not None and collected is not None and _is_finer(collected, own):
        best, at = collected, collected.at_us  # which writes down the second that the line rounds
    elif best is own and collected is not None and collected.has_date and not is_whole:
        at = _helped(at, own, collected)
    elif not best.has_date:
        at = _undated(stream, at)
    else:
        if not stream.has_date:
            _date(stream, at)
        stream.has_zone = stream.has_zone and best.has_zone
    if best is collected:
        stream.collected_us = max(1_000, best.step_us)
    elif best.step_us >= 1_000_000:
        stream.coarse += 1
    else:
        stream.fine += 1
    stream.last_us = at
    return at


def _are_near(above: Stamp | None, collected: Stamp) -> bool:
    """The line above, which bears its own day, was written when the collector saw this one."""
    if above is None or not above.has_date:
        return False
    apart = abs(
        (above.at_us - collected.at_us + ZONE_STEP_US // 2) % ZONE_STEP_US - ZONE_STEP_US // 2
    )
    return apart <= max(above.step_us, collected.step_us)


def _is_finer(collected: Stamp, own: Stamp) -> bool:
    """The collector saw the line in the very second that the line itself tells."""
    is_finer = collected.step_us < own.step_us >= 1_000_000
    if not (is_finer and collected.has_date and collected.has_zone):
        return False
    apart = collected.at_us - own.at_us
    if not own.has_date:
        apart %= DAY_US
    if not own.has_zone:
        apart = (apart + ZONE_STEP_US // 2) % ZONE_STEP_US - ZONE_STEP_US // 2
    return 0 <= apart < own.step_us


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


def _date(stream: Stream, at: int) -> None:
    """The first line with a date tells the day of those before it."""
    stream.has_date = True
    days = round((at - max(stream.last_us, 0)) / DAY_US) * DAY_US
    for _, fact in stream.told:
        fact.at_us += days
    stream.last_us = stream.last_us + days if stream.last_us >= 0 else -1


def _undated(stream: Stream, at: int) -> int:
    """A time of day, in the day counted from the log's first one."""
    if stream.has_date and stream.last_us >= 0:  # the day is known from other lines
        return at + round((stream.last_us - at) / DAY_US) * DAY_US
    stream.has_date = stream.has_zone = False
    now = stream.day * DAY_US + at
    if stream.last_us >= 0 and now < stream.last_us - DAY_US // 2:
        stream.day += 1
        now += DAY_US
    return now
