"""The consumer process of the consumer protocol: AsyncKafkaConsumer's poll(), pass by pass.

A pass hands the background thread an event unless one is under way, runs the callbacks that
wait, drops the event if it is complete, looks for records, and waits. What a member is told (by
its heartbeats) begins to happen when the next event goes out, so the rhythm of these passes is
what a rebalance is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rebalsim.domain.callback import Callback
from rebalsim.protocol.consumer_member import ClientState, ConsumerMember
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.simulation.asynchronous.background import Background
from rebalsim.simulation.asynchronous.closing import close
from rebalsim.simulation.asynchronous.commits import AsyncCommits
from rebalsim.simulation.asynchronous.events import Assigned, Done, PollEvent, Removed
from rebalsim.simulation.asynchronous.feed import AsyncFeed
from rebalsim.simulation.asynchronous.positions import AsyncPositions
from rebalsim.simulation.consumer import Consumer
from rebalsim.simulation.engine import ANSWERED, ARRIVES, NEVER, SCRIPT, Steps
from rebalsim.simulation.listener import ListenerFailed, call_listener
from rebalsim.simulation.network import Call
from rebalsim.simulation.poll_failed import PollFailed
from rebalsim.trace.events import CoordinatorFound, MemberStateChanged, PollingBegan, RequestSent

if TYPE_CHECKING:
    from rebalsim.simulation.positions import Lookup

    pass

DOUBTFUL_US = 30_000  # a second beat so near to the interval may be a beat like any other
ANCHORED_US = 25_000  # a poll() is entered no later than so long after the one before was to end
SPUN_US = 20_000  # so long every pass of an application that spins is played
SPIN_US = 100  # a pass that has nothing to wait for: what a turn of two threads takes


class AsyncConsumer(Consumer):
    """One consumer of a consumer group, through all its lives."""

    __slots__ = (
        "_acks_us",
        "_arrives_us",
        "asked",
        "event",
        "has_new_topics",
        "has_polled",
        "is_hanging",
        "is_waiting",
        "is_warm",
        "looks_not_before_us",
        "poll_error",
        "resolves_pattern",
        "spun_us",
        "wakes_us",
        "wants_to_join",
        "woken",
    )

    member: ConsumerMember
    heartbeat: Background
    feed: AsyncFeed
    positions: AsyncPositions
    commits: AsyncCommits

    def equip(self) -> None:
        """Everything of one life."""
        self.event: PollEvent | None = None
        self.asked: list[tuple[str, float, int, bool]] | None = None  # of chance, if it is noted
        self.woken = False  # there is something to look at (FetchBuffer's flag)
        self.is_waiting = False  # within poll(), for records
        self.has_polled = False  # quiet time ended where a poll() did
        self.is_hanging = False
        self.is_warm = False  # it has had partitions in this life
        self.wants_to_join = True
        self.has_new_topics = False
        self.resolves_pattern = True
        self.poll_error: PollFailed | None = None
        self.looks_not_before_us = 0
        self.spun_us = NEVER  # since when it passes without waiting
        self.wakes_us = NEVER  # poll()'s wait ends then, for a pass that hands over an event
        self._acks_us = self._arrives_us = 0
        super().equip()
        member_id = self.world.client_made_id(self)
        self.member = ConsumerMember(member_id, self.config.group_instance_id)
        self.heartbeat = Background(self)
        self.feed = AsyncFeed(self)
        self.commits = AsyncCommits(self, self.heartbeat)
        self.positions = AsyncPositions(self, self.heartbeat)

    # --------------------------------------------------------------------------- what happens to it

    def step_to(self, change: Callable[[], Any], by_way_of: ClientState | None = None) -> None:
        """The member changes its state; told with the state in between, where there is one."""
        member = self.member
        before = member.state
        change()
        now = self.engine.now
        states = [before, *([by_way_of] if by_way_of is not None else []), member.state]
        for one, other in pairwise(states):
            self.tell(
                MemberStateChanged(
                    now, self.group, self.name, one.value, other.value, member.epoch, "client"
                )
            )

    def fail(self, error: Error) -> None:
        """The coordinator will never have this member: poll() throws, and the consumer is beyond
        use.
        """
        was = self.member.state
        self.step_to(lambda: self.member.become(ClientState.FATAL))
        if was not in (ClientState.UNSUBSCRIBED, ClientState.LEAVING, ClientState.PREPARE_LEAVING):
            self.heartbeat.reconciliation.lose_to_error()
        self.poll_error = PollFailed(error.name.title().replace("_", "") + "Exception", True)
        self.woken = True

    def fail_poll(self, name: str) -> None:
        """poll() throws this."""
        self.poll_error = PollFailed(name, True)
        self.woken = True

    def given(self) -> None:
        """News from the coordinator. A recording may tell when the application first looked at
        it: its second beat acknowledges.
        """
        acks_us, self._acks_us = self._acks_us, 0
        now = self.engine.now
        if not acks_us:
            return
        cost = self.spec.listener.assigned
        partitions = self.member.target.partitions
        took = int(cost.fixed.a + cost.per_partition.a * len(partitions)) if partitions else 0
        machine = self.machine
        looked = max(now, acks_us - took - machine.async_turn_us - machine.async_act_us)
        if abs(acks_us - now - self.heartbeat.beats.interval_us) > DOUBTFUL_US:
            self.looks_not_before_us = looked
            self.event = None
            if self.is_polling:
                self.alarm.at_us = looked
                self.alarm.set(looked)

    def answered_after(self, sent_us: int) -> None:
        """A beat sent in steady times brings news, and poll() may be awake once more before the
        next records.

        The application waits no longer than the background thread said when it last came to an
        end of its loop. That is up to the beat, at first; but what it says at the beat itself,
        before that is sent, is what was left when that turn began: with the last of the records.
        An application that finds its last event complete only now (mostly it does with the
        records) waits that long again, and then hands over another.
        """
        began = self.feed.handed_us
        if (
            not self.is_waiting
            or not self.feed.shares
            or self.commits.under_way
            or max(began, self.busy_until_us) > sent_us
            or not self.comes_true("wakes", self.machine.wakes_again)
        ):
            return
        self.wakes_us = max(self.engine.now, sent_us + (sent_us - began))

    def subscribe(self, topics: tuple[str, ...], pattern: str | None) -> None:
        self.touch()
        self.has_new_topics = self.is_alive
        super().subscribe(topics, pattern)
        if self.is_alive and not self.is_frozen:
            self.heartbeat.turn()

    def enforce_rebalance(self) -> None:
        """Does nothing under the consumer protocol (AsyncKafkaConsumer#enforceRebalance logs a
        warning).
        """

    def metadata_came(self) -> None:
        """The broker looks after partitions; only a pattern that the client resolves itself may
        change the subscription.
        """
        if self.pattern is not None and self.resolves_pattern:
            topics = self.world.topics_matching(self.pattern)
            if topics != self.topics:
                self.touch()
                self.topics = topics
                self.has_new_topics = True

    def find_coordinator(self, broker: int) -> None:
        self.take_coordinator(broker)
        self.tell(CoordinatorFound(self.engine.now, self.name, broker))

    def lose_coordinator(self, why: str) -> None:
        super().lose_coordinator(why)
        self.heartbeat.lost_coordinator()

    def looks_too_early(self, event: PollEvent | None = None) -> bool:
        """The race between a wake-up and the mark that the event is complete."""
        machine = self.machine
        odds = machine.looks_too_early_warm if self.is_warm else machine.looks_too_early
        if event is not None and event.validates:
            odds = machine.looks_too_early_validating
        elif event is not None and event.asks:
            odds = machine.looks_too_early_committed
        return self.comes_true("looks", odds)

    def fetches_ahead(self) -> bool:
        """Is the next Fetch under way before the application polls again? Then that finds
        nothing to fetch, and is woken for another pass.
        """
        odds = self.machine.fetches_ahead
        return odds >= 1.0 or self.comes_true("fetches", odds)

    def comes_true(self, what: str, odds: float) -> bool:
        """Does this chance come true just now?"""
        now = self.engine.now
        found = self.stream(what).unit_at(now) < odds
        if self.asked is not None:
            self.asked.append((what, odds, now, found))
        return found

    # ------------------------------------------------------------------------------------- starting

    def _start_up(self, joins_us: int | None) -> Steps:
        now = self.engine.now
        driven, self.driven = self.driven, None
        if driven is not None:
            self._acks_us, self._arrives_us = driven.acks_us, driven.arrives_us
            self.engine.at(driven.joins_us, SCRIPT, self._coordinator_known, self.life)
        else:
            took = self.stream("start").draw(self.spec.life.start)
            if took:
                yield from self.sleep(now + took)
            bootstrap = self.link(self.world.bootstrap)
            opening = 0 if bootstrap.is_open else 4 * bootstrap.latency_us(now)
            bootstrap.is_open = bootstrap.is_open or self._knows_leader()
            self.engine.at(self.engine.now + opening, SCRIPT, self._begin_background, self.life)
        self.begun_us = self.engine.now
        self.tell(PollingBegan(self.engine.now, self.name, self.life))
        self.metadata.watch(self.topics)

    def _begin_background(self, life: int) -> None:
        if self.is_alive and self.life == life:
            self.heartbeat.begin()

    def _coordinator_known(self, life: int) -> None:
        if self.is_alive and self.life == life:
            self.find_coordinator(self.world.coordinator_of(self.group))
            assert self.coordinator_link is not None
            self.coordinator_link.is_open = True
            self.link(self.world.bootstrap).is_open = self._knows_leader()
            self.heartbeat.turn()

    def _knows_leader(self) -> bool:
        """What it began with is no connection for data; its telemetry makes one to some broker,
        unless that finds out at once that it is not wanted.
        """
        odds = self.machine.knows_leader
        return bool(odds >= 1.0 or self.stream("telemetry").unit() < odds)

    def take_driven_join(self) -> int:
        """When the coordinator took this life's first join in, if a recording tells."""
        arrives, self._arrives_us = self._arrives_us, 0
        return int(arrives)

    def send_so_that_it_arrives(self, call: Call, at_us: int) -> None:
        """A join of which a recording tells when the coordinator took it in."""
        now = self.engine.now
        call.sent_us, call.expires_us, call.link = (
            now,
            now + self.config.request_timeout_us,
            self.coordinator_link,
        )
        self.calls[call.number] = call
        if self.world.is_wire:
            call.told = self.world.next_told()
            self.tell(RequestSent(now, self.name, call.api, call.told, call.sent_generation))
        self.engine.at(at_us, self.rank + ARRIVES, self.host.receive, call)

    # --------------------------------------------------------------------------------------- poll()

    def poll(self) -> Generator[Any, Any, int]:
        """KafkaConsumer.poll(): how many records it returns."""
        engine = self.engine
        if self.quiet is not None and self.quiet.lets_learn(self):
            yield from self._keep_up()
        self.deadline_us = engine.now + self.spec.handler.poll_timeout_us
        is_first = True
        while True:
            if self.is_called_away():
                return 0
            yield from self._look(is_first)
            is_first = False
            records = self._collect()
            if not records:
                if self.feed.is_behind and not self.woken and not self.heartbeat.told:
                    self._look_whether_caught_up()
                if self.quiet is not None and self.quiet.lets_keep_up(self):
                    yield from self._keep_up()
                    if self.has_polled:
                        return 0
                yield from self._await_records()
                records = self._collect()
            if records:
                self.heartbeat.prefetch()
                return int(records)
            if engine.now >= self.deadline_us:
                return 0

    def _look(self, is_first: bool) -> Steps:
        """checkInflightPoll: one event at a time, and the callbacks that wait."""
        now = self.engine.now
        event = self.event
        if is_first and event is not None:
            event.hidden = 0
            if event.is_complete:
                if self.feed.is_empty:
                    event = None
            elif now >= event.deadline_us:
                event = None
        told, self.heartbeat.told = (
            self.heartbeat.told,
            [],
        )  # what comes of this pass's event is for the next one
        is_new = event is None
        if event is None:
            event = PollEvent(now, self.deadline_us)
            self.event = event
            self.heartbeat.add(event)
            if (
                self.heartbeat.told
                and event.is_complete
                and self.comes_true("at once", self.machine.looks_at_once)
            ):
                event.hidden = 0
                event.is_fresh = False
        else:
            self.event = event
        if told:
            event.is_fresh = False
            event.hidden = 0  # the background thread is through it by the time the callbacks are …
            try:
                yield from self._run_callbacks(told)
            except PollFailed:
                self.event = None
                raise
            if (
                is_new
                and self.engine.now == now
                and self.comes_true("called", self.machine.looks_too_early_called)
            ):  # … if it had any time
                event.hidden = 1 + int(self.looks_too_early())
        if self.poll_error is not None:
            error, self.poll_error, self.event = self.poll_error, None, None
            raise error
        if event.is_complete:
            if event.hidden:
                event.hidden -= 1
            else:
                self.event = None
        elif not is_new and self.engine.now >= event.deadline_us:
            self.event = None

    def _run_callbacks(self, told: list[Removed | Assigned]) -> Steps:
        """What the background thread asked the application to do is done, as in Kafka's
        processBackgroundEvents: callbacks first of all.
        """
        failed = False
        machine = self.machine
        for one in told:
            acts_us = (
                machine.async_rejoin_us
                if isinstance(one, Removed) and one.callback == Callback.LOST
                else machine.async_act_us
            )
            try:
                if isinstance(one, Assigned):
                    self.feed.assign(one.partitions)
                    self.is_warm = self.is_warm or bool(one.partitions)
                    yield from call_listener(self, Callback.ASSIGNED, one.added)
                else:
                    yield from call_listener(self, one.callback, one.partitions)
                self.heartbeat.put_aside(Done(one.then, False), acts_us)
            except ListenerFailed:
                self.heartbeat.put_aside(Done(one.then, True), acts_us)
                failed = True
        if failed:
            raise PollFailed("KafkaException", False)

    def _collect(self) -> int:
        event = self.event
        if event is not None and event.is_fresh and not self.feed.has_all_positions:
            event.is_fresh = False  # its positions are not looked at yet, so nothing is handed over
            return 0
        if event is not None:
            event.is_fresh = False
        return int(self.feed.collect())

    def _look_whether_caught_up(self) -> None:
        if (
            self.member.state is ClientState.STABLE
            and self.member.is_reconciled
            and not self.looks_not_before_us > self.engine.now
        ):
            self.feed.look_whether_caught_up()

    # ------------------------------------------------------------------------ waiting within poll()

    def _await_records(self) -> Steps:
        """pollForFetches: until woken, until the poll is over, or as long as the background
        thread allows.
        """
        engine, feed = self.engine, self.feed
        now = engine.now
        if self.woken:  # the next pass comes before the thread has come to what was put aside
            self.is_polling = True
            self.alarm.set(now + self.machine.async_turn_us)
            while engine.now < now + self.machine.async_turn_us or self.is_frozen:
                yield self.nudge
            self.is_polling = self.woken = False
            return
        if now < self.deadline_us:  # else the next poll() does
            self.heartbeat.flush()
        late = self.machine.async_wait_late_us
        wait = self.deadline_us - now
        backoff = self.config.retry_backoff_us
        if not feed.shares:
            wait = min(wait, backoff)
        else:
            wait = min(wait, self.heartbeat.longest_wait_us(now))
            if wait > backoff and (not feed.shares or not feed.has_all_positions):
                wait = backoff
        until = now + max(wait, SPIN_US) + late
        is_spinning = self._spins(wait, now)
        if is_spinning:
            until = max(self.deadline_us, now + SPIN_US)
        if self.looks_not_before_us > now:
            until = self.looks_not_before_us
        self.is_polling = self.is_waiting = True
        self.wakes_us = NEVER
        self.alarm.set(until)
        while not (self.woken or self.is_called_away()) or self.is_frozen:
            yield self.nudge
            if self.wakes_us + late < until:
                until = self.wakes_us + late
                self.event = None  # seen to be complete when the beat went out
                self.alarm.set(until)
            due = self.alarm_due_us(until)
            if not self.is_frozen and (engine.now >= due or is_spinning):
                break
            if self.alarm.at_us > due:  # a thaw put it off
                self.alarm.set(due)
        self.is_polling = self.is_waiting = False
        self.woken = False
        if self.looks_not_before_us and engine.now >= self.looks_not_before_us:
            self.looks_not_before_us = 0
            self.event = None
            self._anchor_poll()

    def _keep_up(self) -> Steps:
        """Quiet time is skipped until somebody touches this client."""
        self.is_polling, self.has_polled = True, False
        while self.skipped is not None:
            yield self.nudge
        self.is_polling = False

    def _spins(self, wait_us: int, now: int) -> bool:
        """A beat is due and cannot leave, or its answer does not come: the application passes
        again and again for nothing, for as long as that lasts. After the first of these passes
        the others are left out up to whatever the background thread does, which such an
        application sees at once.
        """
        if wait_us > SPIN_US:
            self.spun_us = NEVER
            return False
        self.spun_us = min(self.spun_us, now)
        return now - self.spun_us > SPUN_US

    def _anchor_poll(self) -> None:
        """A recording told when a pass was that hands over an event: at the entry of poll(), or
        some whole waits later. That tells when it was entered.
        """
        timeout = self.spec.handler.poll_timeout_us
        backoff = self.config.retry_backoff_us
        now = self.engine.now
        waits = round((now - (self.deadline_us - timeout)) / backoff)
        entered = now - waits * backoff
        if waits * backoff >= timeout:
            self.deadline_us = now + timeout
        elif abs(entered + timeout - self.deadline_us) < ANCHORED_US:
            self.deadline_us = entered + timeout

    def alarm_due_us(self, until: int) -> int:
        """A recording may have brought the next look forward or put it off."""
        return self.looks_not_before_us or until

    # ------------------------------------------------------------------------------ the two threads

    def notice_background(self) -> None:
        """The end of a turn of the background thread: the application notices what it can notice
        where it waits.
        """
        if not self.is_polling or self.is_frozen:
            return
        self.nudge.give()

    def wait_for_background(self, until_us: int) -> Steps:
        """Blocked until the background thread is done with something."""
        self.is_polling = True
        self.alarm.set(until_us)
        yield self.nudge
        self.is_polling = False

    def sleep(self, until_us: int) -> Steps:
        """Outside poll(), or in a callback: only the clock wakes."""
        self.heartbeat.flush()
        self.is_polling = False
        self.busy_until_us = until_us
        self.alarm.set(until_us)
        engine = self.engine
        while (
            engine.now < until_us and not (self.is_handling and self.hangs_now())
        ) or self.is_frozen:
            yield self.nudge

    def _stick(self, us: int, why: str) -> Steps:
        self.is_hanging = True
        yield from super()._stick(us, why)
        self.is_hanging = False

    def looked_up(self, lookup: Lookup) -> None:
        """A partition leader answers, after it has looked."""
        self.engine.at(
            self.engine.now + self.machine.async_lookup_us,
            self.rank + ANSWERED,
            super().looked_up,
            lookup,
        )

    def _incoming(self) -> None:
        if not self.is_frozen:  # else read at the thaw
            self.heartbeat.turn()

    def _wake(self) -> None:
        """Business for the application itself: it looks up when its batch is done."""
        self.nudge.give()

    def _close(self, option: str) -> Steps:
        yield from close(self, option)
