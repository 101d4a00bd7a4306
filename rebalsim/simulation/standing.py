"""What a client offers to whoever lets it skip quiet time: how things stand with it, and to be put
where it would be at a later instant. It knows nothing else of that (rebalsim/quiet does it).

Quiet is a member in good standing of a settled group, in poll(), with nothing under way but its
Fetches, all of which wait at their brokers; whose application takes the same time for each batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.protocol.classic_member import MemberState
from rebalsim.protocol.messages import HeartbeatRequest, OffsetCommitRequest
from rebalsim.simulation.engine import ANSWERED, APP, ARRIVES, BEAT, LOG, NEVER
from rebalsim.simulation.shares import FETCHING, Fetch, Share

if TYPE_CHECKING:
    from rebalsim.simulation.inside import Inside
    from rebalsim.simulation.network import Call


@dataclass(slots=True)
class Waiting:
    """A Fetch at its broker."""

    broker: int
    since_us: int
    partitions: int  # of those that it asks for, so many bring records
    latency_us: int
    is_heard: bool = True  # does any of these bring records?


@dataclass(slots=True)
class Standing:
    """How things stand with a quiet client now."""

    now_us: int
    fetches: list[Waiting]  # in the order in which they were sent
    brokers: tuple[int, ...]  # in the order in which one pass asks them
    flow: Any  # by which all its records come; None if none do
    is_mixed: bool  # records come at several rates, or take times that are drawn
    is_even: bool  # one kind of flow, and every batch costs what its number of records says
    commits_each: bool  # … and is committed by the application
    commit_us: int  # for so long it waits for that
    next_us: int  # when the next record comes to a broker
    per_record_us: float
    per_batch_us: float
    max_wait_us: int
    max_records: int
    service_us: int
    poll_began_us: int
    poll_timeout_us: int
    backoff_us: int
    is_idle: bool  # it has nothing to read
    is_threaded: bool  # a thread of the client's own beats and commits
    until_us: int  # when it is to say, or may hear, something that counts
    is_awaited: bool  # until then its group waits for it, and takes its commits as ever
    looks_us: int  # when poll() looks once more, for a commit that may not be made
    beat_due_us: int  # NEVER: it does not beat until then
    beat_late_us: int
    interval_us: int
    looked_us: int
    tick_us: int
    heard_us: int
    polled_us: int
    commit_due_us: int  # NEVER: it commits nothing by itself
    commit_late_us: int
    commit_interval_us: int
    has_offsets: bool
    latency_us: int  # to its coordinator
    first_rank: int  # of its own
    answered_us: Callable[[int], int]  # when a commit that left at an instant has its answer


@dataclass(slots=True)
class Sent:
    """A beat or a periodic commit: when it left, and under which rank."""

    at_us: int
    rank: int
    is_beat: bool
    lands_us: int  # its answer comes …
    is_read: bool = False  # … and was read by now
    handed: int = 0  # a commit: so many of each partition's records handed over …
    taken: dict[int, int] = field(default_factory=dict)  # … and of those of some brokers


@dataclass(slots=True)
class Flight:
    """A Fetch as it is now: on its way there, waiting, on its way back, or there to be read."""

    broker: int
    arrives_us: int
    leaves_us: int = -1  # when its answer left; −1: it has not
    lands_us: int = -1  # when that was there; −1: it is not
    is_read: bool = False  # … in the buffer, though not handed over


@dataclass(slots=True)
class Since:
    """What a client did in quiet time, as far as it still matters."""

    flow: Any  # by which its records came, None if none did
    handed: int  # so many of each partition handed over
    taken: dict[int, int]  # broker → records of each of its partitions, where others have fewer
    flights: list[Flight]  # in the order in which they were sent
    poll_began_us: int
    busy_until_us: int  # a batch is being handled; −1: none is
    polled_us: int
    heard_us: int
    sent: list[Sent] = field(default_factory=list)  # the last beats and commits, in their order
    wakes_us: int = -1  # when poll()'s wait ends; −1: as from now
    beat_due_us: int = 0
    looked_us: int = 0
    commit_due_us: int = NEVER


def standing(consumer: Inside) -> Standing | None:
    """How things stand with this client, None unless all is quiet."""
    link = consumer.coordinator_link
    if (
        consumer.inbox
        or link is None
        or link.fixed_us < 0
        or consumer.is_frozen
        or consumer.is_closing
        or consumer.stop_option
        or consumer.hang_us
        or consumer.positions.is_missing
        or consumer.feed.buffer
        or (consumer.feed.is_behind and consumer.feed.shares)
        or not (consumer.waits_to_join() or _is_rested(consumer))
    ):
        return None
    return _of(consumer)


def rests(consumer: Inside) -> bool:
    """Is a member in good standing in poll(), with nothing under way but its Fetches, and are its
    beats heard?
    """
    feed = consumer.feed
    return not (
        consumer.inbox or feed.buffer or feed.is_behind or not feed.shares
    ) and has_good_standing(consumer)


def has_good_standing(consumer: Inside) -> bool:
    """Is it a member whose beats are heard, of which nobody wants anything, with nothing under way
    but its Fetches?
    """
    link, commits = consumer.coordinator_link, consumer.commits
    return not (
        link is None
        or consumer.is_frozen
        or consumer.is_closing
        or consumer.stop_option
        or consumer.hang_us
        or consumer.positions.is_missing
        or consumer.feed.is_suspended
        or commits.waiting
        or commits.under_way
        or consumer.spec.handler.poll_timeout_us <= 0
        or not _is_rested(consumer)
        or not _is_heard(consumer)
    )


def _is_rested(consumer: Inside) -> bool:
    """A member in good standing as far as it knows, with nothing under way."""
    member = consumer.member
    return (
        member.state is MemberState.STABLE
        and not member.needs_rejoin
        and not consumer.calls
        and consumer.coordinator is not None
        and consumer.is_rested()
    )


def _is_heard(consumer: Inside) -> bool:
    """Do its beats and commits find nothing but what they always find?"""
    return bool(consumer.host.is_calm and _is_reached(consumer))


def _is_awaited(consumer: Inside) -> bool:
    """Has a round begun that ends only with it, of which it has not heard?"""
    return bool(consumer.host.is_gathering and _is_reached(consumer))


def _is_reached(consumer: Inside) -> bool:
    """Is it a member as its coordinator sees it too, which answers it as fast as ever?"""
    host, link = consumer.host, consumer.coordinator_link
    timers, late = consumer.heartbeat.timers, consumer.heartbeat.late_us
    assert link is not None
    latency = link.most_us
    return bool(
        consumer.coordinator == host.broker
        and host.is_up
        and link.is_clear
        and link.at_work is None
        and host.has_settled(consumer.member)
        and host.writes_in_time
        and host.session_ends_us(consumer.member.member_id) >= timers.due_us + late + latency
        and timers.session_us >= timers.interval_us + late + 2 * latency
    )


def _of(consumer: Inside) -> Standing | None:
    feed, config, handler = consumer.feed, consumer.config, consumer.spec.handler
    if handler.poll_timeout_us <= 0 or config.fetch_min_bytes > 1:
        return None
    if feed.is_suspended and feed.shares:
        return None
    clocks = _clocks_of(consumer)
    fetches = _parked(consumer) if clocks is not None else None
    read = _what_is_read(consumer, fetches) if fetches is not None else None
    if clocks is None or fetches is None or read is None:
        return None
    commits, timers = consumer.commits, consumer.heartbeat.timers
    kinds = [kind for kind in read.kinds if kind.next_us < NEVER]
    is_even = _is_even(consumer, clocks, fetches, read, kinds)
    latency = _latency_us(consumer.coordinator_link)
    return Standing(
        now_us=consumer.engine.now,
        fetches=fetches,
        brokers=read.brokers,
        flow=kinds[0].flow if kinds else None,
        is_mixed=len(kinds) > 1 or (bool(kinds) and not feed.costs_alike),
        is_even=is_even,
        commits_each=is_even and _commits_each(consumer),
        commit_us=commits.takes_always_us() if is_even and commits.is_awaited else 0,
        next_us=min([kind.next_us for kind in kinds], default=NEVER),
        per_record_us=feed.per_record_us,
        per_batch_us=feed.per_batch_us,
        max_wait_us=config.fetch_max_wait_us,
        max_records=config.max_poll_records,
        service_us=consumer.machine.service_us,
        poll_began_us=consumer.deadline_us - handler.poll_timeout_us,
        poll_timeout_us=handler.poll_timeout_us,
        backoff_us=NEVER if clocks.joins else config.retry_backoff_us,
        is_idle=not feed.shares,
        is_threaded=consumer.habits.runs_itself,
        until_us=clocks.until_us,
        is_awaited=clocks.is_awaited,
        looks_us=clocks.looks_us,
        beat_due_us=timers.due_us if clocks.beats else NEVER,
        beat_late_us=consumer.heartbeat.late_us,
        interval_us=timers.interval_us,
        looked_us=timers.looked_us,
        tick_us=NEVER if clocks.joins else timers.tick_us,
        heard_us=timers.heard_us,
        polled_us=timers.polled_us,
        commit_due_us=commits.due_us if clocks.commits else NEVER,
        commit_late_us=commits.late_us,
        commit_interval_us=commits.interval_us,
        has_offsets=bool(feed.shares),
        latency_us=latency,
        first_rank=consumer.rank,
        answered_us=lambda at: consumer.host.leaves_us(at + latency) + latency,
    )


class _Clocks(NamedTuple):
    """What a client does by itself while it is quiet, and until when that is."""

    joins: bool = False  # it waits to join, and neither beats nor commits
    beats: bool = False
    commits: bool = False
    looks_us: int = NEVER
    until_us: int = NEVER
    is_awaited: bool = False


_JOINS = _Clocks(joins=True)


def _clocks_of(consumer: Inside) -> _Clocks | None:
    """None where something of that is due or under way already."""
    commits, now = consumer.commits, consumer.engine.now
    commit_us = commits.due_us + commits.late_us if commits.is_auto else NEVER
    if consumer.calls:  # poll() looks whether to commit
        return _JOINS if commit_us <= now else _Clocks(joins=True, looks_us=commit_us)
    own_us = min(consumer.heartbeat.timers.due_us + consumer.heartbeat.late_us, commit_us)
    if own_us <= now or commits.waiting or commits.under_way:
        return None
    if _is_heard(consumer):
        return _Clocks(beats=True, commits=commit_us < NEVER)
    return _Clocks(until_us=own_us - 1, is_awaited=_is_awaited(consumer))


def _parked(consumer: Inside) -> list[Waiting] | None:
    """Its Fetches, if all wait at their brokers and their answers come in a known time."""
    now, found = consumer.engine.now, []
    for broker, fetch in consumer.feed.flying.items():
        link = consumer.link(broker)
        if (
            fetch.is_answered
            or fetch.is_void
            or fetch.elsewhere
            or fetch.firsts != [share for share, _ in fetch.asked if share.is_new]
            or not max(now, fetch.arrives_us) < fetch.leaves_us
            or link.fixed_us < 0
            or not link.is_clear
        ):
            return None
        found.append(Waiting(broker, fetch.arrives_us, 0, _latency_us(link)))
    return found


def _latency_us(link: Any) -> int:
    return int(link.fixed_us + link.extra_us)


def _commits_each(consumer: Inside) -> bool:
    return consumer.spec.handler.commit.is_of_the_application


def _is_even(
    consumer: Inside, clocks: _Clocks, fetches: list[Waiting], read: _Read, kinds: list[_Kind]
) -> bool:
    """Does every batch cost what its number of records says, and do all come by one flow?"""
    handler, commits = consumer.spec.handler, consumer.commits
    takes_as_long = not clocks.joins and commits.takes_always_us() >= 0
    return bool(
        len(kinds) == 1
        and read.comes_at_once
        and all(fetch.partitions for fetch in fetches)
        and handler.per_record.is_constant
        and handler.per_batch.is_constant
        and consumer.slowness == 1.0
        and (not _commits_each(consumer) or takes_as_long)
        and kinds[0].flow.is_even_after(consumer.engine.now)
    )


@dataclass(slots=True)
class _Kind:
    """Partitions whose records come at the very same instants."""

    flow: Any
    count: int  # records there now
    next_us: int


@dataclass(slots=True)
class _Read:
    """What it reads."""

    brokers: tuple[int, ...]
    kinds: list[_Kind]
    comes_at_once: bool  # does an answer hold a record of each partition, none of them its first?


def _what_is_read(consumer: Inside, fetches: list[Waiting]) -> _Read | None:
    """From whom, if all of it is being read, nothing lies unread, and nothing is near that would
    make a difference.
    """
    feed, world = consumer.feed, consumer.world
    poisons = world.poisons
    asked = {share: first for fetch in feed.flying.values() for share, first in fetch.asked}
    by_broker = {fetch.broker: fetch for fetch in fetches}
    brokers: dict[int, None] = {}
    kinds: list[_Kind] = []
    size, is_plain = 0, True
    for share in feed.shares.values():
        kind = _kind_of(share.flow, kinds, consumer.engine.now)
        offset = share.offset
        if (
            share.state != FETCHING
            or asked.get(share) != offset
            or share.leased_us >= 0
            or share.is_waiting
            or offset != share.fetched
            or offset < kind.count
        ):
            return None
        if share.partition in poisons.by_partition and poisons.lie_ahead(
            share.partition, consumer.group, offset, kind.count + 1
        ):
            return None
        brokers[share.broker] = None
        if kind.next_us < NEVER:
            fetch = by_broker.get(share.broker)
            if fetch is None:
                return None
            fetch.partitions += 1
            size += world.record_bytes(share.partition.topic)
            is_plain = is_plain and offset == kind.count and not share.is_new
    if len(brokers) != len(fetches):
        return None
    return _Read(tuple(brokers), kinds, is_plain and size <= consumer.config.fetch_max_bytes)


def _kind_of(flow: Any, kinds: list[_Kind], now: int) -> _Kind:
    for kind in kinds:
        if flow is kind.flow or flow.is_like(kind.flow):
            return kind
    kinds.append(_Kind(flow, flow.count(now), flow.next_after(now)))
    return kinds[-1]


# ------------------------------------------------------------------------------------- catching up


def catch_up(consumer: Inside, since: Since) -> None:
    """Put this client where it is by now."""
    timers, now = consumer.heartbeat.timers, consumer.engine.now
    news = _take_data(consumer, since)
    handler = consumer.spec.handler
    consumer.deadline_us = since.poll_began_us + handler.poll_timeout_us
    timers.polled_us = since.polled_us
    if since.heard_us > timers.heard_us:
        timers.answered(since.heard_us)
    if since.beat_due_us < NEVER:
        timers.due_us, timers.looked_us = since.beat_due_us, since.looked_us
    if since.commit_due_us < NEVER:
        consumer.commits.due_us = since.commit_due_us
    for sent in since.sent:
        _send_again(consumer, sent, since.flow, news)
    consumer.inbox = [(call, response) for _, call, response in sorted(news, key=_landed_us)]
    consumer.is_back(since.busy_until_us < 0, since.beat_due_us)
    if since.busy_until_us >= 0:
        consumer.is_polling = False
        consumer.is_handling = True
        consumer.busy_until_us = since.busy_until_us
        consumer.alarm.set(since.busy_until_us)
    else:
        consumer.alarm.set(since.wakes_us if since.wakes_us >= 0 else consumer.wakes_at(now))
    consumer.heartbeat.plan()


def _landed_us(news: tuple[int, Any, Any]) -> int:
    return news[0]


def _take_data(consumer: Inside, since: Since) -> list[tuple[int, Any, Any]]:
    """Positions and Fetches; what waits to be read."""
    feed, engine = consumer.feed, consumer.engine
    shares: dict[int, list[Share]] = {}
    flow = since.flow
    for share in feed.shares.values():
        shares.setdefault(share.broker, []).append(share)
        if flow is not None and (share.flow is flow or share.flow.is_like(flow)):
            share.offset = share.fetched = since.taken.get(share.broker, since.handed)
    feed.flying.clear()
    news: list[tuple[int, Any, Any]] = []
    service_us = consumer.machine.service_us
    for flight in since.flights:
        asked = feed.in_session(flight.broker, shares[flight.broker])
        fetch = feed.flying[flight.broker] = Fetch(flight.broker, consumer.life, asked)
        fetch.firsts = [share for share in asked if share.is_new]
        fetch.arrives_us = flight.arrives_us
        if flight.leaves_us >= 0:
            fetch.parked_us, fetch.leaves_us = flight.arrives_us, flight.leaves_us
            consumer.link(flight.broker).busy_us = flight.leaves_us + service_us
            if flight.lands_us < 0:
                feed.answer(fetch)
                continue
            feed.fill(fetch)
            if flight.is_read:
                feed.landed(fetch)
            else:
                news.append((flight.lands_us, None, fetch))
        else:
            feed.expect(fetch, flight.arrives_us)
            consumer.link(flight.broker).busy_us = fetch.leaves_us + service_us
            if (flight.arrives_us, consumer.rank + ARRIVES) >= (engine.now, engine.rank):
                engine.at(flight.arrives_us, consumer.rank + ARRIVES, feed.arrives, fetch)
            else:
                fetch.parked_us = flight.arrives_us
                feed.park(fetch)
    return news


def _send_again(consumer: Inside, sent: Sent, flow: Any, news: list[tuple[int, Any, Any]]) -> None:
    """A beat or commit that left: what it has come to by now."""
    engine, host, link = consumer.engine, consumer.host, consumer.coordinator_link
    assert link is not None
    arrives = sent.at_us + link.fixed_us + link.extra_us
    call = _call_of(consumer, sent, flow)
    moment = (engine.now, engine.rank)
    if (arrives, consumer.rank + ARRIVES) >= moment:
        _expect(consumer, call)
        engine.at(arrives, consumer.rank + ARRIVES, host.receive, call)
    elif not sent.is_beat and (host.leaves_us(arrives), LOG) >= moment:
        _expect(consumer, call)
        host.take_late(call, arrives)
    else:
        host.make_up(call, arrives)
        if (sent.lands_us, consumer.rank + ANSWERED) >= moment:
            _expect(consumer, call)
            engine.at(sent.lands_us, consumer.rank + ANSWERED, consumer.answered, call)
        elif not sent.is_read:
            _expect(consumer, call)
            news.append((sent.lands_us, call, call.response))


def _call_of(consumer: Inside, sent: Sent, flow: Any) -> Call:
    member = consumer.member
    call: Call
    request: Any
    if sent.is_beat:
        request = HeartbeatRequest(member.member_id, member.instance_id, member.generation)
        call = consumer.call(KafkaApi.HEARTBEAT, request, consumer.beat_answered)
    else:
        shares = consumer.feed.shares
        offsets = {p: share.offset for p, share in shares.items()}
        if flow is not None:
            for p, share in shares.items():
                if share.flow is flow or share.flow.is_like(flow):
                    offsets[p] = sent.taken.get(share.broker, sent.handed)
        request = OffsetCommitRequest(
            member.member_id, member.instance_id, member.generation, offsets
        )
        call = consumer.call(KafkaApi.OFFSET_COMMIT, request, consumer.commits.auto_answered)
    call.is_quiet = True
    call.sent_us = sent.at_us
    call.link = consumer.coordinator_link
    return call


def _expect(consumer: Inside, call: Call) -> None:
    """Its sender waits for the answer, as for that to any other."""
    call.expires_us = call.sent_us + consumer.config.request_timeout_us
    if call.api == KafkaApi.OFFSET_COMMIT:
        consumer.commits.under_way += 1
    consumer.calls[call.number] = call
    consumer.watch_expiry(call)


__all__ = ["ANSWERED", "APP", "ARRIVES", "BEAT", "NEVER", "Flight", "Sent", "Since", "Standing"]
