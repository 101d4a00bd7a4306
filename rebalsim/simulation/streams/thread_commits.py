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
        if self._has_records():
            self._tell_commits(now, 0, now)
            if not self.settings.exactly_once:
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
        if self.commit_made_up() and not self.settings.exactly_once:
            self._port.call(self._commit_due, self.commit_on_interval)
        tells = not self.settings.exactly_once and self._has_records()
        return self._committed_us if tells else 0

    def commit_made_up(self) -> bool:
        """The commits until now that were not played, where there were any."""
        first, every, last = self._made_up()
        if first > last:
            return False
        self._committed_us, self._commit_due = last, last + every
        if self._has_records():
            self._tell_commits(first, every, last)
        progresses = self.instance.progresses
        for task in self.tasks.values():
            if self._rate(task) > 0 and progresses.of(task.task).since_us <= last:
                progresses.commit(task.task, self._runner, last)
        return True

    def commit_so_far(self) -> None:
        """Something breaks off. Under exactly-once commits come so often that they are made up."""
        if self.settings.exactly_once:
            self.commit_made_up()

    def _made_up(self) -> tuple[int, int, int]:
        """When the first of those commits was, how far apart they were, and when the last was: before
        the first where there were none.
        """
        if self.settings.exactly_once:
            every = max(1, self.settings.commit_us)
            first = self._committed_us + every
        else:
            every = self._commit_every()
            first = max(self._commit_due, self._committed_us + every)
        return first, every, first + (self._port.now - first) // every * every

    def _has_records(self) -> bool:
        """There is something to commit."""
        return any(self._rate(task) > 0 for task in self.tasks.values())
