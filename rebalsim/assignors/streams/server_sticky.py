"""The broker's task assignor of the streams protocol, `sticky`: members keep what they had up to
their share, and the rest goes to the least loaded process. Lags, racks and tags do not count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rebalsim.domain.java_hash import JavaHashMap, capacity_for
from rebalsim.domain.java_heap import JavaPriorityQueue
from rebalsim.domain.streams_target import MemberTasks, StreamsMember
from rebalsim.domain.task_ids import TaskId

__all__ = ["MemberTasks", "StreamsMember", "assign"]


def assign(
    tasks: Mapping[int, int], stateful: Mapping[int, bool], members: Sequence[StreamsMember], k: int
) -> dict[str, MemberTasks]:
    """`tasks` counts each sub-topology's, `k` is the number of standbys of one with state."""
    dealing = _Dealing(tasks, stateful, members, k)
    every = [TaskId(part, number) for part, count in tasks.items() for number in range(count)]
    dealing.active(every)
    if k:
        dealing.standbys([task for task in every if stateful[task.subtopology]], k)
    return {member.member_id: dealing.targets[member.member_id] for member in members}


def _by_partition(task: TaskId) -> tuple[int, str]:
    return task.number, str(task.subtopology)


def _by_subtopology(task: TaskId) -> tuple[str, int]:
    return str(task.subtopology), task.number


class _Process:
    """The members of one process and how many tasks each has; counts are of this dealing alone."""

    def __init__(self) -> None:
        self.counts: JavaHashMap[str, int] = JavaHashMap()
        self.tasks: set[TaskId] = set()
        self.given = 0
        self._fewest: JavaPriorityQueue[list[object]] | None = None

    @property
    def load(self) -> float:
        return self.given / len(self.counts)

    def note(self, member: str, task: TaskId, *, drops_heap: bool) -> int:
        self.given += 1
        self.tasks.add(task)
        self.counts.put(member, self.counts[member] + 1)
        if drops_heap:
            self._fewest = None
        return self.counts[member]

    def least_loaded(self, task: TaskId) -> tuple[str, int]:
        """The member with the fewest tasks takes it; who that is, and how many it has then."""
        if len(self.counts) == 1:
            (only,) = self.counts
            return only, self.note(only, task, drops_heap=False)
        if self._fewest is None:
            self._fewest = JavaPriorityQueue(lambda entry: entry[1])
            for member, count in self.counts.items():
                self._fewest.offer([member, count])
        entry = self._fewest.poll()
        assert entry is not None
        member = str(entry[0])
        entry[1] = count = self.note(member, task, drops_heap=False)
        self._fewest.offer(entry)
        return member, count


class _Quota:
    """How many tasks a member may have: who reaches it leaves the pool with what it has."""

    def __init__(self, tasks: int, members: int) -> None:
        self._tasks, self._members = tasks, members
        self.each = self._share()

    def _share(self) -> int:
        return -(-self._tasks // self._members) if self._members > 0 else 0

    def reached(self, count: int) -> None:
        if count == self.each:
            self._members -= 1
            self._tasks -= count
            self.each = self._share()


class _Dealing:
    def __init__(
        self,
        tasks: Mapping[int, int],
        stateful: Mapping[int, bool],
        members: Sequence[StreamsMember],
        k: int,
    ) -> None:
        active = sum(tasks.values())
        copies = k * sum(count for part, count in tasks.items() if stateful[part])
        self._active_quota = _Quota(active, len(members))
        self._quota = _Quota(active + copies, len(members))
        self.targets = {member.member_id: MemberTasks() for member in members}
        self._had_active: dict[TaskId, StreamsMember] = {}
        self._had_standby: dict[TaskId, list[StreamsMember]] = {}
        table: JavaHashMap[str, StreamsMember] = JavaHashMap()
        for member in members:
            table.put(member.member_id, member)
        self._processes: JavaHashMap[str, _Process] = JavaHashMap(
            capacity=capacity_for(len(members))
        )
        for member in table.values():
            self._remember(member)

    def _remember(self, member: StreamsMember) -> None:
        if member.process not in self._processes:
            self._processes.put(member.process, _Process())
        self._processes[member.process].counts.put(member.member_id, 0)
        self._had_active.update(dict.fromkeys(sorted(member.active), member))
        for task in sorted(member.standby):
            self._had_standby.setdefault(task, []).append(member)

    # --------------------------------------------------------------------------------------- active

    def active(self, tasks: Sequence[TaskId]) -> None:
        left = sorted(tasks, key=_by_partition)
        left = [task for task in left if not self._back(task, self._had_active.get(task))]
        left = [task for task in left if not self._back(task, self._least(task, holds=False))]
        queue = self._by_load()
        for task in sorted(left, key=_by_subtopology):
            process = queue.poll()
            assert process is not None
            member, count = process.least_loaded(task)
            self.targets[member].active.add(task)
            self._count_active(count)
            queue.offer(process)

    def _back(self, task: TaskId, member: StreamsMember | None) -> bool:
        """The task to the member that had it, while that one has less than its share."""
        if member is None:
            return False
        process = self._processes[member.process]
        if process.counts[member.member_id] >= self._active_quota.each:
            return False
        self.targets[member.member_id].active.add(task)
        self._count_active(process.note(member.member_id, task, drops_heap=True))
        return True

    def _count_active(self, count: int) -> None:
        self._active_quota.reached(count)
        self._quota.reached(count)

    def _by_load(self) -> JavaPriorityQueue[_Process]:
        queue: JavaPriorityQueue[_Process] = JavaPriorityQueue(lambda process: process.load)
        for process in self._processes.values():
            queue.offer(process)
        return queue

    def _least(self, task: TaskId, *, holds: bool) -> StreamsMember | None:
        """Of the members that had a standby the least loaded: the first, unless a later one's
        process and the member itself are both less loaded. `holds` asks that its process does not
        hold the task, which at the end is asked of the first one alone.
        """
        members = self._had_standby.get(task)
        if not members:
            return None
        best = members[0]
        first = process = self._processes[best.process]
        load, count = process.load, process.counts[best.member_id]
        for member in members[1:]:
            process = self._processes[member.process]
            if (
                process.load < load
                and not (holds and task in process.tasks)
                and process.counts[member.member_id] < count
            ):
                best = member
                load, count = process.load, process.counts[member.member_id]
        return None if holds and task in first.tasks else best

    # ------------------------------------------------------------------------------------- standbys

    def standbys(self, tasks: Sequence[TaskId], k: int) -> None:
        left: list[tuple[TaskId, int]] = []
        for task in sorted(tasks, key=_by_partition, reverse=True):
            for number in range(k):
                if not self._stand_by_again(task):
                    left.append((task, k - number))
                    break
        queue = self._by_load()
        left.sort(key=lambda each: _by_subtopology(each[0]), reverse=True)
        for task, replicas in left:
            for _ in range(replicas):
                if not self._stand_by_anywhere(queue, task):
                    break

    def _stand_by_again(self, task: TaskId) -> bool:
        """A standby where the active task was, else where a standby was."""
        member = self._had_active.get(task)
        if (
            member is not None
            and task not in self._processes[member.process].tasks
            and self._stand_by(task, member)
        ):
            return True
        member = self._least(task, holds=True)
        return member is not None and self._stand_by(task, member)

    def _stand_by(self, task: TaskId, member: StreamsMember) -> bool:
        process = self._processes[member.process]
        if process.counts[member.member_id] >= self._quota.each:
            return False
        self.targets[member.member_id].standby.add(task)
        self._quota.reached(process.note(member.member_id, task, drops_heap=True))
        return True

    def _stand_by_anywhere(self, queue: JavaPriorityQueue[_Process], task: TaskId) -> bool:
        """Give a standby to the least loaded process without the task; the processes that were
        passed over go back into the queue, the last one first.
        """
        passed = []
        found = False
        while not found and (process := queue.poll()) is not None:
            passed.append(process)
            if task not in process.tasks:
                member, count = process.least_loaded(task)
                self.targets[member].standby.add(task)
                self._quota.reached(count)
                found = True
        for process in reversed(passed):
            queue.offer(process)
        return found
