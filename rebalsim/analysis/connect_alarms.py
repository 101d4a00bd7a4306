"""Two copies of one of Connect's tasks at work: nothing fences a worker that comes back after its
work was given away, and a task that did not stop in time is forgotten, not stopped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from rebalsim.analysis.index import NOTHING, Index
from rebalsim.analysis.ownership import Holdings
from rebalsim.analysis.values import Alarm, Holding
from rebalsim.domain.alarm import AlarmKind, AlarmReason
from rebalsim.domain.ids import Partition
from rebalsim.trace import events as ev
from rebalsim.trace.connect_events import TaskCancelled, TaskStopped

Copy = tuple[int, int, Partition, str, str]  # from, for how long, which, who ran on, beside whom


def find_copies(index: Index, holdings: Holdings, groups: Iterable[str]) -> list[Alarm]:
    """An alarm for each cluster and reason."""
    found = []
    for group in sorted(groups):
        for why, copies in (
            (AlarmReason.TWO_COPIES, _both_held(index, holdings, group)),
            (AlarmReason.RAN_ON, _given_up(index, group)),
        ):
            told = sorted(copies)
            if told:
                found.append(_alarm(group, why, told))
    return found


def _alarm(group: str, why: str, copies: list[Copy]) -> Alarm:
    return Alarm(
        AlarmKind.HELD_TWICE,
        group,
        copies[0][0],
        tuple(dict.fromkeys(c[3] for c in copies)),
        why,
        tuple(sorted({c[4] for c in copies} - {""})),
        -1,
        len(copies),
        {"longest_us": max(c[1] for c in copies)},
        (),
        tuple(sorted({c[2] for c in copies})),
    )


def _both_held(index: Index, holdings: Holdings, group: str) -> Iterator[Copy]:
    """A worker that had it, frozen or cut off, goes on when another has been given it."""
    for (of, task), held in holdings.items():
        if of != group:
            continue
        for before, after in pairwise(held):
            if before.consumer != after.consumer and before.ended_us > after.started_us:
                began = max(after.started_us, _awake_from(index, before, after.started_us))
                ended = min(before.ended_us, after.ended_us)
                if ended > began:
                    yield began, ended - began, task, before.consumer, after.consumer


def _awake_from(index: Index, holding: Holding, at_us: int) -> int:
    """From when on the holder's process was awake: that instant, or the end of its freeze."""
    is_frozen = False
    for n in index.by_consumer.get(holding.consumer, NOTHING):
        e = index.events[n]
        if type(e) is ev.ConsumerFroze and e.at_us <= at_us:
            is_frozen = True
        elif type(e) is ev.ConsumerThawed and is_frozen:
            if e.at_us > at_us:
                return e.at_us
            is_frozen = False
    return holding.ended_us if is_frozen else at_us


def _given_up(index: Index, group: str) -> Iterator[Copy]:
    """Tasks that a worker gave up waiting for, and whose code ran on beside the next owner's."""
    for worker, numbers in index.by_consumer.items():
        if index.group_of.get(worker) != group:
            continue
        forgotten: dict[str, int] = {}
        for n in numbers:
            e = index.events[n]
            if type(e) is TaskCancelled:
                forgotten[e.task] = e.at_us
            elif type(e) is TaskStopped and e.is_leftover and e.task in forgotten:
                since = forgotten.pop(e.task)
                yield since, e.at_us - since, _task(e.task), worker, ""
            elif type(e) is ev.ConsumerExited:
                for task, since in forgotten.items():
                    yield since, e.at_us - since, _task(task), worker, ""
                forgotten.clear()
        for task, since in forgotten.items():
            yield since, index.horizon_us - since, _task(task), worker, ""


def _task(name: str) -> Partition:
    connector, _, number = name.rpartition("-")
    return Partition(connector, int(number))
