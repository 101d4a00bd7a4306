"""Names in pieces: one Kafka setting is spelt in a dozen ways, and the same in all of them are its
words.
"""

from __future__ import annotations

import re

_PIECES = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|\{[^}]*\}|\*")


def words(name: str) -> list[str]:
    """SESSION_TIMEOUT_MS, session.timeout.ms, sessionTimeoutMs → session, timeout, ms."""
    return [w.lower() for w in _PIECES.findall(name)]


def listed(text: str) -> list[str]:
    """A table of words that is easier to read, and to add to, as text."""
    return text.split()


def squash(name: str) -> str:
    """Only letters and digits, in lower case: how relaxed binding compares names."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


_DURATION = re.compile(
    r"(\d+(?:\.\d+)?)\s*(millis|ms|us|seconds?|secs?|s|minutes?|mins?|m|hours?|h)(?![a-z])"
)
_ISO = re.compile(r"P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?", re.IGNORECASE)
_UNITS = {"u": 0.001, "ms": 1, "mi": 1, "s": 1000, "m": 60_000, "h": 3_600_000}


def milliseconds(text: str) -> int | None:
    """`45s`, `PT45S`, `1m`, `45000` → milliseconds; None for what says no duration."""
    text = text.strip().strip("\"'")
    if re.fullmatch(r"\d+", text):
        return int(text)
    if (iso := _ISO.fullmatch(text)) and any(iso.groups()):
        days, hours, minutes, seconds = (float(g or 0) for g in iso.groups())
        return round((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000)
    pieces = _DURATION.findall(text)
    if not pieces or _DURATION.sub("", text).strip():
        return None
    return round(sum(float(n) * _unit(unit) for n, unit in pieces))


def _unit(unit: str) -> float:
    if unit.startswith(("ms", "milli")):
        return 1
    return _UNITS["m" if unit.startswith("m") else unit[0]]


def whole(text: object) -> int | None:
    """A whole number as it stands in a file, or None."""
    stripped = str(text).strip().strip("\"'")
    return int(stripped) if re.fullmatch(r"-?\d{1,15}", stripped) else None


def boolean(text: object) -> bool | None:
    said = str(text).strip().strip("\"'").lower()
    if said in ("true", "yes", "on", "1"):
        return True
    return False if said in ("false", "no", "off", "0") else None


def cores(said: str | None) -> float | None:
    """`500m`, `0.5`, `2`: cores, or None where it is a template or nothing."""
    found = re.fullmatch(r"(\d+)m|(\d+(?:\.\d+)?)", (said or "").strip("\"' "))
    if found is None:
        return None
    number = int(found[1]) / 1000 if found[1] else float(found[2])
    return number if number > 0 else None
