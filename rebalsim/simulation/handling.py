"""What the application does with a batch: handle it, get stuck on it, commit, or die of it."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from rebalsim.domain.commit_style import AfterError, CommitStyle
from rebalsim.domain.life_end import LifeEnd
from rebalsim.domain.stuck_by import StuckBy
from rebalsim.simulation.commits import thrown_by_commit
from rebalsim.simulation.endpoint import Endpoint
from rebalsim.simulation.lag import mark
from rebalsim.simulation.poll_failed import PollFailed
from rebalsim.trace.events import HandlerReturned, HandlerStuck

THROWN = "RuntimeException"  # as the application's own exceptions are told
NOTICEABLE_US = 100_000  # a slowed batch that is late by less is told as any other


class Handling(Endpoint):
    """The part of the application's thread that is outside poll()."""

    __slots__ = ()

    def sleep(self, until_us: int) -> Generator[Any, Any, None]:
        """Outside poll(), or deaf within it."""
        raise NotImplementedError

    def _handle(self, records: int) -> Generator[Any, Any, None]:
        """The application works on a batch, then commits as it is used to."""
        took = self.feed.handling_us(records)
        late = took - int(took / self.slowness) if self.slowness > 1 else 0
        if late < NOTICEABLE_US:
            late = 0
        if took:
            yield from self._work(took - late)
        if late:
            yield from self._stick(late, StuckBy.SLOW)
        if self.feed.hang_us:
            us, self.feed.hang_us = self.feed.hang_us, 0
            yield from self._stick(us, StuckBy.POISON)
        if self.feed.failed is not None:
            yield from self._throws()
        commit = self.spec.handler.commit
        if commit is CommitStyle.ASYNC:
            self.commits.send_async(self.feed.consumed())
        elif commit.is_awaited:
            yield from self._commit_sync()

    def _throws(self) -> Generator[Any, Any, None]:
        """The handling of the batch's last record threw. Spring's error handler waits, seeks back
        and polls again; without one it is as the application takes exceptions.
        """
        feed, handler = self.feed, self.spec.handler
        assert feed.failed is not None
        share, offset = feed.failed
        errors = handler.error_handler
        if errors is None:
            feed.failed = None
            if handler.on_error is not AfterError.RETRY:
                raise PollFailed(THROWN, False)
            return
        count = feed.failures[share.partition, offset] = (
            feed.failures.get((share.partition, offset), 0) + 1
        )
        if count >= errors.attempts:  # given up: it is logged, and passed over
            feed.failed = None
            return
        mark(self, (share,))
        waits = errors.waits_us(count)
        if waits:
            yield from self._stick(waits, StuckBy.POISON)
        feed.seek_to_failed()
        feed.renew()

    def _work(self, us: int) -> Generator[Any, Any, None]:
        """The handler's own time; a recording may tell that it hangs in the middle of it."""
        ends = self.engine.now + us
        self.is_handling = True
        yield from self.sleep(ends)
        self.is_handling = False
        if self.hangs_now():
            left = ends - self.engine.now
            yield from self._hang()
            yield from self.sleep(self.engine.now + left)

    def _commit_sync(self) -> Generator[Any, Any, None]:
        """commitSync(): the network is looked at meanwhile, but it is no poll(). Told where it
        cannot be answered at once.
        """
        is_stuck = not self.commits.goes_through()
        if is_stuck:
            mark(self, self.feed.shares.values())
            self.tell(HandlerStuck(self.engine.now, self.name, StuckBy.COMMIT, self.member.owned))
        self.is_polling = self.is_committing = True
        how = yield from self.commits.sync(self.engine.now + self.config.default_api_timeout_us)
        self.is_polling = self.is_committing = False
        if is_stuck:
            self.feed.renew()
            self.tell(HandlerReturned(self.engine.now, self.name))
        if how != "ok" and not self.spec.handler.goes_on_after_commits:
            raise PollFailed(thrown_by_commit(how), False)

    def _hang(self) -> Generator[Any, Any, None]:
        us, self.hang_us = self.hang_us, 0
        yield from self._stick(us, self.hang_why)

    def _stick(self, us: int, why: str) -> Generator[Any, Any, None]:
        """No progress for so long, and no poll()."""
        now = self.engine.now
        mark(self, self.feed.shares.values())
        self.tell(HandlerStuck(now, self.name, why, self.member.owned))
        yield from self.sleep(now + us)
        self.feed.renew()
        self.tell(HandlerReturned(self.engine.now, self.name))

    def _fail(self, name: str) -> Generator[Any, Any, None]:
        """The application dies of an exception, closing its consumer on the way out."""
        yield from self._close("default")
        self.end(LifeEnd.FATAL, name)

    def _close(self, option: str) -> Generator[Any, Any, None]:
        """close(), with one of its options."""
        raise NotImplementedError
