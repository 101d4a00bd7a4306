"""`observe --follow`: logs read on as they grow, or standard input as it comes, and each new
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
from rebalsim.worlds.logs.anonymise import Names, replace_names
from rebalsim.worlds.logs.following import Followed
from rebalsim.worlds.logs.observation import GroupStory, told_by
from rebalsim.worlds.logs.rounds import Round
from rebalsim.worlds.logs.sources import sources_in
from rebalsim.worlds.logs.streams import Census, Reader, Stream

EVERY_S = 1.0
SAME_US = 10_000_000  # within which no group has two rebalances of the same generation
WAITING = 64  # pieces of standard input that are read ahead


@dataclass(slots=True)
class _Teller:
    """Tells each rebalance that is over, once."""

    group: str
    names: Names | None = None  # that stand for those of the logs
    told: dict[tuple[str, int], int] = field(default_factory=dict)  # when each began

    def tell(self, stories: Iterable[GroupStory]) -> None:
        for story in stories:
            if self.group and story.name != self.group:
                continue
            if self.names is not None:
                replace_names(story, self.names)
            name = namer(story)
            for r in story.rounds:
                if (r.end_us >= 0 or r.over_us >= 0 or r.is_epoch) and self._is_new(story.name, r):
                    click.echo(terminal.as_told(f"{story.name}  {round_told(r, name)}"))

    def _is_new(self, group: str, r: Round) -> bool:
        """It was not told yet. A clock that is known better by now moves a rebalance by a little."""
        key = (group, r.generation if r.generation >= 0 else r.begin_us)
        before_us, self.told[key] = self.told.get(key, -SAME_US), r.begin_us
        return abs(r.begin_us - before_us) >= SAME_US


def follow_logs(
    logs: tuple[str, ...],
    group: str,
    zone: str = "",
    names: Names | None = None,
    most: int | None = None,
) -> int:
    """Tell what is there, then what comes, until interrupted (or so many times). Reading takes no more
    than half of the time, however much there is.
    """
    teller, followed = _Teller(group, names), Followed(zone)
    turns = said = 0
    while most is None or turns < most:
        turns += 1
        begun = time.monotonic()
        if any(not Path(name).is_dir() or any(Path(name).iterdir()) for name in logs):
            teller.tell(followed.look(sources_in(logs)))
        for note in followed.notes[said:] if names is None else ():
            click.echo(terminal.as_told(note), err=True)
        said = len(followed.notes)
        time.sleep(max(EVERY_S, time.monotonic() - begun) if most is None else 0)
    return exits.WITHIN


def follow_input(came: IO[bytes], group: str, zone: str = "", names: Names | None = None) -> int:
    """Tell what comes by standard input, until it ends."""
    streams: dict[str, Stream] = {}
    teller = _Teller(group, names)
    (source,) = sources_in(["-"], came)
    reader = Reader(source.name, source.host, streams, Census())
    for lines in _as_they_come(source.chunks()):
        if lines:
            reader.go_on(lines)
        else:
            teller.tell(told_by(_copies(streams), Census(), "", zone).groups.values())
    reader.end()
    for note in source.notes if names is None else ():
        click.echo(terminal.as_told(note), err=True)
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
