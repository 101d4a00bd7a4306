"""Under the consumer protocol: what close() waits for and calls, what a fatal error and an
assignment that came back do, which commits are tried again, and when it is noticed that the
application does not poll.
"""

from __future__ import annotations

from typing import Any

import pytest
from played_stories import at, played

from rebalsim.domain.instants import SECOND
from rebalsim.simulation.asynchronous.consumer import AsyncConsumer
from rebalsim.trace import events as ev
from rebalsim.trace.trace import Trace


def callbacks(trace: Trace, consumer: str, since_s: float) -> list[str]:
    return [
        e.callback
        for e in trace.events
        if type(e) is ev.CallbackBegan
        and e.consumer == consumer
        and e.at_us >= since_s * SECOND
        and (e.partitions or e.callback == "assigned")
    ]


def group(
    members: str = "members: 3",
    handler: str = "1ms",
    config: str = "",
    script: str = "",
    rate: str = "300/s",
) -> str:
    return (
        f"topics: {{orders: {{partitions: 6, rate: {rate}}}}}\ngroup:\n  {members}\n  handler: "
        f"{handler}\n"
        f"  config: {{group.protocol: consumer{config}}}\nscript: [{script}]\nhorizon: 4m\n"
    )


def test_close_looks_for_the_coordinator_as_long_as_it_has_to_commit() -> None:
    trace = played(
        group(script="{at: 60s, broker_restart: {broker: 0, down: 15s}}, {at: 63s, leave: c1}")
    )
    [ended] = at(trace, ev.CloseEnded, consumer="c1")
    assert 75 < ended < 80 and len(at(trace, ev.LeaveSent, consumer="c1")) == 1
    assert [e.why for e in trace.events if type(e) is ev.MemberRemoved and e.consumer == "c1"] == [
        "left"
    ]


def test_an_assignment_that_came_back_is_acknowledged_without_a_callback() -> None:
    """c0 hangs; it is offered what a newcomer takes shortly after, before it could take it up."""
    trace = played(
        group(
            "members: 2",
            script="{at: 60s, hang: {members: c0, for: 80s}}, {at: 70s, leave: c1}, {at: 76s, "
            "join: "
            "{count: 1}}",
        )
    )
    received = [e for e in trace.events if type(e) is ev.AssignmentReceived and e.consumer == "c0"]
    held = [e for e in received if e.at_us < 60 * SECOND][-1].partitions
    offered, back = [e for e in received if 60 * SECOND < e.at_us < 140 * SECOND]
    assert set(offered.partitions) > set(held) and back.partitions == held
    acks = at(
        trace,
        ev.MemberStateChanged,
        consumer="c0",
        after="ACKNOWLEDGING",
        side="client",
        since_s=back.at_us / SECOND,
    )
    assert acks[0] == round(back.at_us / SECOND, 3) and callbacks(trace, "c0", 60)[:1] == []


def test_a_stale_member_that_closes_revokes_and_loses_nothing() -> None:
    trace = played(
        group(
            config=", max.poll.interval.ms: 30s",
            script="{at: 60s, hang: {members: c1, for: 60s}}, {at: 100s, leave: c1}",
        )
    )
    assert len(at(trace, ev.PollExpired, consumer="c1")) == 1 and callbacks(trace, "c1", 90) == [
        "revoked"
    ]


def test_a_dynamic_member_that_shall_remain_leaves_all_the_same() -> None:
    trace = played(group(script="{at: 60s, leave: {members: c1, option: remain}}"))
    assert [
        round(e.at_us / SECOND)
        for e in trace.events
        if type(e) is ev.MemberRemoved and e.consumer == "c1"
    ] == [60]


def test_who_is_told_that_it_is_beyond_use_loses_its_partitions_and_commits_nothing_more() -> None:
    members = (
        "members: {a: {count: 1, group.instance.id: one}, b: {count: 1, group.instance.id: two},"
        " twin: {count: 1, group.instance.id: one, starts_at: never}}"
    )
    trace = played(
        group(
            members,
            script="{at: 60s, freeze: {members: a, for: 60s}}, {at: 110s, join: {names: [twin]}}",
        )
    )
    assert at(trace, ev.Fenced, consumer="a") and callbacks(trace, "a", 60) == ["lost"]
    assert not [
        e
        for e in trace.events
        if type(e) is ev.CommitRefused and e.consumer == "a" and e.at_us > 120 * SECOND
    ]


@pytest.mark.slow
def test_a_commit_sync_with_a_stale_epoch_throws() -> None:
    trace = played(
        'kafka: "4.1"\ncluster: {latency: 20ms}\n'
        + group(
            "members: 3",
            "{per_record: 1ms, commit: sync-record, on_error: crash}",
            rate="900/s",
            script="{at: 60s, scale: 4}",
        )
    )
    died = [e.error for e in trace.events if type(e) is ev.ConsumerExited and e.how == "fatal"]
    assert "CommitFailedException" in died


def test_a_commit_in_the_callback_of_a_close_fails_at_once_without_a_coordinator() -> None:
    trace = played(
        group(
            handler="{per_record: 1ms, commit: sync-batch, commit_on_revoke: once}",
            script="{at: 60s, broker_restart: {broker: 0, down: 15s}}, {at: 63s, leave: c1}",
        )
    )
    began = at(trace, ev.CallbackBegan, consumer="c1", callback="revoked", since_s=63)
    ended = at(trace, ev.CallbackEnded, consumer="c1", callback="revoked", since_s=63)
    assert len(began) == len(ended) == 1 and ended[0] - began[0] < 0.1


def test_the_network_thread_looks_at_the_poll_timer_every_5_seconds_whatever_the_heartbeat_interval() -> (
    None
):
    trace = played(
        "cluster: {config: {group.consumer.heartbeat.interval.ms: 15s, "
        "group.consumer.max.heartbeat.interval.ms: 15s}}\n"
        + group(
            config=", max.poll.interval.ms: 30s", script="{at: 70s, hang: {members: c1, for: 60s}}"
        )
    )
    [expired] = [e for e in trace.events if type(e) is ev.PollExpired]
    assert 0 <= expired.at_us - expired.last_poll_us - 30 * SECOND <= 5 * SECOND


def test_an_application_that_passes_for_nothing_while_it_is_cut_off_costs_few_passes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    passes: list[int] = []
    look = AsyncConsumer._look

    def counted(self: AsyncConsumer, is_first: bool) -> Any:
        passes.append(self.engine.now if self.name == "c0" else 0)
        return look(self, is_first)

    monkeypatch.setattr(AsyncConsumer, "_look", counted)
    played(group(script="{at: 60s, cut: {members: c0, for: 60s, from: brokers}}"))
    while_cut = [at for at in passes if 60 * SECOND <= at < 120 * SECOND]
    assert len(while_cut) < 1_000  # 5,000 a second, if each were played
