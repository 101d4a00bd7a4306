"""A stream thread's tasks one by one: opened, handed to the state updater, taken up again, closed
cleanly or broken off.
"""

from __future__ import annotations

from rebalsim.assignors.streams.tasks import TaskId
from rebalsim.simulation.streams.application import SECOND
from rebalsim.simulation.streams.port import Steps
from rebalsim.simulation.streams.tasks import UNREADY, Phase, Task
from rebalsim.simulation.streams.thread_commits import ThreadCommits

CHECKPOINT_EVERY = 10_000  # offsets, under at-least-once
FETCH_WAIT_MOST_US = SECOND // 2  # fetch.max.wait.ms
LOCK_RETRY_US, LOCK_RETRY_MOST_US = 1 * SECOND, 10 * SECOND


class ThreadTasks(ThreadCommits):
    """What a thread does with a task."""

    def _create(self, name: TaskId, as_active: bool) -> None:
        stateful = name in self.instance.topology.changelogs
        task = self.tasks[name] = Task(name, as_active, stateful)
        task.position = task.checkpoint = self.instance.on_disk(name)
        self._tell_task(task, "created")

    def _open(self, task: Task) -> Steps:
        holder = self.instance.locks.get(task.task)
        if holder is not None and holder != self.number:
            self._try_again(task)
            return
        self.instance.locks[task.task] = self.number
        if task.stateful and not task.opened:
            first = not self._opened_before
            self._opened_before = True
            stores = len(self.instance.application.parts[task.task.subtopology].stores)
            cost = stores * self.timing.open_store_us
            if first:
                old = self.settings.restores_inside
                cost += self.timing.old_first_open_us if old else self.timing.first_open_us
            yield from self._spend(self._opening(task.task, cost))
            task.position = task.checkpoint = self.instance.on_disk(task.task)
            task.is_beyond_end = self.instance.is_beyond_end(task.task)
        else:
            yield from self._spend(self._opening(task.task, 0))
        if task.task in self.tasks and self.tasks[task.task] is task:
            task.opened = True
            task.phase = Phase.RESTORING
            self._tell_task(task, "opened")
            self.updater.add(task)

    def _opening_order(self, task: Task) -> tuple[int, bool, TaskId]:
        """Arbitrary in Kafka: as recorded, or active ones first."""
        return self._loop.peek(task.task), not task.active, task.task

    def _opening(self, task: TaskId, usual_us: int) -> int:
        """How long it takes from here, where a recording does not know it."""
        known = self._loop.opened_after(task)
        return usual_us if known is None else max(0, self._assigned_us + known - self._port.now)

    def _try_again(self, task: Task) -> None:
        """Another thread of the process still holds the directory."""
        wait = min(LOCK_RETRY_US << task.attempts, LOCK_RETRY_MOST_US)
        jitter = 0.5 + self._port.draw(f"lock {self.instance.name}-{self.number}").random()
        task.attempts += 1
        task.retry_us = self._port.now + int(wait * jitter)
        self._port.call(task.retry_us, lambda _: self.wake())
        self._tell_task(task, "locked")

    def _handed_back(self) -> list[Task]:
        return [task for task in self.tasks.values() if task.phase is Phase.RESTORED]

    def _take_up_all(self, ready: list[Task]) -> Steps:
        fetches = self._fetches()
        for task in ready:
            if task.phase is Phase.RESTORED and not self._gone and not self.is_stuck:
                yield from self._take_up(task, fetches)

    def _take_up(self, task: Task, fetches: int) -> Steps:
        yield from self._spend(self.timing.fetch_offset_us)
        while self.instance.link.is_cut and not self._gone:
            yield from self._pause(self._port.now + SECOND)
        if self.tasks.get(task.task) is not task or task.phase is not Phase.RESTORED:
            return
        if self.member.rests:
            self.commit_made_up()  # from now on there is more to commit, and at other times
        task.phase = Phase.RUNNING
        task.checkpoint = task.position
        first_us = self._first_records(fetches) + self._idle(task.task)
        handled, again = self._begun_before(task)
        self._start(task, again=True, first_us=first_us)
        old = self.settings.restores_inside  # its log has no line for a task that begins to run
        self._tell_task(task, "continued" if old else "running", first_us, handled, again)
        self.punctuations.began(task.task)
        self.instance.runs(task.task, self.number, first_us)
        if old:
            self._sync_readiness()

    def _begun_before(self, task: Task) -> tuple[float, float]:
        """How many of its records were handled, and how many of these are handled again: those after
        the last commit. What an aborted transaction had done does not count.
        """
        progress = self.instance.progresses.of(task.task)
        handled = progress.reached
        if self.settings.exactly_once:
            return progress.committed, 0.0
        return handled, max(0.0, handled - progress.committed)

    def _fetches(self) -> int:
        """Partitions whose fetch is under way while tasks are taken up."""
        inputs = self.instance.topology.inputs
        return sum(len(inputs[t.task]) for t in self.tasks.values() if self._rate(t) > 0)

    def _first_records(self, fetches: int) -> int:
        """How long until a task's first records come. While a fetch is under way the next one,
        which asks for them as well, waits until it returns with a record of what ran before;
        of records that come together the first alone ends a fetch, and the rest the next.
        """
        now, once = self._port.now, self.timing.first_fetch_us
        if fetches == 0 or (fetches > 1 and now - self._records_last() < once):
            return once
        return min(self._records_after(now) - now, FETCH_WAIT_MOST_US) + once

    def _idle(self, task: TaskId) -> int:
        """A task one of whose inputs has nothing waits for it before it handles the others. What the
        application writes for itself is not taken for nothing.
        """
        inputs, flow_in = self.instance.topology.inputs[task], self.instance.application.flow_in
        own = self.instance.application.parts[task.subtopology].repartition_sources
        is_silent = any(
            not any(rate for _, rate in flow_in(p)) for p in inputs if p.topic not in own
        )
        return self.settings.max_task_idle_us if is_silent and len(inputs) > 1 else 0

    def _opens(self) -> bool:
        created = Phase.CREATED
        return any(task.phase is created and task.active for task in self.tasks.values())

    def _restores(self) -> bool:
        phases = (Phase.CREATED, Phase.RESTORING)
        return any(task.active and task.phase in phases for task in self.tasks.values())

    def _may_run(self) -> bool:
        ready = self.member.is_ready
        return ready and not any(t.active and t.phase in UNREADY for t in self.tasks.values())

    def _sync_readiness(self) -> None:
        """A group that is not ready has its members poll and process nothing."""
        ready = self.member.is_ready and not (self.settings.restores_inside and not self._may_run())
        for task in self.tasks.values():
            if task.active and task.phase is Phase.RUNNING:
                runs = self.instance.progresses.of(task.task).runner == self._runner
                if ready and not runs:
                    self._start(task)
                    self._tell_task(task, "ready")
                elif not ready and runs:
                    self._stop(task, commits=False)
                    self._tell_task(task, "not-ready")

    def _suspend(self, task: Task, *, ran: bool) -> None:
        task.ran, task.phase = ran, Phase.SUSPENDED
        self._tell_task(task, "suspended")

    def _continue(self, task: Task) -> None:
        """A suspended task came back to its owner: it runs on, or, since the state updater restores,
        goes there once more.
        """
        if task.ran and self.settings.restores_inside:
            task.phase = Phase.RUNNING
            self._start(task, first_us=self.timing.first_fetch_us)
            self._tell_task(task, "continued", self.timing.first_fetch_us)
        elif task.opened:
            task.phase = Phase.RESTORING
            self.updater.add(task)
        else:
            task.phase = Phase.CREATED

    def _recycle(self, task: Task, as_active: bool) -> None:
        """The store stays open and changes its role."""
        if not task.active or task.phase is Phase.RESTORING:
            self.updater.remove(task)
        task.active = as_active
        if not as_active:
            task.follows = False
        task.phase = Phase.CREATED
        self._tell_task(task, "recycled")

    def _close(self, task: Task) -> Steps:
        if task.phase is Phase.RUNNING:
            task.position = self._position(task)
            self._stop(task, commits=True)
        elif task.phase in (Phase.RESTORING, Phase.RESTORED):
            self.updater.remove(task)
        stores = len(self.instance.application.parts[task.task.subtopology].stores)
        store_cost = self.timing.close_store_us * stores if task.opened else 0
        yield from self._spend(max(self.timing.close_task_us, store_cost))
        self._drop(task, task.position)
        self._tell_task(task, "closed")

    def _drop(self, task: Task, position: int) -> None:
        self.tasks.pop(task.task, None)
        if self.instance.locks.get(task.task) == self.number:
            del self.instance.locks[task.task]
        if task.stateful and task.opened:
            self.instance.keep(task.task, position)

    def _break_off(self, task: Task, what: str) -> None:
        """Without a commit, and with what the checkpoint has."""
        position = self._checkpointed(task)
        if task.phase is Phase.RUNNING:
            self._stop(task, commits=False)
        elif task.phase in (Phase.RESTORING, Phase.RESTORED) or not task.active:
            self.updater.remove(task)
        self._drop(task, position)
        self._tell_task(task, what)

    def _checkpointed(self, task: Task) -> int:
        """What the checkpoint file says: the clean start, and every 10,000 offsets since; under
        exactly-once a running task has none.
        """
        if self.settings.exactly_once and task.active and task.phase is Phase.RUNNING:
            return 0
        gained = self._position(task) - task.checkpoint
        return task.checkpoint + gained // (CHECKPOINT_EVERY + 1) * (CHECKPOINT_EVERY + 1)

    def _revive(self) -> None:
        """Corrupted tasks are closed dirty, wiped, and begin again from nothing."""
        for name, task in list(self.tasks.items()):
            if task.phase is Phase.CORRUPTED:
                self._break_off(task, "lost")
                self.instance.wipe(name)
                self._create(name, task.active)
