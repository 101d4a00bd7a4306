"""How people write amounts: durations, sizes, rates, shares. Text → number in base units (µs,
bytes, records a second), and back.

A duration without a unit is a mistake that YAML readers make worse (`1:30` is 90 for some), so
units are demanded wherever Kafka's own `*.ms` keys do not define them. Nought needs none.
"""

from __future__ import annotations

import re
from fractions import Fraction

from rebalsim.domain.instants import DAY, HOUR, MINUTE, MS, SECOND

LONGEST_US = 366 * DAY

UNITS = {"d": DAY, "h": HOUR, "m": MINUTE, "s": SECOND, "ms": MS, "us": 1, "µs": 1, "μs": 1}
_AMOUNT = r"(?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,9})?"
_UNIT = r"(?:ms|us|µs|μs|d|h|m|s)"
DURATION = rf"{_AMOUNT} ?{_UNIT}(?: ?{_AMOUNT} ?{_UNIT}){{0,5}}"
_DURATION = re.compile(DURATION)
_PART = re.compile(rf"({_AMOUNT}) ?({_UNIT})")
_WORDS = {
    "sec": "s",
    "secs": "s",
    "second": "s",
    "seconds": "s",
    "min": "m",
    "mins": "m",
    "minute": "m",
    "minutes": "m",
    "hr": "h",
    "hrs": "h",
    "hour": "h",
    "hours": "h",
    "day": "d",
    "days": "d",
    "msec": "ms",
    "millis": "ms",
    "milliseconds": "ms",
    "usec": "us",
    "micros": "us",
    "microseconds": "us",
    "S": "s",
    "M": "m",
    "H": "h",
    "MS": "ms",
    "Ms": "ms",
    "D": "d",
}

SIZES = {
    "B": 1,
    "kB": 1_000,
    "KB": 1_000,
    "MB": 1_000_000,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 1 << 10,
    "MiB": 1 << 20,
    "GiB": 1 << 30,
    "TiB": 1 << 40,
}
SIZE = rf"{_AMOUNT} ?(?:B|[kK]B|MB|GB|TB|KiB|MiB|GiB|TiB)"
_SIZE = re.compile(rf"({_AMOUNT}) ?([kKMGT]?i?B)")
BYTE_RATE = rf"{SIZE}/s"

PERIODS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
RATE = rf"{_AMOUNT} ?/ ?[smhd]"
_RATE = re.compile(rf"({_AMOUNT}) ?/ ?([smhd])")
SHARE = rf"{_AMOUNT} ?%"
_SHARE = re.compile(rf"({_AMOUNT}) ?%")


def duration(text: str) -> float | None:
    """`1m30s` → µs, or None where it is no duration. Units go from large to small, each once."""
    if not _DURATION.fullmatch(text):
        return None
    total, last = Fraction(0), DAY * 2
    for amount, unit in _PART.findall(text):
        size = UNITS[unit]
        if size >= last:
            return None
        last = size
        total += Fraction(amount) * size  # a float would make 8.217s a little less
    return float(total) if total <= LONGEST_US else None


def why_no_duration(text: str) -> str:
    """What to write instead of this."""
    bare = re.fullmatch(rf"({_AMOUNT})", text)
    if bare:
        return f"{text} has no unit — write {text}s or {text}ms"
    if text.startswith("-"):
        return f"{text} is negative, and time does not go back — write {text[1:] or '1s'}"
    worded = re.fullmatch(rf"({_AMOUNT}) ?([A-Za-z]+)", text)
    if worded and worded.group(2) in _WORDS:
        return (
            f"'{text}' has a unit spelt differently here — write "
            f"{worded.group(1)}{_WORDS[worded.group(2)]}"
        )
    if _DURATION.fullmatch(text):
        parts = [UNITS[unit] for _, unit in _PART.findall(text)]
        if sorted(set(parts), reverse=True) != parts:
            return (
                f"'{text}' has its units out of order or twice — write them from large to small, "
                "as in 1m30s"
            )
        return f"'{text}' is longer than a year — write a shorter time"
    if worded:
        return f"'{text}' has an unknown unit — write d, h, m, s, ms or us"
    if re.fullmatch(rf"[1-9][0-9]{{12,}}(?:\.[0-9]+)? ?{_UNIT}", text[:40]):
        return f"'{text[:40]}' is longer than a year — write a shorter time"
    return ""


def size(text: str) -> int | None:
    found = _SIZE.fullmatch(text)
    return (
        round(float(found.group(1)) * SIZES[found.group(2)])
        if found and found.group(2) in SIZES
        else None
    )


def byte_rate(text: str) -> float | None:
    if not text.endswith("/s"):
        return None
    found = size(text[:-2].rstrip())
    return None if found is None else float(found)


def rate(text: str) -> float | None:
    """`200/s` → a second."""
    found = _RATE.fullmatch(text)
    return float(found.group(1)) / PERIODS[found.group(2)] if found else None


def share(text: str) -> float | None:
    """`25%` → 0.25."""
    found = _SHARE.fullmatch(text)
    return float(found.group(1)) / 100 if found else None


# ----------------------------------------------------------------------------------------- and back


def say_us(us: float) -> str:
    """A duration as it would be written in a file: exact, and read back to the same number."""
    if us == 0:
        return "0s"
    if us != int(us):
        return f"{us:.9f}".rstrip("0").rstrip(".") + "us"
    left, parts = int(us), []
    for unit, of in (("d", DAY), ("h", HOUR), ("m", MINUTE), ("s", SECOND), ("ms", MS), ("us", 1)):
        amount, left = divmod(left, of)
        if amount:
            parts.append(f"{amount}{unit}")
    # 1.5s rather than 1s500ms
    if len(parts) == 2 and parts[0].endswith("s") and parts[1].endswith("ms"):
        return f"{us / SECOND:.3f}".rstrip("0") + "s"
    return "".join(parts)


def say_bytes(amount: float) -> str:
    """In the unit of which it is the fewest, exactly: 12GB rather than 11718750KiB."""
    units = ("TiB", "GiB", "MiB", "KiB", "TB", "GB", "MB", "KB")
    fitting = [unit for unit in units if amount >= SIZES[unit] and amount % SIZES[unit] == 0]
    if fitting:
        unit = min(fitting, key=lambda each: amount // SIZES[each])
        return f"{int(amount // SIZES[unit])}{unit}"
    return f"{amount:.0f}B" if amount == int(amount) else f"{amount}B"


def say_rate(per_second: float) -> str:
    return f"{say_number(per_second)}/s"


def say_share(part: float) -> str:
    return f"{say_number(round(part * 100, 9))}%"


def say_number(number: float) -> str:
    return str(int(number)) if number == int(number) else f"{number:.9f}".rstrip("0").rstrip(".")
