"""What a stream thread is beside its loop: its tasks, its state, the time that its work takes, and
when records come for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rebalsim.assignors.streams.tasks import TaskId
from rebalsim.domain.ids import Partition
from rebalsim.simulation.engine import FIRST
from rebalsim.simulation.streams.application import SECOND, ThreadSettings
from rebalsim.simulation.streams.happenings import (
    Heard,
    RebalanceStarted,
    Refused,
    TaskChanged,
    ThreadStateChanged,
)
from rebalsim.simulation.streams.house import House
from rebalsim.simulation.streams.membership import Member
from rebalsim.simulation.streams.port import NEVER, Port, Steps
from rebalsim.simulation.streams.processing import Processing
from rebalsim.simulation.streams.punctuations import Punctuations
from rebalsim.simulation.streams.state_updater import StateUpdater
from rebalsim.simulation.streams.tasks import Phase, Task

CREATED, STARTING, RUNNING = "CREATED", "STARTING", "RUNNING"
REVOKED, ASSIGNED = "PARTITIONS_REVOKED", "PARTITIONS_ASSIGNED"
PENDING_SHUTDOWN, DEAD = "PENDING_SHUTDOWN", "DEAD"

TELLS_WHAT_IS_LEFT = frozenset(
    ("scratch", "checkpoint", "recycled", "standby", "suspended", "closed", "killed", "lost")
)


class ThreadCore:
    """Number `number` of an instance, in one life of it. `member` is set by who makes it."""

    member: Member

    def __init__(
        self, port: Port, instance: House, number: int, settings: ThreadSettings, seat: int = 0
    ) -> None:
        """Of beats at one instant those of the lower `seat` go first, whether beats were left out
        before or not.
        """
        self.beat_rank = FIRST + seat
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
        parts = instance.application.parts
        self.punctuations = Punctuations(port, self, parts, settings.poll_us)
        self.processing = Processing(
            port,
            instance.progresses,
            settings.max_poll_us,
            self.punctuations.share,
            self.outlasts,
        )
        self._bell = port.waiting()
        self._sleeps = False
        self._poll_began = port.now
        self._next_rebalance: int | None = None
        self._committed_us = port.now
        self._commit_due = 0
        self._stuck_until = 0
        self._halted_us = -1  # when it last froze, or its handler got stuck
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

    @property
    def is_closing(self) -> bool:
        return self._closes or self._gone

    @property
    def is_gone(self) -> bool:
        return self._gone

    @property
    def is_stuck(self) -> bool:
        return self._stuck_until > self._port.now

    def processes(self, subtopology: int) -> list[TaskId]:
        """Its tasks of it that run."""
        return [
            name
            for name, task in self.tasks.items()
            if name.subtopology == subtopology and task.active and task.phase is Phase.RUNNING
        ]

    def has_records(self, task: TaskId) -> bool:
        """Whether any come for it now."""
        return self.instance.progresses.rate(task, self._port.now) > 0

    def free_at(self) -> int:
        """When it is no longer stuck or frozen; a frozen one is asked again."""
        if self._frozen:
            return self._port.now + SECOND
        return max(self._stuck_until, self._port.now)

    def punctuate(self, length_us: int) -> None:
        """It is at its punctuators, and nothing else."""
        raise NotImplementedError

    def outlasts(self, length_us: int) -> None:
        """It is at records that take longer than it may stay away from poll()."""
        raise NotImplementedError

    def _restored(self, task: Task) -> None:
        self._tell_task(task, "restored" if task.phase is Phase.RESTORED else "corrupted")
        self.wake()

    def _start(self, task: Task, *, again: bool = False, first_us: int = 0) -> None:
        """It is this thread's to process, and its records come so much later."""
        now = self._port.now
        self.instance.progresses.start(task.task, self._runner, now, again=again)
        if first_us:
            self._port.call(now + first_us, self._records_came, (task.task, now))
        else:
            self.processing.take(task.task)

    def _records_came(self, started: tuple[TaskId, int]) -> None:
        task, since_us = started
        progress = self.instance.progresses.of(task)
        if progress.runner == self._runner and progress.since_us == since_us:
            self.processing.take(task)

    def _stop(self, task: Task, *, commits: bool) -> None:
        self.instance.progresses.stop(task.task, self._runner, self._port.now, commits=commits)
        self.processing.give_up(task.task)
        if commits:
            self._tell_commits(self._port.now, 0, self._port.now)

    def _tell_commits(self, first_us: int, every_us: int, last_us: int) -> None:
        facts = {"every_us": every_us, "last_us": last_us}
        self._port.tell(Heard(first_us, self.instance.name, self.number, "CommitsMade", facts))

    def _pause(self, until_us: int) -> Steps:
        if self._port.passes(until_us, self._bell):
            return
        self._sleeps = True
        self._bell.set(until_us)
        yield self._bell
        self._bell.off()
        self._sleeps = False

    def _spend(self, length_us: int) -> Steps:
        """Work takes its time, whatever comes meanwhile; a frozen process does none."""
        port = self._port
        until = port.now + length_us
        while port.now < until and not self._gone:
            yield from self._pause(until)
        while self._frozen and not self._gone:
            yield from self._pause(NEVER)

    def wake(self) -> None:
        """Something came that the poll would see."""
        if self._sleeps:
            self._bell.give()

    def _rate(self, task: Task) -> float:
        if not task.active or task.phase is not Phase.RUNNING:
            return 0.0
        return self.instance.progresses.rate(task.task, self._port.now)

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
        if every == NEVER:
            return -1
        late = self._records_late()
        return (self._port.now - late) // every * every + late

    def _records_every(self) -> int:
        if self.state == REVOKED or not self.member.is_ready:
            return NEVER
        rate, now, rate_of = 0.0, self._port.now, self.instance.progresses.rate
        running = Phase.RUNNING
        for task in self.tasks.values():
            if task.phase is running and task.active:
                its_rate = rate_of(task.task, now)
                if its_rate > rate:
                    rate = its_rate
        return NEVER if rate <= 0 else max(self.timing.turn_us, int(SECOND / rate))

    def _records_late(self) -> int:
        """From a record's time to its arrival here."""
        return self.timing.fetch_us

    def _position(self, task: Task) -> int:
        if task.phase is Phase.RUNNING:
            return self.instance.progresses.end(task.task, self._port.now)
        return self.updater.position(task)

    def owned_tasks(self) -> list[TaskId]:
        """Active tasks, whatever their phase."""
        return sorted(task.task for task in self.tasks.values() if task.active)

    def inputs_of(self, tasks: Iterable[TaskId]) -> tuple[Partition, ...]:
        """The partitions that these tasks read."""
        inputs = self.instance.topology.inputs
        return tuple(sorted(p for task in tasks for p in inputs[task]))

    def heard(self, kind: str, **facts: Any) -> None:
        """Something that a trace of consumers tells as well."""
        self._port.tell(Heard(self._port.now, self.instance.name, self.number, kind, facts))

    def told_rebalance(self, why: str) -> None:
        """The member joins, or was thrown out."""
        self._port.tell(RebalanceStarted(self._port.now, self.instance.name, self.number, why))

    def refused(self, why: str, error: str) -> None:
        """The broker will not have it: the thread dies, and its client with it."""
        self._port.tell(Refused(self._port.now, self.instance.name, why, error))
        self._fails = True
        self.instance.fail()

    def _set_state(self, state: str) -> None:
        before, self.state = self.state, state
        self._port.tell(
            ThreadStateChanged(self._port.now, self.instance.name, self.number, before, state)
        )
        self.instance.look_at_states()

    def _tell_task(
        self, task: Task, what: str, first_us: int = 0, handled: float = -1.0, again: float = 0.0
    ) -> None:
        left = self.updater.left(task) if task.stateful and what in TELLS_WHAT_IS_LEFT else 0
        name = self.instance.name
        role = "active" if task.active else "standby"
        now, number = self._port.now, self.number
        self._port.tell(
            TaskChanged(now, name, number, task.task, what, left, role, first_us, handled, again)
        )
