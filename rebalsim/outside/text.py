"""Text that came from outside, made inert for whoever shows it: a terminal, a CI's log, a table.

A terminal obeys escape sequences, a bidirectional override turns a line around, a CI's runner takes
`::error::` or `##[command]` at the beginning of a line for an order, a spreadsheet computes a cell
that begins with `=`. None of these survives here; everything else does.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

_LONGEST = 200
_ORDER = re.compile(r"(?mi)(?:^|(?<=\r))(\s*)(::|##\[)|##\[|##vso\[|::(?=[a-z-]+(?: [^:\n\r]*)?::)")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_KEPT = ("\n",)


def inert(text: str) -> str:
    """Without control characters, escapes and marks that turn or hide text: each is shown as its
    number. Line breaks stay.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in _KEPT or not _is_active(c) else named(c) for c in text)


def inert_line(text: str) -> str:
    """A text made inert, and on one line."""
    return inert(" ".join(text.splitlines()) if "\n" in text or "\r" in text else text)


def inert_data(data: Any) -> Any:
    """Data that becomes JSON for something that shows it: every text within made inert."""
    if isinstance(data, str):
        return inert(data)
    if isinstance(data, dict):
        return {inert(key): inert_data(value) for key, value in data.items()}
    return [inert_data(value) for value in data] if isinstance(data, (list, tuple)) else data


# The same, but colours (which are our own) pass, and a carriage return where a progress line has
# it: at either end of what is written. Within a text it would hide what stands before it.
_ACTIVE = re.compile(
    "\x1b(?!\\[[0-9;]{0,20}m)|(?<!\\A)\r(?!\n|\\Z)|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd"
    "\u070f\u08e2\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U000110bd\U000110cd\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001"
    "\U000e0020-\U000e007f]"
)


def escaped(text: str) -> str:
    """A whole output without what a terminal obeys, beyond colours: each such sign is written as
    JSON writes it, so that a document that holds one still means it.
    """
    return _ACTIVE.sub(_as_json, text)


def _as_json(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def _is_active(c: str) -> bool:
    # Cc control, Cf format (bidirectional marks, zero widths), Cs lone halves, Co private, Cn
    # nothing, Zl and Zp line ends of their own
    return unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def named(c: str) -> str:
    """A character's number, as Python writes it."""
    code = ord(c)
    return (
        f"\\x{code:02x}"
        if code < 0x100
        else f"\\u{code:04x}"
        if code < 0x10000
        else f"\\U{code:08x}"
    )


def no_orders(text: str) -> str:
    """Without what a CI's runner would obey: commands in the two forms that GitHub and its kin
    know lose the sign that makes them so.
    """
    if "::" not in text and "##" not in text:
        return text
    return _ORDER.sub(lambda m: m[0].replace("::", ": :").replace("##", "# #"), text)


def no_formula(cell: str) -> str:
    """A table's text that no spreadsheet computes."""
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def clipped(text: str, longest: int = _LONGEST) -> str:
    """Inert, on one line and not too long: for quoting what somebody wrote."""
    line = inert_line(text[: 4 * longest])
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
