"""`aws logs tail` (`TIME GROUP/STREAM TEXT`) and Heroku's router of logs (`TIME APP[PROCESS]: TEXT`)."""

from __future__ import annotations

import re

from rebalsim.worlds.logs.times import stamp_of
from rebalsim.worlds.logs.wrappings import Unwrapped, Wrapping

_LINE = re.compile(
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) "
    r"(?:([\w.-]{1,250}/[\w./$-]{1,250})|([\w.-]{1,100}\[[\w.-]{1,100}\]):)(?: |$)"
)


def take(line: str) -> Unwrapped | None:
    """The line without its stream's name."""
    found = _LINE.match(line)
    if found is None:
        return None
    return Unwrapped(line[found.end() :], stamp_of(found[1]), found[2] or found[3])


WRAPPING = Wrapping("stream's name", take, order=45)
