"""When a stream thread commits, and what was committed while nobody looked."""

from __future__ import annotations

from rebalsim.simulation.streams.tasks import Phase
from rebalsim.simulation.streams.thread_core import ThreadCore


class ThreadCommits(ThreadCore):
    """A thread's commits."""

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
        may_commit = not self.member.is_rebalancing and not self.instance.link.is_cut
        if now - self._committed_us >= every and may_commit:
            self._commit()
        if self._commit_due <= now and not self.settings.exactly_once:
            due = self._committed_us + every
            self._commit_due = due if due > now else now + every
            self._port.call(self._commit_due, self.commit_on_interval)

    def _commit_every(self) -> int:
        polls = min(self.settings.poll_us, self._records_every())
        return max(1, self.settings.commit_us) + polls // 2

    def make_up_commits(self) -> int:
        """Those of a member that rested are worked out; when the last one was that told of life."""
        if self.settings.exactly_once:
            return 0
        every, progresses = self._commit_every(), self.instance.progresses
        late_us = self._port.now - self._commit_due
        if late_us >= 0:
            self._committed_us = self._commit_due + late_us // every * every
        running = [task for task in self.tasks.values() if self._rate(task) > 0]
        for task in running:
            if progresses.of(task.task).since_us <= self._committed_us:
                progresses.commit(task.task, self._runner, self._committed_us)
        self._commit_due = self._committed_us + every
        self._port.call(self._commit_due, self.commit_on_interval)
        return self._committed_us if running else 0

    def _last_commit(self) -> int:
        """Under exactly-once commits come so often that they are worked out when they matter."""
        every = max(1, self.settings.commit_us)
        passed = (self._port.now - self._committed_us) // every
        return self._committed_us + passed * every if passed > 0 else self._committed_us
