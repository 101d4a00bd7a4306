"""Processes that were killed because they had not exited when their grace was over, and what kept
them.

Nothing else tells of it: the stuck handler's pause simply ends with the process, however long it
would have gone on.
"""

from __future__ import annotations

from rebalsim.analysis.index import Index
from rebalsim.analysis.values import Alarm
from rebalsim.domain.alarm import AlarmKind
from rebalsim.domain.life_end import OUT_OF_GRACE
from rebalsim.trace import events as ev

_KEEPS = {ev.HandlerStuck: "stuck", ev.ConsumerFroze: "frozen", ev.CloseBegan: "closing"}
_FREES = {ev.HandlerReturned: "stuck", ev.ConsumerThawed: "frozen"}


def find_grace_kills(index: Index) -> list[Alarm]:
    """One for each process that this ended, in order of time."""
    found = [alarm for name in sorted(index.by_consumer) for alarm in _of(name, index)]
    return sorted(found, key=lambda a: (a.at_us, a.consumers))


def _of(name: str, index: Index) -> list[Alarm]:
    found: list[Alarm] = []
    asked = -1
    keeps: dict[str, int] = {}  # what holds it up → the event with which that began
    for n in index.by_consumer[name]:
        e = index.events[n]
        kind = type(e)
        if kind is ev.ConsumerStarted:
            asked, keeps = -1, {}
        elif kind is ev.StopAsked:
            asked = n
        elif kind in _KEEPS:
            keeps[_KEEPS[kind]] = n
        elif kind in _FREES:
            keeps.pop(_FREES[kind], None)
        elif type(e) is ev.ConsumerExited and e.why == OUT_OF_GRACE and asked >= 0:
            found.append(_killed(name, index, n, asked, keeps))
    return found


def _killed(name: str, index: Index, n: int, asked: int, keeps: dict[str, int]) -> Alarm:
    why = next((w for w in ("frozen", "stuck", "closing") if w in keeps), "")
    at_us, asked_us = index.events[n].at_us, index.events[asked].at_us
    figures = {"grace_us": at_us - asked_us}
    if why:
        figures["since_us"] = index.events[keeps[why]].at_us
    evidence = tuple(sorted([asked, n, *([keeps[why]] if why else [])]))
    group = index.group_of.get(name, "")
    return Alarm(
        AlarmKind.KILLED_IN_GRACE, group, at_us, (name,), why, (), -1, 1, figures, evidence
    )
