"""`docker logs --timestamps` and `kubectl logs --timestamps` of one container: `TIME TEXT`, the time
with nanoseconds before whatever the application printed; CloudWatch's with milliseconds, before lines
that have a time of their own.
"""

from __future__ import annotations

import re

from rebalsim.worlds.logs.times import stamp_of
from rebalsim.worlds.logs.wrappings import Unwrapped, Wrapping

_LINE = re.compile(
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.(?:\d{7,9}(?:Z|[+-]\d\d:\d\d)(?: |$)"
    r"|\d{3,6}Z(?: (?=\d\d|[\[{\t%])|$)))"
)


def take(line: str) -> Unwrapped | None:
    """The line without the container's time."""
    found = _LINE.match(line)
    if found is None:
        return None
    return Unwrapped(line[found.end() :], stamp_of(found[1]))


WRAPPING = Wrapping("container time", take, order=40)
