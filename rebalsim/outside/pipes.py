"""A pipe gives what is in it once; a command looks at a file to see what it is, then reads it, and
may read it again. So what came out of a pipe is kept, as long as it is not too much.
"""

from __future__ import annotations

import os
import select
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from rebalsim.domain.errors import InputError
from rebalsim.outside.text import clipped

SILENCE_S = 5.0  # a pipe that gives nothing for so long is given up
MOST_KEPT = 64 << 20
PIECE = 256 * 1024


class Pipe:
    """One that is read from, with the pieces that came out of it until now."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.pieces: list[bytes] = []
        self.size = 0
        self.is_silent = self.is_whole = False

    def read(self, path: str | Path) -> Iterator[bytes]:
        """All of it from its beginning."""
        if self.size > MOST_KEPT:
            raise InputError(
                f"{clipped(str(path))}: is a pipe with more in it than is kept to be read again — "
                "write it to a file, and give that"
            )
        place = 0
        while True:
            if place < len(self.pieces):
                piece = self.pieces[place]
                place += 1
            else:
                piece = self._next(path)
                place += self.size <= MOST_KEPT
            if not piece:
                return
            yield piece

    def _next(self, path: str | Path) -> bytes:
        if self.is_whole:
            return b""
        if self.is_silent or not select.select([self.file], [], [], SILENCE_S)[0]:
            self.is_silent = True
            raise InputError(
                f"{clipped(str(path))}: is a pipe that gave nothing for {SILENCE_S:g} s — write it "
                "to a file, and give that"
            )
        piece = self.file.read(PIECE)
        self.size += len(piece)
        if not piece:
            self.is_whole = True
            self.file.close()
        elif self.size <= MOST_KEPT:
            self.pieces.append(piece)
        else:
            self.pieces.clear()
        return piece


_pipes: dict[tuple[int, int], Pipe] = {}


def pipe_of(file: IO[bytes]) -> Pipe:
    """The one that this file is an end of; where it was opened before, that end goes on."""
    stat = os.fstat(file.fileno())
    known = _pipes.get((stat.st_dev, stat.st_ino))
    if known is not None:
        file.close()
        return known
    made = _pipes[stat.st_dev, stat.st_ino] = Pipe(file)
    return made


def forget_pipes() -> None:
    """A command begins."""
    for pipe in _pipes.values():
        pipe.file.close()
    _pipes.clear()
