"""Names and durations as YAML takes them, whatever they are."""

from __future__ import annotations

import re

_PLAIN = re.compile(r"[A-Za-z_][\w.-]*")
_NOT_PLAYED = re.compile(r"[^A-Za-z0-9._-]")
_MOST = 120  # characters of a name in a scenario
_WORDS = ("true", "false", "null", "yes", "no", "on", "off")


def spell_ms(us: int) -> str:
    """A duration of whole milliseconds; none is negative."""
    return f"{max(0, us // 1_000)}ms"


def spell_name(text: str) -> str:
    """A name that YAML takes for a text, whatever it is."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    escaped = "".join(c if c.isprintable() and c not in '"\\' else f"\\u{ord(c):04x}" for c in text)
    return f'"{escaped}"'


def played_name(text: str) -> str:
    """The name that stands for one in a scenario: Kafka takes any text for a group's, a scenario letters,
    digits and three signs.
    """
    name = _NOT_PLAYED.sub("-", text)[:_MOST]
    return name if name[:1].isalnum() or name[:1] == "_" else f"_{name}"[:_MOST]
