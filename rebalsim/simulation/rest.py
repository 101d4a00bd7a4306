"""Rest: a member whose beats, commits and polls can change nothing sleeps through them; when news
comes, what they did is made up.

The phase is kept as arithmetic: beats go an interval and the timer's lateness apart, commits
likewise, batches as the steady cycle says. So a member that is roused acts at the very tick at
which it would have acted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rebalsim.protocol.classic_member import MemberState
from rebalsim.protocol.messages import HeartbeatRequest, OffsetCommitRequest
from rebalsim.simulation.engine import ANSWERED, APP, ARRIVES, BEAT, LOG

if TYPE_CHECKING:
    from rebalsim.simulation.consumer import Consumer
    from rebalsim.simulation.network import Call


def can_rest(consumer: Consumer) -> bool:
    """Nothing is under way, nothing is asked of it, and its group is settled."""
    member = consumer.member
    host, link = consumer.host, consumer.coordinator_link
    return (
        consumer.feed.cycle is not None
        and member.state is MemberState.STABLE
        and not member.needs_rejoin
        and not consumer.calls
        and not consumer.inbox
        and not consumer.membership.is_pending
        and consumer.heartbeat.is_enabled
        and consumer.heartbeat.failure is None
        and host is not None
        and consumer.coordinator == host.broker
        and host.is_up
        and host.was_stable
        and host.writes_in_time
        and host.has_settled(member)
        and link is not None
        and link.is_clear
        and not consumer.hang_us
        and not consumer.stop_option
        and not consumer.membership.must_join()
        and _is_on_time(consumer)
    )


def _is_on_time(consumer: Consumer) -> bool:
    """Whether no beat or commit is overdue, as where nobody could be told: the next goes when
    somebody looks, not when it was due. And whether the next beat comes before the session ends,
    which an answer to SyncGroup does not renew.
    """
    now, beats, commits = consumer.engine.now, consumer.heartbeat, consumer.commits
    at = beats.next_us()
    return (
        at >= now
        and (not commits.is_auto or commits.due_us + beats.late_us >= now)
        and is_heard_in_time(consumer, at)
    )


def is_heard_in_time(consumer: Consumer, at_us: int) -> bool:
    """Whether a beat that leaves at this instant finds the member's session still running."""
    link = consumer.coordinator_link
    return link is not None and consumer.host.session_ends_us(
        consumer.member.member_id
    ) >= at_us + link.latency_us(at_us)


def make_up(consumer: Consumer) -> None:
    """All beats and periodic commits since it came to rest: the last to arrive is heard now, one
    that is under way is sent on.
    """
    engine = consumer.engine
    now = engine.now
    link, host, member = consumer.coordinator_link, consumer.host, consumer.member
    assert link is not None
    beats = consumer.heartbeat
    timers = beats.timers
    came: list[tuple[int, int, int, Any]] = []
    flying: list[tuple[int, int, Any]] = []

    for sent in beats.up_to(now if consumer.rank + BEAT < engine.rank else now - 1):
        request: Any = HeartbeatRequest(member.member_id, member.instance_id, member.generation)
        arrives = sent + link.latency_us(sent)
        if _has_come(consumer, arrives, now):
            came.append((arrives, 0, sent, request))
        else:
            flying.append((arrives, sent, request))

    commits = consumer.commits
    if commits.is_auto:
        first = commits.due_us + beats.late_us
        for sent in _last_two(
            first, commits.interval_us + beats.late_us, now, consumer.rank + APP < engine.rank
        ):
            offsets = consumer.feed.consumed_at(sent)
            commits.due_us = sent + commits.interval_us
            if not offsets:
                continue
            request = OffsetCommitRequest(
                member.member_id, member.instance_id, member.generation, offsets
            )
            arrives = sent + link.latency_us(sent)
            if _has_come(consumer, arrives, now):
                came.append((arrives, 1, sent, request))
            else:
                flying.append((arrives, sent, request))

    def call_of(sent: int, request: Any) -> Call:
        is_beat = type(request) is HeartbeatRequest
        call = consumer.call(
            "Heartbeat" if is_beat else "OffsetCommit",
            request,
            beats.answered if is_beat else commits.auto_answered,
        )
        call.is_quiet = True
        call.sent_us = sent
        return call

    for arrived, _, sent, request in sorted(came, key=lambda entry: entry[:2]):
        call = call_of(sent, request)
        if is_still_answered(consumer, call, host.make_up(call, arrived)):
            send_on(consumer, call)
        elif type(request) is HeartbeatRequest:
            timers.answered(arrived + link.latency_us(arrived))
    for arrives, sent, request in flying:
        call = call_of(sent, request)
        send_on(consumer, call)
        engine.at(arrives, consumer.rank + ARRIVES, host.receive, call)


def send_on(consumer: Consumer, call: Call) -> None:
    """This request is under way: its sender waits for the answer, as for that to any other."""
    call.link = consumer.coordinator_link
    call.expires_us = call.sent_us + consumer.config.request_timeout_us
    if call.api == "OffsetCommit":
        consumer.commits.under_way += 1
    consumer.calls[call.number] = call
    consumer.mind_expiry(call)


def is_still_answered(consumer: Consumer, call: Call, left_us: int) -> bool:
    """Whether the answer to a request that was made up for is under way, or its log is written yet; then
    it comes when it would have come.
    `left_us`: when it leaves the broker.
    """
    engine, host, link = consumer.engine, consumer.host, consumer.coordinator_link
    now = engine.now
    assert link is not None
    if left_us > now or (left_us == now and call.api == "OffsetCommit" and engine.rank < LOG):
        engine.at(left_us, LOG, host.answer, call)
        return True
    lands = left_us + link.latency_us(left_us)
    if lands < now or (lands == now and consumer.rank + ANSWERED < engine.rank):
        return False
    link.keep_order(call, lands, is_up=False)
    engine.at(lands, consumer.rank + ANSWERED, consumer.answered, call)
    return True


def _last_two(first_us: int, period_us: int, now_us: int, is_past: bool) -> list[int]:
    """The last two ticks up to now; one that falls on now counts if its turn is past."""
    upto = now_us if is_past else now_us - 1
    if upto < first_us:
        return []
    last = first_us + (upto - first_us) // period_us * period_us
    return [last - period_us, last] if last > first_us else [last]


def _has_come(consumer: Consumer, arrives_us: int, now_us: int) -> bool:
    return bool(
        arrives_us < now_us
        or (arrives_us == now_us and consumer.rank + ARRIVES < consumer.engine.rank)
    )
