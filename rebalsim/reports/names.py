"""Names in stories and logs are hostile text: what could move a cursor, hide or turn text around is
shown, not done.

Also how several partitions are named in few words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rebalsim.domain.ids import Partition
from rebalsim.outside.text import inert, named
from rebalsim.words.lists import listed


def safe(text: str) -> str:
    """The text with every control, format or bidi character written out, such as `\\x1b` or
    `\\u202e`; line breaks too.
    """
    return inert(text).replace("\n", "\\x0a")


def ascii_of(text: str) -> str:
    """The text in plain ASCII: the typographic signs that reports use have their twins, all else is
    written out.
    """
    if text.isascii():
        return text
    return "".join(_PLAIN.get(c, c) if c.isascii() or c in _PLAIN else named(c) for c in text)


_PLAIN = {
    "…": "...",
    "·": "|",
    "→": "->",
    "−": "-",
    "–": "-",
    "×": "x",
    "µ": "u",
    "✓": "ok",
    "✗": "BROKEN",
    "▼": "v",
    "≤": "<=",
    "≥": ">=",
    "’": "'",
    "“": '"',
    "”": '"',
    "←": "<-",
    "—": "-",
    "█": "#",
    "▓": "%",
    "▒": "*",
    "░": ":",
    "━": "=",
    "╎": "!",
    "─": "-",
    "│": "|",
    "▸": ">",
}


def clip(text: str, width: int, is_ascii: bool = False) -> str:
    """The text within so many columns; what is cut ends in an ellipsis."""
    if len(text) <= width:
        return text
    end = "..." if is_ascii else "…"
    return text[: max(0, width - len(end))] + end[: max(0, width)]


def clip_middle(text: str, width: int, is_ascii: bool = False) -> str:
    """The text within so many columns, cut in the middle: for names whose end tells them apart,
    such as `orders-…-317`.
    """
    if len(text) <= width:
        return text
    end = "..." if is_ascii else "…"
    tail = min(width // 2, 12)
    return text[: max(0, width - len(end) - tail)] + end + text[-tail:]


def natural(name: str) -> tuple[tuple[str, int], ...]:
    """A key that puts c2 before c10."""
    parts = re.findall(r"([^0-9]*)([0-9]*)", name)
    return tuple((text, int(digits) if digits else -1) for text, digits in parts)


def partitions_told(partitions: Iterable[Partition], most: int = 3) -> str:
    """`orders-3`, `orders-3 and orders-5`, `orders-0 … orders-11`, `orders-0, orders-2 and 9
    more`.
    """
    found = sorted(partitions)
    if (
        len(found) > 2
        and found[-1].topic == found[0].topic
        and found[-1].number - found[0].number == len(found) - 1
    ):
        return f"{safe(str(found[0]))} … {safe(str(found[-1]))}"
    return listed([safe(str(p)) for p in found], most)
