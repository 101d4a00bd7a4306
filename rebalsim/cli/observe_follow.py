"""`observe --follow`: logs read again as they grow, or standard input as it comes, and each new
rebalance told once.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

import click

from rebalsim.cli import exits, terminal
from rebalsim.reports.observed import namer, round_told
from rebalsim.worlds.logs.observation import GroupStory, observe, told_by
from rebalsim.worlds.logs.sources import sources_in
from rebalsim.worlds.logs.streams import Census, Reader, Stream

EVERY_S = 1.0
WAITING = 64  # pieces of standard input that are read ahead


@dataclass(slots=True)
class _Teller:
    """Tells each rebalance that is over, once."""

    group: str
    told: set[tuple[str, int, int]] = field(default_factory=set)

    def tell(self, stories: Iterable[GroupStory]) -> None:
        for story in stories:
            name = namer(story)
            for r in story.rounds if not self.group or story.name == self.group else ():
                key = (story.name, r.generation, r.begin_us)
                if key not in self.told and (r.end_us >= 0 or r.over_us >= 0 or r.is_epoch):
                    self.told.add(key)
                    click.echo(terminal.as_told(f"{story.name}  {round_told(r, name)}"))


def follow_logs(logs: tuple[str, ...], group: str, zone: str = "", most: int | None = None) -> int:
    """Tell what is there, then what comes, until interrupted (or so many times). Reading takes no more
    than half of the time, however much there is.
    """
    teller = _Teller(group)
    sizes: dict[str, int] = {}
    turns = 0
    while most is None or turns < most:
        turns += 1
        begun = time.monotonic()
        now = _sizes(logs)
        if now and now != sizes:
            sizes = now
            teller.tell(observe(sources_in(logs), "", zone).groups.values())
        time.sleep(max(EVERY_S, time.monotonic() - begun) if most is None else 0)
    return exits.WITHIN


def follow_input(came: IO[bytes], group: str, zone: str = "") -> int:
    """The same of standard input, until it ends."""
    streams: dict[str, Stream] = {}
    teller = _Teller(group)
    (source,) = sources_in(["-"], came)
    reader = Reader(source.name, source.host, streams, Census())
    for lines in _as_they_come(source.chunks()):
        if lines:
            reader.go_on(lines)
        else:
            teller.tell(told_by(_copies(streams), Census(), "", zone).groups.values())
    reader.end()
    for note in source.notes:
        click.echo(note, err=True)
    teller.tell(told_by(list(streams.values()), Census(), "", zone).groups.values())
    return exits.WITHIN


def _as_they_come(chunks: Iterable[list[str]]) -> Iterator[list[str]]:
    """The pieces, and nothing in between whenever some have come and it is time to tell."""
    ahead: queue.Queue[list[str] | None] = queue.Queue(WAITING)

    def read() -> None:
        try:
            for chunk in chunks:
                ahead.put(chunk)
        finally:
            ahead.put(None)

    threading.Thread(target=read, daemon=True).start()
    since, has_news = time.monotonic(), False
    while True:
        try:
            lines = ahead.get(timeout=EVERY_S)
        except queue.Empty:
            lines = []
        if lines is None:
            return
        if lines:
            yield lines
            has_news = True
        if has_news and time.monotonic() - since >= EVERY_S:
            yield []
            since, has_news = time.monotonic(), False


def _copies(streams: dict[str, Stream]) -> list[Stream]:
    """What is told puts times right: the facts themselves are kept as they were read."""
    return [
        replace(stream, told=[(speaker, replace(fact)) for speaker, fact in stream.told])
        for stream in streams.values()
    ]


def _sizes(logs: tuple[str, ...]) -> dict[str, int]:
    found = {}
    for name in logs:
        path = Path(name)
        files = [p for p in path.rglob("*") if p.is_file()] if path.is_dir() else [path]
        for p in files:
            if p.exists():
                found[str(p)] = p.stat().st_size
    return found
