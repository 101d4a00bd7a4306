"""Where standbys go under the high-availability assignor: to the least loaded, or, where tags are
configured, first to processes that differ from the active one (and each other) in them.
"""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.assignors.streams.least_loaded import LeastLoadedQueue, by_load
from rebalsim.assignors.streams.process import Process
from rebalsim.assignors.streams.tasks import TaskId, task_hash
from rebalsim.domain.java_hash import JavaHashMap

Tag = tuple[str, str]


def place_standbys(
    processes: Sequence[Process], tasks: Sequence[TaskId], replicas: int, tags: Sequence[str]
) -> None:
    """`replicas` standbys of each task, as far as there are processes without it."""
    queue = LeastLoadedQueue(lambda process, task: not process.has(task), by_load, processes)
    if tags:
        left: JavaHashMap[TaskId, int] = JavaHashMap(task_hash)
        for task in tasks:
            left.put(task, replicas)
        _apart(queue, processes, tasks, tags, left)
        queue.offer_all()
        for task in list(left):
            _least_loaded(queue, task, left[task])
    else:
        queue.offer_all()
        for task in tasks:
            _least_loaded(queue, task, replicas)


def _least_loaded(queue: LeastLoadedQueue, task: TaskId, replicas: int) -> None:
    for _ in range(replicas):
        process = queue.poll(task)
        if process is None:
            return
        process.standby.add(task)
        queue.offer(process)


def _apart(
    queue: LeastLoadedQueue,
    processes: Sequence[Process],
    tasks: Sequence[TaskId],
    tags: Sequence[str],
    left: JavaHashMap[TaskId, int],
) -> None:
    """Each task's standbys where no tag of those before is met again; what finds no place stays in
    `left`.
    """
    values: dict[str, set[str]] = {}
    for process in processes:
        for key, value in process.tags.items():
            values.setdefault(key, set()).add(value)
    owners = {task: process for process in processes for task in sorted(process.active)}
    for task in tasks:
        if task in owners:
            _apart_one(queue, owners[task], task, tags, values, left)


def _apart_one(
    queue: LeastLoadedQueue,
    owner: Process,
    task: TaskId,
    tags: Sequence[str],
    values: dict[str, set[str]],
    left: JavaHashMap[TaskId, int],
) -> None:
    queue.offer_all()
    used: set[Tag] = set()
    taken, last, wanted = 1, owner, left[task]
    while True:
        _mark(used, last, taken, tags, values)
        found = queue.poll(task, lambda process: used.isdisjoint(process.tags.items()))
        if found is None:
            break
        found.standby.add(task)
        taken, wanted, last = taken + 1, wanted - 1, found
        if wanted <= 0:
            break
    if wanted > 0:
        left[task] = wanted
    else:
        left.remove(task)


def _mark(
    used: set[Tag],
    last: Process,
    taken: int,
    tags: Sequence[str],
    values: dict[str, set[str]],
) -> None:
    """The last one's tags are used up; a tag whose values are, begins anew."""
    for key, value in last.tags.items():
        if key not in tags:
            continue
        if len(values[key]) <= taken:
            used.difference_update([(key, each) for each in values[key]])
        else:
            used.add((key, value))


def same_tags(source: Process, target: Process) -> bool:
    """Whether a standby may be moved for balance: only between processes whose tags agree."""
    return all(target.tags.get(key) == value for key, value in source.tags.items())


def keeps_apart(
    source: Process, target: Process, task: TaskId, processes: Sequence[Process]
) -> bool:
    """Whether a standby may be moved for its racks: if the replicas then differ in as many tags."""
    others: set[Tag] = set()
    for process in processes:
        if process is not source and process is not target and process.has(task):
            others.update(process.tags.items())
    return len(others | set(target.tags.items())) >= len(others | set(source.tags.items()))
