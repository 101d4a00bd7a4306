"""Logs that grow, on one machine: each file read on from where it was read to, and only those groups told
anew of which something new was read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rebalsim.domain.errors import InputError
from rebalsim.worlds.logs.bookmarks import Bookmark
from rebalsim.worlds.logs.going_on import Stretch, read_on
from rebalsim.worlds.logs.observation import GroupStory, none_readable, told_by
from rebalsim.worlds.logs.sources import Source
from rebalsim.worlds.logs.streams import Census
from rebalsim.worlds.logs.tables import streams_of

Row = tuple[Any, ...]
_Process = tuple[str, str]  # a file, and whose lines of it


class Followed:
    """What is known by now of logs that grow."""

    def __init__(self, zone: str = "") -> None:
        self.zone = zone
        self.notes: list[str] = []  # of files that are not what they should be, each once
        self._states: dict[str, tuple[int, int]] = {}  # size and time of each file when it was read
        self._bookmarks: dict[str, Bookmark | None] = {}
        self._rows: dict[str, dict[_Process, list[Row]]] = {}  # by group, in order of place
        self._groups: dict[_Process, set[str]] = {}
        self._modified_us: dict[str, int] = {}  # by host

    def look(self, sources: Iterable[Source]) -> list[GroupStory]:
        """Read what has come since the last look; the groups of which it tells something."""
        news: set[str] = set()
        there: set[str] = set()
        unreadable: list[Source] = []
        for source in sources:
            there.add(source.name)
            state = _state_of(source)
            if state is None or state == self._states.get(source.name):
                continue
            self._states[source.name] = state
            news |= self._read(source, state[0])
            if source.is_unreadable:
                unreadable.append(source)
            self.notes += [note for note in source.notes if note not in self.notes]
        if there and len(unreadable) == len(there) and not self._rows:
            raise InputError(none_readable([n for s in unreadable for n in s.notes]))
        for name in sorted(set(self._states) - there):
            news |= self._forget(name)
        return [story for group in sorted(news) if (story := self._story(group)) is not None]

    def _read(self, source: Source, until: int) -> set[str]:
        """The groups of which this file tells something new."""
        try:
            found = read_on(source, until, self._bookmarks.get(source.name))
        except InputError as e:  # it has gone since, as rotated files do
            source.notes.append(str(e))
            source.is_unreadable = True
            return set()
        self._bookmarks[source.name] = found.bookmark
        modified_us = source.modified_us()
        self._modified_us[source.host] = max(modified_us, self._modified_us.get(source.host, -1))
        return self._take(source.name, found)

    def _take(self, name: str, found: Stretch) -> set[str]:
        news: set[str] = set()
        for process in [p for p in self._groups if p[0] == name]:
            first = 0 if found.is_whole else found.places.get(process[1], (0, 0))[0]
            news |= self._drop(process, first)
        for row in found.rows:
            group, process = row[0], (name, row[4])
            self._rows.setdefault(group, {}).setdefault(process, []).append(row)
            self._groups.setdefault(process, set()).add(group)
            news.add(group)
        return news

    def _drop(self, process: _Process, first: int) -> set[str]:
        """Without what this process told from some place on; the groups of which that was."""
        told_less: set[str] = set()
        for group in self._groups[process]:
            rows = self._rows[group].get(process, [])
            while rows and rows[-1][5] >= first:
                rows.pop()
                told_less.add(group)
        return told_less

    def _forget(self, name: str) -> set[str]:
        """A file has gone, or has another name now."""
        del self._states[name]
        self._bookmarks.pop(name, None)
        return self._take(name, Stretch(is_whole=True))

    def _story(self, group: str) -> GroupStory | None:
        rows = [row for told in self._rows[group].values() for row in told]
        streams = streams_of(rows)
        for stream in streams:
            stream.modified_us = self._modified_us.get(stream.host, -1)
        return told_by(streams, Census(), "", self.zone).groups.get(group)


def _state_of(source: Source) -> tuple[int, int] | None:
    """Its size and time; None where it has just gone."""
    try:
        state = source.path.stat() if source.path is not None else None
    except OSError:
        return None
    return (state.st_size, state.st_mtime_ns) if state is not None else None
