"""From happenings to stretches: when each task stood still, where, and when it ran again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rebalsim.assignors.streams.tasks import TaskId
from rebalsim.simulation.streams.happenings import Happening, TaskChanged

RUNS = ("running", "ready", "resumed", "continued")
STOPS = {
    "suspended": "revoked",
    "closed": "closed",
    "killed": "killed",
    "lost": "lost",
    "frozen": "frozen",
    "cut-off": "cut off",
    "stuck": "stuck",
    "poisoned": "stuck",
    "punctuating": "stuck",
    "not-ready": "not ready",
}


@dataclass(frozen=True, slots=True)
class Stretch:
    """A task that ran nowhere, from the moment its last owner stopped to the moment somebody ran
    it; `ended_us` is None where that is not seen. Its first records come `first_us` later.
    """

    task: TaskId
    started_us: int
    ended_us: int | None
    why: str
    source: str
    target: str
    first_us: int = 0


def stretches(happenings: Sequence[Happening]) -> list[Stretch]:
    """All of them, in order of their beginning; the time before a task first ran is none."""
    running: dict[TaskId, list[str]] = {}
    open_: dict[TaskId, tuple[int, str, str]] = {}
    found: list[Stretch] = []
    for each in happenings:
        if not isinstance(each, TaskChanged) or each.how == "standby":
            continue
        owners = running.setdefault(each.task, [])
        if each.what in RUNS:
            if not owners and each.task in open_:
                begun, why, source = open_.pop(each.task)
                to, first_us = each.instance, each.first_us
                found.append(Stretch(each.task, begun, each.at_us, why, source, to, first_us))
            if each.instance not in owners:
                owners.append(each.instance)
        elif each.what in STOPS and each.instance in owners:
            owners.remove(each.instance)
            if not owners:
                open_[each.task] = (each.at_us, STOPS[each.what], each.instance)
    for task, (begun, why, source) in sorted(open_.items()):
        found.append(Stretch(task, begun, None, why, source, ""))
    return sorted(found, key=lambda stretch: (stretch.started_us, stretch.task))
