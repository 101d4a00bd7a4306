"""Edge cases that a naive simulator gets wrong, by their numbers in the classic protocol's
specification: those in which the client has a part.

The coordinator's own are with its conversations.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from simulated_groups import IDLE, Told, member, play_group, settled, us

from rebalsim.analysis import analyse
from rebalsim.domain.commit_style import CommitStyle
from rebalsim.domain.consumer import AssignorCost, Consumer, Cost, Listener
from rebalsim.domain.draws import constantly
from rebalsim.domain.instants import MS, SECOND
from rebalsim.domain.scenario import Link
from rebalsim.scenario.load import story_of
from rebalsim.simulation.world import play
from rebalsim.trace import events as ev
from rebalsim.trace.trace import Trace

COOP = {"partition_assignment_strategy": ("cooperative-sticky",)}
AUTO = replace(IDLE, commit=CommitStyle.AUTO)
EAGER_TWO = member("M1"), member("M2")
COOP_TWO = member("M1", **COOP), member("M2", **COOP)


def scale_out(
    old: tuple[Consumer, ...] = EAGER_TWO,
    new: Consumer | None = None,
    at: float = 10.0,
    until: float = 30.0,
    **more: object,
) -> Told:
    x = new or replace(old[0], name="X")
    return play_group(old, settled(*old), until, later=((x, at),), **more)  # type: ignore[arg-type]


def test_03_only_the_second_join_group_starts_a_rebalance() -> None:
    told = scale_out()
    assert told.after(9, ev.MemberAdded, consumer="X", how="pending") == 10.001
    assert told.after(9, ev.GroupStateChanged, after="PreparingRebalance") == 10.003


def test_05_heartbeats_are_aligned_at_each_join_answer() -> None:
    told = scale_out(wire=True)
    beats = {
        name: told.times(ev.RequestSent, consumer=name, api="Heartbeat")
        for name in ("M1", "M2", "X")
    }
    assert beats["M1"][:4] == beats["M2"][:4] == [3.001, 6.001, 9.001, 12.001]
    assert [b[-1] for b in beats.values()] == [27.005] * 3


def test_06_a_revoker_rejoins_at_once_and_the_others_an_interval_later() -> None:
    told = scale_out(COOP_TWO)
    assert (
        told.times(ev.MemberRejoined, consumer="M1")[-1]
        == told.times(ev.MemberRejoined, consumer="M2")[-1]
        == 12.013
    )
    assert told.times(ev.MemberRejoined, consumer="X")[-1] == 15.008


def test_07_a_new_cooperative_member_does_not_rejoin_by_itself() -> None:
    told = scale_out(COOP_TWO)
    assert (
        told.after(11, ev.CallbackBegan, consumer="X", callback="assigned", partitions=()) == 12.012
    )
    assert told.times(ev.RejoinRequested, consumer="X") == [15.007]


def test_08_who_syncs_when_round_two_has_begun_rejoins_at_once() -> None:
    """X, far away, sends its SyncGroup of round one when the revokers have joined again: it
    hears so by the answer, not by a beat.
    """
    told = scale_out(COOP_TWO, links=(Link("X", "broker-0", constantly(31 * MS)),))
    assert [e.by for e in told.of(ev.RebalanceNoticed, consumer="X")] == ["sync"]
    assert told.barriers(since=12)[1][0] < 12.2


def test_09_a_notice_is_acted_on_at_the_next_poll() -> None:
    told = scale_out(deeds=((11.0, "hang", "M2", 2_500_000),))
    assert told.callbacks("M1", since=9)[0][:2] == (12.003, "revoked")
    assert told.after(11, ev.RebalanceNoticed, consumer="M2") < 12.3  # its heartbeat thread knew …
    assert (
        told.callbacks("M2", since=9)[0][0]
        == told.after(11, ev.HandlerReturned, consumer="M2")
        > 13.4
    )  # … its application did not look


@pytest.mark.slow
def test_12_a_member_that_dies_while_parked_is_part_of_the_generation() -> None:
    told = play_group(
        (*EAGER_TWO, member("M3", heartbeat_interval_us=10_499_000)),
        settled(*EAGER_TWO, member("M3")),
        70.0,
        later=((member("X"), 10.0),),
        deeds=((11.0, "kill", "M3", 0),),
    )
    assert told.after(9, ev.MemberRejoined, consumer="M3") == 10.503
    barrier = told.barriers(since=9)[0][0]
    removed = told.after(11, ev.MemberRemoved, consumer="M3")
    assert (removed, next(told.of(ev.MemberRemoved, consumer="M3")).why) == (
        pytest.approx(barrier + 45.0),
        "session-expired",
    )


def test_17_a_hung_poll_loop_leaves_before_the_barrier_times_out() -> None:
    two = tuple(member(name, max_poll_interval_us=20 * SECOND) for name in ("M1", "M2"))
    told = scale_out(two, until=50.0, deeds=((9.5, "hang", "M2", 60_000_000),))
    assert 29.3 < told.after(9, ev.LeaveSent, consumer="M2") < 29.7
    assert [e.by for e in told.of(ev.BarrierCompleted, generation=2)] == ["removal"]


def test_18_a_quick_replacement_makes_an_eager_group_wait_for_the_session() -> None:
    told = play_group(
        EAGER_TWO,
        settled(*EAGER_TWO),
        70.0,
        deeds=((9.5, "kill", "M2", 0),),
        later=((member("X"), 12.5),),
    )
    assert told.callbacks("M1", since=9)[0][0] == 15.003
    assert told.barriers(since=9)[0][0] == 54.002
    assert told.first_records("M1", 16.0) - 15.003 > 38


def test_24_a_static_member_past_max_poll_is_replaced_in_silence() -> None:
    two = tuple(
        member(f"c{i}", group_instance_id=f"i{i}", max_poll_interval_us=10 * SECOND) for i in (1, 2)
    )
    told = play_group(two, settled(*two), 60.0, deeds=((5.0, "hang", "c2", 20_000_000),))
    assert told.times(ev.LeaveSent) == []
    assert [what for _, what, _ in told.callbacks("c2", since=5)] == ["lost", "assigned"]
    assert told.after(20, ev.MemberAdded, consumer="c2", how="replacement") < 25.2
    assert told.barriers(since=1) == [] and told.callbacks("c1", since=1) == []


def test_a_static_member_killed_between_the_rounds_of_a_hand_over_leaves_partitions_to_nobody() -> (
    None
):
    """As recorded of Kafka 4.3.1 (tests/reality/held-out/torn-handover-coop): only another
    rebalance ends it.
    """
    slow = Listener(revoked=Cost(constantly(3 * SECOND)))
    first, second, third = (
        replace(member(name, group_instance_id=name, **COOP), listener=slow)
        for name in ("c0", "c1", "c2")
    )
    told = play_group(
        (first,),
        settled(first),
        60.0,
        later=((second, 10.0), (first, 15.5), (third, 40.0)),
        deeds=((13.5, "kill", "c0", 0),),
    )
    assert told.callbacks("c0", since=9)[:2] == [
        (12.01, "revoked", "3,4,5"),
        (15.509, "assigned", "0,1,2"),
    ]
    assert [at for at, _ in told.barriers(since=9) if at < 40] == [12.002]
    until = Trace(told.trace.header, [e for e in told.events if e.at_us < us(40)])
    (alarm,) = analyse(until, us(40)).alarms
    assert (alarm.kind, alarm.consumers, [p.number for p in alarm.partitions], alarm.at_us) == (
        "unowned",
        ("c0",),
        [3, 4, 5],
        us(13.5),
    )
    assert analyse(told.trace).alarms == []
    waits = {
        phase.facts.doing: phase.length_us / SECOND
        for phase in max(analyse(told.trace).pauses, key=lambda p: p.length_us).phases
    }
    assert waits["torn"] == pytest.approx(24.5, abs=0.1)


def test_25_a_commit_succeeds_while_the_barrier_is_open() -> None:
    told = scale_out(
        tuple(
            replace(m, handler=AUTO, config=replace(m.config, enable_auto_commit=True))
            for m in EAGER_TWO
        ),
        wire=True,
    )
    sent = [
        e
        for e in told.of(ev.ResponseReceived, consumer="M1", api="OffsetCommit")
        if e.at_us > 22_000_000
    ]
    assert sent[0].error == "" and told.times(ev.CommitRefused) == []


def test_26_a_kicked_member_learns_it_from_its_next_beat() -> None:
    two = tuple(
        member(name, session_timeout_us=4 * SECOND, heartbeat_interval_us=1 * SECOND)
        for name in ("M1", "M2")
    )
    told = play_group(
        two, settled(*two), 40.0, deeds=((8.0, "freeze", "M2", 0), (20.0, "thaw", "M2", 0))
    )
    assert told.after(8, ev.MemberRemoved, consumer="M2") < 12.1
    assert told.after(20, ev.MemberReset, consumer="M2") < 20.3
    assert told.callbacks("M2", since=12)[0][1] == "lost"


def test_27_a_kicked_member_loses_its_partitions_and_joins_as_a_stranger() -> None:
    two = tuple(
        member(name, session_timeout_us=4 * SECOND, heartbeat_interval_us=1 * SECOND)
        for name in ("M1", "M2")
    )
    told = play_group(
        two, settled(*two), 40.0, deeds=((8.0, "freeze", "M2", 0), (20.0, "thaw", "M2", 0))
    )
    assert [e.how for e in told.of(ev.MemberAdded, consumer="M2")] == [
        "pending",
        "new",
        "pending",
        "new",
    ]


def test_28_no_heartbeats_between_join_group_and_its_answer() -> None:
    slow = member("M2", heartbeat_interval_us=11_900_000)
    told = scale_out((member("M1", heartbeat_interval_us=500_000), slow), wire=True)
    asked = told.after(9, ev.RequestSent, consumer="M1", api="JoinGroup")
    answered = told.after(asked, ev.ResponseReceived, consumer="M1", api="JoinGroup")
    assert answered - asked > 1.0
    assert [
        at
        for at in told.times(ev.RequestSent, consumer="M1", api="Heartbeat")
        if asked < at < answered
    ] == []


def test_29_a_join_answer_that_nobody_polls_for_ends_in_expiry() -> None:
    """Cooperative: M2 has parked its JoinGroup when its batch gets stuck beyond the session;
    nobody reads the answer, nobody beats.
    """
    keen = {"session_timeout_us": 6 * SECOND, **COOP}
    two = (
        member("M1", heartbeat_interval_us=2_500_000, **keen),
        member("M2", heartbeat_interval_us=1_000_000, **keen),
    )
    told = scale_out(
        two, member("X", **keen), until=50.0, deeds=((11.5, "hang", "M2", 20_000_000),)
    )
    assert told.after(9, ev.MemberRejoined, consumer="M2") < 11.5 < told.barriers(since=9)[0][0]
    removed = next(told.of(ev.MemberRemoved, consumer="M2"))
    assert removed.why == "session-expired" and (
        removed.at_us - 10 * SECOND
    ) / SECOND == pytest.approx(told.barriers(since=9)[0][0] + 6.0)
    assert told.callbacks("M2", since=20)[0][1] == "lost"


def test_30_a_slow_leader_makes_followers_time_out_and_rebalance_again() -> None:
    """The assignor takes 40 s in the leader's application thread; a SyncGroup waits 30 s
    (request.timeout.ms), not as long as a JoinGroup.
    """
    leader = replace(EAGER_TWO[0], assignor_cost=AssignorCost(constantly(40e6)))
    told = play_group((leader, EAGER_TWO[1]), settled(*EAGER_TWO), 120.0)
    assert [e.why for e in told.of(ev.CoordinatorLost, consumer="M2")][:1] == ["request timed out"]
    assert told.times(ev.CoordinatorLost, consumer="M2")[0] == 30.001
    assert (
        told.after(
            30,
            ev.GroupStateChanged,
            before="CompletingRebalance",
            after="PreparingRebalance",
            trigger="metadata-changed",
        )
        < 30.5
    )


def test_31_auto_commit_puts_a_round_trip_and_a_write_before_the_revocation() -> None:
    auto = tuple(
        replace(
            m,
            handler=AUTO,
            config=replace(m.config, enable_auto_commit=True, auto_commit_interval_us=100 * SECOND),
        )
        for m in EAGER_TWO
    )
    assert scale_out().callbacks("M1", since=9)[0][0] == 12.003
    assert (
        scale_out(auto).callbacks("M1", since=9)[0][0] == 12.010
    )  # 1 ms there, 5 ms for the write, 1 ms back


def test_32_records_of_a_cooperative_revocation_are_delivered_again() -> None:
    auto = tuple(
        replace(
            m,
            handler=AUTO,
            config=replace(m.config, enable_auto_commit=True, auto_commit_interval_us=100 * SECOND),
        )
        for m in COOP_TWO
    )
    slow = replace(
        auto[1], config=replace(auto[1].config, heartbeat_interval_us=12_900_000)
    )  # notices later, so the barrier comes later
    told = scale_out((auto[0], slow), rate=20.0, wire=True)
    revoked = next(
        e for e in told.of(ev.CallbackBegan, consumer="M1", callback="revoked") if e.partitions
    )
    [partition] = revoked.partitions
    before = max(
        e.batch[partition][1]
        for e in told.of(ev.RecordsDelivered, consumer="M1")
        if partition in e.batch and e.at_us < revoked.at_us
    )
    again = next(
        e.batch[partition][0]
        for e in told.of(ev.RecordsDelivered)
        if partition in e.batch and e.consumer != "M1" and e.at_us > revoked.at_us
    )
    assert again < before


def test_33_no_periodic_commit_while_a_join_is_pending() -> None:
    auto = tuple(
        replace(
            m,
            handler=AUTO,
            config=replace(m.config, enable_auto_commit=True, auto_commit_interval_us=300 * MS),
        )
        for m in EAGER_TWO
    )
    slow = replace(auto[1], config=replace(auto[1].config, heartbeat_interval_us=11_900_000))
    told = scale_out(
        (replace(auto[0], config=replace(auto[0].config, heartbeat_interval_us=500_000)), slow),
        wire=True,
    )
    asked = told.after(9, ev.RequestSent, consumer="M1", api="JoinGroup")
    synced = told.after(asked, ev.AssignmentReceived, consumer="M1")
    assert synced - asked > 1.0
    assert [
        at
        for at in told.times(ev.RequestSent, consumer="M1", api="OffsetCommit")
        if asked < at < synced
    ] == []


def test_34_assigned_is_not_yet_consuming() -> None:
    told = scale_out(wire=True)
    assert told.after(12, ev.CallbackEnded, consumer="X") == 12.012
    assert told.after(12, ev.RequestSent, consumer="X", api="OffsetFetch") == 12.012
    assert told.after(12, ev.RequestSent, consumer="X", api="OffsetsForLeaderEpoch") == 12.014
    assert told.first_records("X", 12.0) == 12.018


def test_35_eager_looks_all_positions_up_again() -> None:
    told = scale_out()
    kept = {e.partition for e in told.of(ev.PositionFound, consumer="M1") if e.at_us > 22_000_000}
    assert kept == set(told.world.consumers["M1"].member.owned)


def test_35_cooperative_keeps_its_positions() -> None:
    told = scale_out(COOP_TWO)
    assert [e for e in told.of(ev.PositionFound, consumer="M1") if e.at_us > 22_000_000] == []


def test_36_what_a_revoker_was_given_waits_for_the_second_round() -> None:
    """M2 leaves its t to M1 when X comes for u, which M1 has: M1 has lost and won in one round,
    and its pending join comes before positions.
    """
    both, other, x = (
        member("M1", ("t", "u"), **COOP),
        member("M2", **COOP),
        member("X", ("u",), **COOP),
    )
    told = play_group(
        (both, other),
        settled(both, other),
        30.0,
        later=((x, 10.0),),
        deeds=((10.0, "close", "M2", 0),),
    )
    assert told.callbacks("M1", since=9) == [
        (12.012, "revoked", "0,1,2,3,4,5"),
        (12.012, "assigned", "0,1,2,3,4,5"),
    ]
    second = told.barriers(since=9)[1][0]
    assert second == 15.008  # X's beat
    assert (
        second
        < told.after(12, ev.PositionFound, consumer="M1")
        < told.first_records("M1", second)
        < second + 0.1
    )


def test_37_the_first_fetch_waits_for_the_one_that_is_parked() -> None:
    """An eager member's old Fetch lies at the broker for up to fetch.max.wait.ms; the look-ups
    on that connection wait behind it.
    """
    told = scale_out(
        tuple(replace(m, config=replace(m.config, fetch_max_wait_us=500 * MS)) for m in EAGER_TWO)
    )
    assert told.first_records("X", 12.0) == 12.018
    assert 12.02 < told.first_records("M1", 12.0) < 12.6


def test_38_assigned_is_called_with_an_empty_list_too() -> None:
    told = scale_out(COOP_TWO)
    assert told.times(ev.CallbackBegan, consumer="M1", callback="assigned", partitions=())[-2:] == [
        12.012,
        15.016,
    ]


def test_38_eager_revokes_an_empty_list_too() -> None:
    many = (*EAGER_TWO, member("M3"))
    told = play_group(many, settled(*many), 30.0, later=((member("X"), 10.0),), partitions=2)
    empty = [e.consumer for e in told.of(ev.CallbackBegan, callback="revoked", partitions=())]
    assert len(empty) == 1


def test_39_the_default_strategies_are_eager() -> None:
    both = tuple(
        member(name, partition_assignment_strategy=("range", "cooperative-sticky"))
        for name in ("M1", "M2")
    )
    told = scale_out(both)
    assert [what for _, what, _ in told.callbacks("M1", since=9)] == ["revoked", "assigned"]


def test_40_only_the_leader_notices_new_partitions_at_its_refresh() -> None:
    two = tuple(member(name, metadata_max_age_us=8 * SECOND) for name in ("M1", "M2"))
    told = play_group(two, settled(*two), 40.0, deeds=((12.0, "grow", "t", 8),))
    leader = next(e.consumer for e in told.of(ev.GenerationJoined) if e.is_leader)
    asked = [(e.consumer, e.reason) for e in told.of(ev.RejoinRequested) if "metadata" in e.reason]
    assert asked == [(leader, "cached metadata has changed")]
    assert told.after(12, ev.GroupStateChanged, trigger="leader-rejoined") <= 20.1


def test_41_and_45_leaving_is_one_request_and_every_start_one_refusal() -> None:
    told = play_group(
        EAGER_TWO, settled(*EAGER_TWO), 30.0, deeds=((5.0, "close", "M2", 0),), wire=True
    )
    assert len(told.times(ev.RequestSent, consumer="M2", api="LeaveGroup")) == 1
    refused = [e for e in told.of(ev.ResponseReceived, consumer="M1", api="JoinGroup") if e.error]
    assert [e.error for e in refused] == ["MEMBER_ID_REQUIRED"]


def test_43_the_clients_session_timeout_costs_it_the_coordinator_only() -> None:
    two = tuple(
        member(name, session_timeout_us=5 * SECOND, heartbeat_interval_us=1 * SECOND)
        for name in ("M1", "M2")
    )
    told = play_group(
        two, settled(*two), 30.0, deeds=((8.9, "freeze", "M2", 0), (13.95, "thaw", "M2", 0))
    )
    assert [e.why for e in told.of(ev.CoordinatorLost, consumer="M2")][:1] == [
        "session timed out without receiving a heartbeat response"
    ]


def test_44_rebalance_latency_leaves_out_the_notice_and_the_revocation() -> None:
    quick, slow = (
        scale_out(),
        scale_out(
            tuple(
                replace(m, listener=Listener(revoked=Cost(constantly(700 * MS)))) for m in EAGER_TWO
            )
        ),
    )
    assert slow.first_records("M1", 12.5) - slow.callbacks("M1", since=9)[0][0] > 0.7
    latencies = [
        analyse(told.trace).client_metrics["M1"]["rebalance-latency-total"]
        for told in (quick, slow)
    ]
    assert latencies[0] == latencies[1]


def test_46_an_exception_in_assigned_leaves_the_assignment() -> None:
    thrower = replace(EAGER_TWO[1], listener=Listener(throws_in="assigned"))
    told = play_group((EAGER_TWO[0], thrower), settled(*EAGER_TWO), 10.0)
    calls = [(e.callback, len(e.partitions)) for e in told.of(ev.CallbackBegan, consumer="M2")]
    assert calls == [("assigned", 3), ("assigned", 0)]  # completed again, with nothing added
    assert len(told.world.consumers["M2"].member.owned) == 3
    assert told.first_records("M2", 0.0) < 0.1


def test_51_a_slow_revocation_delays_the_barrier_for_all() -> None:
    slow = replace(EAGER_TWO[1], listener=Listener(revoked=Cost(constantly(700 * MS))))
    told = scale_out((EAGER_TWO[0], slow))
    assert told.barriers(since=9)[0][0] == 12.704


def test_a_client_joins_with_the_version_of_the_brokers_as_they_are_now_not_as_they_were_when_it_began() -> (
    None
):
    text = """
kafka: "%s"
topics: {orders: 6}
group:
  members: 3
  client_version: "3.9"
  group.instance.id: "{name}"
  config: {metadata.max.age.ms: 30s, partition.assignment.strategy: [range]}
script:
%s  - {at: 2m, rolling_bounce: {down: 10s, settle: 5s}}
  - {at: 4m, add_partitions: 12}
replay: as-written
horizon: 6m
"""

    def rounds(kafka: str, *before: str) -> int:
        trace = play(story_of((text % (kafka, "".join(before))).encode(), "story.yaml").scenario())
        return sum(type(e) is ev.BarrierCompleted for e in trace.events)

    upgrade = '  - {at: 1m, broker_upgrade: {to: "3.9", down: 5s, settle: 5s}}\n'
    assert (
        rounds("3.1") == 1
    )  # the leader that returns does not know that it leads, and nobody minds the topics (KIP-814)
    assert rounds("3.1", upgrade) == rounds("3.9") == 2
