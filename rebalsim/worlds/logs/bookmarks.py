"""Where the reading of a file stopped, and all that it must know to go on from there: as JSON.

What is kept is small: not the facts that were told, but the last of them, the lines before which a
silence may begin, who spoke last and when, and what is known of whose groups are. A file whose beginning
or whose last piece is another has been truncated or rotated, and is begun anew.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rebalsim.outside.files import opened
from rebalsim.worlds.logs.dialects import dialect
from rebalsim.worlds.logs.packed_facts import packed, unpacked
from rebalsim.worlds.logs.streams import Census, Reader, Stream
from rebalsim.worlds.logs.times import Stamp
from rebalsim.worlds.logs.whose import Question, Whose
from rebalsim.worlds.logs.wrappings import Unwrapped, all_wrappings

LOOKED_AT = 4_096  # bytes at either end by which a file is known again
_PLAIN = (
    *("file", "source", "coarse", "fine", "collected_us", "has_zone", "has_date", "has_time"),
    *("last_us", "day", "spoke_us"),
)
Answers = dict[Question, list[str]]


@dataclass(slots=True)
class Page:
    """What is known of one stream: itself, whose its facts are, and what was answered."""

    stream: Stream
    whose: Whose
    clock: list[int | bool]  # as it was told with the facts
    answers: Answers


@dataclass(slots=True)
class Bookmark:
    """A reading up to one byte of a file."""

    at: int
    seal: str  # of the file's bytes before it
    reader: dict[str, Any]
    pages: dict[str, dict[str, Any]]

    def to_json(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))

    @staticmethod
    def from_json(text: str) -> Bookmark:
        return Bookmark(**json.loads(text))


def seal_of(path: Path, at: int) -> str:
    """By which the first bytes of a file are known again, up to this one."""
    with opened(path) as file:
        head = file.read(min(at, LOOKED_AT))
        file.seek(max(0, at - LOOKED_AT))
        return f"{zlib.crc32(head):08x}{zlib.crc32(file.read(min(at, LOOKED_AT))):08x}"


# ---------------------------------------------------------------------------------------- put away


def reader_kept(reader: Reader) -> dict[str, Any]:
    """Of the reader itself, as it is now."""
    return {
        "recent": list(reader.recent),
        "wrapping": reader.wrapping.name if reader.wrapping is not None else "",
        "speaking": sorted(reader.sieve.speaking),
        "more": reader.sieve.more,
        "parts": {source: [asdict(p) for p in parts] for source, parts in reader.parts.items()},
        "former": reader.former,
        "lively": dict(reader.lively),
        "seen_us": dict(reader.seen_us),
    }


def stream_kept(stream: Stream) -> dict[str, Any]:
    """Of a stream what is needed to go on with it."""
    found = {name: getattr(stream, name) for name in _PLAIN}
    found["before"] = stream.before + len(stream.told)
    if stream.last is not None:
        speaker, fact = stream.last
        found["latest"] = [speaker.name, packed(fact)]
    return found


def whose_kept(whose: Whose) -> dict[str, Any]:
    """Of what is known of groups: all but which fact asks what."""
    return {
        "clients": whose.clients,
        "named": list(whose.named),
        "threads": {thread: list(groups) for thread, groups in whose.threads.items()},
        "every": list(whose.every),
        "blocks": {str(n): group for n, group in whose.blocks.items()},
        "block": whose.block,
    }


# --------------------------------------------------------------------------------------- taken up


def reader_from(kept: dict[str, Any], file: str, host: str, streams: dict[str, Stream]) -> Reader:
    """The reader as it was."""
    reader = Reader(file, host, streams, Census())
    reader.is_new = False
    reader.recent = list(kept["recent"])
    reader.wrapping = next((w for w in all_wrappings() if w.name == kept["wrapping"]), None)
    reader.sieve.speaking, reader.sieve.more = set(kept["speaking"]), tuple(kept["more"])
    reader.parts = {source: [_part(p) for p in parts] for source, parts in kept["parts"].items()}
    reader.former = kept["former"]
    reader.lively, reader.seen_us = dict(kept["lively"]), dict(kept["seen_us"])
    if reader.wrapping is None:
        reader.bare = streams.get(f"{host}\n")
    return reader


def _part(kept: dict[str, Any]) -> Unwrapped:
    stamp = Stamp(**kept["stamp"]) if kept["stamp"] is not None else None
    return Unwrapped(**{**kept, "stamp": stamp})


def page_from(kept: dict[str, Any], host: str) -> Page:
    """A stream of which only the last fact is at hand, and what is known of it."""
    told = kept["stream"]
    stream = Stream(host, told["file"], told["source"], before=told["before"])
    for name in _PLAIN:
        setattr(stream, name, told[name])
    if "latest" in told:
        speaker, fact = told["latest"]
        stream.latest = dialect(speaker), unpacked(fact)
    answers = {(what, name): groups for what, name, groups in kept["answers"]}
    return Page(stream, _whose_from(kept["whose"]), kept["clock"], answers)


def _whose_from(kept: dict[str, Any]) -> Whose:
    whose = Whose()
    whose.clients, whose.named = dict(kept["clients"]), dict.fromkeys(kept["named"])
    whose.threads = {t: dict.fromkeys(groups) for t, groups in kept["threads"].items()}
    whose.every, whose.block = dict.fromkeys(kept["every"]), kept["block"]
    whose.blocks = {int(n): group for n, group in kept["blocks"].items()}
    return whose
