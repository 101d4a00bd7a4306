"""Facts of files that grow, as rows, with marks among them that say which former rows they replace.

A mark has no dialect. One for each process of a file: its place is the first that these rows tell, its
clock the first that may still change, its fact `whole` where everything that the file told before goes.
Bookmarks are kept for what a file was at the end of this batch and of the one before, which may come again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rebalsim.domain.errors import InputError
from rebalsim.outside.files import read_text
from rebalsim.outside.writing import write_text
from rebalsim.spark.logs_files import Changed
from rebalsim.worlds.logs.bookmarks import Bookmark
from rebalsim.worlds.logs.going_on import Stretch, read_on
from rebalsim.worlds.logs.sources import Source, host_of, part_of

WHOLE, GROWN = "whole", "grown"
MOST_KEPT = 8 << 20  # characters of a bookmark; a file that needs more is read again as a whole
Row = tuple[Any, ...]


def rows_on(changed: Iterable[Changed], bookmarks: Path) -> Iterator[Row]:
    """The rows of each file, behind its marks."""
    for file in changed:
        kept = _Kept(bookmarks / hashlib.sha256(file.name.encode()).hexdigest()[:32])
        source = Source(file.name, host_of(file.name), Path(file.path))
        try:
            found = read_on(source, file.until, kept.of(file.before))
        except InputError:
            continue  # it has gone since, as rotated files do
        kept.keep(file, found.bookmark)
        yield from _marks(file.name, found)
        yield from found.rows


def _marks(name: str, found: Stretch) -> Iterator[Row]:
    word = WHOLE if found.is_whole else GROWN
    for source, (first, final) in (found.places or {"": (0, 0)}).items():
        yield "", host_of(name), -part_of(name), name, source, first, str(final), "", word


class _Kept:
    """The bookmarks of one file, each named by what the file was."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def of(self, state: str) -> Bookmark | None:
        """The bookmark of a file when it was this; None where there is none, or none that is whole."""
        file = self._file(state)
        if not state or not file.exists():
            return None
        try:
            return Bookmark.from_json(read_text(file))
        except (InputError, ValueError, TypeError, KeyError):
            return None

    def keep(self, file: Changed, bookmark: Bookmark | None) -> None:
        """Keep this one and that of the batch before."""
        told = bookmark.to_json() if bookmark is not None else ""
        if told and len(told) <= MOST_KEPT:
            self._place.mkdir(parents=True, exist_ok=True)
            write_text(self._file(file.now), told)
        if self._place.is_dir():
            for other in self._place.glob("*.json"):
                if other not in (self._file(file.before), self._file(file.now)):
                    other.unlink(missing_ok=True)

    def _file(self, state: str) -> Path:
        return self._place / f"{state.replace(' ', '-')}.json"
