"""What a stream thread's consumer has it do within poll(): give tasks up, take tasks over, and tell
what it has.
"""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.assignors.streams.process import ThreadClaim
from rebalsim.assignors.streams.tasks import LATEST_OFFSET, TaskId
from rebalsim.domain.callback import Callback
from rebalsim.simulation.streams.happenings import TasksAssigned
from rebalsim.simulation.streams.port import Steps
from rebalsim.simulation.streams.tasks import Phase
from rebalsim.simulation.streams.thread_core import ASSIGNED, REVOKED
from rebalsim.simulation.streams.thread_tasks import ThreadTasks


class HandOver(ThreadTasks):
    """The callbacks of a rebalance."""

    def has_been_told(self) -> None:
        """The consumer's own thread has something to take over; a recording knows when that was."""
        known = self._loop.taken_over_after()
        if known is not None and not self.member.acts_at_once:
            self._poll_ends_us = max(self._port.now, self._port.now + known - self.timing.turn_us)
        self.wake()

    def revoke(self, tasks: Sequence[TaskId]) -> Steps:
        """onPartitionsRevoked: everything is committed together, the revoked ones are suspended."""
        given_up = self.inputs_of(tasks)
        self.heard("CallbackBegan", callback=Callback.REVOKED, partitions=given_up)
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
        self.heard("CallbackEnded", callback=Callback.REVOKED, partitions=given_up)

    def assign(self, generation: int, active: Sequence[TaskId], standby: Sequence[TaskId]) -> Steps:
        """onAssignment and onPartitionsAssigned: close, convert, create."""
        wanted = {**dict.fromkeys(standby, False), **dict.fromkeys(active, True)}
        had = {
            name
            for name, task in self.tasks.items()
            if task.active and task.phase is not Phase.SUSPENDED
        }
        held_back = [t for t in self.tasks.values() if wanted.get(t.task) is not t.active]
        fresh = self.inputs_of(name for name in active if name not in had)
        self.heard("CallbackBegan", callback=Callback.ASSIGNED, partitions=fresh)
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
        self.heard("CallbackEnded", callback=Callback.ASSIGNED, partitions=fresh)
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

    def lose(self) -> Steps:
        """onPartitionsLost: active tasks are closed dirty, standbys kept."""
        gone = [task for task in self.tasks.values() if task.active]
        partitions = self.inputs_of(task.task for task in gone)
        self.heard("CallbackBegan", callback=Callback.LOST, partitions=partitions)
        for task in gone:
            self._break_off(task, "lost")
        self.heard("CallbackEnded", callback=Callback.LOST, partitions=partitions)
        yield from self._spend(self.timing.close_task_us)

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
