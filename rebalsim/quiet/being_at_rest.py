"""What has to be so of a client of the consumer protocol before any of its time may be skipped."""

from __future__ import annotations

from typing import Any

from rebalsim.domain.instants import MINUTE
from rebalsim.protocol.consumer_member import ClientState
from rebalsim.simulation.engine import NEVER


def has_settled(client: Any) -> bool:
    """Has it all that it is to have, and said all that it has to say?"""
    member = client.member
    return bool(
        member.state is ClientState.STABLE
        and member.is_reconciled
        and not member.sends_all
        and not member.beats_now
        and not client.has_new_topics
    )


def waits_for_nothing(client: Any) -> bool:
    """Is no message of its two threads under way, nor anything between them?"""
    return (
        asks_for_nothing(client)
        and not client.inbox
        and client.heartbeat.is_idle
        and not client.woken
    )


def asks_for_nothing(client: Any) -> bool:
    """Is no request of its under way, and nothing of what it was told still to be done?"""
    background, commits = client.heartbeat, client.commits
    return bool(
        not client.calls
        and background.has_done_all
        and background.beats.flying is None
        and not client.looks_not_before_us
        and client.poll_error is None
        and (client.event is None or client.event.is_complete)
        and not commits.under_way
        and commits.next_us() == NEVER
    )


def next_told_us(client: Any) -> int:
    """When the coordinator may hear of it next: by a beat, or by a periodic commit."""
    return int(min(client.commits.due_us, client.heartbeat.beats.next_us()))


def is_left_alone(client: Any) -> bool:
    """Is nothing wrong with it, and is it not about to end?"""
    return bool(
        not client.hang_us
        and not client.stop_option
        and not client.is_closing
        and _polls_in_time(client)
    )


def _polls_in_time(client: Any) -> bool:
    """Is there room between two poll()s for what records take, however long each poll() lasts? Of a
    sink's task, which polls until it commits, that is a minute.
    """
    timeout = client.spec.handler.poll_timeout_us
    return bool(client.config.max_poll_interval_us - timeout >= min(9 * timeout, MINUTE))


def is_heard(client: Any) -> bool:
    """Does its coordinator hear its next beat in time?"""
    host, link, beats = client.host, client.coordinator_link, client.heartbeat.beats
    return bool(
        beats.interval_us > 0
        and beats.next_us() > client.engine.now
        and host is not None
        and client.coordinator == host.broker
        and host.is_up
        and link is not None
        and link.is_clear
        and link.at_work is None
        and host.session_ends_us(client.member.member_id) >= beats.next_us() + link.most_us
    )
