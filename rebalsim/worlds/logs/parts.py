"""Files that a number in their names tells apart (`app.1.log`, `app.2.log`) are one process's log where
each begins after the other has ended and speaks of the same consumers: some loggers name rotated parts
so, and some hosts the lives of a process. Those of replicas run side by side, and stay apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rebalsim.worlds.logs.streams import Stream

_NUMBERED = re.compile(r"^(.+)\.\d{1,4}(\.(?:log|txt|out|json))$")


def unnumbered(host: str) -> str:
    """`pay-3.log` of `pay-3.1.log`."""
    found = _NUMBERED.match(host)
    return found[1] + found[2] if found is not None else host


def made_whole(streams: Sequence[Stream]) -> list[Stream]:
    """The streams, the parts of one log joined in order of time."""
    families: dict[tuple[str, str], list[Stream]] = {}
    for stream in streams:
        if stream.told and unnumbered(stream.host) != stream.host:
            families.setdefault((unnumbered(stream.host), stream.source), []).append(stream)
    joined: set[int] = set()
    for family in families.values():
        joined |= _join(sorted(family, key=lambda s: min(_times(s))))
    return [s for s in streams if id(s) not in joined]


def _join(family: Sequence[Stream]) -> set[int]:
    """Join what follows each other; the identities of those that are part of another now."""
    ends = [max(_times(s)) for s in family]
    begins = [min(_times(s)) for s in family]
    is_in_turn = all(end <= begin for end, begin in zip(ends, begins[1:]))
    if len(family) < 2 or not is_in_turn or not all(_speaks_as(family[0], s) for s in family[1:]):
        return set()
    whole = family[0]
    for part in family[1:]:
        _append(whole, part)
    return {id(s) for s in family[1:]}


def _times(stream: Stream) -> list[int]:
    """The times of its facts, but of those that stand before its first line with a time."""
    return [f.at_us for _, f in stream.told if f.at_us > 0] or [0]


def _speaks_as(one: Stream, other: Stream) -> bool:
    """The same consumers (or the same broker) speak in both."""
    ours, theirs = ({f.client for _, f in s.told if f.client} for s in (one, other))
    return not ours or not theirs or bool(ours & theirs)


def _append(whole: Stream, part: Stream) -> None:
    before, end_us = len(whole.told), max(_times(whole))
    for dialect, fact in part.told:
        fact.at_us = fact.at_us or end_us
        fact.place = fact.place + before if fact.place >= 0 else -1
        whole.told.append((dialect, fact))
    whole.file, whole.modified_us = part.file, part.modified_us
    whole.parts += (part.file, *part.parts)
    whole.coarse += part.coarse
    whole.fine += part.fine
    whole.has_zone = whole.has_zone and part.has_zone
    whole.has_date = whole.has_date and part.has_date
