"""The time at the head of a line, in the forms that loggers, containers and journals write.

A stamp without a zone counts as UTC here; what zone its host meant, and which day a time without
a date was on, `clocks` finds out.
"""

from __future__ import annotations

import re
from calendar import timegm
from dataclasses import dataclass, replace

DAY_US = 86_400_000_000
LOOKED_AT = 160  # characters in which a line's own time stands

_ISO = re.compile(
    r"(\d{4})([-/])(\d\d)\2(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?"
    r"( ?Z|\s?[+-]\d\d:?\d\d(?![\d:])| UTC| GMT)?"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d):(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?(?!\d)"
    r"(?P<half> ?[AaPp]\.?[Mm]\b)?(?P<zone> ?Z\b| ?[+-]\d\d:?\d\d(?![\d:])| UTC| GMT)?"
)
_LEVEL = r"^\W{0,2}(?:[A-Z]{4,8}\W{1,3})?"  # which some patterns put before the time
# dates in the other orders that loggers know, as they follow each other in the line
_DATES = tuple(
    re.compile(rf"(?<![\w:.,-]){date}{_CLOCK}")
    for date in (
        r"(?P<day>\d{1,2})[ /-](?P<month>[A-Z][a-z]{2})[a-z]{0,6}[ /-](?P<year>\d{4})[ :T]",
        r"(?P<month>[A-Z][a-z]{2})[a-z]{0,6} (?P<day>\d{1,2}),? (?P<year>\d{4}),? ",
        r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)[ T-]",
        r"(?P<one>\d{1,2})(?P<between>[./-])(?P<two>\d{1,2})(?P=between)(?P<year>\d{4}),?[ T]",
        r"(?P<year>\d\d)/(?P<month>\d\d)/(?P<day>\d\d) ",
    )
)
_COMPACT = re.compile(r"(?<!\w)(\d{4})(\d\d)(\d\d)[T-]?(\d\d)(\d\d)(\d\d)(?:[.,]?(\d{3,9}))?(?!\w)")
_YEARLESS = re.compile(rf"{_LEVEL}[A-Z][a-z]{{2}} [ \d]?\d {_CLOCK}")
_BARE = re.compile(rf"{_LEVEL}(\d\d):(\d\d):(\d\d)(?:[.,](\d{{1,9}}))?(?!\d)")
_EPOCH = re.compile(r"^%\d\|(\d{9,11})\.(\d{3})\|")
_NUMBER = re.compile(r"^\W{0,2}(\d{10}\.\d{3,9}|\d{13}|\d{16}|\d{19})(?=[\s\]|,])")
# what stands in each of these forms: a minute, or digits in a row
_SOME_TIME = re.compile(r":\d\d|\d{6}")


@dataclass(slots=True)
class Stamp:
    """A time as it was written."""

    at_us: int
    end: int  # where it ends in the line
    has_zone: bool
    has_date: bool
    step_us: int  # its resolution


_ZONES = frozenset("+-ZU")  # with which a zone begins
_POINTS, _ENDS = frozenset(",."), frozenset("] ")
_seconds: dict[str, int] = {}
_minutes: dict[str, int] = {}  # by what stands before the second
_fractions: dict[str, int] = {}


def quick_us(line: str) -> int:
    """The time of the usual line: milliseconds, no zone, in a minute that was met before; or
    librdkafka's, which is of UTC. −1 where it takes a closer look.
    """
    first = line[:1]
    if first == "%" and line[13:14] == "." and line[17:18] == "|":
        digits = line[3:13] + line[14:17]
        return int(digits) * 1_000 if digits.isdecimal() and digits.isascii() else -1
    begin = 20 if first == "[" else 19
    seconds = _seconds.get(line[begin - 19 : begin])
    if seconds is None and (seconds := _within_minute(line[begin - 19 : begin])) is None:
        return -1
    tail = line[begin : begin + 6]
    fraction = _fractions.get(tail)
    if fraction is None:
        fraction = _fractions[tail] = _fraction_in(tail)
        if len(_fractions) > 20_000:
            _fractions.clear()
    return seconds * 1_000_000 + fraction if fraction >= 0 else -1


def _within_minute(text: str) -> int | None:
    """The seconds since 1970 of `2026-11-19 08:25:44`, whose minute was met before; else None."""
    minute, second = _minutes.get(text[:17]), text[17:]
    if minute is None or not (len(second) == 2 and second.isdecimal() and second.isascii()):
        return None
    number = int(second)
    if number > 59:
        return None
    return _remembered(text, minute + number)


def _remembered(text: str, seconds: int) -> int:
    """The seconds of such a text, kept for the next line that bears it."""
    if len(_seconds) > 5_000:
        _seconds.clear()
        _minutes.clear()
    _seconds[text] = seconds
    _minutes[text[:17]] = seconds - int(text[17:])
    return seconds


def _fraction_in(tail: str) -> int:
    """`,123] ` in µs; −1 where a zone follows, or it is of another form."""
    digits = tail[1:4]
    plain = tail[:1] in _POINTS and digits.isdecimal() and digits.isascii()
    ends = tail[4:5] in _ENDS and tail[5:6] not in _ZONES
    return int(digits) * 1_000 if plain and ends and len(digits) == 3 else -1


def stamp_of(line: str) -> Stamp | None:
    """The line's own time; None where it has none."""
    if line[:1] != "%" and (at := quick_us(line)) >= 0:
        return Stamp(at, 24 if line[:1] == "[" else 23, False, True, 1_000)
    if line.startswith("%") and (found := _EPOCH.match(line)) is not None:
        at = int(found[1]) * 1_000_000 + int(found[2]) * 1_000
        return Stamp(at, found.end(), True, True, 1_000)
    if line[10:11] == "T" and line[19:20] == "." and line[23:] == "Z":
        seconds = _seconds.get(line[:19])
        if seconds is not None and line[20:23].isdecimal() and line.isascii():  # of a JSON line
            return Stamp(seconds * 1_000_000 + int(line[20:23]) * 1_000, 24, True, True, 1_000)
    if _SOME_TIME.search(line, 0, LOOKED_AT) is None:
        return None  # the rest of a message: a setting, or a line of a stack's trace
    found = _ISO.search(line, 0, LOOKED_AT)
    if found is not None:
        return _from_iso(line, found)
    found = _BARE.match(line)
    if found is not None:
        seconds = int(found[1]) * 3_600 + int(found[2]) * 60 + int(found[3])
        at, step = _with_fraction(seconds, found[4])
        return Stamp(at, found.end(), False, False, step) if int(found[1]) < 24 else None
    return _in_another_order(line)


def _in_another_order(line: str) -> Stamp | None:
    """A date that is not written year, month, day with hyphens; numbers; a day without a year, of
    which the time of day alone is taken.
    """
    for pattern in _DATES:
        found = pattern.search(line, 0, LOOKED_AT)
        stamp = _from_date(found) if found is not None else None
        if stamp is not None:
            return stamp
    if (found := _NUMBER.match(line)) is not None:
        stamp = from_number(float(found[1]) if "." in found[1] else int(found[1]))
        return replace(stamp, end=found.end()) if stamp is not None else None
    if (found := _YEARLESS.match(line)) is not None:
        at, step = _with_fraction(_of_the_day(found), found["fraction"])
        return Stamp(at, found.end(), False, False, step)
    if (found := _COMPACT.search(line, 0, 40)) is not None:
        seconds = _epoch_seconds(*(found[n] for n in range(1, 7)))
        if seconds is not None:
            at, step = _with_fraction(seconds, found[7])
            return Stamp(at, found.end(), False, True, step)
    return None


def _from_iso(line: str, found: re.Match[str]) -> Stamp | None:
    text = line[found.start() : found.start() + 19]
    seconds = _seconds.get(text)
    if seconds is None:
        seconds = _epoch_seconds(found[1], found[3], found[4], found[5], found[6], found[7])
        if seconds is None:
            return None
        _remembered(text, seconds)
    at, step = _with_fraction(seconds, found[8])
    zone = found[9]
    if zone is None:
        return Stamp(at, found.end(), False, True, step)
    return Stamp(at - _ahead_us(zone.strip()), found.end(), True, True, step)


def _epoch_seconds(*parts: str) -> int | None:
    year, month, day, hour, minute, second = (int(p) for p in parts)
    fits = 1970 <= year <= 2200 and 1 <= month <= 12 and 1 <= day <= 31
    if not (fits and hour < 24 and minute < 60 and second < 61):
        return None
    return timegm((year, month, day, hour, minute, second))


def _from_date(found: re.Match[str]) -> Stamp | None:
    parts = found.groupdict()
    day, month = parts.get("day"), parts.get("month")
    if day is None or month is None:
        day, month = _day_and_month(found)
    if month.isalpha():
        if month.lower() not in _MONTHS:
            return None
        month = str(_MONTHS.index(month.lower()) + 1)
    year = found["year"] if len(found["year"]) == 4 else f"20{found['year']}"
    midnight = _epoch_seconds(year, month, day, "0", "0", "0")
    if midnight is None or int(found["hour"]) > 23:
        return None
    at, step = _with_fraction(midnight + _of_the_day(found), found["fraction"])
    zone = found["zone"]
    ahead = _ahead_us(zone.strip()) if zone is not None else 0
    return Stamp(at - ahead, found.end(), zone is not None, True, step)


def _day_and_month(found: re.Match[str]) -> tuple[str, str]:
    """`18/11/2025` and `11/18/2025`: the larger number is the day. Where both could be, the month is
    written first with AM and PM, and in between slashes only then.
    """
    one, two = found["one"], found["two"]
    is_american = int(two) > 12 or (int(one) <= 12 and found["half"] is not None)
    return (two, one) if is_american else (one, two)


def _of_the_day(found: re.Match[str]) -> int:
    """Seconds since midnight, on a clock of 24 hours or of twice 12."""
    hour = int(found["hour"])
    if found["half"] is not None:
        hour = hour % 12 + (12 if "p" in found["half"].lower() else 0)
    return hour * 3_600 + int(found["minute"]) * 60 + int(found["second"])


def _with_fraction(seconds: int, digits: str | None) -> tuple[int, int]:
    """µs, and how fine the writing is."""
    if digits is None:
        return seconds * 1_000_000, 1_000_000
    return seconds * 1_000_000 + int(digits.ljust(6, "0")[:6]), 10 ** max(0, 6 - len(digits))


def _ahead_us(zone: str) -> int:
    if zone[0] not in "+-":
        return 0
    minutes = int(zone[1:3]) * 60 + int(zone[-2:])
    return minutes * 60_000_000 * (-1 if zone[0] == "-" else 1)


def from_number(value: float) -> Stamp | None:
    """A number that stands for a time: seconds, ms, µs or ns since 1970, told by its size."""
    if not 1e9 <= value < 1e19:
        return None
    for limit, factor in ((1e11, 1e6), (1e14, 1e3), (1e17, 1.0), (1e19, 1e-3)):
        if value < limit:
            whole = isinstance(value, int) and limit == 1e11
            return Stamp(round(value * factor), 0, True, True, 1_000_000 if whole else 1_000)
    return None


def syslog_seconds(month: str, day: str, clock: str, year: int) -> int | None:
    """The seconds since 1970 of `Nov 19 08:25:44` in a year that the line leaves out."""
    if month.lower() not in _MONTHS:
        return None
    number = str(_MONTHS.index(month.lower()) + 1)
    return _epoch_seconds(str(year), number, day, *clock.split(":"))
