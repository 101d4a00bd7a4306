"""How a client that reads skips quiet time, whatever its records take and at whichever rates they
come: it is left alone up to shortly before its next beat or commit, or before the instant that is
asked for, and goes on from the last arrival from which nothing hangs on what was before.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from rebalsim.domain.draws import most_of
from rebalsim.quiet.arrivals import Kind, Polls, beginning_before, rests_at
from rebalsim.quiet.playing import Playing, park_anew
from rebalsim.simulation.engine import ARRIVES, NEVER
from rebalsim.simulation.keeping_up import kinds_of
from rebalsim.simulation.shares import FETCHING

WORTH_ROUNDS = 8  # fewer are played
MOST_ROUNDS = 4  # so many may have come while it was busy, and fit into one batch


class Reading(Playing):
    """Quiet time of a client whose rounds are not all alike."""

    __slots__ = ("_fetches", "_flowing", "_kinds")

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        self._fetches: list[Any] = list(client.feed.flying.values())
        now = self.since_us
        shares = client.feed.shares.values()
        self._flowing = [share for share in shares if share.flow.next_after(now) < NEVER]
        flows = [flow for flow, _ in kinds_of([share.flow for share in self._flowing])]
        self._kinds: list[Kind] = []
        if all(flow.is_even_after(now) for flow in flows):
            self._kinds = [self._kind(flow) for flow in flows]

    def _kind(self, flow: Any) -> Kind:
        """A round brings one record of each of these partitions: the ways there and back, which
        all brokers' answers go side by side, what handling and committing take one after the
        other, and what may hold a thread up.
        """
        client, handler = self.client, self.client.spec.handler
        shares = [s for s in self._flowing if s.flow is flow or s.flow.is_like(flow)]
        brokers = frozenset([share.broker for share in shares])
        ways = 2 * max([client.link(share.broker).most_us for share in shares])
        always = ways + client.machine.service_us + self.turns_us()
        always += len(brokers) * (self.commit_most_us() + 1)
        drawn: list[Any] = []
        handled = 0.0
        for what, purpose, times in (
            (handler.per_record, "record", len(shares)),
            (handler.per_batch, "batch", len(brokers)),
        ):
            if what.is_constant:
                handled += times * what.a
            else:
                drawn += [(client.feed.costs_of(s.partition, purpose), what) for s in shares]
        spacing = 1.0 / flow.rate_at(self.since_us)
        polls = self.polls([client.link(broker) for broker in sorted(brokers)])
        return Kind(flow, spacing, brokers, always + handled, tuple(drawn), handled, polls)

    def polls(self, links: list[Any]) -> Polls | None:
        """How its poll() goes on while it waits for records that come over these."""
        return None

    def turns_us(self) -> int:
        """What may pass between two things that a thread does."""
        return int(self.client.machine.async_turn_us)

    def commit_most_us(self) -> int:
        """So long a commit with each batch holds it up at most."""
        client = self.client
        if not client.spec.handler.commit.is_of_the_application:
            return 0
        cluster, link = client.world.scenario.cluster, client.coordinator_link
        linger = max(0, cluster.config.group_coordinator_append_linger_us)
        writes = most_of(cluster.log_append) + most_of(cluster.replication)
        answered = 2 * link.most_us + client.machine.service_us
        return int(answered + linger + writes + self.turns_us())

    # ------------------------------------------------------------------------------ may it skip now?

    def is_thinkable(self) -> bool:
        """Can such a client skip at all: does it mostly rest between two rounds, will every broker
        be heard before a Fetch is answered for lack of records, does all that comes fit in?
        """
        client, feed = self.client, self.client.feed
        config, wait = client.config, client.config.fetch_max_wait_us
        often = {
            broker for kind in self._kinds for broker in kind.brokers if kind.spacing_us + 1 < wait
        }
        return bool(
            self._kinds
            and sum([kind.share for kind in self._kinds]) < 1.0
            and often == {share.broker for share in feed.shares.values()}
            and self._writes_in_order()
            and config.fetch_min_bytes <= 1
            and not config.client_rack
            and client.slowness == 1.0
            and MOST_ROUNDS * len(self._flowing) <= config.max_poll_records
            and sum([client.world.record_bytes(s.partition.topic) for s in self._flowing])
            <= config.fetch_max_bytes
        )

    def is_possible(self) -> bool:
        """Is everything read that is there?"""
        feed = self.client.feed
        return bool(
            len(self._fetches) == len({share.broker for share in feed.shares.values()})
            and all(self._is_parked(fetch) for fetch in self._fetches)
            and all(self._is_read(share) for share in feed.shares.values())
        )

    def _writes_in_order(self) -> bool:
        """Is no commit ever held up by somebody else's?"""
        cluster = self.client.world.scenario.cluster
        return not self.commits_each or bool(
            cluster.log_append.is_constant and cluster.replication.is_constant
        )

    def _is_parked(self, fetch: Any) -> bool:
        """Does it wait at its broker, or will it, for what is yet to come?"""
        return bool(
            not fetch.is_answered
            and not fetch.is_void
            and not fetch.elsewhere
            and max(self.since_us, fetch.arrives_us) < fetch.leaves_us
            and self.client.link(fetch.broker).is_clear
        )

    def _is_read(self, share: Any) -> bool:
        client, now = self.client, self.since_us
        fetch = client.feed.flying.get(share.broker)
        poisons = client.world.poisons
        return bool(
            fetch is not None
            and any(asked is share and first == share.offset for asked, first in fetch.asked)
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
        least = min([kind.spacing_us for kind in self._kinds])
        return bool(self._until_us() - self.since_us > WORTH_ROUNDS * least)

    def _until_us(self) -> int:
        """Up to then nothing happens but rounds."""
        return min(int(self.engine.until_us), self.next_own_us())

    def next_own_us(self) -> int:
        """When the next beat or periodic commit may leave."""
        raise NotImplementedError

    # -------------------------------------------------------------------------------------- going on

    def may_be_writing(self) -> bool:
        return not rests_at(self._kinds, self.since_us, self.engine.now)

    def offset_of(self, share: Any) -> int:
        """How far a partition has been handed over by now: that is all played up to then, unless
        it certainly rests.
        """
        now = self.engine.now
        if rests_at(self._kinds, self.since_us, now):
            return int(share.flow.count(now) if share in self._flowing else share.offset)
        self.end()
        return int(share.offset)

    def go_on(self) -> None:
        client = self.client
        until = self._until_us()
        begins = beginning_before(self._kinds, self.since_us, until)
        client.quiet.plays_until(client, until)  # there is nothing more to leave out up to then
        if begins is None:
            self._resume()
        else:
            self._begin_anew(begins)
        client.heartbeat.plan()
        client.nudge.give()

    def _resume(self) -> None:
        """From where it began."""
        for before in self._fetches:
            self.client.feed.take_up(copy(before))

    def _begin_anew(self, at_us: int) -> None:
        """At this instant records come: it sits in poll(), its Fetches are parked."""
        client, engine = self.client, self.engine
        engine.leap(at_us, client.rank + ARRIVES)
        self.rest_until(at_us)
        client.deadline_us = at_us + client.spec.handler.poll_timeout_us
        client.heartbeat.timers.polled_us = at_us
        for share in self._flowing:
            share.offset = share.fetched = share.flow.count(at_us - 1)
        for before in self._fetches:
            park_anew(client, before, at_us)

    def rest_until(self, at_us: int) -> None:
        """What else was done in the time that is left out."""


class ClassicReading(Reading):
    """The same of a classic client: it is back in time for each beat and each periodic commit."""

    __slots__ = ()

    def turns_us(self) -> int:
        return 0

    def _resume(self) -> None:
        super()._resume()
        self.client.quiet.compare(self.client)

    def next_own_us(self) -> int:
        timers, commits = self.client.heartbeat.timers, self.client.commits
        return int(min(timers.due_us, commits.due_us if commits.is_auto else NEVER))
