"""A file that grows, read on from where it was read to: the facts that are new, and those that may change.

Everything up to the last cut (`sources.PIECE`) is final, and put away in a bookmark; the lines behind it,
the last of which may be half a line, are read again the next time, and what they told is replaced. So a
file comes to the same facts whether it is read at once or as it grows. Where something new tells more of
facts that were told already (whose a client is, which day it was), the file is read again as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rebalsim.worlds.logs.bookmarks import (
    Answers,
    Bookmark,
    Page,
    page_from,
    reader_from,
    reader_kept,
    seal_of,
    stream_kept,
    whose_kept,
)
from rebalsim.worlds.logs.sources import Source
from rebalsim.worlds.logs.streams import Census, Reader, Stream, without_collecting
from rebalsim.worlds.logs.tables import clock_of, facts_in_file, rows_of
from rebalsim.worlds.logs.whose import Whose

Rows = Iterator[tuple[Any, ...]]


@dataclass(slots=True)
class Stretch:
    """What one reading of a file tells: rows that take the place of those from some place on."""

    is_whole: bool  # it takes the place of all that the file told before
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    # of each stream, by its source: the first place that it tells, and the first that may still change
    places: dict[str, tuple[int, int]] = field(default_factory=dict)
    bookmark: Bookmark | None = None


def read_on(source: Source, until: int, bookmark: Bookmark | None) -> Stretch:
    """The file's facts up to this byte, from the bookmark on where it holds."""
    assert source.path is not None
    if not source.may_grow():
        return Stretch(True, list(facts_in_file(source.name, source.chunks())))
    if bookmark is not None and _is_of(bookmark, source.path, until):
        found = _Reading(source, bookmark).up_to(until)
        if found is not None:
            return found
    found = _Reading(source, None).up_to(until)
    assert found is not None
    return found


def _is_of(bookmark: Bookmark, path: Path, until: int) -> bool:
    """The file is the one that was read before, and no shorter."""
    return bookmark.at <= until and bookmark.seal == seal_of(path, bookmark.at)


class _Reading:
    """One reading of a file, from its beginning or from a bookmark."""

    def __init__(self, source: Source, bookmark: Bookmark | None) -> None:
        self.source, self.bookmark = source, bookmark
        self.pages: dict[str, Page] = {}  # by the stream's source
        streams: dict[str, Stream] = {}
        if bookmark is None:
            self.reader = Reader(source.name, source.host, streams, Census())
            return
        for key, kept in bookmark.pages.items():
            page = page_from(kept, source.host)
            self.pages[page.stream.source] = page
            streams[key] = page.stream
        self.reader = reader_from(bookmark.reader, source.name, source.host, streams)

    def up_to(self, until: int) -> Stretch | None:
        """All that is told from here; None where that changes what was told before."""
        begin = self.bookmark.at if self.bookmark is not None else 0
        kept = self._read(begin, until)
        streams = {stream.source: stream for stream in self.reader.streams.values()}
        whose = {source: self._whose(stream) for source, stream in streams.items()}
        if not all(_holds(page, whose[source]) for source, page in self.pages.items()):
            return None
        final = _final_places(kept)
        found = Stretch(self.bookmark is None)
        for source, stream in streams.items():
            found.rows += rows_of(stream, whose[source])
            found.places[source] = stream.before, final.get(source, 0)
        found.bookmark = self._answered(kept, streams, whose) if kept is not None else None
        return found

    def _read(self, begin: int, until: int) -> Bookmark | None:
        """Read all of it; the bookmark at the last cut."""
        kept = self.bookmark
        cut = -1
        with without_collecting():
            for lines, at in self.source.pieces(begin, until):
                if at < 0 <= cut:
                    kept = self._kept(cut)
                self.reader.go_on(lines)
                cut = at
            if cut >= 0:
                kept = self._kept(cut)
            self.reader.end()
        return kept

    def _kept(self, at: int) -> Bookmark:
        assert self.source.path is not None
        pages = {}
        for key, stream in self.reader.streams.items():
            whose = whose_kept(self._whose(stream))
            pages[key] = {"stream": stream_kept(stream), "whose": whose}
        return Bookmark(at, seal_of(self.source.path, at), reader_kept(self.reader), pages)

    def _whose(self, stream: Stream) -> Whose:
        """What is known by now."""
        before = self.pages.get(stream.source)
        whose = before.whose.copy() if before is not None else Whose()
        for speaker, fact in stream.told:
            whose.take(speaker, fact)
        return whose

    def _answered(
        self, kept: Bookmark, streams: dict[str, Stream], whose: dict[str, Whose]
    ) -> Bookmark:
        """With the answers that were given to the facts before it."""
        for page in kept.pages.values():
            source = page["stream"]["source"]
            before = self.pages.get(source)
            asked = whose[source].asked_before(page["stream"]["before"])
            asked |= set(before.answers) if before is not None else set()
            answers: Answers = {q: list(whose[source].answer(q)) for q in asked}
            page["answers"] = [[*question, groups] for question, groups in sorted(answers.items())]
            page["clock"] = clock_of(streams[source])
        return kept


def _holds(page: Page, whose: Whose) -> bool:
    """What was told of this stream is as it was."""
    is_same_clock = clock_of(page.stream) == page.clock
    return is_same_clock and all(
        list(whose.answer(question)) == groups for question, groups in page.answers.items()
    )


def _final_places(kept: Bookmark | None) -> dict[str, int]:
    """Of each stream, by its source, the place from which on its facts may still change."""
    streams = [page["stream"] for page in kept.pages.values()] if kept is not None else []
    return {stream["source"]: stream["before"] for stream in streams}
