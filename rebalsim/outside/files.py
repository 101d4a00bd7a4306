"""Strangers' files as bytes, text or lines, within bounds that are looked at before the work is
done. A file that is packed with gzip is told by its first bytes, not by its name.

Regular files are read, and pipes, so that a shell's `<(command)` and `/dev/stdin` work; a pipe that
stays silent is given up. Devices, sockets and folders are refused.
"""

from __future__ import annotations

import io
import os
import stat
import sys
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Any

from rebalsim.domain.errors import InputError
from rebalsim.outside.pipes import pipe_of
from rebalsim.outside.rule import said, taken_from
from rebalsim.outside.text import clipped

MB = 1 << 20
MOST_BYTES = 128 * MB  # of a document that is taken whole
LONGEST_LINE = 16 * MB  # of a file that is taken line by line
MOST_UNPACKED = 200  # times its packed size a file may come to …
ALWAYS_UNPACKED = 64 * MB  # … and this much at any rate
_PIECE = 256 * 1024
_PACKED = b"\x1f\x8b"
_CR = b"\r"


def read_bytes(path: str | Path, most: int = MOST_BYTES) -> bytes:
    """The whole file, unpacked where it is packed. InputError where it is larger than `most`."""
    found = bytearray()
    for piece in pieces_of(path):
        found += piece
        if len(found) > most:
            raise InputError(
                f"{clipped(str(path))}: has more than the {most:,} bytes that are read of such a "
                "file — is it the right one?"
            )
    return bytes(found)


def first_bytes(path: str | Path, most: int) -> bytes:
    """So much of the file as it is, packed or not: for a reader that says itself what is too much."""
    found = b""
    with taken_from(path, "check its name and permissions"), closing(_raw(path)) as raw:
        for piece in raw:
            found += piece
            if len(found) >= most:
                break
    return found[:most]


def read_text(path: str | Path, most: int = MOST_BYTES) -> str:
    """The whole file as UTF-8 text."""
    with taken_from(path, "write it as UTF-8, plain or .gz"):
        return read_bytes(path, most).decode("utf-8")


def read_lines(path: str | Path) -> Iterator[str]:
    """The file's lines, with their ends, one after another: a file of any length."""
    rest = b""
    with taken_from(path, "write it as UTF-8, plain or .gz"):
        for piece in pieces_of(path):
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                yield f"{line.removesuffix(_CR).decode('utf-8')}\n"
            if len(rest) > LONGEST_LINE:
                raise InputError(
                    f"{clipped(str(path))}: has a line of more than {LONGEST_LINE:,} bytes — is it "
                    "the right file?"
                )
        if rest:
            yield rest.decode("utf-8")


def pieces_of(path: str | Path) -> Iterator[bytes]:
    """The file's bytes in pieces, unpacked where they are packed."""
    with closing(_raw(path)) as raw:
        yield from _plain(path, raw)


def _plain(path: str | Path, raw: Iterator[bytes]) -> Iterator[bytes]:
    """These pieces, unpacked where the first bytes say that they are packed."""
    first = next(raw, b"")
    while len(first) == 1 and (more := next(raw, b"")):  # a pipe gives what it has
        first += more
    if first[:2] != _PACKED:
        if first:
            yield first
        with taken_from(path, "check its name and permissions"):
            yield from raw
        return
    yield from _unpacked(path, first, raw)


class _Pieces(io.RawIOBase):
    """Pieces of bytes as a file that is read from."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._rest = pieces, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            self._rest = next(self._pieces, b"")
            if not self._rest:
                return 0
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


def stream_of(path: str | Path) -> io.BufferedReader:
    """A file, unpacked where it is packed, for a reader that wants something to read from."""
    return io.BufferedReader(_Pieces(pieces_of(path)), _PIECE)


def stream_in(name: str, packed: IO[bytes]) -> io.BufferedReader:
    """What comes on a stream, such as standard input, unpacked where it is packed."""
    read = packed.read1 if isinstance(packed, io.BufferedReader) else packed.read
    return io.BufferedReader(_Pieces(_plain(name, iter(lambda: read(_PIECE), b""))), _PIECE)


def opened(path: str | Path) -> IO[bytes]:
    """The file, open for reading: a regular one or a pipe."""
    shown = clipped(str(path))
    if str(path) == "":
        raise InputError("The name of the file is empty — give a file")
    try:
        # without waiting: opening a pipe that nobody writes to would otherwise never come back
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError) as e:
        raise InputError(
            f"{shown}: cannot be read ({said(e)}) — check its name and permissions"
        ) from None
    mode = os.fstat(handle).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        os.close(handle)
        kind = "a folder" if stat.S_ISDIR(mode) else "a device or socket, and no file"
        raise InputError(f"{shown}: is {kind} — give a file")
    return os.fdopen(handle, "rb", buffering=0)


def _raw(path: str | Path) -> Generator[bytes, None, None]:
    file = opened(path)
    if stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
        yield from pipe_of(file).read(path)
        return
    with file:
        while piece := file.read(_PIECE):
            yield piece


def _unpacked(path: str | Path, first: bytes, raw: Iterator[bytes]) -> Iterator[bytes]:
    """One gzip member after another. What comes out is bounded by what went in: a bomb is told by
    its proportions, long before it has gone off.
    """
    taken, given = 0, 0
    packed, piece = zlib.decompressobj(31), first
    with taken_from(path, "is it whole?"):
        while True:
            taken += len(piece)
            while piece:
                out = packed.decompress(piece, _PIECE)
                given += len(out)
                if given > max(ALWAYS_UNPACKED, MOST_UNPACKED * taken):
                    raise InputError(
                        f"{clipped(str(path))}: unpacks to more than {MOST_UNPACKED} times its "
                        "size — unpack it yourself if that is right, and give the plain file"
                    )
                if out:
                    yield out
                piece = packed.unconsumed_tail
                if packed.eof:
                    piece = packed.unused_data.lstrip(b"\0")
                    if piece:
                        packed = zlib.decompressobj(31)
            more = next(raw, b"")
            if not more:
                break
            piece = more
            if packed.eof:
                packed = zlib.decompressobj(31)
        if not packed.eof:
            raise EOFError("the file ends in the middle")


def read_stdin(most: int) -> bytes:
    """Standard input, at most one byte more than `most`: whoever asks says that it is too long."""
    return sys.stdin.buffer.read(most + 1)
