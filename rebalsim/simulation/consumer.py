"""A consumer of a classic group: its poll loop, exactly in Kafka's order.

While the application keeps up (feed.cycle), its batches are no events: it seems to sit in
poll(), and what would interrupt it waits for the end of the batch at hand. A poll() that returns
empty and is called again is slept through, too.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from rebalsim.protocol.classic_member import ClassicMember
from rebalsim.protocol.member_timers import look_on
from rebalsim.simulation import rest
from rebalsim.simulation.closing import close
from rebalsim.simulation.commits import Commits
from rebalsim.simulation.engine import NEVER
from rebalsim.simulation.feed import Feed
from rebalsim.simulation.handling import Handling
from rebalsim.simulation.heartbeat import HeartbeatThread
from rebalsim.simulation.membership import Membership
from rebalsim.simulation.poll_failed import PollFailed
from rebalsim.simulation.positions import Positions
from rebalsim.trace.events import PollingBegan


class Consumer(Handling):
    """One consumer of a classic group, through all its lives."""

    __slots__ = ("commits_us", "has_rung", "is_idle")

    def equip(self) -> None:
        """The parts that differ with the protocol."""
        self.commits_us = NEVER  # in a poll() that waits: when the periodic commit is due
        self.has_rung = False  # woken by the clock, not by anything that came
        self.is_idle = False  # is this a pass in which nothing can change?
        self.member = ClassicMember(self.config.group_instance_id, self.is_cooperative)
        self.heartbeat = HeartbeatThread(self)
        self.commits = Commits(self)
        self.feed = Feed(self)
        self.positions = Positions(self)
        self.membership = Membership(self)

    # -------------------------------------------------------------------------------- the poll loop

    def poll_loop(self, life: int, joins_us: int | None) -> Generator[Any, Any, None]:
        """The application's thread: start, poll and handle until asked to stop, close."""
        try:
            yield from self._start_up(joins_us)
            while not self.must_stop():
                records = 0
                try:
                    records = yield from self.poll()
                except PollFailed as e:
                    if e.is_fatal or self.spec.handler.on_error == "crash":
                        yield from self._fail(e.name)
                        return
                    if self.spec.handler.on_error == "close":
                        break
                if self.must_stop() and not records:
                    break
                if self.hang_us:
                    yield from self._hang()
                if records:
                    try:
                        yield from self._handle(records)
                    except PollFailed as e:  # its commit
                        if self.spec.handler.on_error == "crash":
                            yield from self._fail(e.name)
                            return
                        break
            yield from self._close(self.stop_option)
            self.end("closed")
        except PollFailed as e:
            self.end("fatal", e.name)

    def _start_up(self, joins_us: int | None) -> Generator[Any, Any, None]:
        now = self.engine.now
        if joins_us is None:
            took = self.stream("start").draw(self.spec.life.start)
            if took:
                yield from self.sleep(now + took)
            self.begun_us = self.engine.now
            self.tell(PollingBegan(self.engine.now, self.name, self.life))
            bootstrap = self.link(self.world.bootstrap)
            if not bootstrap.is_open:  # TCP, ApiVersions, then Metadata beside FindCoordinator
                bootstrap.is_open = True
                yield from self.sleep(self.engine.now + 4 * bootstrap.latency_us(self.engine.now))
        else:
            if joins_us > now:
                yield from self.sleep(joins_us)
            self.begun_us = self.engine.now
            self.tell(PollingBegan(self.engine.now, self.name, self.life))
            self.take_coordinator(self.world.coordinator_of(self.group))
            assert self.coordinator_link is not None
            self.coordinator_link.is_open = True
        self.metadata.watch(self.topics)

    def poll(self) -> Generator[Any, Any, int]:
        """KafkaConsumer.poll(): how many records it returns."""
        feed, positions, membership = self.feed, self.positions, self.membership
        records: int
        self.deadline_us = self.engine.now + self.spec.handler.poll_timeout_us
        while True:
            if self.inbox:
                self.read()
            if (
                membership.begin_turn() or (yield from membership.poll())
            ) and not positions.begin_update():
                yield from positions.update()
            if self.is_called_away():
                return 0
            is_steady = bool(feed.buffer) and not self.is_idle and feed.settle()
            if not is_steady:
                records = feed.collect() if feed.buffer else 0
                feed.send()
                if records:
                    return records
                is_steady = not self.is_idle and feed.settle()
            now = self.engine.now
            if is_steady:
                goes_on = yield from self._rest()
                if self.is_called_away():
                    return 0
                if not goes_on:
                    continue
            elif now >= self.deadline_us:
                self.read()
                records = feed.collect()
                if records:
                    feed.send()
                return records
            else:
                yield from self.wait(self._wakes_at(now))
                self.is_idle = self._is_idle(self.engine.now)
                self._count_polls(self.engine.now)
            now = self.engine.now
            if feed.buffer and not self.has_outslept(now):
                records = feed.collect()
                if records:
                    feed.send()
                    return records
            if now >= self.deadline_us and feed.cycle is None:
                if self.world.is_dense or now == self.thawed_us:
                    return 0
                timeout = (
                    self.spec.handler.poll_timeout_us
                )  # slept through: poll() returned empty, and was called again at once
                self.deadline_us += (
                    ((now - self.deadline_us) // timeout + 1) * timeout
                    if timeout
                    else now - self.deadline_us
                )

    def has_outslept(self, now: int) -> bool:
        """Thawed just now, after the time of its poll() was over?

        Then the wait comes back for its time, without a look at the network (epoll_wait is
        interrupted, and Java counts what has passed): what came meanwhile is for the next
        poll(), which minds the group first.
        """
        return now == self.thawed_us and now >= self.deadline_us

    def _wakes_at(self, now: int) -> int:
        """pollForFetches' time-out: the poll's own, the next periodic commit, retry.backoff.ms
        while a position is missing or nothing is under way.

        A poll() that returns empty and is called again changes nothing, unless its first pass
        finds a beat or a commit due, nor does a pass for nothing: both are slept through.
        """
        at = self.deadline_us
        commits, beats = self.commits, self.heartbeat
        self.commits_us = (
            commits.due_us if commits.is_auto and commits.due_us > now else NEVER
        )  # overdue: kept from being sent by a join
        if self.positions.is_missing:
            at = min(at, now + self.config.retry_backoff_us)
        elif self.membership.has_to_try_again():
            if not self.calls and not self.feed.flying:
                at = min(at, now + self.config.retry_backoff_us)
        elif not self.world.is_dense:
            due = min(self.commits_us, beats.timers.due_us if beats.is_enabled else NEVER)
            at = self._next_poll_after(due)
            if (
                not self.calls and not self.feed.flying and due < NEVER
            ):  # the pass that finds it due may come before that poll()
                began = max(now, at - self.spec.handler.poll_timeout_us)
                at = min(at, look_on(began, self.config.retry_backoff_us, max(due, began + 1)))
        elif not self.calls and not self.feed.flying:
            at = min(at, now + self.config.retry_backoff_us)
        until: int = max(min(at, self.commits_us + beats.late_us), now)
        return until

    def _count_polls(self, now: int) -> None:
        """Asleep, polls have returned empty and been called again: max.poll.interval.ms counts
        from the last of them.
        """
        timeout = self.spec.handler.poll_timeout_us
        if (
            timeout
            and now > self.deadline_us
            and self.feed.cycle is None
            and not self.world.is_dense
            and now != self.thawed_us
        ):
            called = self.deadline_us + (now - 1 - self.deadline_us) // timeout * timeout
            self.heartbeat.timers.polled_us = max(self.heartbeat.timers.polled_us, called)

    def _is_idle(self, now: int) -> bool:
        """Does the pass that begins now come of nothing but time, and find nothing to do? Such
        passes change nothing: asleep there are none.
        """
        if (
            not self.has_rung
            or now >= self.commits_us
            or self.positions.is_missing
            or self.membership.has_to_try_again()
        ):
            return False
        return not self.heartbeat.is_enabled or bool(now < self.heartbeat.timers.due_us)

    def _next_poll_after(self, at_us: int) -> int:
        """When the first poll() from that instant on is called, if all return empty until then."""
        timeout = self.spec.handler.poll_timeout_us
        if at_us >= NEVER or at_us <= self.deadline_us or not timeout:
            return max(self.deadline_us, at_us)
        called: int = self.deadline_us - (self.deadline_us - at_us) // timeout * timeout
        return called

    def break_cycle(self) -> None:
        """Steady times are over for now; a batch at hand is finished first, and a poll() that
        waits goes on waiting.
        """
        if self.feed.cycle is not None:
            super().break_cycle()
            now = self.engine.now
            if self.is_polling:
                self.alarm.set(
                    self.busy_until_us if self.busy_until_us > now else self._wakes_at(now)
                )

    def freeze(self) -> None:
        if self.is_polling and self.feed.cycle is None and not self.is_frozen:
            self.deadline_us = self._next_poll_after(self.engine.now)  # of the poll() that runs now
        super().freeze()

    def _rest(self) -> Generator[Any, Any, bool]:
        """The application keeps up: asleep until something but the usual records comes; that waits
        for the batch at hand.

        True if steady times ended while poll() waited, and it has just been woken as any other.
        """
        feed, commits, engine = self.feed, self.commits, self.engine
        cycle = feed.cycle
        assert cycle is not None
        self.is_called = bool(self.inbox)
        again_us = NEVER  # when the next pass tries again what the last one could not do
        if self.membership.has_to_try_again():
            now = engine.now
            again_us = max(
                now + 1,
                min(
                    cycle.batch_after(now), cycle.poll_ends(now, self.spec.handler.poll_timeout_us)
                ),
            )
        while True:
            now = engine.now
            if self.is_called:
                free = cycle.free_at(now)
                if free <= now or self.hangs_first:
                    self.unhandled_us = free - now
                    break
                until = free
            else:
                until = min(feed.first_delivery_at(), again_us)
                if self.world.sleeps and (self.is_resting or rest.can_rest(self)):
                    if not self.is_resting:
                        self.rest()
                elif self.world.is_dense:
                    until = min(until, cycle.batch_after(now))
            if not self.is_resting and commits.is_auto:
                due = commits.due_us + self.heartbeat.late_us
                if due > now:
                    until = min(until, due)
                elif self.coordinator is not None and not self.membership.must_join():
                    until = min(
                        until, cycle.batch_after(now)
                    )  # put off while nobody could be told: the next pass sends it
            self.is_polling = True
            self.has_rung = False
            self.alarm.set(until)
            yield self.nudge
            if feed.cycle is not cycle:
                self.is_polling = False
                now = engine.now
                was_busy = now <= self.busy_until_us
                if self.busy_until_us > now:
                    yield from self.sleep(self.busy_until_us)
                self.is_idle = not was_busy and self._is_idle(now)
                self.read()
                return not was_busy
            feed.tell_first()
            if engine.now >= again_us:
                self.is_called = True
            if (
                not self.is_resting
                and engine.now >= commits.due_us + self.heartbeat.late_us
                and self.coordinator is not None
                and not self.membership.must_join()
            ):
                commits.maybe_auto()
        if self.is_resting:
            # it was woken by an answer that nobody waits for any more, such as one about a revoked
            # partition
            self.rouse()
        self.is_polling = self.is_called = False
        self.read()
        self.deadline_us = cycle.poll_ends(engine.now, self.spec.handler.poll_timeout_us)
        if (self.stop_option or self.hang_us) and feed.cycle is not None:
            self._leave_poll()
        return False

    def _make_up(self) -> None:
        rest.make_up(self)

    def _close(self, option: str) -> Generator[Any, Any, None]:
        yield from close(self, option)

    # -------------------------------------------------------------------------------------- waiting

    def sleep(self, until_us: int) -> Generator[Any, Any, None]:
        """Outside poll(), or deaf within it: only the clock wakes."""
        if self.feed.cycle is not None:
            self._leave_poll()
        self.is_polling = self.is_idle = False
        self.busy_until_us = until_us
        self.alarm.set(until_us)
        if self.heartbeat.is_enabled and (
            self.inbox or until_us > self.heartbeat.timers.poll_ends_us()
        ):
            self.heartbeat.plan()
        engine = self.engine
        while engine.now < until_us or self.is_frozen:
            yield self.nudge

    def _leave_poll(self) -> None:
        """Steady times end because the application goes elsewhere; from here on the heartbeat
        thread's looks matter.
        """
        self.commits.make_up()
        cycle = self.feed.cycle
        assert cycle is not None
        if self.heartbeat.is_enabled:
            self.heartbeat.leave_steady_times(cycle)
        self.feed.unsettle()

    def wait(self, until_us: int) -> Generator[Any, Any, None]:
        """In poll(): the network wakes, or the clock."""
        self.has_rung = False
        if self.inbox:
            self.read()
            return
        self.is_polling = True
        self.alarm.set(until_us)
        yield self.nudge
        self.is_polling = False
        self.read()

    def _rung(self) -> None:
        if not self.is_frozen:  # else the thaw has it look
            self.has_rung = True
            self.nudge.give()

    def _wake(self) -> None:
        """The network has something for a thread in poll()."""
        cycle = self.feed.cycle
        if cycle is not None:
            self.is_called = True
            now = self.engine.now
            free = cycle.free_at(now)
            if free > now and not self.hangs_first:
                self.alarm.set(min(free, self.alarm.at_us))
                if self.inbox and self.heartbeat.is_enabled:
                    self.heartbeat.plan()
                return
        self.nudge.give()

    def is_busy(self, now: int) -> bool:
        """Is the application anywhere but in poll()?"""
        if not self.is_polling:
            return True
        cycle = self.feed.cycle
        return cycle is not None and bool(cycle.free_at(now) > now)
