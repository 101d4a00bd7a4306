"""The consumer process of the consumer protocol: AsyncKafkaConsumer's poll(), pass by pass.

A pass hands the background thread an event unless one is under way, runs the callbacks that
wait, drops the event if it is complete, looks for records, and waits. What a member is told (by
its heartbeats) begins to happen when the next event goes out, so the rhythm of these passes is
what a rebalance is made of. While the application keeps up its batches are no events, as with
any other consumer; the passes of one that has nothing to read are worked out when news comes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rebalsim.protocol.consumer_member import ClientState, ConsumerMember
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.simulation.asynchronous import rest
from rebalsim.simulation.asynchronous.background import Background
from rebalsim.simulation.asynchronous.closing import close
from rebalsim.simulation.asynchronous.commits import AsyncCommits
from rebalsim.simulation.asynchronous.events import Assigned, Done, PollEvent, Removed
from rebalsim.simulation.asynchronous.feed import AsyncFeed
from rebalsim.simulation.asynchronous.positions import AsyncPositions
from rebalsim.simulation.consumer import Consumer
from rebalsim.simulation.engine import ANSWERED, ARRIVES, NEVER, SCRIPT
from rebalsim.simulation.listener import ListenerFailed, call_listener
from rebalsim.simulation.network import Call
from rebalsim.simulation.poll_failed import PollFailed
from rebalsim.simulation.sleeper import Sleeper
from rebalsim.trace.events import CoordinatorFound, MemberStateChanged, PollingBegan, RequestSent

if TYPE_CHECKING:
    from rebalsim.simulation.positions import Lookup

    pass

Steps = Generator[Any, Any, None]
DOUBTFUL_US = 30_000  # a second beat so near to the interval may be a beat like any other
ANCHORED_US = 25_000  # a poll() is entered no later than so long after the one before was to end
SPUN_US = 20_000  # so long every pass of an application that spins is played
SPIN_US = 100  # a pass that has nothing to wait for: what a turn of two threads takes


class AsyncConsumer(Consumer):
    """One consumer of a consumer group, through all its lives."""

    __slots__ = (
        "_acks_us",
        "_arrives_us",
        "_is_turning",
        "_next_pass_us",
        "event",
        "has_new_topics",
        "is_hanging",
        "is_idling",
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
        self.woken = False  # there is something to look at (FetchBuffer's flag)
        self.is_idling = False
        self._next_pass_us = 0  # when it looks next, while it idles; …
        self._is_turning = False  # … is that the pass right after an event was handed over?
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
        machine = self.world.machine
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
        cycle = self.feed.cycle
        if cycle is None or not self.feed.shares or self.commits.under_way:
            return
        began, ended = cycle.batch_before(sent_us)
        if (
            ended > sent_us
            or began == cycle.anchor_us
            or self.stream("wakes").unit() >= self.world.machine.wakes_again
        ):
            return
        self.wakes_us = max(self.engine.now, sent_us + (sent_us - began))

    def subscribe(self, topics: tuple[str, ...], pattern: str | None) -> None:
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
                self.topics = topics
                self.has_new_topics = True
                self.settle_accounts()

    def find_coordinator(self, broker: int) -> None:
        self.take_coordinator(broker)
        self.tell(CoordinatorFound(self.engine.now, self.name, broker))

    def lose_coordinator(self, why: str) -> None:
        super().lose_coordinator(why)
        self.heartbeat.lost_coordinator()

    @property
    def is_steady(self) -> bool:
        """The application polls all the time, though nobody watches it do so."""
        return self.is_idling or self.feed.cycle is not None

    @property
    def polls_in_time(self) -> bool:
        """Whether its poll timer cannot have run out: it polls all the time, and is not only
        just thawed in the middle of its passes.
        """
        return self.feed.cycle is not None or (self.is_idling and self.thawed_us != self.engine.now)

    def looks_too_early(self, event: PollEvent | None = None) -> bool:
        """The race between a wake-up and the mark that the event is complete."""
        machine = self.world.machine
        odds = machine.looks_too_early_warm if self.is_warm else machine.looks_too_early
        if event is not None and event.validates:
            odds = machine.looks_too_early_validating
        elif event is not None and event.asks:
            odds = machine.looks_too_early_committed
        return bool(self.stream("looks").unit() < odds)

    def fetches_ahead(self) -> bool:
        """Is the next Fetch under way before the application polls again? Then that finds
        nothing to fetch, and is woken for another pass.
        """
        odds = self.world.machine.fetches_ahead
        return odds >= 1.0 or bool(self.stream("fetches").unit() < odds)

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
        odds = self.world.machine.knows_leader
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
        self.deadline_us = engine.now + self.spec.handler.poll_timeout_us
        is_first = True
        while True:
            if self.is_called_away():
                return 0
            yield from self._look(is_first)
            is_first = False
            records = self._collect()
            if not records:
                if not self.woken and not self.heartbeat.told and self._settles():
                    yield from self._keep_up()
                    if self.busy_until_us > engine.now:
                        yield from self.sleep(self.busy_until_us)
                        return 0
                    if self.is_called_away():
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
                and self.stream("looks").unit() < self.world.machine.looks_at_once
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
                and self.stream("looks").unit() < self.world.machine.looks_too_early_called
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
        """processBackgroundEvents."""
        failed = False
        machine = self.world.machine
        for one in told:
            acts_us = (
                machine.async_rejoin_us
                if isinstance(one, Removed) and one.callback == "lost"
                else machine.async_act_us
            )
            try:
                if isinstance(one, Assigned):
                    self.feed.assign(one.partitions)
                    self.is_warm = self.is_warm or bool(one.partitions)
                    yield from call_listener(self, "assigned", one.added)
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

    def _settles(self) -> bool:
        return (
            self.member.state is ClientState.STABLE
            and self.member.is_reconciled
            and not self.looks_not_before_us > self.engine.now
            and bool(self.feed.settle())
        )

    # ------------------------------------------------------------------------ waiting within poll()

    def _await_records(self) -> Steps:
        """pollForFetches: until woken, until the poll is over, or as long as the background
        thread allows.
        """
        engine, feed = self.engine, self.feed
        now = engine.now
        if self.woken:  # the next pass comes before the thread has come to what was put aside
            self.is_polling = True
            self.alarm.set(now + self.world.machine.async_turn_us)
            while engine.now < now + self.world.machine.async_turn_us or self.is_frozen:
                yield self.nudge
            self.is_polling = self.woken = False
            return
        if now < self.deadline_us:  # else the next poll() does
            self.heartbeat.flush()
        late = self.world.machine.async_wait_late_us
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
        wakes_us, self.wakes_us = self.wakes_us, NEVER
        if wakes_us < until:
            until = max(wakes_us, now) + late
            self.event = None  # seen to be complete when the beat went out
        if self.looks_not_before_us > now:
            until = self.looks_not_before_us
        if self.world.sleeps and self._can_idle():
            until = yield from self._idle(until)
            if self._is_turning:  # deaf for that long, as after any event that was handed over
                self.is_polling = True
                self.alarm.set(until)
                while engine.now < until or self.is_frozen:
                    yield self.nudge
                self.is_polling = self.woken = False
                return
        self.is_polling = True
        self.alarm.set(until)
        while not (self.woken or self.stop_option or self.hang_us) or self.is_frozen:
            yield self.nudge
            due = self.alarm_due_us(until)
            if not self.is_frozen and (engine.now >= due or is_spinning):
                break
            if self.alarm.at_us > due:  # a thaw put it off
                self.alarm.set(due)
        self.is_polling = False
        self.woken = False
        if self.looks_not_before_us and engine.now >= self.looks_not_before_us:
            self.looks_not_before_us = 0
            self.event = None
            self._anchor_poll()

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

    def _can_idle(self) -> bool:
        """There is nothing to read, and nothing to wait for but the coordinator's news."""
        return (
            not self.feed.shares
            and not self.feed.buffer
            and self.member.state is ClientState.STABLE
            and self.member.is_reconciled
            and not self.heartbeat.told
            and not self.looks_not_before_us
            and not self.woken
        )

    def _idle(self, until: int) -> Generator[Any, Any, int]:
        """Asleep through the passes of poll() calls that return nothing. When the pass comes
        that is no more like the others.
        """
        self.is_idling = self.is_polling = True
        self._next_pass_us = until
        self._is_turning = False
        self._maybe_rest()
        self.alarm.off()
        while self._can_idle() and not self.stop_option and not self.hang_us:
            yield self.nudge
            if self._can_idle():
                self._maybe_rest()
        self.is_idling = self.is_polling = False
        self._pass_idly()
        return self._next_pass_us

    def _pass_idly(self) -> None:
        """The passes up to now that nobody watched."""
        now = self.engine.now
        while self._next_pass_us < now:
            self._next_pass_us = self._idle_pass(self._next_pass_us)

    def freeze(self) -> None:
        """No pass is made while it lasts; the one that came due meanwhile is made at the thaw."""
        if self.is_alive and not self.is_frozen and self.is_idling:
            self._pass_idly()
        super(Consumer, self).freeze()  # whose poll() calls are slept through otherwise

    def thaw(self) -> None:
        if self.is_alive and self.is_frozen and self.is_idling:
            self._next_pass_us = max(self._next_pass_us, self.engine.now)
        super().thaw()

    def end(self, how: str, error: str = "", why: str = "") -> None:
        """The passes that it made draw from its chances, and another life follows."""
        if self.is_idling and not self.is_frozen:
            self._pass_idly()
        super().end(how, error, why)

    def _idle_pass(self, at: int) -> int:
        """What the pass at this instant did; when the next one is. One that hands over an event
        is woken at once, as there is nothing to fetch, and may look before it is told that the
        event is complete.
        """
        machine = self.world.machine
        if at >= self.deadline_us:
            self.deadline_us = at + self.spec.handler.poll_timeout_us
            self.event = None
        event = self.event
        self._is_turning = event is None
        if event is None:
            self.heartbeat.timers.polled_us = at
            self.commits.begin_anew(at)
            self.event = event = PollEvent(at, self.deadline_us)
            event.is_complete, event.is_fresh = True, False
            event.hidden = int(self.looks_too_early())
            return int(at + machine.async_turn_us)
        if event.hidden:
            event.hidden -= 1
        else:
            self.event = None
        return (
            int(at)
            + max(min(self.config.retry_backoff_us, self.deadline_us - at), SPIN_US)
            + int(machine.async_wait_late_us)
        )

    def _keep_up(self) -> Steps:
        """The application keeps up: asleep until something but the usual records comes."""
        feed = self.feed
        cycle = feed.cycle
        assert cycle is not None
        engine = self.engine
        while feed.cycle is cycle and not self.stop_option and not self.hang_us:
            until = feed.first_delivery_at()
            self._maybe_rest()
            if not self.is_resting:
                until = min(until, self.commits.periodic_us())
                if self.world.is_dense:
                    until = min(until, cycle.batch_after(engine.now))
            self.is_polling = True
            self.alarm.set(max(until, engine.now))
            yield self.nudge
            self.is_polling = False
            if self.is_frozen or feed.cycle is not cycle:
                continue
            feed.tell_first()
            if not self.is_resting and engine.now >= self.commits.periodic_us():
                self.commits.maybe_auto()
                self.heartbeat.turn()
        if feed.cycle is not None:
            self.commits.make_up()
            self.break_cycle()

    def _maybe_rest(self) -> None:
        if self.world.sleeps and not self.is_resting and rest.can_rest(self):
            self.is_resting = True
            self.heartbeat.bell.off()

    def rouse(self) -> None:
        """News may come: beats and commits are real from now on."""
        self.is_resting = False
        self.commits.make_up()
        rest.make_up(self)
        self.heartbeat.plan()
        if self.commits.is_auto and self.feed.cycle is not None:
            self.alarm.set(min(self.alarm.at_us, max(self.commits.due_us, self.engine.now)))

    # ------------------------------------------------------------------------------ the two threads

    def break_cycle(self) -> None:
        """Steady times are over for now: the application is told so, and waits on for as long as
        it finds right itself.
        """
        Sleeper.break_cycle(self)

    def stir(self) -> None:
        """Something happened that the application will act on when it next looks: from here on
        its passes matter.
        """
        if self.is_resting:
            self.rouse()
        if self.feed.cycle is not None:
            self.commits.make_up()
            self.break_cycle()

    def heed(self) -> None:
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
        if self.feed.cycle is not None:
            self.commits.make_up()
            self.feed.unsettle()
        if self.is_resting:
            self.rouse()
        self.is_polling = False
        self.busy_until_us = until_us
        self.alarm.set(until_us)
        engine = self.engine
        while engine.now < until_us or self.is_frozen:
            yield self.nudge

    def _stick(self, us: int, why: str) -> Steps:
        self.is_hanging = True
        yield from super()._stick(us, why)
        self.is_hanging = False

    def looked_up(self, lookup: Lookup) -> None:
        """A partition leader answers, after it has looked."""
        self.engine.at(
            self.engine.now + self.world.machine.async_lookup_us,
            self.rank + ANSWERED,
            super().looked_up,
            lookup,
        )

    def _incoming(self) -> None:
        if not self.is_frozen:  # else read at the thaw
            self.heartbeat.turn()

    def _wake(self) -> None:
        """Business for the application itself: it looks up when its batch is done."""
        cycle = self.feed.cycle
        now = self.engine.now
        if cycle is not None and cycle.free_at(now) > now:
            self.break_cycle()
        self.nudge.give()

    def _close(self, option: str) -> Steps:
        yield from close(self, option)
