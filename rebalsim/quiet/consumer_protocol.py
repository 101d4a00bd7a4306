"""How a client of the consumer protocol skips quiet time: its batches by their steady cycle, its
beats and commits an interval apart, the passes of one that has nothing to read one by one.

Unlike the other clients' this is not held to the plain way event by event: its application draws
a chance with each pass, and its batches here are worked out without.
"""

from __future__ import annotations

from typing import Any

from rebalsim.protocol.consumer_member import ClientState
from rebalsim.protocol.messages import OffsetCommitRequest
from rebalsim.quiet.cycle import Cycle, cycle_of
from rebalsim.simulation.engine import ANSWERED, ARRIVES, LOG
from rebalsim.simulation.shares import FETCHING, Fetch

SPIN_US = 100


def cycle_for(client: Any) -> Cycle | None:
    """The cycle that this client is in, if it keeps up and nothing is under way but Fetches."""
    feed, now = client.feed, client.engine.now
    if (
        feed.is_suspended
        or feed.is_behind
        or feed.buffer
        or not can_rest(client)
        or client.spec.handler.commit.startswith("sync")
        or any(fetch.elsewhere for fetch in feed.flying.values())
    ):
        return None
    asked: dict[int, int] = {broker: len(fetch.asked) for broker, fetch in feed.flying.items()}
    poisons = client.world.poisons
    for share in feed.shares.values():
        if (
            share.is_going
            or share.is_coming
            or share.is_new
            or share.state != FETCHING
            or share.broker not in feed.flying
            or (
                share.partition in poisons.by_partition
                and poisons.lie_ahead(
                    share.partition, client.group, share.offset, share.flow.count(now) + 1
                )
            )
        ):
            return None
        asked[share.broker] -= 1
    if any(asked.values()):
        return None
    return cycle_of(feed, now)


def can_rest(client: Any) -> bool:
    """Nothing is under way, nothing is asked of it, and its group is settled."""
    member, host, background = client.member, client.host, client.heartbeat
    beats, link = background.beats, client.coordinator_link
    return bool(
        member.state is ClientState.STABLE
        and member.is_reconciled
        and not client.calls
        and not client.inbox
        and not background.told
        and not client.woken
        and not client.looks_not_before_us
        and beats.flying is None
        and beats.interval_us > 0
        and host is not None
        and client.coordinator == host.broker
        and host.is_up
        and host.was_stable
        and host.writes_in_time
        and not host.is_watching
        and member.member_id in host.group.members
        and link is not None
        and link.is_clear
        and not client.hang_us
        and not client.stop_option
        and not client.has_new_topics
        and host.group.members[member.member_id].epoch == member.epoch
        and not member.sends_all
        and not member.beats_now
        and not client.commits.under_way
        and beats.next_us() >= client.engine.now
        and host.session_ends_us(member.member_id)
        >= beats.next_us() + link.latency_us(beats.next_us())
    )


class SteadySkip:
    """Quiet time of a client that reads and keeps up, since it began."""

    __slots__ = ("_client", "_cycle")

    def __init__(self, client: Any, cycle: Cycle) -> None:
        self._client = client
        self._cycle = cycle

    def offset_of(self, share: Any) -> int:
        """How far a partition has been handed over by now."""
        handed = self._cycle.handed_over(self._client.engine.now)
        return max(int(share.offset), int(share.flow.count(handed)))

    def end(self) -> None:
        """It goes on from now."""
        client, cycle = self._client, self._cycle
        client.skipped = None
        _beat_and_commit(client, cycle)
        self._take_data()
        free = cycle.free_at(client.engine.now)
        client.busy_until_us = (
            free if free > client.engine.now else cycle.batch_before(client.engine.now)[1]
        )
        client.heartbeat.plan()
        if client.is_polling and not client.is_frozen:
            client.nudge.give()

    def _take_data(self) -> None:
        client, cycle, feed = self._client, self._cycle, self._client.feed
        now, timeout = client.engine.now, client.spec.handler.poll_timeout_us
        arrived = cycle.handed_over(now)
        brokers: dict[int, list[Any]] = {}
        for share in feed.shares.values():
            share.offset = share.fetched = max(share.offset, share.flow.count(arrived))
            brokers.setdefault(share.broker, []).append(share)
        client.deadline_us = cycle.poll_ends(now, timeout)
        began, ended = cycle.batch_before(now)
        before = began - 1 if began > cycle.anchor_us and now <= ended else now
        timers = client.heartbeat.timers
        timers.polled_us = max(
            timers.polled_us, min(now, cycle.poll_ends(before, timeout) - timeout)
        )
        feed.handed_us = began
        for broker, shares in brokers.items():
            fetch = Fetch(broker, client.life, feed.in_session(broker, shares))
            feed.flying[broker] = fetch
            feed.asks(broker, len(shares))
            fetch.leaves_us = cycle.fetch_leaves(shares, now, feed.config.fetch_max_wait_us)
            fetch.parked_us = min(now, fetch.leaves_us)
            service_us = client.world.machine.service_us
            client.link(broker).busy_us = fetch.leaves_us + service_us
            if fetch.leaves_us > now:
                feed.park(fetch)
            else:
                feed.answer(fetch)


class IdleSkip:
    """Quiet time of a client that has nothing to read: its passes draw from its chances."""

    __slots__ = ("_client", "is_turning", "next_us")

    def __init__(self, client: Any, next_us: int) -> None:
        self._client = client
        self.next_us = next_us  # when it looks next
        self.is_turning = False  # … is that the pass right after an event was handed over?

    def offset_of(self, share: Any) -> int:
        """It has none."""
        return int(share.offset)

    def end(self) -> None:
        """The passes up to now, and it goes on."""
        client = self._client
        client.skipped = None
        now = client.engine.now
        while self.next_us < now:
            self._pass()
        _beat_and_commit(client, None)
        client.heartbeat.plan()
        client.idled = self
        if client.is_polling and not client.is_frozen:
            client.nudge.give()

    def _pass(self) -> None:
        """What the pass at this instant did; when the next one is. One that hands over an event
        is woken at once, as there is nothing to fetch, and may look before it is told that the
        event is complete.
        """
        client, at = self._client, self.next_us
        machine, timeout = client.world.machine, client.spec.handler.poll_timeout_us
        if at >= client.deadline_us:
            client.deadline_us = at + timeout
            client.event = None
        self.is_turning = client.event is None
        if client.event is None:
            client.heartbeat.timers.polled_us = at
            client.commits.begin_anew(at)
            client.pass_idly(at)
            self.next_us = int(at + machine.async_turn_us)
            return
        if client.event.hidden:
            client.event.hidden -= 1
        else:
            client.event = None
        wait = max(min(client.config.retry_backoff_us, client.deadline_us - at), SPIN_US)
        self.next_us = int(at) + wait + int(machine.async_wait_late_us)


def _beat_and_commit(client: Any, cycle: Cycle | None) -> None:
    """All beats and periodic commits since it began: the last to arrive is heard now, one that is
    under way is sent on.
    """
    beats, commits, now = client.heartbeat.beats, client.commits, client.engine.now
    period, first = beats.interval_us + beats.late_us, beats.due_us
    sent: list[tuple[int, str, Any]] = []
    if now > first:
        last = first + (now - first - 1) // period * period
        sent += [(at, "", beats.plain()) for at in (last - period, last) if at >= first]
        beats.due_us = last + period
    if commits.is_auto and cycle is not None and now > commits.due_us:
        period, first = commits.interval_us, commits.due_us
        last = first + (now - first - 1) // period * period
        sent += [(at, "commit", None) for at in (last - period, last) if at >= first]
        commits.due_us = last + period
    for at, what, request in sorted(sent, key=lambda one: one[0]):
        _sent(client, at, request if not what else _commit(client, cycle, at))


def _commit(client: Any, cycle: Any, at_us: int) -> OffsetCommitRequest:
    member, arrived = client.member, cycle.handed_over(at_us)
    offsets = {
        partition: max(share.offset, share.flow.count(arrived))
        for partition, share in client.feed.shares.items()
    }
    return OffsetCommitRequest(member.member_id, member.instance_id, member.epoch, offsets)


def _sent(client: Any, sent_us: int, request: Any) -> None:
    engine, link, host = client.engine, client.coordinator_link, client.host
    is_commit = type(request) is OffsetCommitRequest
    beats = client.heartbeat.beats
    api = "OffsetCommit" if is_commit else "ConsumerGroupHeartbeat"
    call = client.call(api, request, client.commits.auto_answered if is_commit else beats.answered)
    call.is_quiet, call.sent_us, call.link = is_commit, sent_us, link
    call.expires_us = sent_us + client.config.request_timeout_us
    arrives = sent_us + link.latency_us(sent_us)
    moment = (engine.now, engine.rank)
    if (arrives, client.rank + ARRIVES) >= moment:
        engine.at(arrives, client.rank + ARRIVES, host.receive, call)
    else:
        host.make_up(call, arrives)
        left = host.leaves_us(arrives) if is_commit else arrives
        lands = left + link.latency_us(left)
        if (left, LOG) >= moment:
            engine.at(left, LOG, host.answer, call)
        elif (lands, client.rank + ANSWERED) >= moment:
            engine.at(lands, client.rank + ANSWERED, client.answered, call)
        else:
            return
    client.calls[call.number] = call
    client.mind_expiry(call)
    if is_commit:
        client.commits.under_way += 1
    else:
        beats.flying = call
