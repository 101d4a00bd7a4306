"""How a client of the consumer protocol skips the time in which nothing comes to be read: one poll()
after the other, and Fetches that come back empty when fetch.max.wait.ms is over.

An empty answer ends a wait within poll(). Whether the next Fetch leaves at once or with the next
poll() hangs on whether that poll()'s event was seen to be complete, which is chance, and belongs to
the instant at which the poll() began. So the answers are walked through, one after the other, and
the polls between two of them are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from rebalsim.quiet.being_at_rest import next_told_us
from rebalsim.quiet.playing import Playing
from rebalsim.simulation.asynchronous.consumer import SPIN_US
from rebalsim.simulation.asynchronous.events import PollEvent
from rebalsim.simulation.engine import APP, ARRIVES, NEVER, RECORDS
from rebalsim.simulation.shares import FETCHING, Fetch

WORTH_PASSES = 8  # fewer are played
LEAST_WAIT_US = 50_000  # Fetches that come back sooner are played


@dataclass(slots=True)
class EmptyFetch:
    """When it comes to its broker, leaves there, and is back."""

    arrives_us: int
    leaves_us: int
    lands_us: int


@dataclass(slots=True)
class Wait:
    """A wait within a poll(): when both began and when it is over, whether the poll()'s event is done
    with, so that an answer calls for a new one, and what is under way.
    """

    began_us: int
    at_us: int
    over_us: int
    polled_us: int  # when an event was handed over last
    is_through: bool
    flights: dict[int, EmptyFetch] = field(default_factory=dict)  # in the order in which they left


class Waiting(Playing):
    """Quiet time of a client whose partitions bring nothing for a while."""

    __slots__ = ("_brokers", "_fetches", "_free_us", "_is_through", "_links", "_timeout_us")

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        feed, event = client.feed, client.event
        self._fetches: list[Any] = list(feed.flying.values())
        self._is_through = event is None
        self._brokers = tuple(dict.fromkeys([share.broker for share in feed.shares.values()]))
        self._links = {broker: client.link(broker) for broker in self._brokers}
        self._free_us = {broker: link.busy_us for broker, link in self._links.items()}
        self._timeout_us = int(client.spec.handler.poll_timeout_us)
        self.wakes_us = min(self.next_told_us(), self._next_record_us()) - 1

    def next_told_us(self) -> int:
        return next_told_us(self.client)

    def _next_record_us(self) -> int:
        return int(
            min(
                [share.flow.next_after(self.since_us) for share in self.client.feed.shares.values()]
            )
        )

    # ------------------------------------------------------------------------------ may it skip now?

    def is_thinkable(self) -> bool:
        config, machine = self.client.config, self.client.machine
        return bool(
            not config.client_rack
            and config.fetch_max_wait_us >= LEAST_WAIT_US
            and machine.async_turn_us + SPIN_US < self._timeout_us
            and 2 * self._timeout_us <= config.max_poll_interval_us  # so that no wait is cut short
            and max(self._brokers) + RECORDS < APP
        )

    def is_possible(self) -> bool:
        """Is everything read that is there, and nothing under way but Fetches that wait for more?"""
        client, feed, event = self.client, self.client.feed, self.client.event
        return bool(
            not (feed.is_suspended or feed.is_behind or feed.buffer or feed.hang_us)
            and (event is None or not event.hidden)
            and self.since_us < client.deadline_us
            and all(link.is_clear for link in self._links.values())
            and all(self._is_read(share) for share in feed.shares.values())
            and all(self._asks_for_all(fetch) for fetch in self._fetches)
        )

    def _is_read(self, share: Any) -> bool:
        return bool(
            share.state == FETCHING
            and not share.is_going
            and not share.is_coming
            and not share.is_waiting
            and share.leased_us < 0
            and share.broker >= 0
            and share.offset == share.fetched == share.flow.count(self.since_us)
        )

    def _asks_for_all(self, fetch: Any) -> bool:
        """Does it ask its broker for all that is read there, and bring nothing?"""
        read = {share for share in self.client.feed.shares.values() if share.broker == fetch.broker}
        return bool(
            not fetch.is_void
            and not fetch.elsewhere
            and not fetch.got
            and {share for share, _ in fetch.asked} == read
            and all(first == share.offset for share, first in fetch.asked)
        )

    def is_worth_it(self) -> bool:
        wait = int(self.client.config.fetch_max_wait_us) // len(self._brokers)
        often = min(self._period_us, wait)
        return bool(self.wakes_us - self.since_us > WORTH_PASSES * often)

    def may_be_writing(self) -> bool:
        """It has nothing to commit."""
        return False

    def offset_of(self, share: Any) -> int:
        """Nothing comes meanwhile."""
        return int(share.offset)

    # -------------------------------------------------------------------------------------- going on

    def go_on(self) -> None:
        client, engine = self.client, self.engine
        client.quiet.plays_until(client, engine.until_us)  # there is nothing more to leave out
        wait = self._last_wait()
        if wait.at_us > self.since_us:
            engine.leap(wait.at_us, client.rank + APP)
            client.event = None if wait.is_through else _seen_to_be_complete(wait)
            client.deadline_us = wait.began_us + self._timeout_us
            client.heartbeat.timers.polled_us = wait.polled_us
        for broker, free_us in self._free_us.items():
            self._links[broker].busy_us = free_us
        for broker, flight in wait.flights.items():
            self._fly(broker, flight)
        client.heartbeat.plan()
        client.nudge.give()

    def _fly(self, broker: int, flight: EmptyFetch) -> None:
        """This Fetch is under way, from where it is by now."""
        client, feed, now = self.client, self.client.feed, self.engine.now
        shares = [share for share in feed.shares.values() if share.broker == broker]
        fetch = Fetch(broker, client.life, feed.in_session(broker, shares))
        fetch.firsts = [share for share in shares if share.is_new]
        fetch.arrives_us = flight.arrives_us
        feed.flying[broker] = fetch
        feed.expect(fetch, flight.arrives_us)
        self._links[broker].busy_us = fetch.leaves_us + client.machine.service_us
        if flight.arrives_us > now:
            self.engine.at(flight.arrives_us, client.rank + ARRIVES, feed.arrives, fetch)
            return
        fetch.parked_us = flight.arrives_us
        if fetch.leaves_us > now:
            feed.park(fetch)
        else:
            feed.answer(fetch)

    # ------------------------------------------------------------------------- what was done meanwhile

    @property
    def _period_us(self) -> int:
        return self._timeout_us + int(self.client.machine.async_wait_late_us)

    def _last_wait(self) -> Wait:
        """The last wait that began before the instant that is asked for, as it began."""
        wait, until = self._wait_now(), self.engine.until_us
        last = wait
        while wait.at_us < until:
            last = replace(wait, flights=dict(wait.flights))
            broker, lands = self._next_landing(wait)
            if min(lands, wait.over_us) >= until:
                break
            if lands > wait.over_us:
                self._begin(wait, self._last_begin(wait, min(lands, until)))
            else:
                self._land(wait, broker, lands)
        return last

    def _wait_now(self) -> Wait:
        """The one in which it came to rest."""
        client, since = self.client, self.since_us
        began, polled = client.deadline_us - self._timeout_us, client.heartbeat.timers.polled_us
        wait = Wait(began, since, 0, polled, self._is_through)
        self._go_on_waiting(wait, since)
        for fetch in self._fetches:
            wait.flights[fetch.broker] = self._as_it_flies(fetch)
        return wait

    def _as_it_flies(self, fetch: Any) -> EmptyFetch:
        arrives = fetch.arrives_us if fetch.parked_us == NEVER else fetch.parked_us
        if fetch.is_answered:  # on its way back, at the pace that the line had when it left
            return EmptyFetch(arrives, fetch.leaves_us, fetch.lands_us)
        return self._flight(fetch.broker, arrives)

    def _flight(self, broker: int, arrives_us: int) -> EmptyFetch:
        leaves = arrives_us + self.client.config.fetch_max_wait_us
        return EmptyFetch(arrives_us, leaves, leaves + self._links[broker].latency_us(leaves))

    def _next_landing(self, wait: Wait) -> tuple[int, int]:
        if not wait.flights:
            return -1, NEVER
        lands, broker = min([(flight.lands_us, of) for of, flight in wait.flights.items()])
        return broker, lands

    def _land(self, wait: Wait, broker: int, at_us: int) -> None:
        """An empty answer is back, and ends the wait."""
        self._take(wait, broker)
        if at_us >= wait.began_us + self._timeout_us:
            self._begin(wait, at_us)
            return
        if wait.is_through:
            self._send(wait, at_us)
            wait.polled_us = at_us
        wait.is_through = not wait.is_through
        self._go_on_waiting(wait, at_us)

    def _take(self, wait: Wait, broker: int) -> None:
        service = int(self.client.machine.service_us)
        self._free_us[broker] = wait.flights.pop(broker).leaves_us + service

    def _last_begin(self, wait: Wait, before_us: int) -> int:
        """When the last of the polls begins that lie between this wait and that instant, and in which
        nothing happens.
        """
        if len(wait.flights) < len(self._brokers):
            return wait.over_us
        return wait.over_us + (before_us - 1 - wait.over_us) // self._period_us * self._period_us

    def _begin(self, wait: Wait, at_us: int) -> None:
        """A poll() begins with an event: that has Fetches sent, or else finds nothing to fetch and
        calls for a second pass, which mostly sees that it is complete.
        """
        wait.began_us = wait.polled_us = at_us
        if self._send(wait, at_us):
            wait.is_through = False
            self._go_on_waiting(wait, at_us)
            return
        wait.is_through = not self._looks_too_early(at_us)
        self._go_on_waiting(wait, at_us + int(self.client.machine.async_turn_us))
        while True:  # what is back by then is noticed by the second pass
            broker, lands = self._next_landing(wait)
            if lands > wait.at_us:
                break
            self._take(wait, broker)
            if lands == wait.at_us:  # it brings that on, and the next finds it over
                break

    def _go_on_waiting(self, wait: Wait, at_us: int) -> None:
        left = wait.began_us + self._timeout_us - at_us
        late = int(self.client.machine.async_wait_late_us)
        wait.at_us, wait.over_us = at_us, at_us + max(left, SPIN_US) + late

    def _looks_too_early(self, at_us: int) -> bool:
        machine, client = self.client.machine, self.client
        odds = machine.looks_too_early_warm if client.is_warm else machine.looks_too_early
        return bool(client.stream("looks").unit_at(at_us) < odds)

    def _send(self, wait: Wait, at_us: int) -> bool:
        """To each broker from which nothing is under way."""
        idle = [broker for broker in self._brokers if broker not in wait.flights]
        for broker in idle:
            comes = at_us + self._links[broker].latency_us(at_us)
            wait.flights[broker] = self._flight(broker, max(comes, self._free_us[broker]))
        return bool(idle)


def _seen_to_be_complete(wait: Wait) -> PollEvent:
    """The event of a poll() that goes on: the next pass drops it, and only the one after hands over
    another.
    """
    event = PollEvent(wait.polled_us, wait.over_us)
    event.is_complete, event.is_fresh = True, False
    return event
