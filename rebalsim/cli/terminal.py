"""What the terminal can show: its width, colour, and whether it takes more than ASCII. The only
place that asks the environment for it.
"""

from __future__ import annotations

import os
import shutil
import sys

DEFAULT_WIDTH = 80
NARROWEST, WIDEST = 40, 1000


def width_of(wanted: int | None) -> int:
    """What was asked for, else the terminal's own width (or COLUMNS), else 80."""
    if wanted is not None:
        return wanted
    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit():
        return min(max(shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns, NARROWEST), WIDEST)
    return DEFAULT_WIDTH


def is_coloured() -> bool:
    """NO_COLOR says no, FORCE_COLOR says yes; else a terminal that is not dumb."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR") or os.environ.get("CLICOLOR_FORCE"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def is_ascii_only() -> bool:
    """Whether stdout could not write a box-drawing character."""
    try:
        "━█▒·→✓".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return True
    return False


def as_told(text: str) -> str:
    """The text as stdout can write it: on one that takes ASCII only, signs by their twins and
    all else written out.
    """
    if text.isascii() or not is_ascii_only():
        return text
    from rebalsim.reports.names import ascii_of

    return ascii_of(text)


def json_as_told(text: str) -> str:
    """JSON as stdout can write it: what it cannot is escaped as JSON does it."""
    if text.isascii() or not is_ascii_only():
        return text
    import json

    return "".join(c if c.isascii() else json.dumps(c)[1:-1] for c in text)
