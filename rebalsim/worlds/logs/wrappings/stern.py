"""stern: `POD CONTAINER (TIME )?TEXT`."""

from __future__ import annotations

import re

from rebalsim.worlds.logs.wrappings import Unwrapped, Wrapping, without_time

_NAME = r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?"
_LINE = re.compile(rf"(?:\S{{1,253}} )?((?=\S*-)(?=\S*[a-z]){_NAME}) ((?=\S*[a-z]){_NAME})(?: |$)")
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) ")


def take(line: str) -> Unwrapped | None:
    """The line without stern's prefix, and whose it is."""
    found = _LINE.match(line)
    if found is None:
        return None
    text, stamp = without_time(line[found.end() :], _TIME)
    return Unwrapped(text, stamp, f"{found[1]}/{found[2]}")


WRAPPING = Wrapping("stern", take, order=70)
