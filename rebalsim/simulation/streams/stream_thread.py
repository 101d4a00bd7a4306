"""A stream thread: its loop of poll and work, and how it comes and goes."""

from __future__ import annotations

from rebalsim.assignors.streams.tasks import TaskId
from rebalsim.simulation.streams.application import SECOND
from rebalsim.simulation.streams.hand_over import HandOver
from rebalsim.simulation.streams.happenings import ThreadBusy
from rebalsim.simulation.streams.port import NEVER, Steps
from rebalsim.simulation.streams.tasks import WAITING, Phase, Task
from rebalsim.simulation.streams.thread_core import (
    ASSIGNED,
    DEAD,
    PENDING_SHUTDOWN,
    REVOKED,
    RUNNING,
    STARTING,
)

__all__ = ["ASSIGNED", "REVOKED", "RUNNING", "StreamThread"]


class StreamThread(HandOver):
    """A thread from its start to its end."""

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
            if self.member.has_work():
                if busy_us := self.processing.busy_until() - self._port.now:
                    yield from self._spend(busy_us)
                    continue
                if begins or self.member.acts_at_once:
                    yield from self._busily(self.member.pass_of_poll())
                    continue
            until = self._poll_until()
            never_waits = until <= self._poll_began and self._is_flooded()
            if self._port.now >= until and not (never_waits and self._is_quiet()):
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

    def _is_flooded(self) -> bool:
        """Records come faster than it goes round: no poll ever waits."""
        return self._records_every() <= self.timing.turn_us

    def _is_quiet(self) -> bool:
        """Nothing is under way that a turn of the loop would move on."""
        asks = self._next_rebalance is not None and self._next_rebalance <= self._port.now
        if self.member.has_work() or (asks and not self.member.is_rebalancing):
            return False
        for task in self.tasks.values():
            if task.phase in WAITING:
                return False
        return self.state != ASSIGNED or not self._may_run()

    def _rest(self) -> Steps:
        """Turns that change nothing are not played: their phase is kept by arithmetic."""
        asks = self._next_rebalance
        yield from self._pause(NEVER if asks is None or asks <= self._port.now else asks)
        self.member.polled()
        turn = self.settings.poll_us + self.timing.turn_us
        passed = max(0, self._port.now - self._poll_began)
        self._poll_began = max(self._poll_began + passed // turn * turn, self._records_last())
        self._returned_us = max(self._returned_us, self._poll_began)

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
        if fresh:
            yield from self._busily(self._open_all(fresh))
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
        if self.state == RUNNING:
            self.member.come_to_rest()

    def _open_all(self, fresh: list[Task]) -> Steps:
        for task in sorted(fresh, key=self._opening_order):
            if task.retry_us <= self._port.now and not self._gone:
                yield from self._open(task)

    def _busily(self, steps: Steps) -> Steps:
        """Meanwhile the thread's other tasks are not processed."""
        since_us, before = self._port.now, self._running()
        yield from steps
        if not before or self._port.now == since_us or self._frozen:
            return
        kept = [task for task in before if task in self._running()]
        if kept and since_us > self._halted_us:
            now, name = self._port.now, self.instance.name
            self._port.tell(ThreadBusy(now, name, self.number, since_us, tuple(kept)))

    def _running(self) -> list[TaskId]:
        running = Phase.RUNNING
        return [task.task for task in self.tasks.values() if task.phase is running and task.active]

    def hang(self, length_us: int, what: str = "stuck") -> None:
        """The handler is stuck: no poll, no progress."""
        self.member.end_rest()
        self.commit_so_far()
        self._halted_us = self._port.now
        self._stuck_until = self._port.now + length_us
        for task in self.tasks.values():
            if task.active and task.phase is Phase.RUNNING:
                self._stop(task, commits=False)
                self._tell_task(task, what)
        self._port.call(self._stuck_until, self._unhang)
        self.wake()
        self.member.held_up()

    def outlasts(self, length_us: int) -> None:
        """It is at records that take longer than it may stay away from poll()."""
        if not (self._gone or self._frozen or self.is_stuck):
            self.hang(length_us, "slow")

    def punctuate(self, length_us: int) -> None:
        """It is at its punctuators, and nothing else."""
        self.hang(length_us, "punctuating")

    def handles(self, task: TaskId) -> bool:
        """Whether it processes the task's records, for its group."""
        mine = self.tasks.get(task)
        return (
            mine is not None
            and mine.active
            and mine.phase is Phase.RUNNING
            and self.member.generation > 0
        )

    def _unhang(self, _: object) -> None:
        for task in self.tasks.values():
            if task.active and task.phase is Phase.RUNNING and not self._gone:
                self._resume(task)
        self.wake()

    def ask_to_close(self) -> None:
        self._closes = True
        self.wake()

    def freeze(self) -> None:
        self.member.end_rest()
        self.commit_so_far()
        self._frozen = True
        self._halted_us = self._port.now
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

    def cut_off(self, from_all: bool) -> None:
        """What it sends is lost; from all brokers nothing comes, either."""
        self.member.end_rest()
        self.commit_so_far()
        if from_all:
            self.updater.cut_off(True)
            for task in self.tasks.values():
                if task.active and task.phase is Phase.RUNNING:
                    self._stop(task, commits=False)
                    self._tell_task(task, "cut-off")

    def reconnect(self, from_all: bool) -> None:
        if from_all:
            self.updater.cut_off(False)
            for task in self.tasks.values():
                if task.active and task.phase is Phase.RUNNING and not self._frozen:
                    self._resume(task)
        self.member.healed()
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
        self.commit_so_far()
        for task in list(self.tasks.values()):
            if self.settings.exactly_once and task.phase is Phase.RUNNING and task.active:
                self.instance.leave_transaction(task.task, self._committed_us)
            self._break_off(task, "killed")
        self.updater.stop()
        self.wake()

    def _shut_down(self) -> Steps:
        """close(): commit, close everything cleanly, and leave the group or not."""
        self.member.end_rest()
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
