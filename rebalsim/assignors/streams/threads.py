"""Tasks of a process over its threads: as many each, and back to the thread that has their state."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from rebalsim.assignors.streams.process import Process
from rebalsim.assignors.streams.tasks import TaskId, task_hash
from rebalsim.domain.java_hash import hash_ordered
from rebalsim.domain.java_heap import JavaPriorityQueue


@dataclass(slots=True)
class ThreadTasks:
    """What one thread gets, in the order in which it was given."""

    active: list[TaskId]
    standby: list[TaskId]


def over_threads(process: Process, stateful: Container[TaskId]) -> dict[str, ThreadTasks]:
    """Three passes with one count: active tasks with state, standbys, active ones without."""
    if len(process.threads) == 1:
        return {process.threads[0].member_id: _alone(process, stateful)}
    threads = sorted(claim.member_id for claim in process.threads)
    before = {claim.member_id: _by_lag(process, claim.offset_sums) for claim in process.threads}
    counts = dict.fromkeys(threads, 0)
    with_state = hash_ordered(sorted(t for t in process.active if t in stateful), task_hash)
    without = hash_ordered(sorted(t for t in process.active if t not in stateful), task_hash)
    active = _pass(with_state, threads, before, counts)
    standby = _pass(sorted(process.standby), threads, before, counts)
    stateless = _pass(without, threads, {}, counts)
    return {
        thread: ThreadTasks(active[thread] + stateless[thread], standby[thread])
        for thread in threads
    }


def _alone(process: Process, stateful: Container[TaskId]) -> ThreadTasks:
    """What the passes come to for a single thread: all of it, what it told of first."""
    known = _by_lag(process, process.threads[0].offset_sums)

    def ordered(tasks: Iterable[TaskId]) -> list[TaskId]:
        wanted = set(tasks)
        first = [task for task in known if task in wanted]
        return [*first, *sorted(wanted.difference(first))]

    active = ordered(task for task in process.active if task in stateful)
    stateless = sorted(task for task in process.active if task not in stateful)
    return ThreadTasks(active + stateless, ordered(process.standby))


def _by_lag(process: Process, tasks: Iterable[TaskId]) -> list[TaskId]:
    known = [task for task in tasks if task in process.lags]
    return sorted(known, key=lambda task: (process.lags[task], task))


def _pass(
    tasks: Sequence[TaskId],
    threads: Sequence[str],
    before: dict[str, list[TaskId]],
    counts: dict[str, int],
) -> dict[str, list[TaskId]]:
    """One kind of task over the threads; `counts` goes on from pass to pass."""
    given: dict[str, list[TaskId]] = {thread: [] for thread in threads}
    if not tasks:
        return given
    least = (len(tasks) + sum(counts.values())) // len(threads)
    left = JavaPriorityQueue(lambda task: task, tasks)
    skipped: dict[TaskId, str] = {}
    to_fill = []
    for thread in threads:
        target = least - counts[thread]
        for task in before.get(thread, ()):
            if task not in left:
                continue
            if len(given[thread]) < target:
                given[thread].append(task)
                left.remove(task)
            else:
                skipped[task] = thread
        if len(given[thread]) < target:
            to_fill.append(thread)
    _fill(given, left, to_fill, least, counts)
    _left_over(given, left, skipped, [t for t in threads if len(given[t]) + counts[t] == least])
    for thread in threads:
        counts[thread] += len(given[thread])
    return given


def _fill(
    given: dict[str, list[TaskId]],
    left: JavaPriorityQueue[TaskId],
    to_fill: list[str],
    least: int,
    counts: dict[str, int],
) -> None:
    """The next task to the next thread that has less than its share, round and round."""
    for thread in to_fill:
        task = left.poll()
        assert task is not None  # the shares of all come to no more than there is
        given[thread].append(task)
        if len(given[thread]) + counts[thread] < least:
            to_fill.append(thread)


def _left_over(
    given: dict[str, list[TaskId]],
    left: JavaPriorityQueue[TaskId],
    skipped: dict[TaskId, str],
    may: list[str],
) -> None:
    """One each of what is left: first back to threads that had them, the rest as they come."""
    for task in sorted(skipped):
        thread = skipped[task]
        if thread in may and task in left:
            given[thread].append(task)
            left.remove(task)
            may.remove(thread)
    for task, thread in zip(left, may):
        given[thread].append(task)
