"""How a classic client skips quiet time whose application commits with each batch: its beats are told
in advance as any other's, its last two rounds it plays by itself, commits and all.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.protocol.messages import HeartbeatRequest
from rebalsim.quiet.clocks import Clock, Tick
from rebalsim.quiet.playing import Playing, park_anew
from rebalsim.quiet.rounds import Round
from rebalsim.quiet.timeline import Timeline
from rebalsim.simulation.engine import ANSWERED, ARRIVES, NEVER
from rebalsim.simulation.standing import Standing

WORTH_ROUNDS = 4  # fewer are played


class Committing(Playing):
    """A classic client that reads, keeps up, and commits each batch."""

    __slots__ = ("_fetches", "_first", "_flow", "_flowing", "_standing", "_timeline")

    def __init__(self, client: Any, standing: Standing, timeline: Timeline) -> None:
        super().__init__(client)
        self._standing = standing
        self._timeline = timeline
        self._flow = standing.flow
        shares = client.feed.shares.values()
        self._flowing = [s for s in shares if s.flow.next_after(self.since_us) < NEVER]
        self._fetches = list(client.feed.flying.values())
        self._first = self._flow.count(self.since_us)
        if standing.until_us < NEVER:
            self.wakes_us = standing.until_us

    def is_possible(self) -> bool:
        """Is every commit taken, up to the next beat that may bring news?"""
        is_timed = self._standing.latency_us > 0  # else ties would be decided by the answers
        return self.wakes_us >= NEVER or (self._standing.is_awaited and is_timed)

    def is_thinkable(self) -> bool:
        """Are all commits answered before the next record comes?"""
        alike = self._timeline.alike
        ends_us = alike.batches[-1].handled_us + self._answered_us(alike)
        return ends_us < self._timeline.shortest_us

    def _answered_us(self, played: Round) -> int:
        """So long after a batch the commits of all are answered: one after the other, as they go
        over one connection.
        """
        each = self.client.commits.takes_always_us() + self._standing.service_us
        return int(len(played.batches) * each)

    def is_worth_it(self) -> bool:
        until: int = min(self.engine.until_us, self.wakes_us)
        return until >= NEVER or self._goes_on_with(until) - self._first >= WORTH_ROUNDS

    def _goes_on_with(self, until_us: int) -> int:
        """The number of the last record but one before this instant."""
        return int(self._flow.count(until_us - 1)) - 2

    def may_be_writing(self) -> bool:
        found = self._timeline.round_at(self.engine.now)
        if found is None:
            return False
        arrived, played = found
        batches = played.batches
        ends = batches[-1].handled_us + self._answered_us(played)
        return bool(batches[0].begins_us <= self.engine.now - arrived <= ends)

    def offset_of(self, share: Any) -> int:
        """How far a partition has been handed over by now."""
        if not any(share is flowing for flowing in self._flowing):
            return int(share.offset)
        handed = self._timeline.handed_by((self.engine.now, self.engine.rank))
        return handed.taken.get(share.broker, self._timeline.count(handed))

    def go_on(self) -> None:
        client = self.client
        number = self._before_beat(self._goes_on_with(self.engine.until_us))
        if number <= self._first:
            self._resume()
        else:
            self._begin_anew(number, self._flow.when(number))
        client.heartbeat.plan()
        client.nudge.give()

    def _before_beat(self, number: int) -> int:
        """The same, or an earlier one where the last beat before it came behind a commit over the
        one connection, so that its answer came later than it would have.
        """
        if number <= self._first:
            return number
        clock = Clock(self._standing, self._timeline, is_beat=True)
        beaten = clock.up_to((self._flow.when(number), self.client.rank + ARRIVES))
        if not beaten:
            return number
        arrives = beaten[-1][0] + self._standing.latency_us
        found = self._timeline.round_at(arrives)
        if found is None:
            return number
        arrived, played = found
        first, last = played.batches[0].handled_us, played.batches[-1].handled_us
        if first <= arrives - arrived <= last + self._answered_us(played):
            return self._goes_on_with(beaten[-1][0])  # it is played then, and outdates all
        return number

    def _resume(self) -> None:
        """From where it began."""
        for before in self._fetches:
            self.client.feed.take_up(copy(before))

    def _begin_anew(self, number: int, at_us: int) -> None:
        """Where this record comes: it sits in poll(), its Fetches are parked."""
        client, engine = self.client, self.engine
        engine.leap(at_us, client.rank + ARRIVES)
        client.deadline_us = at_us + client.spec.handler.poll_timeout_us
        client.heartbeat.timers.polled_us = at_us
        self._beat_up_to(at_us)
        for share in self._flowing:
            share.offset = share.fetched = number
        for before in sorted(self._fetches, key=lambda f: client.link(f.broker).latency_us(0)):
            park_anew(client, before, at_us)

    def _beat_up_to(self, at_us: int) -> None:
        """The beats that left before this instant: the last may be under way."""
        client, timers = self.client, self.client.heartbeat.timers
        clock = Clock(self._standing, self._timeline, is_beat=True)
        beaten = clock.up_to((at_us, client.rank + ARRIVES))
        if not beaten:
            return
        timers.due_us = clock.due_us
        timers.looked_us = beaten[-1][0]
        client.is_back(True, clock.due_us)
        for tick in beaten:
            self._beat(tick, at_us)

    def _beat(self, tick: Tick, at_us: int) -> None:
        client, engine, member = self.client, self.engine, self.client.member
        request = HeartbeatRequest(member.member_id, member.instance_id, member.generation)
        call = client.call(KafkaApi.HEARTBEAT, request, client.beat_answered)
        call.is_quiet, call.sent_us, call.link = True, tick[0], client.coordinator_link
        call.expires_us = tick[0] + client.config.request_timeout_us
        latency = self._standing.latency_us
        if tick[0] + latency >= at_us:
            engine.at(tick[0] + latency, client.rank + ARRIVES, client.host.receive, call)
        else:
            client.host.make_up(call, tick[0] + latency)
            if tick[0] + 2 * latency < at_us:
                client.heartbeat.timers.answered(self._read_at(tick[0] + 2 * latency, tick[0]))
                return
            engine.at(tick[0] + 2 * latency, client.rank + ANSWERED, client.answered, call)
        client.calls[call.number] = call
        client.watch_expiry(call)

    def _read_at(self, lands_us: int, sent_us: int) -> int:
        """When an answer that comes at this instant is read."""
        standing = self._standing
        handled = self._timeline.handled_at(lands_us)
        if handled < 0 or standing.is_threaded:
            return lands_us
        tick = standing.tick_us
        look = sent_us + tick * max(1, -((sent_us - lands_us) // tick))
        return min(look, handled)


__all__ = ["Committing"]
