"""The background thread (ConsumerNetworkThread): it reads answers, does what the application asked
for, and lets each manager send.

It takes no time and is woken by whatever concerns it: an event of the application's, an answer,
a timer. It wakes the application only when records came or when there was nothing to fetch; news
for the application waits until that looks for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rebalsim.protocol.consumer_member import ClientState
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.member_timers import backoff_us, within
from rebalsim.simulation.asynchronous.beats import Beats
from rebalsim.simulation.asynchronous.events import Assigned, Done, PollEvent, Removed
from rebalsim.simulation.asynchronous.reconciliation import Reconciliation
from rebalsim.simulation.discovery import ask_for_coordinator
from rebalsim.simulation.engine import BEAT, NEVER, Bell, Steps

if TYPE_CHECKING:
    from rebalsim.simulation.asynchronous.inside import AsyncInside


class Polled:
    """When the application last polled, for max.poll.interval.ms."""

    __slots__ = ("polled_us",)

    def __init__(self, now_us: int) -> None:
        self.polled_us = now_us


class Background:
    """Its turns, and the queues at both its ends."""

    __slots__ = (
        "_again",
        "_asks_at_us",
        "_attempts",
        "_has_turned",
        "_is_turning",
        "_prefetches",
        "_queue",
        "_seekers",
        "beats",
        "bell",
        "consumer",
        "engine",
        "is_closing",
        "is_enabled",
        "late_us",
        "reconciliation",
        "timers",
        "told",
    )

    def __init__(self, consumer: AsyncInside) -> None:
        self.consumer = consumer
        self.engine = consumer.engine
        self.timers = Polled(self.engine.now)
        self.bell = Bell(self.engine, consumer.rank + BEAT, self.turn)
        self.late_us = 0  # metadata and commits are looked at by the same clock as everything else
        self.is_enabled = True
        self.is_closing = (
            False  # CommitOnCloseEvent and StopFindCoordinatorOnCloseEvent have been handed over
        )
        self.told: list[Removed | Assigned] = []  # for the application
        self.beats = Beats(consumer, self)
        self.reconciliation = Reconciliation(consumer, self)
        self._queue: list[PollEvent | Done] = []  # the application's events
        self._seekers: list[PollEvent] = []  # whose positions are known: they want records
        self._prefetches = False
        self._is_turning = False
        self._again = self._has_turned = False
        self._asks_at_us = NEVER  # when it may ask for the coordinator (again)
        self._attempts = 0

    # -------------------------------------------------------------------- what the others see of it

    def begin(self) -> None:
        """From now on it looks for its coordinator."""
        self._asks_at_us = self.engine.now
        self.turn()

    def come_due(self, in_us: int, late_us: int) -> None:
        """The next beat is due so much later, or as one of several until then where they come more
        often; those after it keep its phase.
        """
        if self.is_enabled and self.consumer.member.is_in_group:
            self.beats.due_us = self.engine.now + within(in_us, self.beats.interval_us) + late_us
            self.plan()

    def stop(self) -> None:
        """The process is gone."""
        self.is_enabled = False
        self.bell.off()

    def plan(self) -> None:
        """When there is something to do unasked."""
        if not self.is_enabled:
            self.bell.off()
            return
        at = min(self.beats.next_us(), self.beats.expires_us(), self.consumer.commits.next_us())
        if self._queue and type(self._queue[0]) is Done:
            at = min(at, self._queue[0].acts_us)
        if (
            self.consumer.coordinator is None
            and not self.consumer.is_looking_up
            and not self.is_closing
        ):
            at = min(at, self._asks_at_us)
        if at == NEVER:
            self.bell.off()
        else:
            self.bell.set(max(at, self.engine.now))

    @property
    def is_idle(self) -> bool:
        """Is nothing left for either thread to do?"""
        return self.has_done_all and not self._prefetches

    @property
    def has_done_all(self) -> bool:
        """Is all done that either thread has asked of the other, but for fetching ahead?"""
        return not (self.told or self._queue or self._seekers)

    @property
    def prefetches(self) -> bool:
        """Is it to fetch ahead when it comes to it?"""
        return self._prefetches

    def fetch_ahead(self, shall: bool) -> None:
        """It is to, or not, when it comes to it."""
        self._prefetches = shall

    def longest_wait_us(self, now: int) -> int:
        """For how long the application may wait before it should look again (maximumTimeToWait)."""
        return int(
            min(self.beats.longest_wait_us(now), max(0, self.consumer.commits.periodic_us() - now))
        )

    # --------------------------------------------------------------------- asked by the application

    def add(self, event: PollEvent) -> None:
        """An event of the application's; with it goes what was put aside."""
        self._queue.append(event)
        self.turn()

    def put_aside(self, event: Done, acts_after_us: int) -> None:
        """One that the thread comes to when the application has gone on to wait, or to its next
        event; it takes its time then.
        """
        event.acts_us = self.engine.now + acts_after_us
        self._queue.append(event)

    def flush(self) -> None:
        """The application waits."""
        if self._queue or self._prefetches:
            self.turn()

    def prefetch(self) -> None:
        """CreateFetchRequests, before a batch is returned. Mostly an application that goes on at
        once has polled again before the thread is awake.
        """
        self._prefetches = True
        if self.consumer.fetches_ahead():
            self.turn()

    def _polled(self, event: PollEvent) -> None:
        """AsyncPollEvent: reconcile, commit, join, note that the application polls, look for
        positions, then fetch; in this order.
        """
        consumer, member = self.consumer, self.consumer.member
        self.reconciliation.maybe_begin(can_commit=True)
        consumer.commits.maybe_auto()
        if member.state is ClientState.UNSUBSCRIBED and consumer.wants_to_join:
            consumer.wants_to_join = False
            consumer.step_to(member.join)
        self.beats.polled(event.at_us)
        consumer.positions.look(event)

    def placed(self, events: list[PollEvent]) -> None:
        """Positions are as these wanted them; now they want records."""
        self._seekers += events

    # --------------------------------------------------------------------------------------- a turn

    def heartbeat_thread(self) -> Steps:
        """ConsumerNetworkThread.run: asleep until there is something to do, or until somebody
        wakes it.
        """
        consumer = self.consumer
        while True:
            yield self.bell
            if consumer.is_frozen or not self.is_enabled:
                continue
            self._is_turning = self._again = True
            while self._again or consumer.inbox:
                self._again = False
                consumer.read()
                self._take_events()
                self._find_coordinator()
                consumer.commits.send_waiting()
                self.beats.poll()
                self.reconciliation.maybe_begin(can_commit=False)
                self._fetch()
            self._is_turning = False
            if self.is_enabled:
                self.plan()
                self._has_turned = True

    def turn(self) -> None:
        """There is something for the thread: it does all that can be done now, and the
        application notices what it can notice.
        """
        if self._is_turning:
            self._again = True
            return
        self.bell.give()
        if self._has_turned:
            self._has_turned = False
            self.consumer.notice_background()

    def _take_events(self) -> None:
        """What the application asked for, as far as its time has come."""
        while self._queue:
            event = self._queue[0]
            if type(event) is Done:
                if event.acts_us > self.engine.now:
                    break
                self._queue.pop(0)
                event.then(event.error)
            else:
                self._queue.pop(0)
                self._polled(event)  # type: ignore[arg-type]

    def _fetch(self) -> None:
        if not self._prefetches and not self._seekers:
            return
        consumer = self.consumer
        seekers, self._seekers = self._seekers, []
        self._prefetches = False
        sent = consumer.feed.send()
        if not sent:
            consumer.woken = True  # nothing to fetch: the waiter is woken …
        for event in seekers:
            event.is_complete = (
                True  # … and looks, often before it is told that the event is complete
            )
            event.hidden = int(event.is_fresh) + (
                0 if sent else int(consumer.looks_too_early(event))
            )

    # ------------------------------------------------------------------------------ the coordinator

    def _find_coordinator(self) -> None:
        consumer = self.consumer
        if (
            consumer.coordinator is not None
            or consumer.is_looking_up
            or self.engine.now < self._asks_at_us
            or self.is_closing
        ):
            return
        consumer.is_looking_up = True
        call = ask_for_coordinator(consumer)
        call.handle = self._coordinator_found
        consumer.send(call)

    def _coordinator_found(self, call: Any, response: Any) -> None:
        consumer = self.consumer
        consumer.is_looking_up = False
        if response.error is Error.NONE and response.broker >= 0:
            self._attempts = 0
            consumer.find_coordinator(response.broker)
            return
        config = consumer.config
        jitter = 0.8 + 0.4 * consumer.stream("backoff").unit()
        self._asks_at_us = self.engine.now + backoff_us(
            self._attempts, config.retry_backoff_us, config.retry_backoff_max_us, jitter
        )
        self._attempts += 1

    def lost_coordinator(self) -> None:
        """It is asked for at once."""
        self._asks_at_us = self.engine.now
