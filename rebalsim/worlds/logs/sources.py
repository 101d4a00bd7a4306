"""Opens whatever holds logs: files, folders (with all below them), standard input; plain, gzip, zstd.

Nothing in a file can stop the reading: what is no text is left out and told, what is cut is read
to where it ends, and a line of megabytes is cut.
"""

from __future__ import annotations

import codecs
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from rebalsim.domain.errors import InputError
from rebalsim.outside.files import first_bytes, opened, stream_in, stream_of
from rebalsim.outside.rule import said, strange
from rebalsim.words.lists import plural

PIECE = 1 << 16  # bytes after which a file is cut, at the end of a line
LONGEST = 1 << 20  # characters of a line; what is longer is cut
_DAY = r"(?:\d{4}-?\d\d-?\d\d(?:[-_T.]\d\d(?:[-:]?\d\d){0,2}|\d\d)?|\d\d-\d\d-\d{4})"
_ENDING = r"\.(?:log|txt|out|json)"
# how loggers name the parts of a rotated log: by a number that grows with age, or by a day
_ROTATED = tuple(
    re.compile(pattern)
    for pattern in (
        rf"^(?P<stem>.+{_ENDING})\.(?P<number>\d{{1,4}})$",
        rf"^(?P<stem>.+{_ENDING})[.-](?P<day>{_DAY})(?:[.-](?P<number>\d{{1,4}}))?$",
        rf"^(?P<stem>.+)[._-](?P<day>{_DAY})(?:[._-](?P<number>\d{{1,4}}))?(?P<ending>{_ENDING})$",
    )
)
_NEWEST = 10**17  # more than any day and number make
_CONTROL = bytes(set(range(32)) - set(b"\t\n\r\x1b"))  # of which a text has next to none
_ZSTD, _GZIP = b"\x28\xb5\x2f\xfd", b"\x1f\x8b"
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # as PowerShell writes what is sent to a file


@dataclass(slots=True)
class Source:
    """One file's lines; `host` is the same for all rotated parts of one log."""

    name: str
    host: str
    path: Path | None = None
    stream: IO[bytes] | None = None
    notes: list[str] = field(default_factory=list)
    raw: IO[bytes] | None = None  # what is beneath a decompressor
    cut: int = 0  # lines that were too long
    is_unreadable: bool = False  # nothing came of it, for the reason that its notes tell

    def lines(self) -> Iterator[str]:
        """Its lines, without their ends."""
        for chunk in self.chunks():
            yield from chunk

    def modified_us(self) -> int:
        """When the file was written last; −1 where there is none."""
        try:
            return int(self.path.stat().st_mtime * 1e6) if self.path is not None else -1
        except OSError:
            return -1

    def chunks(self) -> Iterator[list[str]]:
        """Its lines in lists of many, which is faster."""
        for lines, _ in self.pieces():
            yield lines

    def pieces(self, begin: int = 0, until: int | None = None) -> Iterator[tuple[list[str], int]]:
        """Lists of many lines, and where in the file the next one begins; −1 behind the last, which may
        grow. Of a file that is not packed it may be from where a piece begins, up to some byte.
        """
        coming = self._open() if until is None else self._stretch(begin, until)
        if coming is None:
            self.is_unreadable = True
            return
        has_come = False
        read = coming.read1 if self.stream is not None else _Exactly(coming.read1)
        try:
            for piece in _pieces(read, begin, self._count_cut):
                has_come = True
                yield piece
        except Exception as e:
            is_of_zstd = type(e).__module__.split(".")[0] == "zstandard"
            if not isinstance(e, EOFError | InputError | OSError) and not is_of_zstd:
                raise
            self.is_unreadable = not has_come
            end = "read as far as it goes" if has_come else "nothing of it could be read"
            why = said(e.__context__ or e) if isinstance(e, InputError) else e
            self.notes.append(f"{self.name}: is cut or damaged ({why}); {end}")
        finally:
            if self.cut:
                lines = plural(self.cut, "line")
                self.notes.append(
                    f"{self.name}: {lines} of more than {LONGEST >> 20} MB; what is beyond was left out"
                )
            coming.close()
            if self.raw is not None:
                self.raw.close()

    def may_grow(self) -> bool:
        """It is plain text, which somebody may add to."""
        head = first_bytes(self.path, 4_096) if self.path is not None else b""
        return not head.startswith((_ZSTD, _GZIP, *_WIDE)) and not _is_binary(head)

    def _stretch(self, begin: int, until: int) -> io.BufferedReader:
        assert self.path is not None
        return io.BufferedReader(_Stretch(self.path, begin, until), PIECE)

    def _count_cut(self) -> None:
        self.cut += 1

    def _raw(self) -> io.BufferedReader:
        if self.stream is not None:
            return stream_in(self.name, self.stream)
        assert self.path is not None
        return stream_of(self.path)

    def _open(self) -> io.BufferedReader | None:
        try:
            raw = self._raw()
            head = raw.peek(4_096)[:4_096]
        except InputError as e:
            self.notes.append(str(e))
            return None
        self.raw = raw
        if head.startswith(_ZSTD):
            return _zstd(raw, self.name)
        if head.startswith(_WIDE):
            return io.BufferedReader(_Narrowed(raw), PIECE)
        if _is_binary(head):
            self.notes.append(f"{self.name}: is binary and no log; left out")
            raw.close()
            return None
        return raw


def _is_binary(head: bytes) -> bool:
    return len(head.translate(None, _CONTROL)) * 20 < len(head) * 19


def _zstd(raw: IO[bytes], name: str) -> io.BufferedReader:
    try:
        import zstandard
    except ImportError:
        raise InputError(
            f"{name}: is compressed with zstd — `pip install 'rebalsim[zstd]'` reads it, or unpack "
            "it with `zstd -d`"
        ) from None
    reader = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
    return io.BufferedReader(reader)


class _Narrowed(io.RawIOBase):
    """The UTF-8 of a text in UTF-16."""

    def __init__(self, wide: IO[bytes]) -> None:
        self._wide, self._rest = wide, b""
        self._decoder = codecs.getincrementaldecoder("utf-16")("replace")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest and (raw := self._wide.read(PIECE)):
            self._rest = self._decoder.decode(raw).encode("utf-8", "replace")
        piece, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)


class _Stretch(io.RawIOBase):
    """The bytes of a file from one place to another."""

    def __init__(self, path: Path, begin: int, until: int) -> None:
        self._file, self._left = opened(path), until - begin
        self._file.seek(begin)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._file.read(min(len(buffer), self._left))
        buffer[: len(piece)] = piece
        self._left -= len(piece)
        return len(piece)

    def close(self) -> None:
        self._file.close()
        super().close()


class _Exactly:
    """Reads as many bytes as are asked for, or less at the end: what came before a failure, too."""

    def __init__(self, read1: Callable[[int], bytes]) -> None:
        self._read1 = read1
        self._failure: Exception | None = None

    def __call__(self, size: int) -> bytes:
        found = b""
        while self._failure is None and len(found) < size:
            try:
                more = self._read1(size - len(found))
            except Exception as e:
                self._failure = e
                break
            if not more:
                return found
            found += more
        if self._failure is not None and not found:
            raise self._failure
        return found


def _pieces(
    read: Callable[[int], bytes], begin: int, count_cut: Callable[[], None]
) -> Iterator[tuple[list[str], int]]:
    """Text with whatever is no UTF-8 replaced; a line without an end is cut, and that is counted.

    A file is cut behind the last line that ends within each multiple of a piece's length: at the same
    places, however much of it there is yet.
    """
    rest, skips, at = b"", False, begin
    while raw := read(PIECE - at % PIECE):
        at += len(raw)
        end = raw.rfind(b"\n")
        if end < 0:
            rest += raw
            if len(rest) > LONGEST:
                if not skips:
                    count_cut()
                    yield [rest[:LONGEST].decode("utf-8", "replace")], -1
                rest, skips = b"", True
            continue
        lines = (rest + raw[:end]).decode("utf-8", "replace").split("\n")
        rest = raw[end + 1 :]
        if skips:  # the end of a line that was cut
            lines, skips = lines[1:], False
        if lines:
            is_whole = at % PIECE == 0
            lines = [line.rstrip("\r") for line in lines] if lines[0].endswith("\r") else lines
            yield lines, at - len(rest) if is_whole else -1
    if rest and not skips:
        yield [rest.decode("utf-8", "replace").rstrip("\r")], -1


def sources_in(names: Sequence[str], standard_input: IO[bytes] | None = None) -> list[Source]:
    """Every log that these names mean, oldest part of a rotated one first."""
    for name in names:
        strange(name)
    found: list[Source] = []
    alike = Counter(Path(name).name for name in names)
    for name in names:
        if name == "-":
            if standard_input is None:
                raise InputError("-: standard input is not at hand here — give a file")
            found.append(Source("standard input", "standard input", stream=standard_input))
            continue
        path = Path(name)
        if path.is_dir():
            found += [_source(p, str(p.relative_to(path))) for p in _files_below(path)]
        elif path.exists():
            found.append(_source(path, path.name if alike[path.name] == 1 else name))
        else:
            raise InputError(f"{name}: there is no such file or folder")
    if not found:
        raise InputError(f"{', '.join(names)}: is an empty folder — give one with the logs in it")
    return sorted(found, key=lambda s: (s.host, -part_of(s.name), s.name))


def _files_below(folder: Path) -> Iterable[Path]:
    """All files but hidden ones and the truth beside a recording."""
    return sorted(
        p
        for p in folder.rglob("*")
        if p.is_file()
        and not p.name.startswith(("truth", "."))
        and not any(part.startswith(".") for part in p.relative_to(folder).parts)
    )


def _source(path: Path, name: str) -> Source:
    return Source(name, host_of(name), path)


def _bare(name: str) -> str:
    for ending in (".gz", ".zst", ".zstd"):
        name = name.removesuffix(ending)
    return name


def host_of(name: str) -> str:
    """The log's name without compression and rotation."""
    found = _rotation(name)
    if found is None:
        return _bare(name)
    return found["stem"] + (found.groupdict().get("ending") or "")


def part_of(name: str) -> int:
    """Which of a log's rotated parts it is: the higher, the older; 0 for the one that is written."""
    found = _rotation(name)
    if found is None:
        return 0
    number, day = int(found["number"] or 0), found.groupdict().get("day")
    if day is None:
        return number
    digits = re.sub(r"\D", "", day)
    if day[2] == "-":  # month, day, year
        digits = digits[4:] + digits[:4]
    return _NEWEST - int(digits.ljust(12, "0")[:12]) * 10_000 - number


def _rotation(name: str) -> re.Match[str] | None:
    bare = _bare(name)
    return next((found for p in _ROTATED if (found := p.match(bare)) is not None), None)
