"""A Connect cluster's pauses: which groups are of workers, and how a standing task's time is cut
where a group of consumers would only know its rounds.

A task is to a cluster what a partition is to a consumer group. Beyond a group's phases it knows
three: the delay that lost work waits out on purpose, its stop, and its start.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace

from rebalsim.analysis.index import Index
from rebalsim.analysis.phases_classic import Cut
from rebalsim.analysis.values import Facts, Pause
from rebalsim.domain.callback import Callback
from rebalsim.domain.doing import Doing
from rebalsim.domain.pause_start import PauseStart
from rebalsim.domain.phase import PhaseKind
from rebalsim.domain.timer import Timer
from rebalsim.trace import events as ev
from rebalsim.trace.connect_events import TaskFailed, WorkAssigned
from rebalsim.trace.trace import TraceHeader

OF_TASKS = (PhaseKind.DELAY, PhaseKind.STOP, PhaseKind.START)
_WAITS = (
    PhaseKind.NOTICE,
    PhaseKind.BARRIER,
    PhaseKind.ASSIGNMENT,
    PhaseKind.FOLLOW_UP,
    PhaseKind.AWAY,
)
_KINDS = {
    PhaseKind.REVOKE: PhaseKind.STOP,
    PhaseKind.RESTORE: PhaseKind.START,
    PhaseKind.FETCH: PhaseKind.START,
}
OUT = Doing.NO_COORDINATOR
Window = tuple[int, int, int]  # when a delay began, when the wait ended, and when it was due


def worker_groups(header: TraceHeader) -> frozenset[str]:
    """The groups whose members are Connect's workers."""
    return frozenset(facts.group for facts in header.consumers.values() if facts.is_worker)


def workers_of(header: TraceHeader) -> frozenset[str]:
    """The workers' names."""
    return frozenset(name for name, facts in header.consumers.items() if facts.is_worker)


def delays_of(index: Index, groups: frozenset[str]) -> dict[str, list[Window]]:
    """Per group of workers when lost work waited for its worker, from each round that says so to
    its end or the next round; and when it was to end.
    """
    rounds: dict[str, dict[int, tuple[int, int]]] = {group: {} for group in sorted(groups)}
    for e in index.events if groups else ():
        if type(e) is WorkAssigned:
            told = rounds.get(index.group_of.get(e.consumer, ""), {})
            told.setdefault(e.generation, (e.at_us, e.delay_us))
    found: dict[str, list[Window]] = {}
    for group, told in rounds.items():
        ordered = sorted(told.values())
        nexts = [at for at, _ in ordered[1:]] + [index.horizon_us]
        found[group] = [
            (at, min(at + delay, following), at + delay)
            for (at, delay), following in zip(ordered, nexts)
            if delay
        ]
    return found


def recut(index: Index, p: Pause, cuts: Sequence[Cut], delays: Sequence[Window]) -> list[Cut]:
    """The cuts of a task's pause, with its own phases in them."""
    if has_failed(index, p):
        return _of_failed(index, p)
    found: list[Cut] = []
    is_unreachable = coordinator_lost(index, p) >= 0
    for place, cut in enumerate(cuts):
        if is_unreachable and cut.kind is PhaseKind.FOLLOW_UP:  # there is no first rebalance
            found.append(Cut(cut.at_us, PhaseKind.NOTICE, cut.consumer, None, cut.evidence, OUT))
            is_unreachable = False
            continue
        ended = cuts[place + 1].at_us if place + 1 < len(cuts) else p.ended_us
        if cut.kind in _WAITS:
            found += _delayed(cut, ended, delays, p.owner_before)
        else:
            kind = _KINDS.get(cut.kind, cut.kind)
            found.append(replace(cut, kind=kind, round=None if kind in OF_TASKS else cut.round))
    return _joined(found)


def _delayed(cut: Cut, ended: int, delays: Sequence[Window], lost: str) -> list[Cut]:
    """The wait, cut so that what of it lies within a scheduled delay is a phase of its own."""
    found = []
    at = cut.at_us
    first = max(0, bisect_right(delays, at, key=lambda w: w[0]) - 1)
    for begin, end, _ in delays[first:]:
        if begin >= ended:
            break
        if end <= at:
            continue
        if begin > at:
            found.append(replace(cut, at_us=at))
        at = max(at, begin)
        found.append(Cut(at, PhaseKind.DELAY, lost, None, cut.evidence))
        at = min(end, ended)
    if at < ended:
        found.append(replace(cut, at_us=at))
    return found


def _joined(cuts: Sequence[Cut]) -> list[Cut]:
    """Neighbouring cuts of one kind of task's phase, and of the same worker, become one."""
    found: list[Cut] = []
    for cut in cuts:
        last = found[-1] if found else None
        if (
            last is not None
            and last.kind is cut.kind
            and cut.kind in OF_TASKS
            and last.consumer == cut.consumer
        ):
            last.evidence = tuple(dict.fromkeys((*last.evidence, *cut.evidence)))
        else:
            found.append(cut)
    return found


def has_failed(index: Index, p: Pause) -> bool:
    """Did the task's thread die? It is told at the same instant, before what a sink's consumer does
    on its way out.
    """
    number = p.start_event if p.why is PauseStart.LOST else 0
    while number > 0 and index.events[number - 1].at_us == p.started_us:
        number -= 1
        e = index.events[number]
        if type(e) is TaskFailed and e.task == str(p.partition):
            return True
    return False


def coordinator_lost(index: Index, p: Pause) -> int:
    """When the worker lost the coordinator that it had not found again as it stopped its work: the
    number of that event; −1 if it had one.
    """
    if p.why is not PauseStart.REVOKED:
        return -1
    lost = index.last_of(p.owner_before, p.started_us, ev.CoordinatorLost)
    found = index.last_of(p.owner_before, p.started_us, ev.CoordinatorFound)
    return lost if lost > found else -1


def _of_failed(index: Index, p: Pause) -> list[Cut]:
    cuts = [
        Cut(p.started_us, PhaseKind.STUCK, p.owner_before, None, (p.start_event,), Doing.FAILED)
    ]
    for number in p.path:
        e = index.events[number]
        if type(e) is ev.CallbackBegan and e.callback == Callback.ASSIGNED:
            cuts.append(Cut(e.at_us, PhaseKind.START, e.consumer, None, (number,)))
            break
    return cuts


def facts_of(p: Pause, cut: Cut, ended: int, delays: Sequence[Window]) -> Facts | None:
    """What is known of a phase that only tasks have; None of any other."""
    if cut.doing is Doing.FAILED:
        return Facts(cut.consumer, Doing.FAILED, cut.at_us, ended)
    if cut.doing is OUT:
        return Facts(cut.consumer, OUT, cut.at_us, ended)
    if cut.kind is PhaseKind.DELAY:
        return _of_delay(p, cut, ended, delays)
    if cut.kind is PhaseKind.STOP:
        is_closing = p.why is PauseStart.CLOSED and cut.at_us == p.started_us
        return Facts(
            cut.consumer, Doing.CLOSING if is_closing else Doing.STOPPING, cut.at_us, ended
        )
    if cut.kind is PhaseKind.START:
        return Facts(cut.consumer, Doing.STARTING, cut.at_us, ended)
    return None


def _of_delay(p: Pause, cut: Cut, ended: int, delays: Sequence[Window]) -> Facts:
    """A delay is not always waited out: whoever leads next knows nothing of it, and the observation
    may end sooner.
    """
    place = bisect_left(delays, ended, key=lambda w: w[0])
    due = delays[place - 1][2] if place else ended
    told = Facts(cut.consumer, Doing.DELAYED, cut.at_us, ended, Timer.CONNECT_DELAY)
    if due > ended:
        told.left_us = due - ended
        told.until_us = -1 if p.is_open and ended == p.ended_us else ended
    return told
