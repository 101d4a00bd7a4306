"""A consumer of a classic group: its poll loop, exactly in Kafka's order."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from rebalsim.domain.commit_style import AfterError
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.life_end import LifeEnd
from rebalsim.protocol.classic_member import ClassicMember, MemberState
from rebalsim.simulation.closing import close
from rebalsim.simulation.commits import Commits
from rebalsim.simulation.engine import NEVER
from rebalsim.simulation.feed import Feed
from rebalsim.simulation.handling import Handling
from rebalsim.simulation.heartbeat import HeartbeatThread
from rebalsim.simulation.membership import Membership
from rebalsim.simulation.network import Call
from rebalsim.simulation.poll_failed import PollFailed
from rebalsim.simulation.positions import Positions
from rebalsim.simulation.standing import Since, Standing, catch_up, rests, standing
from rebalsim.trace.events import PollingBegan

SOON_ANSWERED_US = 30_000  # most answers are there by then


class Consumer(Handling):
    """One consumer of a classic group, through all its lives."""

    __slots__ = ()

    def equip(self) -> None:
        """The parts that differ with the protocol."""
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
                    if e.is_fatal or self.spec.handler.on_error is AfterError.CRASH:
                        yield from self._fail(e.name)
                        return
                    if self.spec.handler.on_error is AfterError.CLOSE:
                        break
                if self.must_stop() and not records:
                    break
                if self.hang_us and (self.hangs != "after" or not records):
                    yield from self._hang()
                if records:
                    try:
                        yield from self._handle(records)
                    except PollFailed as e:  # its commit
                        if self.spec.handler.on_error is AfterError.CRASH:
                            yield from self._fail(e.name)
                            return
                        break
                if self.hang_us and self.hangs == "after":
                    yield from self._hang()
            yield from self._close(self.stop_option)
            self.end(LifeEnd.CLOSED)
        except PollFailed as e:
            self.end(LifeEnd.FATAL, e.name)

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
        """KafkaConsumer.poll(): how many records it returns. The loop stays in one piece: what it asks
        in which order is what Kafka does.
        """
        engine, feed, positions = self.engine, self.feed, self.positions
        membership = self.membership
        records: int
        self.deadline_us = engine.now + self.spec.handler.poll_timeout_us
        if self.quiet is not None and self.quiet.lets_repeat(self):
            yield self.nudge
        while True:
            if self.inbox:
                self.read()
            if (
                membership.begin_turn() or (yield from membership.poll())
            ) and not positions.begin_update():
                yield from positions.update()
            if self.is_called_away():
                return 0
            if feed.is_behind and feed.buffer:
                feed.look_whether_caught_up()
            records = feed.collect() if feed.buffer else 0
            feed.send()
            if records:
                return records
            if feed.is_behind:
                feed.look_whether_caught_up()
            now = engine.now
            if now >= self.deadline_us:
                self.read()
                records = feed.collect()
                if records:
                    feed.send()
                return records
            if self.quiet is not None and self.quiet.lets_skip(self):
                if (yield from self._skip()):
                    if self.hang_us:
                        yield from self._hang()
                    if self.must_stop():
                        return 0
                    self.deadline_us = engine.now + self.spec.handler.poll_timeout_us
                    continue  # a batch was at hand: this is the poll() after it
            else:
                yield from self.wait(self.wakes_at(now))
            now = engine.now
            if feed.buffer and not self.has_outslept(now):
                records = feed.collect()
                if records:
                    feed.send()
                    return records
            if now >= self.deadline_us:
                return 0

    def _skip(self) -> Generator[Any, Any, bool]:
        """Quiet time is skipped, up to when it was said to end or until somebody touches this
        client. Whether it was handling a batch then, which is done now.
        """
        self.is_polling = True
        yield self.nudge
        while self.skipped is not None:  # the time is over, and nobody wants anything
            self.touch()
            if not self.is_handling:
                yield self.nudge
        was_busy = self.is_handling
        while self.is_handling:
            if self.engine.now >= self.busy_until_us and not self.is_frozen:
                self.is_handling = False
            else:
                yield self.nudge
        self.is_polling = False
        if not was_busy:
            self.read()
        return was_busy

    def sleep_through(self, until_us: int) -> None:
        """From now on nothing of it is played, up to this instant at the latest."""
        self.feed.flying.clear()
        self.heartbeat.bell.off()
        if until_us < NEVER:
            self.alarm.set(until_us)
        else:
            self.alarm.off()

    def fall_silent(self) -> None:
        """From now on nothing of it is played: whatever rings, rings for nothing."""
        self.feed.flying.clear()
        self.heartbeat.bell.clock.forget()
        self.alarm.forget()

    def standing(self) -> Standing | None:
        """How things stand, if all is quiet."""
        return standing(self)

    def rests(self) -> bool:
        """Is all quiet, whatever its rounds are like?"""
        return rests(self)

    def catch_up(self, since: Since) -> None:
        """What it did in quiet time is done."""
        catch_up(self, since)

    def is_rested(self) -> bool:
        """Is nothing left for its threads to do but what they always do?"""
        return (
            self.heartbeat.is_enabled
            and self.heartbeat.failure is None
            and not self.membership.must_join()
            and self.blocked_until_us <= self.engine.now
            and not self.is_looking_up
        )

    def waits_to_join(self) -> bool:
        """Is an answer to JoinGroup all that it waits for?"""
        calls = self.calls
        if len(calls) != 1:
            return False
        (call,) = calls.values()
        return (
            call.api == KafkaApi.JOIN
            and self.engine.now - call.sent_us >= SOON_ANSWERED_US
            and self.member.state is MemberState.PREPARING
            and self.membership.is_pending
            and self.membership.result is None
            and self.coordinator is not None
            and self.blocked_until_us <= self.engine.now
        )

    def next_own_us(self) -> int:
        """When it does something by itself that its batches do not ask for: a beat, or a periodic
        commit.
        """
        commits = self.commits
        return int(min(self.heartbeat.next_us(), commits.due_us if commits.is_auto else NEVER))

    def is_back(self, is_in_poll: bool, beat_due_us: int) -> None:
        """After quiet time, for threads that mind more: whether it is in poll(), and when the
        next beat is due.
        """

    def beat_answered(self, call: Call, response: Any) -> None:
        """The answer to a heartbeat that left in quiet time."""
        self.heartbeat.answered(call, response)

    def has_outslept(self, now: int) -> bool:
        """Thawed just now, after the time of its poll() was over?

        Then the wait comes back for its time, without a look at the network (epoll_wait is
        interrupted, and Java counts what has passed): what came meanwhile is for the next
        poll(), which minds the group first.
        """
        return now == self.thawed_us and now >= self.deadline_us

    def wakes_at(self, now: int) -> int:
        """pollForFetches' time-out: the poll's own, the next periodic commit, retry.backoff.ms
        while a position is missing or nothing is under way.
        """
        at = self.deadline_us
        commits = self.commits
        if self.positions.is_missing or (not self.calls and not self.feed.flying):
            at = min(at, now + self.config.retry_backoff_us)
        due = commits.due_us + commits.late_us
        if commits.is_auto and due > now and not self.habits.runs_itself:
            at = min(at, due)  # else kept from being sent by a join, or sent by another thread
        until: int = max(at, now)
        return until

    def _close(self, option: str) -> Generator[Any, Any, None]:
        yield from close(self, option)

    # -------------------------------------------------------------------------------------- waiting

    def sleep(self, until_us: int) -> Generator[Any, Any, None]:
        """Outside poll(), or deaf within it: only the clock wakes."""
        self.is_polling = False
        self.busy_until_us = until_us
        self.alarm.set(until_us)
        if self.heartbeat.is_enabled and (
            self.inbox or until_us > self.heartbeat.timers.poll_ends_us()
        ):
            self.heartbeat.plan()
        engine = self.engine
        while (
            engine.now < until_us and not (self.is_handling and self.hangs_now())
        ) or self.is_frozen:
            yield self.nudge

    def wait(self, until_us: int) -> Generator[Any, Any, None]:
        """Wait in poll() until the network brings something, or until the time is over."""
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
            self.nudge.give()

    def _wake(self) -> None:
        """The network has something for a thread in poll()."""
        self.nudge.give()
