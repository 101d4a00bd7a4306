"""Docker's json-file driver: `{"log":"TEXT\\n","stream":"stdout","time":"…"}`; a line of more than 16 KiB
comes in parts that lack the line's end.
"""

from __future__ import annotations

from rebalsim.worlds.logs.times import stamp_of
from rebalsim.worlds.logs.wrappings import Unwrapped, Wrapping, document_of

_OWN = frozenset(("log", "stream", "time", "attrs"))


def take(line: str) -> Unwrapped | None:
    """The line that the container printed."""
    if not line.startswith('{"log":'):
        return None
    found = document_of(line, "log")
    if found is None:
        return None
    document, text = found
    if not _OWN.issuperset(document):
        return None  # another collector's, that has more to say
    when = document.get("time")
    stamp = stamp_of(when) if isinstance(when, str) else None
    return Unwrapped(text.rstrip("\r\n"), stamp, goes_on=not text.endswith("\n"))


WRAPPING = Wrapping("docker json-file", take, order=10, may_go_on=lambda line: '\\n"' not in line)
