"""The consumer process: its poll loop, exactly in Kafka's order, and the network as its two threads share it.

Answers lie in an inbox until a thread reads them: the application's whenever it is inside poll(), else the heartbeat thread at its
next look. While the application keeps up (feed.cycle), its batches are no events: it seems to sit in poll(), and what would interrupt
it waits for the end of the batch at hand.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from rebalsim.domain.scenario import Consumer as Spec
from rebalsim.protocol.classic_member import ClassicMember, MemberState
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.simulation import rest
from rebalsim.simulation.closing import close
from rebalsim.simulation.commits import Commits
from rebalsim.simulation.engine import APP, FIRST, NEVER, SCRIPT, Alarm, Nudge, Once
from rebalsim.simulation.feed import Feed
from rebalsim.simulation.heartbeat import HeartbeatThread
from rebalsim.simulation.lag import mark
from rebalsim.simulation.lines import Lines
from rebalsim.simulation.membership import Membership, ask_for_coordinator
from rebalsim.simulation.metadata import Metadata
from rebalsim.simulation.network import DISCONNECTED, Call, Link
from rebalsim.simulation.poll_failed import PollFailed
from rebalsim.simulation.positions import Positions
from rebalsim.simulation.racks import tell_bytes
from rebalsim.simulation.randomness import Stream
from rebalsim.trace.events import (
    CloseBegan,
    ConsumerExited,
    ConsumerFroze,
    ConsumerStarted,
    ConsumerThawed,
    CoordinatorLost,
    HandlerReturned,
    HandlerStuck,
    PollingBegan,
    RebalanceNoticed,
    RejoinRequested,
    RequestSent,
    ResponseReceived,
    StopAsked,
)

ALWAYS_TOLD = ("JoinGroup", "SyncGroup")
NOTICEABLE_US = 100_000      # a slowed batch that is late by less is told as any other


class Consumer:
    """One consumer of a classic group, through all its lives."""

    def __init__(self, world: Any, spec: Spec, index: int) -> None:
        self.world = world
        self.engine = world.engine
        self.index = index
        self.name = spec.name
        self.group = spec.group
        self.rank = FIRST + 4 * index
        self.tell = world.tell
        self.life = 0
        self.is_alive = False
        self.is_resting = False
        self.is_frozen = False
        self.is_assigned = False                       # has it been through the assigned callback in this life?
        self.how_ended = ""
        self.slowness = 1.0
        self.lines = Lines(self)
        self._links: dict[int, Link] = {}
        self._streams: dict[str, Stream] = {}
        self.take_spec(spec)

    def take_spec(self, spec: Spec) -> None:
        """The settings of the next life."""
        self.spec = spec
        self.config = spec.config
        self.rack = spec.config.client_rack or spec.rack
        self.client_id = spec.config.client_id or spec.name
        self.pattern = spec.pattern
        self.topics = tuple(sorted(spec.topics)) if spec.pattern is None else self.world.topics_matching(spec.pattern)
        self.assignors = self.world.assignors_of(spec.config.partition_assignment_strategy)
        self.is_cooperative = all("cooperative" in assignor.protocols for assignor in self.assignors)
        version = tuple(int(part) for part in spec.client_version.split(".")[:2] if part.isdigit())
        self.drains_first = version >= (4, 1)
        brokers = tuple(int(part) for part in self.world.scenario.cluster.kafka.split(".")[:2] if part.isdigit())
        self.join_version = 9 if brokers >= (3, 2) and (spec.client != "java" or version >= (3, 2)) else 8      # KIP-814: SkipAssignment

    # ---------------------------------------------------------------------------------------------- life and death

    def begin(self, joins_us: int | None = None) -> None:
        """A process starts. With `joins_us` it is known when it sends its first JoinGroup: until then it only exists."""
        engine = self.engine
        now = engine.env._now
        self.life += 1
        self.is_alive = True
        self.is_resting = self.is_frozen = self.is_closing = self.is_assigned = self.is_stopping = False
        self.calls: dict[int, Call] = {}
        self.inbox: list[Any] = []
        self.coordinator: int | None = None
        self.coordinator_link: Link | None = None
        self.host: Any = None
        self.is_looking_up = False
        self.unavailable_us: dict[int, int] = {}       # brokers that this client hung up on: not called again before
        self.group_topics: tuple[str, ...] = self.topics
        self.is_polling = False
        self.is_called = False                         # in steady times: something wants the application
        self.is_owed = False                           # something rang while the process was frozen
        self.busy_until_us = 0
        self.blocked_until_us = 0
        self.deadline_us = 0
        self.hang_us = 0
        self.hangs_first = False                       # before the batch that poll() returned is handled
        self.unhandled_us = 0                          # … and what is left to do for that
        self.hang_why = "hang"
        self.thrown = 0
        self.stop_option = ""                          # asked to stop: default | leave | remain
        self.expiry: Alarm | None = None
        self._links.clear()
        self.metadata = Metadata(self)
        self.nudge = Nudge(engine.env)
        self.alarm = Alarm(engine, self.rank + APP, self._rung)
        self.equip()
        self.tell(ConsumerStarted(now, self.name, self.life))
        engine.env.process(self.poll_loop(self.life, joins_us))

    def equip(self) -> None:
        """The parts that differ with the protocol."""
        self.member = ClassicMember(self.config.group_instance_id, self.is_cooperative)
        self.heartbeat = HeartbeatThread(self)
        self.commits = Commits(self)
        self.feed = Feed(self)
        self.positions = Positions(self)
        self.membership = Membership(self)

    def end(self, how: str, error: str = "") -> None:
        """The process is gone."""
        if self.feed.cycle is not None:
            self.feed.unsettle()                       # where it had got to stays as it is
        if not self.feed.is_suspended:
            mark(self, self.feed.shares.values())
        tell_bytes(self, self.feed.shares.values())
        self.is_alive = self.is_resting = False
        self.how_ended = how
        self.heartbeat.stop()
        self.alarm.off()
        self.calls.clear()
        self.inbox.clear()
        self.tell(ConsumerExited(self.engine.env._now, self.name, self.life, how, error))
        self.world.exited(self)

    def kill(self) -> None:
        """SIGKILL: nothing more is sent; what is under way arrives."""
        if not self.is_alive:
            return
        self.settle_accounts()
        if self.feed.cycle is not None:
            self.feed.unsettle()
        self.end("killed")

    def freeze(self) -> None:
        if not self.is_alive or self.is_frozen:
            return
        self.settle_accounts()
        self.break_cycle()
        mark(self, self.feed.shares.values())
        self.is_frozen = True
        self.tell(ConsumerFroze(self.engine.env._now, self.name))

    def thaw(self) -> None:
        """Both threads go on with whatever came due meanwhile."""
        if not self.is_alive or not self.is_frozen:
            return
        self.is_frozen = False
        now = self.engine.env._now
        self.feed.renew()
        self.tell(ConsumerThawed(now, self.name))
        if self.heartbeat.is_enabled:
            self.heartbeat.look()
        if self.is_polling or self.busy_until_us <= now:
            self.alarm.off()
            self.nudge.give()
        else:
            self.alarm.set(self.busy_until_us)

    def hang(self, us: int, why: str = "hang", is_seen: bool = False) -> None:
        """The handler will be stuck for so long after the batch at hand. `is_seen`: it was seen to, just now, when poll() had returned the
        nearest batch and before that was handled."""
        if not self.is_alive or self.is_frozen:
            return
        cycle = self.feed.cycle
        if cycle is not None:
            now = self.engine.env._now
            after = min(cycle.batch_after(now), cycle.poll_ends(now, self.spec.handler.poll_timeout_us))
            if not is_seen or after - now < now - cycle.batch_before(now)[0]:
                self.engine.at(after, self.rank + APP, self._hang_late, (self.life, us, why, is_seen))
                return
        self.hang_us, self.hang_why, self.hangs_first = us, why, is_seen
        self.wake_for_business()

    def _hang_late(self, event: Once) -> None:
        life, us, why, is_first = event.value
        if life == self.life and self.is_alive and not self.is_frozen:
            self.hang_us, self.hang_why, self.hangs_first = us, why, is_first
            self.wake_for_business()

    def stop(self, option: str = "default") -> None:
        """Asked to stop: it goes on for its stop time; close() begins after the batch at hand. Killed when its grace is over."""
        if not self.is_alive or self.is_stopping:
            return
        self.is_stopping = True
        engine, life = self.engine, self.spec.life
        now = engine.env._now
        self.tell(StopAsked(now, self.name))
        took = self.stream("stop").draw(life.stop)
        engine.at(now + life.grace_us, SCRIPT, self._grace_ends, self.life)
        if took:
            engine.at(now + took, SCRIPT, self._stops, (self.life, option))
        else:
            self._closes(option)

    def _stops(self, event: Once) -> None:
        life, option = event.value
        if self.is_alive and self.life == life:
            self._closes(option)

    def _closes(self, option: str) -> None:
        self.stop_option = option
        self.wake_for_business()

    def _grace_ends(self, event: Once) -> None:
        if self.is_alive and self.life == event.value:
            self.kill()

    def change_pace(self, slowness: float) -> None:
        """Batches take so many times as long from now on."""
        if self.is_alive and not self.is_frozen:
            self.settle_accounts()
            self.break_cycle()
        self.slowness = slowness

    def subscribe(self, topics: tuple[str, ...], pattern: str | None) -> None:
        """subscribe() with other topics: seen by the next poll()."""
        self.pattern = pattern
        self.topics = tuple(sorted(topics)) if pattern is None else self.world.topics_matching(pattern)
        if self.is_alive:
            self.metadata.watch(self.topics)
            if not self.is_frozen:
                self.wake_for_business()

    def enforce_rebalance(self) -> None:
        """enforceRebalance()."""
        if self.is_alive:
            self.member.request_rejoin("rebalance enforced by user")
            self.tell(RejoinRequested(self.engine.env._now, self.name, self.member.rejoin_reason))
            if not self.is_frozen:
                self.wake_for_business()

    def break_cycle(self) -> None:
        """Steady times are over for now; a batch at hand is finished first."""
        cycle = self.feed.cycle
        if cycle is not None:
            self.busy_until_us = max(self.busy_until_us, cycle.free_at(self.engine.env._now))
            self.feed.unsettle()

    def wake_for_business(self) -> None:
        """The application shall look up: at once if it sits in poll(), else when its batch is done."""
        self.settle_accounts()
        if self.is_polling and not self.is_frozen:
            self._wake()

    def settle_accounts(self) -> None:
        """Before anything is done to this process: what it did in its sleep."""
        if self.is_resting:
            self.rouse()
        elif self.feed.cycle is not None:
            self.commits.make_up()

    def mind(self) -> None:
        """There is news for everybody in the group, or may be."""
        if self.is_resting:
            self.rouse()
        elif self.feed.cycle is not None and isinstance(self.commits, Commits):
            self.commits.make_up()

    def settled(self) -> None:
        """Steady times begin."""
        if isinstance(self.heartbeat, HeartbeatThread):
            self.heartbeat.begin_block()
            self.heartbeat.plan()

    def rest(self) -> None:
        """Beats and commits can change nothing: from now on they are made up for when something can."""
        self.is_resting = True
        self.heartbeat.alarm.off()
        self.alarm.set(self.feed.first_delivery_at())

    def rouse(self) -> None:
        """News may come: beats and commits are real from now on."""
        self.is_resting = False
        self.commits.make_up()
        rest.make_up(self)
        self.heartbeat.plan()
        due = self.commits.due_us + self.heartbeat.late_us if self.commits.is_auto else NEVER
        self.alarm.set(min(due, self.feed.first_delivery_at()))

    # ---------------------------------------------------------------------------------------------- the poll loop

    def poll_loop(self, life: int, joins_us: int | None) -> Generator[Any, Any, None]:
        """The application's thread: start, poll and handle until asked to stop, close."""
        try:
            yield from self._start_up(joins_us)
            while not self.stop_option:
                records = 0
                try:
                    records = yield from self.poll()
                except PollFailed as e:
                    if e.is_fatal or self.spec.handler.on_error == "crash":
                        yield from self._fail(e.name)
                        return
                    if self.spec.handler.on_error == "close":
                        break
                if self.stop_option and not records:
                    break
                if self.hang_us:
                    yield from self._hang()
                if records:
                    yield from self._handle(records)
            yield from self._close(self.stop_option)
            self.end("closed")
        except PollFailed as e:
            self.end("fatal", e.name)

    def _start_up(self, joins_us: int | None) -> Generator[Any, Any, None]:
        now = self.engine.env._now
        if joins_us is None:
            took = self.stream("start").draw(self.spec.life.start)
            if took:
                yield from self.sleep(now + took)
            self.tell(PollingBegan(self.engine.env._now, self.name, self.life))
            bootstrap = self.link(self.world.bootstrap)
            if not bootstrap.is_open:                  # TCP, ApiVersions, then Metadata beside FindCoordinator
                bootstrap.is_open = True
                yield from self.sleep(self.engine.env._now + 4 * bootstrap.latency_us(self.engine.env._now))
        else:
            if joins_us > now:
                yield from self.sleep(joins_us)
            self.tell(PollingBegan(self.engine.env._now, self.name, self.life))
            self.take_coordinator(self.world.coordinator_of(self.group))
            assert self.coordinator_link is not None
            self.coordinator_link.is_open = True
        self.metadata.watch(self.topics)

    def poll(self) -> Generator[Any, Any, int]:
        """KafkaConsumer.poll(): how many records it returns."""
        feed, positions, membership = self.feed, self.positions, self.membership
        self.deadline_us = self.engine.env._now + self.spec.handler.poll_timeout_us
        while True:
            self.read()
            if (yield from membership.poll()):
                yield from positions.update()
            if self.stop_option or self.hang_us:
                return 0
            if feed.buffer and feed.settle():
                yield from self._rest()
                if self.stop_option or self.hang_us:
                    return 0
                continue
            records = feed.collect()
            if records:
                feed.send()
                return records
            feed.send()
            now = self.engine.env._now
            if feed.settle():
                yield from self._rest()
                if self.stop_option or self.hang_us:
                    return 0
                continue
            if now >= self.deadline_us:
                self.read()
                records = feed.collect()
                if records:
                    feed.send()
                return records
            yield from self.wait(self._wakes_at(now))
            records = feed.collect()
            if records:
                feed.send()
                return records
            now = self.engine.env._now
            if now >= self.deadline_us and feed.cycle is None:
                if self.world.is_dense:
                    return 0
                timeout = self.spec.handler.poll_timeout_us          # slept through: poll() returned empty, and was called again at once
                self.deadline_us += ((now - self.deadline_us) // timeout + 1) * timeout if timeout else now - self.deadline_us

    def _wakes_at(self, now: int) -> int:
        """pollForFetches' time-out: the poll's own, the next periodic commit, retry.backoff.ms while a position is missing or nothing is under way.

        A poll() that returns empty and is called again changes nothing, nor does a pass for nothing: both are slept through.
        """
        at = self.deadline_us
        if self.positions.is_missing:
            at = min(at, now + self.config.retry_backoff_us)
        elif self.membership.has_to_try_again():
            if not self.calls and not self.feed.flying:
                at = min(at, now + self.config.retry_backoff_us)
        elif not self.world.is_dense:
            at = NEVER
        elif not self.calls and not self.feed.flying:
            at = min(at, now + self.config.retry_backoff_us)
        commits = self.commits
        if commits.is_auto and commits.due_us > now:           # one that is overdue waits for the join that keeps it from being sent
            at = min(at, commits.due_us + self.heartbeat.late_us)
        return max(at, now)

    def _rest(self) -> Generator[Any, Any, None]:
        """The application keeps up: asleep until something but the usual records comes; that waits for the batch at hand."""
        feed, commits, engine = self.feed, self.commits, self.engine
        cycle = feed.cycle
        assert cycle is not None
        self.is_called = bool(self.inbox)
        again_us = NEVER                               # when the next pass tries again what the last one could not do
        if self.membership.has_to_try_again():
            now = engine.env._now
            again_us = max(now + 1, min(cycle.batch_after(now), cycle.poll_ends(now, self.spec.handler.poll_timeout_us)))
        while True:
            now = engine.env._now
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
            if not self.is_resting and commits.is_auto and commits.due_us + self.heartbeat.late_us > now:
                until = min(until, commits.due_us + self.heartbeat.late_us)
            self.is_polling = True
            self.alarm.set(until)
            yield self.nudge
            if feed.cycle is not cycle:
                self.is_polling = False
                if self.busy_until_us > engine.env._now:
                    yield from self.sleep(self.busy_until_us)
                self.read()
                return
            feed.tell_first()
            if engine.env._now >= again_us:
                self.is_called = True
            if not self.is_resting and engine.env._now >= commits.due_us + self.heartbeat.late_us and self.coordinator is not None \
                    and not self.membership.must_join():
                commits.maybe_auto()
        self.is_polling = self.is_resting = self.is_called = False
        self.read()
        self.deadline_us = cycle.poll_ends(engine.env._now, self.spec.handler.poll_timeout_us)
        if (self.stop_option or self.hang_us) and feed.cycle is not None:
            self._leave_poll()

    def _handle(self, records: int) -> Generator[Any, Any, None]:
        """The application works on a batch, then commits as it is used to."""
        took = self.feed.handling_us(records)
        late = took - int(took / self.slowness) if self.slowness > 1 else 0
        if late < NOTICEABLE_US:
            late = 0
        if took:
            yield from self.sleep(self.engine.env._now + took - late)
        if late:
            yield from self._stick(late, "slow")
        if self.feed.hang_us:
            us, self.feed.hang_us = self.feed.hang_us, 0
            yield from self._stick(us, "poison")
        commit = self.spec.handler.commit
        if commit == "async":
            self.commits.send_async(self.feed.consumed())
        elif commit.startswith("sync"):
            self.is_polling = True
            yield from self.commits.sync(self.engine.env._now + self.config.default_api_timeout_us)
            self.is_polling = False

    def _hang(self) -> Generator[Any, Any, None]:
        us, self.hang_us, self.hangs_first = self.hang_us, 0, False
        yield from self._stick(us, self.hang_why)
        if self.unhandled_us:
            us, self.unhandled_us = self.unhandled_us, 0
            yield from self.sleep(self.engine.env._now + us)

    def _stick(self, us: int, why: str) -> Generator[Any, Any, None]:
        """No progress for so long, and no poll()."""
        now = self.engine.env._now
        self.break_cycle()
        mark(self, self.feed.shares.values())
        self.tell(HandlerStuck(now, self.name, why, self.member.owned))
        yield from self.sleep(now + us)
        self.feed.renew()
        self.tell(HandlerReturned(self.engine.env._now, self.name))

    def _fail(self, name: str) -> Generator[Any, Any, None]:
        """The application dies of an exception, closing its consumer on the way out."""
        yield from self._close("default")
        self.end("fatal", name)

    def _close(self, option: str) -> Generator[Any, Any, None]:
        yield from close(self, option)

    # ---------------------------------------------------------------------------------------------- waiting

    def sleep(self, until_us: int) -> Generator[Any, Any, None]:
        """Outside poll(), or deaf within it: only the clock wakes."""
        if self.feed.cycle is not None:
            self._leave_poll()
        self.is_polling = False
        self.busy_until_us = until_us
        self.alarm.set(until_us)
        if self.heartbeat.is_enabled and (self.inbox or until_us > self.heartbeat.timers.poll_ends_us()):
            self.heartbeat.plan()
        engine = self.engine
        while engine.env._now < until_us or self.is_frozen:
            yield self.nudge

    def _leave_poll(self) -> None:
        """Steady times end because the application goes elsewhere; from here on the heartbeat thread's looks matter."""
        self.commits.make_up()
        cycle = self.feed.cycle
        assert cycle is not None
        if self.heartbeat.is_enabled:
            timers = self.heartbeat.timers
            timers.looked_us = cycle.last_look(timers.looked_us, timers.tick_us, self.engine.env._now, self.spec.handler.poll_timeout_us)
        self.feed.unsettle()

    def wait(self, until_us: int) -> Generator[Any, Any, None]:
        """In poll(): the network wakes, or the clock."""
        if self.inbox:
            self.read()
            return
        self.is_polling = True
        self.alarm.set(until_us)
        yield self.nudge
        self.is_polling = False
        self.read()

    def _rung(self) -> None:
        if self.is_frozen:
            self.is_owed = True
        else:
            self.nudge.give()

    def _wake(self) -> None:
        """The network has something for a thread in poll()."""
        cycle = self.feed.cycle
        if cycle is not None:
            self.is_called = True
            now = self.engine.env._now
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

    # ---------------------------------------------------------------------------------------------- the network

    def call(self, api: str, request: Any, handle: Any) -> Call:
        """A request to the coordinator, not sent yet."""
        member = self.member
        call = Call(self, api, self.world.next_number(), request, handle, self.engine.env._now, self.coordinator or 0)
        call.sent_generation, call.sent_member_id = member.generation, member.member_id
        return call

    def send(self, call: Call, reason: str = "") -> None:
        now = self.engine.env._now
        call.sent_us = now
        if not call.expires_us:
            call.expires_us = now + self.config.request_timeout_us
        self.calls[call.number] = call
        if self.world.is_wire or call.api in ALWAYS_TOLD or call.is_before_rebalance:
            call.told = self.world.next_told()
            self.tell(RequestSent(now, self.name, call.api, call.told, call.sent_generation, reason))
        link, host = self.coordinator_link, self.host
        if call.api == "FindCoordinator":
            link, host = self.link(self.world.bootstrap), self.world
        if link is None or host is None:
            self.inbox.append((call, DISCONNECTED))
            return
        link.up(call, host.receive)
        self._mind_expiry(call)

    def send_late(self, event: Once) -> None:
        """A request that had to wait for the leader's computation."""
        call: Call = event.value
        if self.is_alive and call.life == self.life:
            self.send(call)

    def answered(self, event: Once) -> None:
        """An answer came; the event's value is the call with its response."""
        call: Call = event.value
        if call.life != self.life or not self.is_alive or self.calls.get(call.number) is not call:
            return
        if call.is_quiet and self.feed.cycle is not None and not self.is_frozen and call.response.error is Error.NONE:
            self._pop(call, call.response)             # no news: nobody is woken for it
            return
        self.inbox.append((call, call.response))
        self._incoming()

    def fetched(self, event: Once) -> None:
        """A Fetch came back."""
        fetch = event.value
        if fetch.life == self.life and self.is_alive and self.feed.flying.get(fetch.broker) is fetch:
            self.inbox.append((None, fetch))
            self._incoming()

    def looked_up(self, event: Once) -> None:
        """A partition leader answered about positions."""
        lookup = event.value
        if lookup.life == self.life and self.is_alive:
            self.inbox.append((self.positions, lookup))
            self._incoming()

    def _incoming(self) -> None:
        if self.is_frozen:
            self.is_owed = True
        elif self.is_polling:
            self._wake()
        elif self.heartbeat.is_enabled:
            self.heartbeat.plan()

    def metadata_came(self) -> None:
        """The topics look different now; a thread in poll() notices at once."""
        if self.is_polling and not self.is_frozen and self.membership.must_join():
            self.settle_accounts()
            self._wake()

    def read(self, is_app: bool = True) -> None:
        """One network pass: everything that has come is handled, in order."""
        while self.inbox:
            inbox, self.inbox = self.inbox, []
            for call, response in inbox:
                if call is None:
                    self.feed.landed(response)
                elif call is self.positions:
                    self.positions.landed(response)
                elif call.number in self.calls or response is DISCONNECTED:
                    self._pop(call, response)

    def _pop(self, call: Call, response: Any) -> None:
        self.calls.pop(call.number, None)
        if self.world.is_wire or call.api in ALWAYS_TOLD:
            error: Error = response.error
            self.tell(ResponseReceived(
                self.engine.env._now, self.name, call.api, call.told, "" if error is Error.NONE else error.name,
                getattr(response, "generation", -1), call.sent_us))
        call.handle(call, response)

    def drop_calls(self, *apis: str) -> None:
        """Nobody waits for these any more."""
        for number in [number for number, call in self.calls.items() if call.api in apis]:
            del self.calls[number]

    def _mind_expiry(self, call: Call) -> None:
        if self.expiry is None:
            self.expiry = Alarm(self.engine, self.rank + APP, self._expire)
        if call.expires_us < self.expiry.at_us:
            self.expiry.set(call.expires_us)

    def _expire(self) -> None:
        """A request without an answer for too long: the connection is given up, and everything on it with it."""
        now = self.engine.env._now
        if not self.is_alive or self.is_frozen:
            return
        late = [call for call in self.calls.values() if call.expires_us <= now]
        if late:
            self.lose_coordinator("request timed out")
            for call in late:                          # one that looked for the coordinator, too
                if self.calls.pop(call.number, None) is not None:
                    self.inbox.append((call, DISCONNECTED))
            self._incoming()
        elif self.calls and self.expiry is not None:
            self.expiry.set(min(call.expires_us for call in self.calls.values()))

    # ---------------------------------------------------------------------------------------------- the coordinator

    def look_up_coordinator(self) -> None:
        self.is_looking_up = True
        self.send(ask_for_coordinator(self))

    def take_coordinator(self, broker: int) -> None:
        """This broker leads the group; a connection of its own is made."""
        self.coordinator = broker
        self.coordinator_link = self.lines.fit(self.world.connect(self, broker, "coordinator"), True)
        self.host = self.world.host_of(self.group)

    def lose_coordinator(self, why: str) -> None:
        """markCoordinatorUnknown: whatever is under way on that connection fails; nothing is revoked."""
        if self.coordinator is None:
            return
        now = self.engine.env._now
        self.unavailable_us[self.coordinator] = now + int(self.config.reconnect_backoff_us * self.jitter())
        self.coordinator = None
        self.tell(CoordinatorLost(now, self.name, why))
        for number, call in list(self.calls.items()):
            if call.api != "FindCoordinator":
                del self.calls[number]
                self.inbox.append((call, DISCONNECTED))

    def lose_again(self) -> None:
        """The coordinator was found, but its connection may not be made yet."""
        self.coordinator = None
        self.tell(CoordinatorLost(self.engine.env._now, self.name, "coordinator unavailable"))

    def lost_broker(self, broker: int) -> None:
        """A broker closed its connections."""
        link = self._links.get(broker)
        if link is not None:
            link.is_open = False
        if self.coordinator == broker:
            if not self.is_frozen:
                self.settle_accounts()
            self.lose_coordinator("coordinator unavailable")
            self._incoming()

    def leave_group(self, reason: str) -> None:
        """The heartbeat thread found that the application no longer polls."""
        self.membership.leave(reason)

    def heard_by_sync(self) -> None:
        self.tell(RebalanceNoticed(self.engine.env._now, self.name, "sync"))

    def link(self, broker: int) -> Link:
        """The connection for data with this broker."""
        link = self._links.get(broker)
        if link is None:
            link = self._links[broker] = self.lines.fit(self.world.connect(self, broker, "data"), False)
        return link

    def data_links(self) -> list[Link]:
        """All connections for data that were made so far."""
        return list(self._links.values())

    def jitter(self) -> float:
        """What a backoff is multiplied with (ExponentialBackoff's ±20 %)."""
        return self.stream("backoff").draw(self.world.machine.backoff_percent) / 100

    def stream(self, name: str) -> Stream:
        """This consumer's stream of random numbers for one purpose."""
        found = self._streams.get(name)
        if found is None:
            found = self._streams[name] = self.world.randomness.stream(f"{name}/{self.name}")
        return found


__all__ = ["CloseBegan", "Consumer", "MemberState"]
