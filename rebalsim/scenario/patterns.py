"""Regular expressions that a file may hold: what is none, and what nobody could match in time."""

from __future__ import annotations

from rebalsim.domain.pattern import BadPattern, matcher_of
from rebalsim.scenario.source import shorten


def bad_pattern(pattern: str) -> str:
    """Why this expression cannot be taken; empty when it can."""
    try:
        matcher_of(pattern)
    except BadPattern as e:
        why = str(e)
        if why.startswith("it is no"):
            return f"'{shorten(pattern)}' {why.removeprefix('it ')} — mend it"
        return f"'{shorten(pattern)}' cannot be matched: {why} — write it more simply"
    return ""
