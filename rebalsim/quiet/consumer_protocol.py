"""How a client of the consumer protocol skips quiet time: what repeats is left out, and the last of
it is played by the client itself, from an instant at which nothing hangs on what was before.

A client that reads begins each round anew with the arrival of a record: its poll() returns, the
next one finds the buffer empty and hands over an event. So two arrivals before the instant that
is asked for it is put to wait with its Fetches parked, and by the second of these arrivals it
stands as if all had been played. A client that has nothing to read begins anew with each poll().
Chances belong to instants, and are drawn alike however one comes there.

Periodic commits hang on such chances, so the rounds around each are played.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from rebalsim.protocol.consumer_member import ClientState
from rebalsim.quiet.playing import Playing
from rebalsim.simulation.engine import ANSWERED, APP, ARRIVES, NEVER
from rebalsim.simulation.shares import FETCHING, Fetch

WORTH_ROUNDS = 4  # fewer are played
WORTH_POLLS = 4


def playing_of(client: Any) -> Reading | Idling | None:
    """How this client may skip from now on, None unless all is quiet."""
    if not can_rest(client):
        return None
    return Reading(client) if client.feed.shares else Idling(client)


def can_rest(client: Any) -> bool:
    """Nothing is under way, nothing is asked of it, and its group is settled."""
    member, host, background = client.member, client.host, client.heartbeat
    beats, link = background.beats, client.coordinator_link
    return bool(
        member.state is ClientState.STABLE
        and member.is_reconciled
        and not client.calls
        and not client.inbox
        and background.is_idle
        and not client.woken
        and not client.looks_not_before_us
        and client.poll_error is None
        and (client.event is None or client.event.is_complete)
        and beats.flying is None
        and beats.interval_us > 0
        and beats.next_us() > client.engine.now
        and host is not None
        and client.coordinator == host.broker
        and host.is_up
        and host.was_stable
        and not host.is_watching
        and member.member_id in host.group.members
        and link is not None
        and link.is_clear
        and link.fixed_us >= 0
        and link.at_work is None
        and not client.hang_us
        and not client.stop_option
        and not client.is_closing
        and not client.has_new_topics
        and host.group.members[member.member_id].epoch == member.epoch
        and not member.sends_all
        and not member.beats_now
        and not client.commits.under_way
        and client.commits.next_us() == NEVER
        and client.config.max_poll_interval_us >= 10 * client.spec.handler.poll_timeout_us
        and host.session_ends_us(member.member_id)
        >= beats.next_us() + link.latency_us(beats.next_us())
    )


class Skipping(Playing):
    """Quiet time of a client of the consumer protocol."""

    __slots__ = ()

    def beat_up_to(self, at_us: int) -> None:
        """All beats that left before this instant: the last may be under way."""
        client, engine = self.client, self.engine
        beats, link, host = client.heartbeat.beats, client.coordinator_link, client.host
        if beats.due_us >= at_us:
            return
        period = beats.interval_us + beats.late_us
        sent = beats.due_us + (at_us - beats.due_us - 1) // period * period
        beats.due_us = sent + period
        call = client.call("ConsumerGroupHeartbeat", beats.plain(), beats.answered)
        call.sent_us, call.link = sent, link
        call.expires_us = sent + client.config.request_timeout_us
        latency = link.fixed_us + link.extra_us
        if sent + latency >= at_us:
            engine.at(sent + latency, client.rank + ARRIVES, host.receive, call)
        else:
            host.make_up(call, sent + latency)
            if sent + 2 * latency < at_us:
                return
            engine.at(sent + 2 * latency, client.rank + ANSWERED, client.answered, call)
        beats.flying = client.calls[call.number] = call
        client.mind_expiry(call)


class Reading(Skipping):
    """A client that reads, and keeps up: a round with each arrival."""

    __slots__ = ("_fetches", "_first", "_flow", "_flowing", "_rounds_us", "_settles_us")

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        now = self.since_us
        shares = client.feed.shares.values()
        self._flowing = [share for share in shares if share.flow.next_after(now) < NEVER]
        self._flow: Any = self._flowing[0].flow if self._flowing else None
        self._fetches: list[Any] = list(client.feed.flying.values())
        self._first = self._flow.count(now) if self._flow is not None else 0
        self._rounds_us = self._settles_us = 0

    def is_possible(self) -> bool:
        """Every round is over before the next one begins, and no Fetch comes back empty."""
        client, feed, flow, now = self.client, self.client.feed, self._flow, self.since_us
        if flow is None or not flow.is_even_after(now) or not self._is_at_rest():
            return False
        self._rounds_us = int(1.0 / flow.rate_at(now))
        if not 0 < self._rounds_us + 1 < client.config.fetch_max_wait_us:
            return False
        machine, links = client.world.machine, [client.link(f.broker) for f in self._fetches]
        way = max([link.fixed_us + link.extra_us for link in links])
        busy = len(links) * feed.per_batch_us + len(self._flowing) * feed.per_record_us
        self._settles_us = int(
            2 * way + busy + (len(links) + 2) * machine.async_turn_us + machine.service_us + 1_000
        )
        return self._settles_us < self._rounds_us

    def _is_at_rest(self) -> bool:
        """Everything is read that is there, in the same way as everything to come."""
        client, feed, flow = self.client, self.client.feed, self._flow
        config, handler = client.config, client.spec.handler
        if (
            feed.is_suspended
            or feed.is_behind
            or feed.buffer
            or feed.hang_us
            or handler.commit not in ("auto", "none")
            or not handler.per_record.is_constant
            or not handler.per_batch.is_constant
            or client.slowness != 1.0
            or config.fetch_min_bytes > 1
            or config.client_rack
            or len(self._flowing) > config.max_poll_records
            or not all(self._is_parked(fetch) for fetch in self._fetches)
            or not all(share.flow is flow or share.flow.is_like(flow) for share in self._flowing)
        ):
            return False
        sizes = [client.world.record_bytes(share.partition.topic) for share in self._flowing]
        reads = {share.broker for share in self._flowing}
        return (
            sum(sizes) <= config.fetch_max_bytes
            and reads == feed.flying.keys()
            and all(self._is_read(share) for share in feed.shares.values())
        )

    def _is_parked(self, fetch: Any) -> bool:
        """Does it wait at its broker, or will it, for what is yet to come?"""
        link = self.client.link(fetch.broker)
        return (
            not fetch.is_answered
            and not fetch.is_void
            and not fetch.elsewhere
            and max(self.since_us, fetch.arrives_us) < fetch.leaves_us
            and link.fixed_us >= 0
            and link.is_clear
        )

    def _is_read(self, share: Any) -> bool:
        client, now = self.client, self.since_us
        fetch = client.feed.flying.get(share.broker)
        poisons = client.world.poisons
        return (
            fetch is not None
            and any(asked is share and first == share.offset for asked, first in fetch.asked)
            and not share.is_going
            and not share.is_coming
            and share.state == FETCHING
            and share.leased_us < 0
            and not share.is_waiting
            and share.offset == share.flow.count(now)
            and not (share.is_new and share.flow.next_after(now) < NEVER)
            and not (
                share.partition in poisons.by_partition
                and poisons.lie_ahead(
                    share.partition, client.group, share.offset, share.flow.count(now) + 1
                )
            )
        )

    def is_worth_it(self) -> bool:
        return self._begins_at() - self._first >= WORTH_ROUNDS

    def _begins_at(self) -> int:
        """The number of the record with which it goes on: the last but one before the instant
        that is asked for, or before the next commit.
        """
        until = min(self.engine.until_us, self.client.commits.due_us)
        if until >= NEVER:
            return self._first + WORTH_ROUNDS
        return int(self._flow.count(until - 1)) - 2

    def offset_of(self, share: Any) -> int:
        """How far a partition has been handed over by now."""
        if not any(share is flowing for flowing in self._flowing):
            return int(share.offset)
        flow, now = self._flow, self.engine.now
        count: int = flow.count(now)
        if count <= self._first:
            return int(share.offset)
        if now <= flow.when(count - 1) + self._settles_us:
            self.end()
            return int(share.offset)
        return count

    def go_on(self) -> None:
        client, flow = self.client, self._flow
        number = self._begins_at()
        if number - self._first < 1:
            self._resume()
        else:
            self._begin_anew(number, flow.when(number))
        client.heartbeat.plan()
        client.nudge.give()

    def _resume(self) -> None:
        """From where it began."""
        client, engine, feed = self.client, self.engine, self.client.feed
        for before in self._fetches:
            fetch = feed.flying[before.broker] = copy(before)
            if fetch.parked_us == NEVER:
                engine.at(fetch.arrives_us, client.rank + ARRIVES, feed.arrives, fetch)
            else:
                feed.park(fetch)

    def _begin_anew(self, number: int, at_us: int) -> None:
        """Where this record comes: it sits in poll(), its Fetches are parked."""
        client, engine, feed = self.client, self.engine, self.client.feed
        engine.leap(at_us, client.rank + ARRIVES)
        self.beat_up_to(at_us)
        client.deadline_us = at_us + client.spec.handler.poll_timeout_us
        client.event = None
        client.heartbeat.timers.polled_us = at_us
        for share in self._flowing:
            share.offset = share.fetched = number
        for before in sorted(
            self._fetches, key=lambda fetch: client.link(fetch.broker).latency_us(0)
        ):
            shares = [share for share, _ in before.asked]
            fetch = Fetch(before.broker, client.life, feed.in_session(before.broker, shares))
            fetch.firsts = [share for share in shares if share.is_new]
            fetch.arrives_us = fetch.parked_us = at_us
            feed.flying[fetch.broker] = fetch
            feed.expect(fetch, at_us)
            client.link(fetch.broker).busy_us = fetch.leaves_us + client.world.machine.service_us
            feed.park(fetch)


class Idling(Skipping):
    """A client that has nothing to read: one poll() after the other, each as long as the last."""

    __slots__ = ("_ends_us",)

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        self._ends_us = client.deadline_us + client.world.machine.async_wait_late_us

    def is_possible(self) -> bool:
        """A poll() does nothing but hand over an event, be woken, and wait until it is over."""
        client, machine = self.client, self.client.world.machine
        backoff, timeout = client.config.retry_backoff_us, client.spec.handler.poll_timeout_us
        return (
            0 < client.deadline_us - self.since_us <= backoff
            and machine.async_turn_us < timeout <= backoff + machine.async_turn_us
            and not client.feed.buffer
            and not client.feed.flying
        )

    @property
    def _period_us(self) -> int:
        client = self.client
        return int(client.spec.handler.poll_timeout_us + client.world.machine.async_wait_late_us)

    def is_worth_it(self) -> bool:
        return bool(self.engine.until_us - self.since_us > WORTH_POLLS * self._period_us)

    def offset_of(self, share: Any) -> int:
        """It has none."""
        return int(share.offset)

    def go_on(self) -> None:
        client, engine, period = self.client, self.engine, self._period_us
        times = (engine.until_us - 1 - self._ends_us) // period
        if times >= 0:
            began = self._ends_us + times * period
            engine.leap(began, client.rank + APP)
            self._commit_up_to(began)
            self.beat_up_to(began)
            client.event = None
            client.heartbeat.timers.polled_us = max(
                client.heartbeat.timers.polled_us, began - period
            )
            client.has_polled = True
        client.heartbeat.plan()
        client.nudge.give()

    def _commit_up_to(self, at_us: int) -> None:
        """The timer of a periodic commit begins anew with the first poll() after it ran out."""
        commits, period = self.client.commits, self._period_us
        while commits.due_us < at_us:
            late = max(0, commits.due_us - self._ends_us)
            polled = self._ends_us - (-late // period) * period
            if polled >= at_us:
                return
            commits.due_us = polled + commits.interval_us
