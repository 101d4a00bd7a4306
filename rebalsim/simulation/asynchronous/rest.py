"""Rest under the consumer protocol: beats and commits that can change nothing are no events; when
news comes, they are made up.

A member rests while its group is stable, it has reconciled everything, and its application keeps
up (or has nothing to read at all).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rebalsim.protocol.consumer_member import ClientState
from rebalsim.protocol.messages import OffsetCommitRequest
from rebalsim.simulation.engine import ARRIVES
from rebalsim.simulation.rest import is_heard_in_time, is_still_answered, send_on

if TYPE_CHECKING:
    from rebalsim.simulation.asynchronous.consumer import AsyncConsumer
    from rebalsim.simulation.network import Call


def can_rest(consumer: AsyncConsumer) -> bool:
    """Nothing is under way, nothing is asked of it, and its group is settled."""
    member, host, background = consumer.member, consumer.host, consumer.heartbeat
    beats, link = background.beats, consumer.coordinator_link
    return (
        member.state is ClientState.STABLE
        and member.is_reconciled
        and not consumer.calls
        and not consumer.inbox
        and not background.told
        and beats.flying is None
        and beats.interval_us > 0
        and host is not None
        and consumer.coordinator == host.broker
        and host.is_up
        and host.was_stable
        and host.writes_in_time
        and not host.is_watching
        and member.member_id in host.group.members
        and link is not None
        and link.is_clear
        and not consumer.hang_us
        and not consumer.stop_option
        and not consumer.has_new_topics
        and host.group.members[member.member_id].epoch == member.epoch
        and not member.sends_all
        and beats.next_us() >= consumer.engine.now
        and is_heard_in_time(consumer, beats.next_us())
    )


def make_up(consumer: AsyncConsumer) -> None:
    """All beats and periodic commits since it came to rest: the last to arrive is heard now, one
    that is under way is sent on.
    """
    engine = consumer.engine
    now = engine.now
    link, host, member, beats = (
        consumer.coordinator_link,
        consumer.host,
        consumer.member,
        consumer.heartbeat.beats,
    )
    assert link is not None
    came: list[tuple[int, int, int, str, Any]] = []
    flying: list[tuple[int, int, str, Any]] = []

    def note(sent: int, api: str, request: Any) -> None:
        arrives = sent + link.latency_us(sent)
        if arrives < now or (arrives == now and consumer.rank + ARRIVES <= engine.rank):
            came.append((arrives, len(came), sent, api, request))
        else:
            flying.append((arrives, sent, api, request))

    period = beats.interval_us + beats.late_us
    first = beats.due_us
    if now > first:
        last = first + (now - first - 1) // period * period
        for sent in (last - period, last):
            if sent >= first:
                note(sent, "ConsumerGroupHeartbeat", beats.plain())
        beats.due_us = last + period
    commits = consumer.commits
    if commits.is_auto and consumer.feed.cycle is not None:
        period, first = commits.interval_us, commits.due_us
        if now > first:
            last = first + (now - first - 1) // period * period
            for sent in (last - period, last):
                if sent >= first:
                    request = OffsetCommitRequest(
                        member.member_id,
                        member.instance_id,
                        member.epoch,
                        consumer.feed.consumed_at(sent),
                    )
                    note(sent, "OffsetCommit", request)
            commits.due_us = last + period

    def call_of(sent: int, api: str, request: Any) -> Call:
        is_beat = api == "ConsumerGroupHeartbeat"
        call = consumer.call(api, request, beats.answered if is_beat else commits.auto_answered)
        call.is_quiet = not is_beat
        call.sent_us = sent
        return call

    def expect(call: Call) -> None:
        send_on(consumer, call)
        if call.api == "ConsumerGroupHeartbeat":
            beats.flying = call

    for arrived, _, sent, api, request in sorted(came, key=lambda entry: entry[:2]):
        call = call_of(sent, api, request)
        if is_still_answered(consumer, call, host.make_up(call, arrived)):
            expect(call)
    for arrives, sent, api, request in flying:
        call = call_of(sent, api, request)
        expect(call)
        link.keep_order(call, arrives, is_up=True)
        engine.at(arrives, consumer.rank + ARRIVES, host.receive, call)
