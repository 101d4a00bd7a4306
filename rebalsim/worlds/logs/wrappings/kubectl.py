"""`kubectl logs --prefix [--timestamps]`: `[pod/NAME/CONTAINER] (TIME )?TEXT`."""

from __future__ import annotations

import re

from rebalsim.worlds.logs.wrappings import Unwrapped, Wrapping, without_time

_LINE = re.compile(r"\[pod/([^/\]\s]{1,253})/([^/\]\s]{1,63})\] ?")
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) ?")


def take(line: str) -> Unwrapped | None:
    """The line without kubectl's prefix, and whose it is."""
    found = _LINE.match(line)
    if found is None:
        return None
    text, stamp = without_time(line[found.end() :], _TIME)
    return Unwrapped(text, stamp, f"{found[1]}/{found[2]}")


WRAPPING = Wrapping("kubectl", take, order=20)
