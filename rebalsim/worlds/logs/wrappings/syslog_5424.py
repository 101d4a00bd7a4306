"""RFC 5424: `<PRI>1 TIME HOST APP PROCID MSGID [DATA] TEXT`."""

from __future__ import annotations

import re

from rebalsim.worlds.logs.times import stamp_of
from rebalsim.worlds.logs.wrappings import Unwrapped, Wrapping, process_of

_LINE = re.compile(
    r"<\d{1,3}>1 (\S{1,40}) (\S{1,255}) (\S{1,48}) (\S{1,128}) \S{1,32} "
    r"(?:-|\[[^\]]{0,2000}\]) ?\ufeff?"
)


def take(line: str) -> Unwrapped | None:
    """The message and whose it is."""
    found = _LINE.match(line)
    if found is None:
        return None
    number = found[4] if found[4] != "-" else ""
    return Unwrapped(
        line[found.end() :], stamp_of(found[1]), process_of(found[2], found[3], number)
    )


WRAPPING = Wrapping("syslog", take, order=5)
