"""A stream thread: its loop of poll and work, and the tasks that it runs, opens and gives up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rebalsim.assignors.streams.process import ThreadClaim
from rebalsim.assignors.streams.tasks import LATEST_OFFSET, TaskId
from rebalsim.domain.ids import Partition
from rebalsim.simulation.streams.application import SECOND, ThreadSettings
from rebalsim.simulation.streams.happenings import (
    Heard,
    RebalanceStarted,
    Refused,
    TaskChanged,
    TasksAssigned,
    ThreadStateChanged,
)
from rebalsim.simulation.streams.house import House
from rebalsim.simulation.streams.membership import Member
from rebalsim.simulation.streams.port import NEVER, Port, Steps
from rebalsim.simulation.streams.state_updater import StateUpdater
from rebalsim.simulation.streams.tasks import Phase, Task

CREATED, STARTING, RUNNING = "CREATED", "STARTING", "RUNNING"
REVOKED, ASSIGNED = "PARTITIONS_REVOKED", "PARTITIONS_ASSIGNED"
PENDING_SHUTDOWN, DEAD = "PENDING_SHUTDOWN", "DEAD"
CHECKPOINT_EVERY = 10_000  # offsets, under at-least-once
FETCH_WAIT_MOST_US = SECOND // 2  # fetch.max.wait.ms
LOCK_RETRY_US, LOCK_RETRY_MOST_US = 1 * SECOND, 10 * SECOND


class StreamThread:
    """Number `number` of an instance, in one life of it. `member` is set by who makes it."""

    member: Member

    def __init__(self, port: Port, instance: House, number: int, settings: ThreadSettings):
        self._port, self.instance, self.number = port, instance, number
        self.settings = settings
        self.timing = instance.application.timing
        self.process = instance.process
        self.state = CREATED
        self.tasks: dict[TaskId, Task] = {}
        self.updater = StateUpdater(
            port,
            instance.application,
            instance.progresses,
            (settings.restore_us, settings.standby_us, settings.restore_byte_us),
            instance.stable_at,
            self._restored,
            self._tell_task,
        )
        self._bell = port.waiting()
        self._sleeps = False
        self._poll_began = port.now
        self._next_rebalance: int | None = None
        self._committed_us = port.now
        self._commit_due = 0
        self._stuck_until = 0
        self._opened_before = False
        self._closes = False
        self._fails = False  # with an exception that nobody caught
        self._gone = False
        self._frozen = False
        self._loop = instance.known_loop(number)
        self._poll_ends_us: int | None = None  # as it is known of a recording
        self._assigned_us = 0
        self._had_records = False  # the last poll ended with records
        self._returned_us = port.now  # when it did

        self._runner = f"{instance.name}.{instance.life}.{number}"

    def _start(self, task: Task, *, again: bool = False) -> None:
        self.instance.progresses.start(task.task, self._runner, self._port.now, again=again)

    def _stop(self, task: Task, *, commits: bool) -> None:
        self.instance.progresses.stop(task.task, self._runner, self._port.now, commits=commits)

    # ------------------------------------------------------------------------------------- the loop

    @property
    def is_closing(self) -> bool:
        return self._closes or self._gone

    @property
    def is_stuck(self) -> bool:
        return self._stuck_until > self._port.now

    def run(self) -> Steps:
        """Poll, then work, until closed."""
        self._set_state(STARTING)
        self.member.begin()
        while not self._gone:
            yield from self._poll()
            if self._closes or self._gone:
                break
            yield from self._work()
        if not self._gone:
            yield from self._shut_down()

    def _poll(self) -> Steps:
        self._poll_began = self._port.now
        self.member.polled()
        while not (self._closes or self._gone):
            if self._frozen or self.is_stuck:
                yield from self._pause(max(self._stuck_until, self._port.now + SECOND))
                continue
            begins = self._port.now == self._poll_began
            if self.member.has_work() and (begins or self.member.acts_at_once):
                yield from self.member.pass_of_poll()
                continue
            until = self._poll_until()
            if self._port.now >= until:
                early = self._port.now < self._poll_began + self.settings.poll_us
                self._had_records = early and self._records_every() != NEVER
                self._returned_us = self._port.now
                return
            if self._is_quiet():
                yield from self._rest()
            else:
                yield from self._pause(until)

    def _poll_until(self) -> int:
        """When poll() returns: with records, or when its time is up."""
        if self._poll_ends_us is not None:
            return self._poll_ends_us
        if self.settings.restores_inside and self._opens():
            return self._poll_began  # a client of 2.3 does not wait while it has tasks to open
        records_us = max(self._poll_began, self._records_after(self._returned_us))
        return min(self._poll_began + self.settings.poll_us, records_us)

    def _is_quiet(self) -> bool:
        """Nothing is under way that a turn of the loop would move on."""
        if self._next_rebalance is not None and self._next_rebalance <= self._port.now:
            return self.member.is_rebalancing
        if self.member.has_work():
            return False
        acts = (Phase.CREATED, Phase.RESTORED, Phase.CORRUPTED)
        waits = any(task.phase in acts for task in self.tasks.values())
        return not waits and (self.state != ASSIGNED or not self._may_run())

    def _rest(self) -> Steps:
        """Turns that change nothing are not played: their phase is kept by arithmetic."""
        asks = self._next_rebalance
        yield from self._pause(NEVER if asks is None or asks <= self._port.now else asks)
        self.member.polled()
        turn = self.settings.poll_us + self.timing.turn_us
        passed = max(0, self._port.now - self._poll_began)
        self._poll_began = max(self._poll_began + passed // turn * turn, self._records_last())
        self._returned_us = max(self._returned_us, self._poll_began)

    def _pause(self, until_us: int) -> Steps:
        self._sleeps = True
        self._bell.set(until_us)
        yield self._bell
        self._bell.off()
        self._sleeps = False

    def _spend(self, length_us: int) -> Steps:
        """Work takes its time, whatever comes meanwhile; a frozen process does none."""
        until = self._port.now + length_us
        while self._port.now < until and not self._gone:
            yield from self._pause(until)
        while self._frozen and not self._gone:
            yield from self._pause(NEVER)

    def wake(self) -> None:
        """Something came that the poll would see."""
        if self._sleeps:
            self._bell.give()

    def _records_after(self, at_us: int) -> int:
        """When the next records come for a task that runs."""
        every = self._records_every()
        if every == NEVER:
            return NEVER
        late = self._records_late()
        return (at_us - late) // every * every + every + late

    def _records_last(self) -> int:
        """When the last ones came; -1 where none come."""
        every = self._records_every()
        return -1 if every == NEVER else self._records_after(self._port.now) - every

    def _records_every(self) -> int:
        if self.state == REVOKED or not self.member.is_ready:
            return NEVER
        rate = max((self._rate(task) for task in self.tasks.values()), default=0.0)
        return NEVER if rate <= 0 else max(self.timing.turn_us, int(SECOND / rate))

    def _records_late(self) -> int:
        """From a record's time to its arrival here."""
        return self.timing.link_us * 4 + self.timing.arrive_us

    def _rate(self, task: Task) -> float:
        if not task.active or task.phase is not Phase.RUNNING:
            return 0.0
        return self.instance.progresses.rate(task.task, self._port.now)

    def _work(self) -> Steps:
        """One iteration beside the poll: open tasks, take up restored ones, and see what is due.
        While records are handled it goes round again, and then takes up what was handed straight
        back.
        """
        self._poll_ends_us = None
        yield from self._spend(self.timing.turn_us)
        self._revive()
        ready = self._handed_back()
        if self.settings.restores_inside and self._restores():
            ready = []  # none runs before all are restored
        fresh = [task for task in self.tasks.values() if task.phase is Phase.CREATED]
        for task in sorted(fresh, key=self._opening_order):
            if task.retry_us <= self._port.now and not self._gone:
                yield from self._open(task)
        yield from self._take_up_all(ready)
        if fresh and self._had_records and not self.settings.restores_inside:
            yield from self._spend(2 * self.timing.turn_us)
            yield from self._take_up_all(self._handed_back())
        if self.state == ASSIGNED and self._may_run():
            self._set_state(RUNNING)
        self.commit_on_interval()
        due = self._next_rebalance
        if due is not None and due <= self._port.now and not self.member.is_rebalancing:
            self._next_rebalance = None
            self.member.request_rejoin(f"triggered followup rebalance scheduled for {due // 1000}")

    def _handed_back(self) -> list[Task]:
        return [task for task in self.tasks.values() if task.phase is Phase.RESTORED]

    def _take_up_all(self, ready: list[Task]) -> Steps:
        fetches = self._fetches()
        for task in ready:
            if task.phase is Phase.RESTORED and not self._gone:
                yield from self._take_up(task, fetches)

    def _fetches(self) -> int:
        """Partitions whose fetch is under way while tasks are taken up."""
        inputs = self.instance.topology.inputs
        return sum(len(inputs[t.task]) for t in self.tasks.values() if self._rate(t) > 0)

    def _opens(self) -> bool:
        return any(task.active and task.phase is Phase.CREATED for task in self.tasks.values())

    def _restores(self) -> bool:
        return any(
            task.active and task.phase in (Phase.CREATED, Phase.RESTORING)
            for task in self.tasks.values()
        )

    def _may_run(self) -> bool:
        return self.member.is_ready and not any(
            task.active
            and task.phase in (Phase.CREATED, Phase.RESTORING, Phase.RESTORED, Phase.CORRUPTED)
            for task in self.tasks.values()
        )

    # ------------------------------------------------------------------------------- opening, running

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
        self._port.at(task.retry_us, lambda _: self.wake())
        self._tell_task(task, "locked")

    def _restored(self, task: Task) -> None:
        self._tell_task(task, "restored" if task.phase is Phase.RESTORED else "corrupted")
        self.wake()

    def _revive(self) -> None:
        """Corrupted tasks are closed dirty, wiped, and begin again from nothing."""
        for name, task in list(self.tasks.items()):
            if task.phase is Phase.CORRUPTED:
                self._break_off(task, "lost")
                self.instance.wipe(name)
                self._create(name, task.active)

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
        """A task one of whose inputs has nothing waits for it before it handles the others."""
        inputs, flow_of = self.instance.topology.inputs[task], self.instance.application.flow_of
        is_silent = any(not any(rate for _, rate in flow_of(p.topic)) for p in inputs)
        return self.settings.max_task_idle_us if is_silent and len(inputs) > 1 else 0

    def _take_up(self, task: Task, fetches: int) -> Steps:
        yield from self._spend(self.timing.fetch_offset_us)
        if self.tasks.get(task.task) is not task or task.phase is not Phase.RESTORED:
            return
        task.phase = Phase.RUNNING
        task.checkpoint = task.position
        first_us = self._first_records(fetches) + self._idle(task.task)
        self._start(task, again=True)
        old = self.settings.restores_inside  # its log has no line for a task that begins to run
        self._tell_task(task, "continued" if old else "running", first_us)
        if old:
            self._sync_readiness()

    # ------------------------------------------------------------------- what the member has it do

    def has_been_told(self) -> None:
        """The consumer's own thread has something to take over; a recording knows when that was."""
        known = self._loop.taken_over_after()
        if known is not None and not self.member.acts_at_once:
            self._poll_ends_us = max(self._port.now, self._port.now + known - self.timing.turn_us)
        self.wake()

    def owned_tasks(self) -> list[TaskId]:
        """Active tasks, whatever their phase."""
        return sorted(task.task for task in self.tasks.values() if task.active)

    def revoke(self, tasks: Sequence[TaskId]) -> Steps:
        """onPartitionsRevoked: everything is committed together, the revoked ones are suspended."""
        given_up = self.inputs_of(tasks)
        self.heard("CallbackBegan", callback="revoked", partitions=given_up)
        self._set_state(REVOKED)
        mine = [self.tasks[task] for task in tasks if task in self.tasks]
        running = [task for task in mine if task.phase is Phase.RUNNING]
        for task in running:
            task.position = self._position(task)
            self._stop(task, commits=True)
            self._suspend(task, ran=True)
        if running:
            flushed = [task for task in mine if task.stateful and self.settings.restores_inside]
            flush_us = self.timing.old_flush_us * len(flushed)
            yield from self._spend(self.timing.commit_us + flush_us)
            self._commit()
        restoring = [task for task in mine if task.phase in (Phase.RESTORING, Phase.CORRUPTED)]
        yield from self._spend(self.updater.wait_for_removal(restoring))
        if any(task.is_beyond_end for task in restoring):
            self.refused("a task was found corrupted while it was revoked", "TaskCorrupted")
            return
        for task in mine:
            if task.phase is Phase.RESTORING:
                self.updater.remove(task)
            if task.phase is not Phase.SUSPENDED:
                self._suspend(task, ran=False)
        self.heard("CallbackEnded", callback="revoked", partitions=given_up)

    def _suspend(self, task: Task, *, ran: bool) -> None:
        task.ran, task.phase = ran, Phase.SUSPENDED
        self._tell_task(task, "suspended")

    def assign(self, generation: int, active: Sequence[TaskId], standby: Sequence[TaskId]) -> Steps:
        """onAssignment and onPartitionsAssigned: close, convert, create."""
        wanted = {**dict.fromkeys(standby, False), **dict.fromkeys(active, True)}
        had = {
            name
            for name, task in self.tasks.items()
            if task.active and task.phase is not Phase.SUSPENDED
        }
        held_back = [t for t in self.tasks.values() if wanted.get(t.task) is not t.active]
        yield from self._spend(self.updater.wait_for_removal(held_back))
        gone = [task for name, task in sorted(self.tasks.items()) if name not in wanted]
        if any(task.stateful and task.opened for task in gone):
            yield from self._spend(self.timing.first_close_us)
        for task in gone:
            yield from self._close(task)
        back = []
        for name, as_active in sorted(wanted.items()):
            held = self.tasks.get(name)
            if held is None:
                self._create(name, as_active)
            elif held.active != as_active:
                self._recycle(held, as_active)
            elif held.phase is Phase.SUSPENDED:
                back.append(held)
        fresh = self.inputs_of(name for name in active if name not in had)
        self.heard("CallbackBegan", callback="assigned", partitions=fresh)
        self.heard("CallbackEnded", callback="assigned", partitions=fresh)
        for held in back:
            self._continue(held)
        now = self._port.now
        self._port.tell(
            TasksAssigned(
                now,
                self.instance.name,
                self.number,
                generation,
                tuple(sorted(active)),
                tuple(sorted(standby)),
            )
        )
        self._set_state(ASSIGNED)
        self._assigned_us = now
        known = self._loop.poll_over_after()
        self._poll_ends_us = None if known is None else now + known
        self._sync_readiness()
        self.instance.look_at_states()

    def _continue(self, task: Task) -> None:
        """A suspended task came back to its owner: it runs on, or, since the state updater restores,
        goes there once more.
        """
        if task.ran and self.settings.restores_inside:
            task.phase = Phase.RUNNING
            self._start(task)
            self._tell_task(task, "continued", self.timing.first_fetch_us)
        elif task.opened:
            task.phase = Phase.RESTORING
            self.updater.add(task)
        else:
            task.phase = Phase.CREATED

    def _create(self, name: TaskId, as_active: bool) -> None:
        stateful = name in self.instance.topology.changelogs
        task = self.tasks[name] = Task(name, as_active, stateful)
        task.position = task.checkpoint = self.instance.on_disk(name)
        self._tell_task(task, "created")

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

    def lose(self) -> Steps:
        """onPartitionsLost: active tasks are closed dirty, standbys kept."""
        gone = [task for task in self.tasks.values() if task.active]
        partitions = self.inputs_of(task.task for task in gone)
        self.heard("CallbackBegan", callback="lost", partitions=partitions)
        for task in gone:
            self._break_off(task, "lost")
        self.heard("CallbackEnded", callback="lost", partitions=partitions)
        yield from self._spend(self.timing.close_task_us)

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

    def _position(self, task: Task) -> int:
        if task.phase is Phase.RUNNING:
            return self.instance.progresses.end(task.task, self._port.now)
        return self.updater.position(task)

    def claim(self, member_id: str) -> ThreadClaim:
        """The subscription: what it owns, and where the state of its tasks stands; the first
        thread to speak tells of what lies on the disk unused as well.
        """
        owned = [p for name in self.owned_tasks() for p in self.instance.topology.inputs[name]]
        sums: dict[TaskId, int] = {}
        for name, task in sorted(self.tasks.items()):
            if task.stateful:
                had = task.phase is Phase.SUSPENDED and task.ran and self.settings.eager
                runs = task.active and (task.phase is Phase.RUNNING or had)
                sums[name] = LATEST_OFFSET if runs else self._position(task)
        sums.update(self.instance.unused_on_disk(self.number))
        return ThreadClaim(
            member_id,
            self.process,
            () if self.settings.eager else tuple(sorted(owned)),
            sums,
            self.settings.rack,
            self.settings.tags,
        )

    def follow_up(self, at_us: int | None) -> None:
        """When another rebalance is to be asked for; None forgets an earlier wish."""
        self._next_rebalance = at_us

    def told_rebalance(self, why: str) -> None:
        """The member joins, or was thrown out."""
        self._port.tell(RebalanceStarted(self._port.now, self.instance.name, self.number, why))

    def heard(self, kind: str, **facts: Any) -> None:
        """Something that a trace of consumers tells as well."""
        self._port.tell(Heard(self._port.now, self.instance.name, self.number, kind, facts))

    def inputs_of(self, tasks: Iterable[TaskId]) -> tuple[Partition, ...]:
        """The partitions that these tasks read."""
        inputs = self.instance.topology.inputs
        return tuple(sorted(p for task in tasks for p in inputs[task]))

    def refused(self, why: str, error: str) -> None:
        """The broker will not have it: the thread dies, and its client with it."""
        self._port.tell(Refused(self._port.now, self.instance.name, why, error))
        self._fails = True
        self.instance.fail()

    # ------------------------------------------------------------------------------------- commits

    def _commit(self) -> None:
        """All running tasks together, where there is anything to commit."""
        now = self._port.now
        self._committed_us = now
        running = [t for t in self.tasks.values() if t.active and t.phase is Phase.RUNNING]
        for task in running:
            self.instance.progresses.commit(task.task, self._runner, now)
        if any(self._rate(task) > 0 for task in running) and not self.settings.exactly_once:
            self.member.commit()

    def commit_on_interval(self, _: object = None) -> None:
        """What is due is committed when the loop comes by, half a poll later on average; but not
        while a rebalance is under way: then after it.
        """
        now = self._port.now
        if self._gone or self._frozen or self.is_stuck or self.member.rests:
            return
        every = self._commit_every()
        if now - self._committed_us >= every and not self.member.is_rebalancing:
            self._commit()
        if self._commit_due <= now and not self.settings.exactly_once:
            due = self._committed_us + every
            self._commit_due = due if due > now else now + every
            self._port.at(self._commit_due, self.commit_on_interval)

    def _commit_every(self) -> int:
        polls = min(self.settings.poll_us, self._records_every())
        return max(1, self.settings.commit_us) + polls // 2

    def make_up_commits(self) -> int:
        """Those of a member that rested are worked out; when the last one was that told of life."""
        if self.settings.exactly_once:
            return 0
        every, progresses = self._commit_every(), self.instance.progresses
        self._committed_us += max(0, (self._port.now - self._committed_us) // every) * every
        running = [task for task in self.tasks.values() if self._rate(task) > 0]
        for task in running:
            if progresses.of(task.task).since_us <= self._committed_us:
                progresses.commit(task.task, self._runner, self._committed_us)
        self._commit_due = self._committed_us + every
        self._port.at(self._commit_due, self.commit_on_interval)
        return self._committed_us if running else 0

    def _last_commit(self) -> int:
        """Under exactly-once commits come so often that they are worked out when they matter."""
        every = max(1, self.settings.commit_us)
        passed = (self._port.now - self._committed_us) // every
        return self._committed_us + passed * every if passed > 0 else self._committed_us

    # --------------------------------------------------------------------------------- coming, going

    def hang(self, length_us: int) -> None:
        """The handler is stuck: no poll, no progress."""
        self.member.rouse()
        self._stuck_until = self._port.now + length_us
        for task in self.tasks.values():
            if task.active and task.phase is Phase.RUNNING:
                self._stop(task, commits=False)
                self._tell_task(task, "stuck")
        self._port.at(self._stuck_until, self._unhang)
        self.wake()

    def _unhang(self, _: object) -> None:
        for task in self.tasks.values():
            if task.active and task.phase is Phase.RUNNING and not self._gone:
                self._resume(task)
        self.wake()

    def ask_to_close(self) -> None:
        self._closes = True
        self.wake()

    def freeze(self) -> None:
        self.member.rouse()
        self._frozen = True
        for task in self.tasks.values():
            if task.active and task.phase is Phase.RUNNING:
                self._stop(task, commits=False)
                self._tell_task(task, "frozen")
        self.member.freeze()

    def thaw(self) -> None:
        self._frozen = False
        for task in self.tasks.values():
            if task.active and task.phase is Phase.RUNNING:
                self._resume(task)
        self.member.thaw()
        self.wake()

    def _resume(self, task: Task) -> None:
        """It goes on where it stood; beside a new owner, if it has one, until it hears of that."""
        if not self.instance.progresses.of(task.task).runner:
            self._start(task)
        self._tell_task(task, "resumed")

    def vanish(self) -> None:
        """The process is gone from one moment to the next."""
        self.member.vanish()
        self._gone = True
        for task in list(self.tasks.values()):
            if self.settings.exactly_once and task.phase is Phase.RUNNING and task.active:
                self.instance.progresses.commit(task.task, self._runner, self._last_commit())
                self.instance.leave_transaction(task.task, self._last_commit())
            self._break_off(task, "killed")
        self.updater.stop()
        self.wake()

    def _shut_down(self) -> Steps:
        """close(): commit, close everything cleanly, and leave the group or not."""
        self.member.rouse()
        self._set_state(PENDING_SHUTDOWN)
        if self._fails:
            self._close_dirty()
        else:
            yield from self._spend(self.timing.commit_us)
            self._commit()
            for task in [task for _, task in sorted(self.tasks.items())]:
                yield from self._close(task)
        self.updater.stop()
        self.member.close(self.settings.leave_on_close or self._fails)
        self._gone = True
        self._set_state(DEAD)
        self.instance.thread_is_dead()

    def _close_dirty(self) -> None:
        """After an exception: nothing is committed, and what is corrupted is wiped."""
        for task in list(self.tasks.values()):
            is_corrupted = task.phase is Phase.CORRUPTED
            self._break_off(task, "lost")
            if is_corrupted:
                self.instance.wipe(task.task)

    # --------------------------------------------------------------------------------------- telling

    def _set_state(self, state: str) -> None:
        before, self.state = self.state, state
        self._port.tell(
            ThreadStateChanged(self._port.now, self.instance.name, self.number, before, state)
        )
        self.instance.look_at_states()

    def _tell_task(self, task: Task, what: str, first_us: int = 0) -> None:
        left = self.updater.left(task) if task.stateful else 0
        name = self.instance.name
        role = "active" if task.active else "standby"
        now, number = self._port.now, self.number
        self._port.tell(TaskChanged(now, name, number, task.task, what, left, role, first_us))
