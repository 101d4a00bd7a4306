"""How a client skips that has work at hand all the time, or whose rounds fit no other form: when it
stands at the beginning of a poll() exactly as it stood at an earlier one, all repeats from there.

Its past is played by itself, and compared at each poll(): positions told from what has come, and
instants from now. As often as the time between the two fits in before its next own beat or commit,
it is left out. Nothing is assumed of what happens meanwhile, but that no chance is asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any, NamedTuple

from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.protocol.messages import OffsetCommitRequest
from rebalsim.quiet.playing import Playing
from rebalsim.simulation.engine import NEVER
from rebalsim.simulation.keeping_up import kinds_of
from rebalsim.simulation.shares import FETCHING, Fetched
from rebalsim.simulation.standing import has_good_standing

MOST_SEEN = 64  # so many polls are compared with each other, before it is given up for a while
MOST_RECORDS = 500  # of one partition, that one repetition brings at most
TRIES_AGAIN_US = 1_000_000
SOON_US = 50_000  # who is touched sooner has gained nothing …
RESTS_US = 500_000  # … and is left alone for so long

Stands = tuple[Any, ...]


class Seen(NamedTuple):
    """A poll(), and what had come and was told by then."""

    at_us: int
    counts: tuple[int, ...]
    polled_us: int
    told: int


class Recurring(Playing):
    """Quiet time of a classic client that plays what repeats just once."""

    __slots__ = ("_flying", "_kind_of", "_kinds", "_looks_from_us", "_rank", "_seen")

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        self._rank = client.engine.rank
        self._flying: list[Any] = []
        self._seen: dict[Stands, Seen] = {}
        self._looks_from_us = 0
        shares = client.feed.shares.values()
        kinds = kinds_of([share.flow for share in shares])
        self._kinds = [flow for flow, _ in kinds]
        self._kind_of = {
            share: next(
                place
                for place, flow in enumerate(self._kinds)
                if share.flow is flow or share.flow.is_like(flow)
            )
            for share in shares
        }

    # ------------------------------------------------------------------------------ may it skip now?

    def is_thinkable(self) -> bool:
        """Does chance have no part in what it does?"""
        client, feed = self.client, self.client.feed
        cluster, now = client.world.scenario.cluster, self.since_us
        return bool(
            client.spec.handler.poll_timeout_us > 0
            and feed.costs_alike
            and not client.config.client_rack
            and client.coordinator_link is not None
            and client.coordinator_link.fixed_us >= 0
            and all(client.link(broker).fixed_us >= 0 for broker in feed.brokers())
            and not any(
                share.partition in client.world.poisons.by_partition for share in self._kind_of
            )
            and all(
                flow.is_even_after(now) or flow.next_after(now) == NEVER for flow in self._kinds
            )
            and any(flow.next_after(now) < NEVER for flow in self._kinds)
            and (
                not self.commits_each
                or (cluster.log_append.is_constant and cluster.replication.is_constant)
            )
        )

    def is_possible(self) -> bool:
        """Is nothing under way but what brings records, and is every partition being read?"""
        client, now = self.client, self.since_us
        return bool(
            has_good_standing(client)
            and all(call is None for call, _ in client.inbox)
            and self._reads_undisturbed()
            and all(
                share.state == FETCHING
                and share.broker >= 0
                and share.leased_us < 0
                and not (share.is_new and share.flow.next_after(now) < NEVER)
                for share in self._kind_of
            )
        )

    def _reads_undisturbed(self) -> bool:
        """Does it keep up, and will each of its Fetches be answered as Fetches are?"""
        client, feed = self.client, self.client.feed
        return (
            not feed.is_behind
            and feed.failed is None
            and not feed.hang_us
            and all(not fetch.is_void and not fetch.elsewhere for fetch in feed.flying.values())
            and all(client.link(broker).is_clear for broker in feed.brokers())
        )

    def may_be_writing(self) -> bool:
        return self.commits_each

    def offset_of(self, share: Any) -> int:
        """How far a partition has been handed over by now: that is played up to now."""
        self.end()
        return int(share.offset)

    # -------------------------------------------------------------------------------------- going on

    def begin(self) -> None:
        self._flying = list(self.client.feed.flying.values())
        super().begin()

    def end(self) -> None:
        client, now = self.client, self.engine.now
        client.quiet.compared[client.rank] = self
        super().end()
        if now - self.since_us < SOON_US:
            client.quiet.plays_until(client, now + RESTS_US)

    def go_on(self) -> None:
        client = self.client
        self.engine.rank = self._rank
        self._fly({fetch.broker: copy(fetch) for fetch in self._flying})
        client.heartbeat.plan()
        client.nudge.give()

    def _fly(self, copies: dict[int, Any]) -> None:
        """These Fetches are under way, in place of those that they are copies of."""
        client, feed = self.client, self.client.feed
        client.inbox = [(call, copies[fetch.broker]) for call, fetch in client.inbox]
        landed = {fetch.broker for _, fetch in client.inbox}
        feed.flying.clear()
        for fetch in copies.values():
            if fetch.broker in landed:
                feed.flying[fetch.broker] = fetch
            else:
                feed.take_up(fetch)

    # ------------------------------------------------------------------------------------- repeating

    def passes(self) -> None:
        """A poll() begins: as an earlier one did? What lies between them is left out, as often as
        it fits in.
        """
        found = self._found()
        if found is not None and self._leap(*found):
            self._seen.clear()

    def rests_from_here(self) -> bool:
        """A poll() begins, and nobody sleeps so far: as an earlier one did, so that all repeats from
        here on and nothing of it is told?
        """
        if self._found() is None or not self.is_possible():
            return False
        self.since_us, self._rank = self.engine.now, self.engine.rank
        return True

    def is_of(self, shares: Iterable[Any]) -> bool:
        """Are these still what it reads?"""
        return list(self._kind_of) == list(shares)

    def _asks_for_its_own(self) -> bool:
        """Is all that is under way of partitions that it still reads?"""
        feed = self.client.feed
        return (
            all(call is None for call, _ in self.client.inbox)
            and all(entry.share in self._kind_of for entry in feed.buffer)
            and all(
                share in self._kind_of for fetch in feed.flying.values() for share, _ in fetch.asked
            )
        )

    def _found(self) -> tuple[Seen, Seen] | None:
        """An earlier poll() that began as this one does, and this one; nothing was told between."""
        client, now = self.client, self.engine.now
        if now < self._looks_from_us or client.calls or not self._asks_for_its_own():
            return None
        stands = self._stands()
        counts = tuple([flow.count(now) for flow in self._kinds])
        told = len(client.world.events)
        seen = Seen(now, counts, client.heartbeat.timers.polled_us, told)
        before = self._seen.get(stands)
        if before is None and len(self._seen) >= MOST_SEEN:
            self._seen.clear()
            self._looks_from_us = now + TRIES_AGAIN_US
            return None
        self._seen[stands] = seen
        return (before, seen) if before is not None and before.told == told else None

    def _stands(self) -> Stands:
        """All that decides what happens next: positions from what has come, instants from now."""
        client, feed, engine = self.client, self.client.feed, self.engine
        now, kind_of = engine.now, self._kind_of
        counts = [flow.count(now) for flow in self._kinds]

        def rest(share: Any, offset: int) -> int:
            return int(offset - counts[kind_of[share]])

        def since(at_us: int) -> int:
            return at_us - now if at_us < NEVER else NEVER

        return (
            engine.rank,
            tuple([flow.next_after(now) - now for flow in self._kinds]),
            tuple(
                [
                    (
                        rest(share, share.offset),
                        rest(share, share.fetched),
                        share.broker,
                        share.is_waiting,
                        share.is_new,
                    )
                    for share in kind_of
                ]
            ),
            tuple([tuple(feed.sessions.get(broker, ())) for broker in feed.flying]),
            tuple(
                [
                    (
                        fetch.broker,
                        since(fetch.arrives_us),
                        since(fetch.parked_us),
                        since(fetch.leaves_us),
                        since(fetch.lands_us),
                        fetch.is_answered,
                        tuple([(share.partition, rest(share, at)) for share, at in fetch.asked]),
                        tuple(
                            [(share.partition, rest(share, at), n) for share, at, n in fetch.got]
                        ),
                    )
                    for fetch in feed.flying.values()
                ]
            ),
            tuple(
                [
                    (
                        entry.share.partition,
                        rest(entry.share, entry.first),
                        rest(entry.share, entry.began_at),
                        entry.count,
                    )
                    for entry in feed.buffer
                ]
            ),
            tuple([fetch.broker for _, fetch in client.inbox]),
            tuple([max(0, client.link(broker).busy_us - now) for broker in feed.brokers()]),
            feed.is_behind,
            self._session_us() - now if self.commits_each else 0,
        )

    def _session_us(self) -> int:
        """When its session ends: each of its commits puts that off."""
        return int(self.client.host.session_ends_us(self.client.member.member_id))

    def _leap(self, before: Seen, seen: Seen) -> bool:
        """Over as many repetitions as fit in before something of its own is due."""
        client, now = self.client, self.engine.now
        period_us = now - before.at_us
        brings = [late - early for late, early in zip(seen.counts, before.counts, strict=True)]
        polls_us = seen.polled_us - before.polled_us  # its poll timer is reset each time, or never
        until = min(self.engine.until_us, client.next_own_us())
        times = (until - 1 - now) // period_us
        if times <= 0 or polls_us not in (0, period_us):
            return bool(times <= 0)  # there is nothing more to find before that is over
        if not self._come_alike(period_us, brings, times):
            return False
        by_us = times * period_us
        session_us = self._session_us() + by_us
        self.engine.leap(now + by_us, self.engine.rank)
        client.heartbeat.timers.polled_us += times * polls_us
        self._shift(by_us, [times * brought for brought in brings])
        if self.commits_each:
            self._commit(session_us)
        return True

    def _come_alike(self, period_us: int, brings: list[int], times: int) -> bool:
        """Do records come at the same instants in each repetition, up to the last one and in that
        which follows it? Between two repetitions that agree all others do.
        """
        now = self.engine.now
        for flow, brought in zip(self._kinds, brings, strict=True):
            if brought > MOST_RECORDS:
                return False
            first = flow.count(now)
            for number in range(first - brought, first + brought) if brought else ():
                later = flow.when(number + times * brought)
                if later - flow.when(number) != times * period_us:
                    return False
        return True

    def _shift(self, by_us: int, by_records: list[int]) -> None:
        """The client stands as it did, so much later."""
        client, feed = self.client, self.client.feed
        kind_of = self._kind_of
        before_us = self.engine.now - by_us

        def onward(share: Any, offset: int) -> int:
            return int(offset + by_records[kind_of[share]])

        for share in kind_of:
            share.offset, share.fetched = onward(share, share.offset), onward(share, share.fetched)
        feed.buffer = [_moved(entry, onward(entry.share, 0)) for entry in feed.buffer]
        copies = {fetch.broker: copy(fetch) for fetch in feed.flying.values()}
        for fetch in copies.values():
            fetch.arrives_us += by_us
            fetch.leaves_us += by_us
            fetch.lands_us += by_us
            if fetch.parked_us < NEVER:
                fetch.parked_us += by_us
            fetch.asked = [(share, onward(share, at)) for share, at in fetch.asked]
            fetch.got = [(share, onward(share, at), count) for share, at, count in fetch.got]
        for link in [client.link(broker) for broker in feed.brokers()]:
            if link.busy_us > before_us:
                link.busy_us += by_us
        client.deadline_us += by_us
        client.busy_until_us += by_us
        feed.handed_us += by_us
        client.alarm.forget()
        client.heartbeat.bell.clock.forget()
        self._fly(copies)
        client.heartbeat.plan()

    def _commit(self, session_us: int) -> None:
        """The coordinator has the positions as they were after the last batch."""
        client, member, host = self.client, self.client.member, self.client.host
        request = OffsetCommitRequest(
            member.member_id, member.instance_id, member.generation, client.feed.consumed()
        )
        call = client.call(KafkaApi.OFFSET_COMMIT, request, client.commits.auto_answered)
        call.is_quiet = True
        host.make_up(call, session_us - client.config.session_timeout_us)


def _moved(entry: Any, by_records: int) -> Fetched:
    moved = Fetched(entry.share, entry.first + by_records, entry.count)
    moved.began_at = entry.began_at + by_records
    return moved
