"""The members of whom no log is at hand, as one consumer of a trace: what went to them did not stand still."""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.domain.callback import Callback
from rebalsim.trace import events as ev
from rebalsim.trace.events import TraceEvent
from rebalsim.worlds.logs.facts import FactKind
from rebalsim.worlds.logs.observation import GroupStory
from rebalsim.worlds.logs.pauses import Pause
from rebalsim.worlds.logs.voice_events import partition_of

NO_LOG = "no-log"


def unheard_events(story: GroupStory) -> list[TraceEvent]:
    """What they are given as a pause ends with nobody whom the logs tell of, and hold until somebody
    else speaks of it.
    """
    given = sorted((p for p in story.pauses if p.end_us >= 0 and p.to is None), key=_end)
    if not given:
        return []
    name = name_of(story)
    found: list[TraceEvent] = [
        ev.ConsumerStarted(given[0].end_us, name, 1),
        ev.PollingBegan(given[0].end_us, name, 1),
    ]
    for pause in given:
        found += _called(pause.end_us, name, Callback.ASSIGNED, pause.partition)
        until = _until(story, pause)
        found += _called(until, name, Callback.REVOKED, pause.partition) if until >= 0 else []
    found.sort(key=lambda e: e.at_us)
    return found


def name_of(story: GroupStory) -> str:
    """One that no consumer of the group has."""
    taken = {v.name for v in story.voices}
    name = NO_LOG
    while name in taken:
        name += "-"
    return name


def _called(at_us: int, name: str, call: str, partition: str) -> Sequence[TraceEvent]:
    them = (partition_of(partition),)
    return ev.CallbackBegan(at_us, name, call, them), ev.CallbackEnded(at_us, name, call, them)


def _until(story: GroupStory, pause: Pause) -> int:
    """When a consumer with a log is given it, or gives it up (the line that gave it may be missing; who
    had it before may only have heard late that it is lost); −1 where none is.
    """
    calls = [
        f.at_us
        for v in story.voices
        for f in v.facts
        if f.at_us > pause.end_us
        and pause.partition in f.partitions
        and (f.what == FactKind.ASSIGNED or (f.what == FactKind.REVOKED and v is not pause.owner))
    ]
    return min(calls, default=-1)


def _end(p: Pause) -> int:
    return p.end_us
