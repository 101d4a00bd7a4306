"""The state updater of a stream thread: restores active tasks beside processing, one changelog after
another, and copies standbys when no active task restores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rebalsim.assignors.streams.tasks import TaskId
from rebalsim.domain.java_hash import hash_ordered, partition_hash
from rebalsim.simulation.streams.application import Application
from rebalsim.simulation.streams.changelogs import Progresses
from rebalsim.simulation.streams.port import NEVER, Port, Steps
from rebalsim.simulation.streams.tasks import Phase, Task

SLICE_BYTES = 1 << 20  # max.partition.fetch.bytes: what one fetch brings of a changelog
MOST_POLLED = 1_000  # max.poll.records of the restore consumer: applied before it looks up


@dataclass(slots=True)
class Stretch:
    """What is applied at once: so many records of each of these changelogs, all of them as evenly
    as they take turns.
    """

    since_us: int
    until_us: int
    parts: dict[TaskId, tuple[int, int]]  # from where, how many
    record_us: float

    def position(self, task: TaskId, now_us: int) -> int:
        begun, amount = self.parts[task]
        lasts = self.until_us - self.since_us
        return begun + (amount * (now_us - self.since_us) // lasts if lasts > 0 else 0)


class StateUpdater:
    """Takes tasks, hands active ones back when they are restored (`restored`)."""

    def __init__(
        self,
        port: Port,
        application: Application,
        progresses: Progresses,
        settings: tuple[float, float, float],
        stable_at: Callable[[TaskId], int],
        restored: Callable[[Task], None],
        told: Callable[[Task, str], None],
    ) -> None:
        self._port = port
        self._application = application
        self._progresses = progresses
        self._restore_us, self._standby_us, self._byte_us = settings
        self._stable_at = stable_at
        self._restored = restored
        self._told = told
        self._new: list[Task] = []
        self._active: list[Task] = []
        self._standby: list[Task] = []
        self._bell = port.waiting()
        self._sleeps = False
        self._stopped = False
        self._is_cut_off = False  # from all brokers: nothing comes
        self._sizes: dict[int, int] = {}  # of a changelog record, by sub-topology
        self._coming: list[Task] = []  # opened, and not looked at yet
        self._polls_us = 0  # since when the restore consumer polls without a break
        self._current: Stretch | None = None

    def add(self, task: Task) -> None:
        """A task was opened. It is seen at once where nothing is under way; else when the restore
        consumer's poll, or the batch at hand, is over. What is opened until then is seen with it.
        """
        self._coming.append(task)
        if len(self._coming) == 1:
            self._port.call(self._port.now + self._until_it_looks(), self._look)

    def _until_it_looks(self) -> int:
        if not self._active and not self._standby:
            return self._application.timing.turn_us
        return self._until_iteration_ends()

    def _until_iteration_ends(self) -> int:
        """A poll that waits, or a batch of records that is applied."""
        since, lasts = self._polls_us, self._application.timing.restore_poll_us
        if self._current is not None:
            since = self._current.since_us
            lasts = max(1, int(MOST_POLLED * self._current.record_us))
        return lasts - (self._port.now - since) % lasts

    def _look(self, _: object) -> None:
        coming, self._coming = self._coming, []
        for task in coming:
            if self._stopped or task.phase is not Phase.RESTORING:
                continue
            if task.active and not task.stateful:
                self._hand_back(task)
            else:
                self._new.append(task)
        self._wake()

    def remove(self, task: Task) -> None:
        """The thread takes a task back before it is done; it keeps what it has."""
        task.position = self.position(task)
        if self._current is not None:
            self._current.parts.pop(task.task, None)
        for tasks in (self._coming, self._new, self._active, self._standby):
            if task in tasks:
                tasks.remove(task)
        self._wake()

    def wait_for_removal(self, tasks: list[Task]) -> int:
        """How long the stream thread waits until these are handed back: until the restore
        consumer's poll, or the batch at hand, is over.
        """
        if not any(task in self._active or task in self._standby for task in tasks):
            return 0
        return self._until_iteration_ends()

    def stop(self) -> None:
        """The thread is gone."""
        for task in (*self._active, *self._standby):
            task.position = self.position(task)
        self._current = None
        self._stopped = True
        self._wake()

    def cut_off(self, is_cut_off: bool) -> None:
        """The link to all brokers is cut, or heals."""
        self._is_cut_off = is_cut_off
        self._wake()

    def position(self, task: Task) -> int:
        """How far a task is now."""
        if task.follows:
            return self._progresses.end(task.task, self._port.now)
        if self._current is not None and task.task in self._current.parts:
            now = self._port.now
            end = self._progresses.end(task.task, now)
            return min(self._current.position(task.task, now), end)
        return task.position

    def left(self, task: Task) -> int:
        """What remains of its changelog."""
        if task.follows:
            return 0
        return max(0, self._progresses.end(task.task, self._port.now) - self.position(task))

    @property
    def _halts(self) -> bool:
        return self._stopped or self._is_cut_off

    def _wake(self) -> None:
        if self._sleeps:
            self._bell.give()

    def _pause(self, until_us: int) -> Steps:
        if self._port.passes(until_us, self._bell):
            return
        self._sleeps = True
        self._bell.set(until_us)
        yield self._bell
        self._bell.off()
        self._sleeps = False

    def run(self) -> Steps:
        """The updater's thread."""
        while not self._stopped:
            if self._new:
                yield from self._take_in()
            if self._is_cut_off:
                yield from self._pause(NEVER)
            elif self._active:
                yield from self._restore()
            elif any(not task.follows for task in self._standby):
                yield from self._copy()
            elif not self._new:
                yield from self._pause(NEVER)

    def _take_in(self) -> Steps:
        fresh, self._new = self._new, []
        asks = False
        for task in fresh:
            if not self._active and not self._standby:
                self._polls_us = self._port.now
            if task.active:
                self._active.append(task)
                asks = True
                begins = "scratch" if task.position == 0 else "checkpoint"
                self._told(task, "recycled" if task.follows else begins)
                task.follows = False
            else:
                self._standby.append(task)
                self._told(task, "standby")
        if asks:
            yield from self._work(self._application.timing.list_offsets_us)

    def _work(self, length_us: int) -> Steps:
        """Time that passes whatever happens, unless the thread is stopped."""
        until = self._port.now + length_us
        while self._port.now < until and not self._stopped:
            yield from self._pause(until)

    def _order(self, tasks: list[Task]) -> list[Task]:
        """The one taken in first alone, then the others as a table of their changelogs has them."""
        if len(tasks) < 3:
            return tasks
        by_topic = {}
        for task in tasks[1:]:
            store = next(iter(self._application.parts[task.task.subtopology].stores))
            by_topic[(f"{self._application.name}-{store}-changelog", task.task.number)] = task
        return [tasks[0], *(by_topic[key] for key in hash_ordered(by_topic, partition_hash))]

    def _restore(self) -> Steps:
        """Slice by slice; what has nothing to restore is done after a poll that finds nothing."""
        for task in list(self._active):
            if task.is_beyond_end:
                self._active.remove(task)
                task.phase = Phase.CORRUPTED
                self._restored(task)
        behind = [task for task in self._active if self.left(task) > 0]
        if not behind and self._active:
            yield from self._work(self._wait_for_end())
        cost_us = self._restore_us
        if rounds := self._whole_rounds(behind):
            yield from self._apply(behind, rounds, cost_us)
        else:
            for task in self._order(behind):
                if task in self._active and not self._halts:
                    yield from self._apply([task], 0, cost_us)
                    self._finish_if_at_end(task)
        for task in list(self._active):
            self._finish_if_at_end(task)

    def _wait_for_end(self) -> int:
        """A poll; or, where the changelogs end in an open transaction, until it is aborted: only
        then do read-committed readers come to the end.
        """
        for task in self._active:
            if self._stable_at(task.task) > self._port.now:
                self._told(task, "held")
        stable = min(self._stable_at(task.task) for task in self._active)
        return max(self._application.timing.restore_poll_us, stable - self._port.now)

    def _finish_if_at_end(self, task: Task) -> None:
        if (
            task in self._active
            and self.left(task) == 0
            and self._stable_at(task.task) <= self._port.now
        ):
            self._active.remove(task)
            self._hand_back(task)

    def _hand_back(self, task: Task) -> None:
        task.phase = Phase.RESTORED
        self._restored(task)

    def _whole_rounds(self, behind: list[Task]) -> int:
        """How often each of these changelogs has its turn before the last fetch of the shortest: they
        advance alike meanwhile, so that all of it is one stretch.
        """
        least = min((self.left(task) // self._fetched(task) for task in behind), default=0)
        return max(0, least - 1)

    def _fetched(self, task: Task) -> int:
        """Records of its changelog in a fetch."""
        return max(1, SLICE_BYTES // self._record_bytes(task))

    def _apply(self, tasks: list[Task], rounds: int, cost_us: float) -> Steps:
        """So many fetches of each changelog; or, without rounds, one, or what is left of it. Whatever
        is added meanwhile does not wait for many rounds.
        """
        parts, length_us = {}, 0.0
        for task in tasks:
            fetched = self._fetched(task)
            amount = rounds * fetched or min(self.left(task), fetched)
            parts[task.task] = (task.position, amount)
            length_us += amount * (cost_us + self._byte_us * self._record_bytes(task))
        now = self._port.now
        record_us = cost_us + self._byte_us * self._record_bytes(tasks[0])
        stretch = self._current = Stretch(now, now + int(length_us), parts, record_us)
        while self._port.now < stretch.until_us and parts and not self._halts:
            if self._new and (rounds or not tasks[0].active):
                break
            yield from self._pause(stretch.until_us)
        for task in tasks:
            if task.task in parts:
                task.position = self.position(task)
        self._current = None

    def _record_bytes(self, task: Task) -> int:
        part = task.task.subtopology
        size = self._sizes.get(part)
        if size is None:
            stores = self._application.parts[part].stores.values()
            size = self._sizes[part] = max(1, *(store.record_bytes for store in stores))
        return size

    def _copy(self) -> Steps:
        """Standbys that are behind, a slice each, until an active task comes."""
        behind = [task for task in self._standby if not task.follows]
        if rounds := self._whole_rounds(behind):
            yield from self._apply(behind, rounds, self._standby_us)
        for task in behind:
            if self._new or self._halts:
                return
            if not rounds and self.left(task) > 0:
                yield from self._apply([task], 0, self._standby_us)
            if task in self._standby and self.left(task) <= self._tail(task):
                task.follows = True
                self._told(task, "follows")

    def _tail(self, task: Task) -> int:
        """What comes while one looks: a standby that close follows from then on."""
        rate = self._progresses.rate(task.task, self._port.now)
        return int(rate * self._progresses.of(task.task).writes * 0.2) + 1
