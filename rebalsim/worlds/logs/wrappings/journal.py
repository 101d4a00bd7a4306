"""journald as journalctl prints it, in any `-o short…`, and rsyslog's files alike:
`TIME HOST PROCESS[PID]: TEXT`. Both times without a year and ISO ones are known.
"""

from __future__ import annotations

import re

from rebalsim.worlds.logs.times import Stamp, from_number, stamp_of, syslog_seconds
from rebalsim.worlds.logs.wrappings import Unwrapped, Wrapping, process_of

_ISO = re.compile(
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)) ([^\s\[\]]{1,255}) "
    r"([A-Za-z_][^\s:\[]{0,127})(?:\[(\d{1,10})\])?: ?"
)
_SHORT = re.compile(
    r"(?:<\d{1,3}>)?([A-Z][a-z]{2}) {1,2}(\d{1,2}) (\d\d:\d\d:\d\d)(?:\.(\d{1,9}))? ([^\s\[\]]{1,255}) "
    r"([A-Za-z_][^\s:\[]{0,127})(?:\[(\d{1,10})\])?: ?"
)
_FULL = re.compile(
    r"[A-Z][a-z]{2} (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,9})?)(?: ([A-Z]{1,5}|[+-]\d\d))? "
    r"([^\s\[\]]{1,255}) ([A-Za-z_][^\s:\[]{0,127})(?:\[(\d{1,10})\])?: ?"
)
_SINCE_BOOT = re.compile(
    r"(?:\[ {0,9}\d{1,10}\.\d{6}\]|(\d{10}\.\d{6})) "
    r"([^\s\[\]]{1,255}) ([A-Za-z_][^\s:\[]{0,127})(?:\[(\d{1,10})\])?: ?"
)
_LEAP_YEAR = 2024  # stands in where the line tells no year, so that February 29 is a day


def take(line: str) -> Unwrapped | None:
    """The line without the journal's prefix, and whose it is."""
    found = _ISO.match(line)
    if found is not None:
        stamp = stamp_of(found[1])
        return Unwrapped(line[found.end() :], stamp, process_of(found[2], found[3], found[4]))
    found = _SHORT.match(line)
    return _full(line) if found is None else _short(line, found)


def _full(line: str) -> Unwrapped | None:
    """`-o short-full` and `with-unit`; `short-unix` and `short-monotonic`, which tells no time of day."""
    found = _FULL.match(line)
    if found is not None:
        is_utc = found[2] in ("UTC", "GMT")
        stamp = stamp_of(found[1] + (" UTC" if is_utc else ""))
        return Unwrapped(line[found.end() :], stamp, process_of(found[3], found[4], found[5]))
    found = _SINCE_BOOT.match(line)
    if found is None:
        return None
    stamp = from_number(float(found[1])) if found[1] else None
    return Unwrapped(line[found.end() :], stamp, process_of(found[2], found[3], found[4]))


def _short(line: str, found: re.Match[str]) -> Unwrapped | None:
    seconds = syslog_seconds(found[1], found[2], found[3], _LEAP_YEAR)
    if seconds is None:
        return None
    micros = int((found[4] or "0").ljust(6, "0")[:6])
    step = 1_000_000 if found[4] is None else 1_000
    at = seconds % 86_400 * 1_000_000 + micros
    stamp = Stamp(at, found.end(), has_zone=False, has_date=False, step_us=step)
    return Unwrapped(line[found.end() :], stamp, process_of(found[5], found[6], found[7]))


WRAPPING = Wrapping("journal", take, order=30)
