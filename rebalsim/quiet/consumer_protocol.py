"""How a client of the consumer protocol skips quiet time: what repeats is left out, and the last of
it is played by the client itself, from an instant at which nothing hangs on what was before.

A client that reads begins each round anew with the arrival of a record: its poll() returns, the
next one finds the buffer empty and hands over an event. A client that has nothing to read begins
anew with each poll(). Chances belong to instants, and are drawn alike however one comes there.

Periodic commits hang on such chances, so the rounds around each are played. Beats do not: a thread
of their own sends them, and they are told in advance where messages always take as long.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.protocol.messages import OffsetCommitRequest
from rebalsim.quiet.arrivals import Polls, beginning_before
from rebalsim.quiet.being_at_rest import (
    has_settled,
    is_heard,
    is_left_alone,
    next_told_us,
    waits_for_nothing,
)
from rebalsim.quiet.foretelling import Beats, Commit, Foretold
from rebalsim.quiet.playing import Playing
from rebalsim.quiet.reading import Reading
from rebalsim.quiet.waiting import Waiting
from rebalsim.simulation.engine import ANSWERED, APP, ARRIVES, NEVER

WORTH_POLLS = 4  # fewer are played
SLACK_US = 500  # what may pass between two things that a thread does


def playing_of(client: Any) -> AsyncReading | Waiting | Idling | None:
    """How this client may skip from now on, None unless all is quiet."""
    if not can_rest(client):
        return None
    playing = _form_of(client)
    if not hears_nothing_new(client):
        playing.wakes_us = min(playing.wakes_us, playing.next_told_us() - 1)
    return playing


def _form_of(client: Any) -> AsyncReading | Waiting | Idling:
    """By what it has to read, and by how often something comes."""
    if not client.feed.shares:
        return Idling(client)
    reading = AsyncReading(client)
    return reading if reading.is_thinkable() else Waiting(client)


def hears_nothing_new(client: Any) -> bool:
    """Will its beats and commits be answered as they always are, as far as one can see?"""
    member, host = client.member, client.host
    return bool(
        host.has_written
        and not host.is_watching
        and host.has_reached_target(member.member_id, member.epoch)
    )


def can_rest(client: Any) -> bool:
    """Nothing is under way, nothing is asked of it, and it has all that it is to have."""
    return (
        has_settled(client)
        and waits_for_nothing(client)
        and is_left_alone(client)
        and is_heard(client)
    )


def beat_up_to(client: Any, at_us: int) -> None:
    """All beats that left before this instant: the last may be under way."""
    engine = client.engine
    beats, link, host = client.heartbeat.beats, client.coordinator_link, client.host
    if beats.due_us >= at_us:
        return
    period = beats.interval_us + beats.late_us
    sent = beats.due_us + (at_us - beats.due_us - 1) // period * period
    beats.due_us = sent + period
    call = client.call(KafkaApi.CONSUMER_HEARTBEAT, beats.plain(), beats.answered)
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
    client.watch_expiry(call)


class AsyncReading(Reading):
    """A client that reads, and keeps up."""

    __slots__ = ("_began_us", "_foretold")

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        self._began_us = self.since_us
        self._foretold: Foretold | None = None

    def turns_us(self) -> int:
        return int(self.client.machine.async_turn_us) + SLACK_US

    def polls(self, links: list[Any]) -> Polls | None:
        """A poll() that finds nothing to fetch passes twice, a turn apart. Beats and commits are
        reasons for such passes too: each puts off by a turn what it meets.
        """
        machine = self.client.machine
        period = self._timeout_us + machine.async_wait_late_us
        soonest = min([max(0, link.fixed_us + link.extra_us) for link in links])
        lands = max([link.most_us for link in links]) + machine.service_us
        return Polls(period, 3 * machine.async_turn_us + SLACK_US, soonest, lands)

    def is_possible(self) -> bool:
        feed = self.client.feed
        return (
            not (
                feed.is_suspended
                or feed.is_behind
                or feed.buffer
                or feed.hang_us
                or (self.commits_each and not self._takes_time_to_answer())
            )
            and super().is_possible()
        )

    def _takes_time_to_answer(self) -> bool:
        """Else what follows an answer of the log stands at its very instant, and who was first
        there cannot be told from the outside.
        """
        return bool(self.client.coordinator_link.most_us > 0)

    def _is_read(self, share: Any) -> bool:
        return not share.is_going and not share.is_coming and super()._is_read(share)

    def next_own_us(self) -> int:
        client = self.client
        is_told = client.coordinator_link.fixed_us >= 0 and self.wakes_us >= NEVER
        return int(client.commits.due_us if is_told else self.next_told_us())

    def next_told_us(self) -> int:
        return next_told_us(self.client)

    def rest_until(self, at_us: int) -> None:
        client, foretold = self.client, self._foretold
        if client.coordinator_link.fixed_us >= 0:
            beat_up_to(client, at_us)
        client.event = None
        self._put_read_last(at_us)
        if foretold is not None and client.commits.due_us < self.engine.until_us:
            beat_us = client.heartbeat.beats.due_us
            note = foretold.begin(self._kinds[0].flow, at_us, client.commits.due_us, beat_us)
            client.asked = note.asked

    def _put_read_last(self, at_us: int) -> None:
        """An answer puts the partitions that it brings records of behind all others: those of which
        some came in the time that is left out stand in the order in which they came last.
        """
        feed, found = self.client.feed, []
        places = {
            broker: {partition: place for place, partition in enumerate(session)}
            for broker, session in feed.sessions.items()
        }
        for share in self._flowing:
            count = share.flow.count(at_us - 1)
            if count > share.flow.count(self._began_us):
                lands = share.flow.when(count - 1) + self.client.link(share.broker).most_us
                place = places[share.broker][share.partition]
                found.append(((lands, share.broker, place), share.partition))
        for _, partition in sorted(found):
            feed.shares[partition] = feed.shares.pop(partition)

    # ------------------------------------------------------------------------------ periodic commits

    def go_on(self) -> None:
        if self._are_alike():
            self._foretold = foretold = self.client.quiet.foretold_on(self._ground())
            self._leave_out_commits(foretold)
        super().go_on()

    def play_on(self) -> Playing | None:
        client, engine, foretold = self.client, self.engine, self._foretold
        if foretold is None or foretold.note is None:
            return super().play_on()
        note = foretold.note
        stands = how_it_stands(client)
        while engine.step_apart() and client.skipped is None:
            before, stands = stands, how_it_stands(client)
            if stands != before:
                note.passed.append(engine.now)
            if foretold.note is note and client.commits.due_us > note.due_us:
                client.asked = None
                foretold.end(self._kinds[0].flow, engine.now, client.commits.due_us)
        client.asked = foretold.note = None
        again: Playing | None = client.skipped
        return again

    def _are_alike(self) -> bool:
        """Do the rounds about one commit differ from those about another by chance alone?"""
        client = self.client
        return (
            client.commits.is_auto
            and client.commits.due_us < self.engine.until_us
            and len(self._kinds) == 1
            and not self._kinds[0].drawn
            and self._kinds[0].waits_most_us < self._timeout_us
            and client.coordinator_link.fixed_us >= 0
            and all(client.link(broker).fixed_us >= 0 for broker in self._kinds[0].brokers)
            and all(share.has_landed for share in self._flowing)
        )

    @property
    def _timeout_us(self) -> int:
        return int(self.client.spec.handler.poll_timeout_us)

    def _ground(self) -> tuple[Any, ...]:
        """What all that stands on: the same for every client of this kind, wherever it reads."""
        client, kind = self.client, self._kinds[0]
        link = client.coordinator_link
        reads = Counter([share.broker for share in self._flowing])
        links = [(client.link(broker), reads[broker]) for broker in sorted(reads)]
        return (
            client.config,
            client.spec.handler,
            client.habits,
            client.is_warm,
            kind.spacing_us,
            kind.always_us,
            (link.fixed_us, link.extra_us),
            tuple([(link.fixed_us, link.extra_us, many) for link, many in links]),
        )

    def _leave_out_commits(self, foretold: Foretold) -> None:
        """As many as nothing is to be learnt of, up to the last but one before the instant that is
        asked for: that one is played.
        """
        client, until = self.client, self.engine.until_us
        commits, beats, flow = client.commits, client.heartbeat.beats, self._kinds[0].flow
        beating = Beats(beats.due_us, beats.interval_us + beats.late_us)
        found: list[Commit] = []
        rested, due = self.since_us, commits.due_us
        while due < until:
            commit = foretold.of(client, flow, rested, due, beating)
            if commit is None:
                break
            found.append(commit)
            rested, due = self._rests_after(commit), commit.next_us
        while found and self._begins_after(found[-1]) is None:
            found.pop()
        if found:
            self.since_us, commits.due_us = self._rests_after(found[-1]), found[-1].next_us
            self._commit_late(found[-1].arrived_us)

    def _begins_after(self, commit: Commit) -> int | None:
        until = min(self.engine.until_us, commit.next_us)
        return beginning_before(self._kinds, self._rests_after(commit), until)

    def _rests_after(self, commit: Commit) -> int:
        """An instant after it at which all is done: just before records come."""
        client = self.client
        answered = 2 * client.coordinator_link.most_us + client.machine.service_us
        flow = self._kinds[0].flow
        return int(flow.next_after(commit.made_us + answered + self.turns_us())) - 1

    def _commit_late(self, arrived_us: int) -> None:
        """The coordinator has the positions as they were after this arrival."""
        client, member = self.client, self.client.member
        flowing = set(self._flowing)
        offsets = {
            partition: share.flow.count(arrived_us) if share in flowing else share.offset
            for partition, share in client.feed.shares.items()
        }
        request = OffsetCommitRequest(member.member_id, member.instance_id, member.epoch, offsets)
        call = client.call(KafkaApi.OFFSET_COMMIT, request, client.commits.auto_answered)
        call.is_quiet = True
        client.host.make_up(call, arrived_us)


def how_it_stands(client: Any) -> tuple[Any, ...]:
    """All of a client that changes in quiet time: a clock that rings for nothing changes nothing."""
    event = client.event
    return (
        event,
        event is not None and (event.hidden, event.is_complete, event.is_fresh),
        client.is_waiting,
        client.woken,
        client.wakes_us,
        client.alarm.at_us,
        client.deadline_us,
        client.busy_until_us,
        client.commits.under_way,
        client.commits.due_us,
        client.heartbeat.beats.flying,
        len(client.calls),
        [(fetch, fetch.parked_us, fetch.is_answered) for fetch in client.feed.flying.values()],
    )


class Idling(Playing):
    """A client that has nothing to read: one poll() after the other, each as long as the last."""

    __slots__ = ("_ends_us",)

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        self._ends_us = client.deadline_us + client.machine.async_wait_late_us

    def is_possible(self) -> bool:
        """A poll() does nothing but hand over an event, be woken, and wait until it is over."""
        client, machine = self.client, self.client.machine
        backoff, timeout = client.config.retry_backoff_us, client.spec.handler.poll_timeout_us
        return (
            0 < client.deadline_us - self.since_us <= backoff
            and machine.async_turn_us < timeout <= backoff + machine.async_turn_us
            and not client.feed.buffer
            and not client.feed.flying
            and client.coordinator_link.fixed_us >= 0
        )

    def next_told_us(self) -> int:
        """When the coordinator may hear of it next: it has nothing to commit."""
        return int(self.client.heartbeat.beats.next_us())

    @property
    def _period_us(self) -> int:
        client = self.client
        return int(client.spec.handler.poll_timeout_us + client.machine.async_wait_late_us)

    def is_worth_it(self) -> bool:
        until = min(self.engine.until_us, self.wakes_us)
        return bool(until - self.since_us > WORTH_POLLS * self._period_us)

    def may_be_writing(self) -> bool:
        """It has nothing to commit."""
        return False

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
            beat_up_to(client, began)
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
