"""Kafka Streams: a task stands still while its store is rebuilt: standbys that have it already, and a
disk that outlives the restart.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.advice.case import Case
from rebalsim.domain.doing import Doing
from rebalsim.domain.phase import PhaseKind
from rebalsim.domain.remedy import Patch
from rebalsim.domain.scenario import Group
from rebalsim.domain.streams import StreamsApp

REBUILT = (Doing.FROM_SCRATCH, Doing.FROM_CHECKPOINT, Doing.IN_VAIN)
MOST_TRIED = 2  # more copies than two are rare, and the streams protocol allows no more


def propose(case: Case) -> Iterator[Patch | None]:
    group = _group(case)
    if group is None or group.streams is None:
        return
    doings = {phase.facts.doing for phase in case.in_pause(PhaseKind.RESTORE)}
    if not doings.intersection(REBUILT):
        return
    others = len(group.consumers) - 1
    now = group.streams.config.standbys
    for count in range(now + 1, min(others, MOST_TRIED) + 1):
        yield _standbys(case, group, group.streams, count)
    if Doing.FROM_SCRATCH in doings and group.streams.volume == "lost":
        yield case.group_key(group.consumers[0], "streams.volume", "lost", "kept", "volume")


def _group(case: Case) -> Group | None:
    name = case.pause.group if case.pause is not None else ""
    return next((group for group in case.scenario.groups if group.name == name), None)


def _standbys(case: Case, group: Group, app: StreamsApp, count: int) -> Patch:
    key, now = app.config.standbys_key, app.config.standbys
    return case.group_key(group.consumers[0], f"streams.config.{key}", str(now), str(count), key)
