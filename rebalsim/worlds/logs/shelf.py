"""Facts of one file that are put away while the rest of it is read, so that a file of any length takes the
same memory.

A fact that names no group asks whose it is, and the whole file answers: with each fact its question is
put away, and answered when all was read. What a later line can still change stays at hand: the facts of
a process that has told no date yet.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator

from rebalsim.worlds.logs.packed_facts import packed
from rebalsim.worlds.logs.streams import Stream
from rebalsim.worlds.logs.whose import Question, Whose

MOST_AT_HAND = 10_000  # facts
IN_MEMORY = 4 << 20  # bytes beyond which they go to a temporary file
Put = tuple[int, str, tuple[str, ...], str]  # place, who told it, the groups, the fact


class Shelf:
    """What was put away, and what is known of each stream so far."""

    def __init__(self) -> None:
        self.whose: dict[str, Whose] = {}
        self._questions: dict[tuple[str, Question], int] = {}  # by the stream's source
        self._file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 (closed by __exit__)

    def __enter__(self) -> Shelf:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def put_away(self, streams: Iterable[Stream]) -> None:
        """The facts at hand, where there are many."""
        streams = list(streams)
        if sum(len(stream.told) for stream in streams) > MOST_AT_HAND:
            for stream in streams:
                if stream.told and stream.has_date:
                    self._put(stream)

    def _put(self, stream: Stream) -> None:
        whose = self.whose.setdefault(stream.source, Whose())
        lines = []
        for speaker, fact in stream.told:
            whose.take(speaker, fact)
            number = self._number(stream.source, whose.question_of(fact))
            lines.append(f"{number}\t{fact.place}\t{speaker.name}\t{packed(fact)}\n".encode())
        self._file.write(b"".join(lines))
        whose.forget_places()
        stream.latest = stream.told[-1]
        stream.before += len(stream.told)
        stream.told.clear()

    def _number(self, source: str, question: Question) -> int:
        return self._questions.setdefault((source, question), len(self._questions))

    def whole(self, stream: Stream) -> Whose:
        """All that is known of a stream, with what is at hand."""
        whose = self.whose.setdefault(stream.source, Whose())
        for speaker, fact in stream.told:
            whose.take(speaker, fact)
        return whose

    def taken_back(self) -> Iterator[tuple[str, Put]]:
        """Each fact that was put away, with the source of its stream, and now with its groups."""
        answers = [(source, tuple(self.whose[source].answer(q))) for source, q in self._questions]
        self._file.seek(0)
        for line in self._file:
            number, place, speaker, told = line.decode().rstrip("\n").split("\t", 3)
            source, groups = answers[int(number)]
            yield source, (int(place), speaker, groups, told)
