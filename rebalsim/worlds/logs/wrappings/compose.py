"""`docker compose logs`: `SERVICE-1  | (TIME )?TEXT`."""

from __future__ import annotations

import re

from rebalsim.worlds.logs.wrappings import Unwrapped, Wrapping, without_time

_LINE = re.compile(r"([\w][\w.-]{0,100})\s*\| ?")
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7,9}Z) ?")


def take(line: str) -> Unwrapped | None:
    """The line without its service's name."""
    found = _LINE.match(line)
    if found is None:
        return None
    text, stamp = without_time(line[found.end() :], _TIME)
    return Unwrapped(text, stamp, found[1])


WRAPPING = Wrapping("docker compose", take, order=60)
