"""Every action of the scenario language does to the world what it says, and what follows from it
by Kafka's rules follows.
"""

from __future__ import annotations

from itertools import pairwise

import pytest

from rebalsim.analysis import analyse
from rebalsim.analysis.analysis import Analysis
from rebalsim.reports.sentences import tell_phase
from rebalsim.scenario.load import story_of
from rebalsim.simulation.world import play
from rebalsim.trace import events as ev

SECOND = 1_000_000
COLD = "start: cold\n"  # its instants count from the group's start
GROUP = "topics: {orders: {partitions: 6, rate: 60/s}}\ngroup:\n  members: 3\n  handler: 1ms\n"


def told(script: str, group: str = GROUP, horizon: str = "4m", more: str = "") -> Analysis:
    """The story with this script, played once as written."""
    text = f"{more}{group}replay: as-written\nhorizon: {horizon}\nscript:\n{script}"
    analysis = analyse(play(story_of(text.encode(), "deed").check().scenario()))
    assert analysis.violations == []
    return analysis


def of(analysis: Analysis, kind: type, consumer: str = "") -> list[ev.TraceEvent]:
    return [
        e
        for e in analysis.trace.events
        if type(e) is kind and (not consumer or e.consumer == consumer)
    ]


def seconds(at_us: int) -> float:
    return round(at_us / SECOND, 3)


# --------------------------------------------------------------------------------- coming and going


def test_joiners_start_one_after_another() -> None:
    a = told("  - {at: 1m, join: {count: 2, stagger: 2s}}\n")
    assert [(e.consumer, seconds(e.at_us)) for e in of(a, ev.ConsumerStarted)][-2:] == [
        ("c3", 60.0),
        ("c4", 62.0),
    ]


def test_a_member_that_no_action_starts_is_told_of_and_does_nothing() -> None:
    group = GROUP.replace("members: 3", "members: {c0: {}, spare: {starts_at: never}}")
    a = told("  []\n", group)
    assert "spare" in a.trace.header.consumers
    assert [e.consumer for e in of(a, ev.ConsumerStarted)] == ["c0"]


def test_scaling_in_stops_those_who_came_last() -> None:
    a = told("  - {at: 1m, scale: 1}\n")
    assert [e.consumer for e in of(a, ev.StopAsked)] == ["c2", "c1"]
    assert all(e.how == "closed" for e in of(a, ev.ConsumerExited))


def test_scaling_starts_those_again_who_died_of_an_exception() -> None:
    """Two of five are refused by group.max.size; once one has left, scaling to four brings one
    of them in.
    """
    head = "cluster: {config: {group.max.size: 3}}\n"
    a = told("  - {at: 1m, scale: 5}\n  - {at: 2m, leave: c0}\n  - {at: 3m, scale: 3}\n", more=head)
    assert [e.consumer for e in of(a, ev.ConsumerExited) if e.how == "fatal"] == ["c3", "c4"]
    assert [
        (e.consumer, seconds(e.at_us)) for e in of(a, ev.ConsumerStarted) if e.at_us > 120 * SECOND
    ] == [("c3", 180.0)]
    assert a.measure("rebalances") == 2


def test_a_stop_takes_its_stop_time_and_is_a_kill_when_the_grace_is_over() -> None:
    quick = told("  - {at: 1m, leave: c1}\n", GROUP + "  life: {stop: 3s, grace: 10s}\n")
    assert seconds(of(quick, ev.CloseBegan, "c1")[0].at_us) == 63.0
    slow = told("  - {at: 1m, leave: c1}\n", GROUP + "  life: {stop: 30s, grace: 10s}\n")
    assert [(e.how, seconds(e.at_us)) for e in of(slow, ev.ConsumerExited, "c1")] == [
        ("killed", 70.0)
    ]


def test_a_static_member_leaves_only_when_its_close_says_so() -> None:
    group = GROUP + '  group.instance.id: "{name}"\n'
    assert of(told("  - {at: 1m, leave: c1}\n", group), ev.LeaveSent) == []
    assert [
        e.consumer
        for e in of(
            told("  - {at: 1m, leave: {members: c1, option: leave}}\n", group), ev.LeaveSent
        )
    ] == ["c1"]


def test_a_crash_is_known_when_the_session_ends_and_a_restart_is_a_new_life() -> None:
    a = told("  - {at: 1m, crash: {members: c1, restart_after: 90s}}\n")
    assert [e.life for e in of(a, ev.ConsumerStarted, "c1")] == [1, 2]
    removed = of(a, ev.MemberRemoved)[0]
    assert (removed.why, removed.at_us - removed.last_heard_us) == ("session-expired", 45 * SECOND)


def test_a_crash_loop_strikes_each_time_it_is_back() -> None:
    a = told("  - {at: 1m, every: 20s, times: 4, crash: {members: c1, restart_after: 5s}}\n")
    assert [seconds(e.at_us) for e in of(a, ev.ConsumerExited, "c1")] == [60.0, 80.0, 100.0, 120.0]


def test_a_process_dies_and_freezes_as_a_whole() -> None:
    group = GROUP.replace("members: 3", "members: 4\n  per_process: 2")
    a = told("  - {at: 1m, crash: c1}\n  - {at: 2m, freeze: {members: c2, for: 5s}}\n", group)
    assert sorted(e.consumer for e in of(a, ev.ConsumerExited)) == ["c0", "c1"]
    assert sorted(e.consumer for e in of(a, ev.ConsumerFroze)) == ["c2", "c3"]


# ---------------------------------------------------------------------------------------- suffering


def test_a_freeze_within_the_session_goes_unnoticed_and_its_partitions_stand_still_for_it() -> None:
    a = told("  - {at: 1m, freeze: {members: c1, for: 20s}}\n")
    assert a.measure("rebalances") == 0
    assert 20.0 <= (a.measure("longest_pause") or 0) / SECOND <= 20.3


def test_a_freeze_beyond_the_session_loses_everything() -> None:
    a = told("  - {at: 1m, freeze: {members: c1, for: 60s}}\n")
    assert [
        e.callback for e in of(a, ev.CallbackBegan, "c1") if e.callback == "lost" and e.partitions
    ] == ["lost"]
    assert a.measure("disturbances") == 2


def test_who_thaws_minds_the_group_before_what_came_meanwhile() -> None:
    """Its poll() comes back empty, for its time is over; the next one looks for the coordinator
    first, where the session has run out.
    """

    def since_the_thaw(length: str) -> list[tuple[float, str]]:
        group = GROUP + "  config: {session.timeout.ms: 25s}\nreplay: as-written\nhorizon: 3m\n"
        text = f"{group}script:\n  - {{at: 1m, freeze: {{members: c1, for: {length}}}}}\n"
        trace = play(story_of(text.encode(), "deed").check().scenario(), wire=True)
        mine = [e for e in trace.events if getattr(e, "consumer", "") == "c1"]
        thawed = next(e.at_us for e in mine if type(e) is ev.ConsumerThawed)
        words = {ev.RecordsDelivered: "records", ev.CallbackBegan: "lost"}
        said = [
            (e, words.get(type(e), ""))
            for e in mine
            if type(e) in (*words, ev.RequestSent, ev.ResponseReceived)
        ]
        return [((e.at_us - thawed) / 1000, word or e.api) for e, word in said if e.at_us >= thawed]

    assert next(at for at, what in since_the_thaw("20s") if what == "records") == 0
    late = since_the_thaw("30s")
    found = max(at for at, what in late if what == "FindCoordinator")
    assert 80 <= next(at for at, what in late if what == "records") <= found
    # Its next beat tells that it is out: not before there is a connection for it again.
    assert next(at for at, what in late if what == "lost") >= found + 10


def test_a_hang_beyond_the_poll_interval_leaves_the_group() -> None:
    group = GROUP + "  config: {max.poll.interval.ms: 10s}\n"
    assert of(told("  - {at: 1m, hang: {members: c1, for: 5s}}\n", group), ev.PollExpired) == []
    assert [
        e.consumer
        for e in of(told("  - {at: 1m, hang: {members: c1, for: 15s}}\n", group), ev.PollExpired)
    ] == ["c1"]


def test_poison_travels_to_the_next_owner_until_it_is_skipped() -> None:
    group = GROUP + "  config: {max.poll.interval.ms: 10s}\n"
    a = told("  - {at: 1m, poison: {partition: orders-2, for: 30s, times: 2}}\n", group)
    victims = [e.consumer for e in of(a, ev.HandlerStuck)]
    assert len(victims) == 2 and victims[0] != victims[1]
    assert a.measure("open_pauses") == 0


def test_poison_shorter_than_the_interval_hangs_its_owner_once() -> None:
    a = told("  - {at: 1m, poison: {partition: orders-2, for: 5s}}\n")
    stuck = of(a, ev.HandlerStuck)
    assert [e.why for e in stuck] == ["poison"] and a.measure("rebalances") == 0


def test_a_slowed_handler_falls_behind_and_catches_up() -> None:
    group = "topics: {orders: {partitions: 2, rate: 100/s}}\ngroup:\n  members: 2\n  handler: 5ms\n"
    a = told("  - {at: 1m, slow: {members: c0, factor: 8, for: 30s}}\n", group)
    curve = next(c for c in a.lag if c.peak > 100)
    assert seconds(curve.peak_us) > 80 and 0 < curve.caught_up_us < a.horizon_us


# ------------------------------------------------------------------------------------------ deploys


def test_a_bounce_in_place_restarts_each_pod_once_and_never_more_than_allowed() -> None:
    a = told(
        "  - {at: 1m, rolling_bounce: {down: 5s, max_unavailable: 2, ready_when: assigned}}\n",
        GROUP.replace("members: 3", "members: 5"),
        "6m",
    )
    away = 0
    most = 0
    for e in a.trace.events:
        if type(e) is ev.ConsumerExited:
            away += 1
            most = max(most, away)
        elif type(e) is ev.ConsumerStarted and e.life > 1:
            away -= 1
    assert [e.life for e in of(a, ev.ConsumerStarted)].count(2) == 5 and most == 2


def test_a_statefulset_begins_with_the_last_and_waits_for_each() -> None:
    a = told(
        "  - {at: 1m, rolling_bounce: {as: statefulset, down: 3s, ready_after: 4s, settle: 1s}}\n"
    )
    asked = of(a, ev.StopAsked)
    assert [e.consumer for e in asked] == ["c2", "c1", "c0"]
    assert all(
        8.0 <= seconds(after.at_us - before.at_us) <= 8.1 for before, after in pairwise(asked)
    )


def test_a_deployment_replaces_pods_by_new_names_and_never_runs_more_than_surge_allows() -> None:
    a = told(
        "  - {at: 1m, rolling_bounce: {as: deployment, max_unavailable: 0, surge: 1, "
        "ready_after: 10s}}\n"
    )
    running = most = 0
    for e in a.trace.events:
        if type(e) is ev.ConsumerStarted:
            running += 1
            most = max(most, running)
        elif type(e) is ev.StopAsked:  # pods on their way out do not count
            running -= 1
    assert (running, most) == (3, 4)
    assert sorted(e.consumer for e in of(a, ev.ConsumerExited)) == ["c0", "c1", "c2"]


def test_a_deploy_comes_back_with_its_settings() -> None:
    a = told(
        "  - {at: 1m, deploy: {down: 2s, ready_when: assigned, config: "
        "{partition.assignment.strategy: roundrobin}}}\n",
        GROUP + "  config: {partition.assignment.strategy: [range, roundrobin]}\n",
    )
    assert a.header.consumers["c0"].assignors == ("roundrobin",)
    assert of(a, ev.GenerationJoined)[-1].assignor == "roundrobin"


# ----------------------------------------------------------------------------- networks and brokers


def test_a_cut_from_the_coordinator_beyond_the_session_costs_the_membership_and_heals() -> None:
    a = told(
        "  - {at: 1m, cut: {members: c1, for: 20s}}\n",
        GROUP + "  config: {session.timeout.ms: 10s}\n",
    )
    assert [e.why for e in of(a, ev.MemberRemoved, "c1")] == ["session-expired"]
    assert a.group_states["group"][-1].state == "Stable" and a.measure("unsettled") == 0


def test_a_cut_from_all_brokers_stops_the_records_too() -> None:
    a = told("  - {at: 1m, cut: {members: c1, for: 10s, from: brokers}}\n")
    assert 10.0 <= (a.measure("longest_pause") or 0) / SECOND <= 14.0
    assert told("  - {at: 1m, cut: {members: c1, for: 10s}}\n").measure("longest_pause") == 0


def test_added_latency_makes_a_round_slower_and_goes_away() -> None:
    plain = told("  - {at: 61s, scale: 4}\n").measure("settle_time") or 0
    slow = (
        told(
            "  - {at: 1m, add_latency: {extra: 100ms, for: 30s}}\n  - {at: 61s, scale: 4}\n"
        ).measure("settle_time")
        or 0
    )
    after = (
        told(
            "  - {at: 1m, add_latency: {extra: 100ms, for: 500ms}}\n  - {at: 61s, scale: 4}\n"
        ).measure("settle_time")
        or 0
    )
    assert slow > plain + 200_000 and after < plain + 200_000


BY_PATTERN = (
    "topics: {logs.a: {partitions: 3, rate: 30/s}, logs.b: {partitions: 4, rate: 40/s}, logs.c: "
    "{partitions: 5, rate: 50/s, exists: false}}\n"
    "group:\n  members: 3\n  pattern: logs[.].*\n  handler: 1ms\n  config: {metadata.max.age.ms: "
    "30s}\n"
)


def test_40_pattern_subscribers_look_for_topics_themselves_and_a_new_one_costs_one_rebalance() -> (
    None
):
    a = told("  - {at: 65s, create_topic: {topic: logs.c}}\n", COLD + BY_PATTERN)
    found = [
        (e.consumer, e.reason, seconds(e.at_us))
        for e in of(a, ev.RejoinRequested)
        if e.at_us > 65 * SECOND
    ]
    first = found[0]
    assert (
        first[1] in ("subscription has changed", "cached metadata has changed")
        and 89 < first[2] < 92
    )  # metadata are looked at each 30 s
    assert a.measure("rebalances") == 1
    owned = {
        p.topic
        for e in of(a, ev.CallbackBegan)
        if e.callback == "assigned" and e.at_us > 65 * SECOND
        for p in e.partitions
    }
    assert "logs.c" in owned


def test_a_topic_that_a_pattern_matches_stands_still_from_its_creation_to_its_first_reader() -> (
    None
):
    a = told("  - {at: 65s, create_topic: {topic: logs.c}}\n", COLD + BY_PATTERN)
    found = [p for p in a.pauses if p.partition.topic == "logs.c"]
    assert len(found) == 5 and all(
        p.started_us == 65 * SECOND and 89 < seconds(p.ended_us) < 92 and not p.is_open
        for p in found
    )
    assert all(p.phases[0].kind.value == "detection" for p in found)


def test_under_the_consumer_protocol_a_pattern_that_the_client_matches_waits_for_its_metadata_too() -> (
    None
):
    a = told(
        "  - {at: 65s, create_topic: {topic: logs.c}}\n",
        BY_PATTERN.replace("config: {", "config: {group.protocol: consumer, "),
    )
    found = [p for p in a.pauses if p.partition.topic == "logs.c" and p.started_us == 65 * SECOND]
    assert len(found) == 5 and all(p.phases[0].facts.timer == "metadata.max.age.ms" for p in found)


def test_a_topic_outside_the_pattern_or_before_anybody_is_assigned_is_no_pause() -> None:
    assert not told(
        "  - {at: 65s, create_topic: {topic: logs.c}}\n",
        BY_PATTERN.replace("pattern: logs[.].*", "topics: [logs.a]"),
    ).pauses
    early = told("  - {at: 1s, create_topic: {topic: logs.c}}\n", BY_PATTERN)
    assert not [p for p in early.pauses if p.partition.topic == "logs.c"]


def test_who_has_changed_its_subscription_waits_for_other_topics() -> None:
    script = (
        "  - {at: 62s, subscribe: {members: [c0, c1, c2], topics: [logs.a]}}\n  - {at: 75s, "
        "create_topic: {topic: logs.c}}\n"
    )
    assert not [p for p in told(script, BY_PATTERN).pauses if p.partition.topic == "logs.c"]


def test_a_deleted_topic_drops_out_of_a_pattern_when_its_fetches_are_refused() -> None:
    a = told(
        "  - {at: 65s, delete_topic: {topic: logs.b}}\n",
        BY_PATTERN.replace("handler: 1ms", "handler: {per_record: 1ms, commit: none}"),
    )
    rejoined = [e for e in of(a, ev.RejoinRequested) if e.at_us > 65 * SECOND]
    assert rejoined and 65 < seconds(rejoined[0].at_us) < 65.1
    kept = {
        e.consumer: {p.topic for p in e.partitions}
        for e in of(a, ev.AssignmentReceived)
        if e.at_us > 65 * SECOND
    }
    assert set(kept) == {"c0", "c1", "c2"} and set.union(*kept.values()) == {"logs.a"}


@pytest.mark.slow
def test_a_pattern_subscriber_looks_before_it_joins() -> None:
    """A fourth comes between two looks of the others: they find the new topic in its rebalance,
    not in one of their own afterwards.
    """
    script = "  - {at: 65s, create_topic: {topic: logs.c}}\n  - {at: 70s, join: {count: 1}}\n"
    a = told(script, BY_PATTERN)
    scenario = (
        story_of(f"{BY_PATTERN}replay: as-written\nhorizon: 4m\nscript:\n{script}".encode(), "deed")
        .check()
        .scenario()
    )
    assert play(scenario, plain=True).events == a.trace.events
    rounds = [r for r in a.rebalances if not r.is_formation]
    assert len(rounds) == 1 and 70 < seconds(rounds[0].barrier_us) < 74


def test_42_a_coordinator_that_moves_revokes_nothing() -> None:
    a = told("  - {at: 1m, coordinator_failover: {load: 2s}}\n", more="cluster: {brokers: 3}\n")
    moved = of(a, ev.CoordinatorMoved)
    assert [(e.is_loaded, seconds(e.at_us)) for e in moved] == [(False, 60.0), (True, 62.0)]
    assert a.measure("longest_pause") == 0 and a.measure("rebalances") == 0
    assert {e.broker for e in of(a, ev.CoordinatorFound)[-3:]} == {moved[0].broker}


def test_a_leave_that_the_next_coordinator_does_not_know_of_holds_the_barrier_for_a_session() -> (
    None
):
    """c1 leaves, and before the others have completed the round without it the coordinator
    moves: the log still has c1, for a session anew.
    """
    group = GROUP + "  life: {start: 5s}\n"
    a = told(
        "  - {at: 63s, rolling_bounce: c1}\n  - {at: 63500ms, coordinator_failover: {load: 2s}}\n",
        group,
        more="cluster: {brokers: 3}\n",
    )
    removed = [(e.why, seconds(e.at_us)) for e in of(a, ev.MemberRemoved, "c1")]
    assert removed == [("left", 63.004), ("session-expired", 110.5)]
    longest = max(a.pauses, key=lambda pause: pause.length_us)
    barrier = max(longest.phases, key=lambda phase: phase.length_us)
    assert (
        barrier.facts.consumer,
        barrier.facts.doing,
        barrier.facts.timer,
        seconds(barrier.facts.until_us),
    ) == ("c1", "ghost", "session.timeout.ms", 110.5)
    assert "had left before the coordinator moved" in tell_phase(barrier)


def test_a_partition_whose_only_replica_is_down_waits_for_it() -> None:
    """Broker 1 alone has orders-1 and orders-4: nobody reads them for 40 s, and the owner keeps
    them. Without replicas any broker leads.
    """
    script, alone = (
        "  - {at: 60s, broker_restart: {broker: 1, down: 40s, load: 1s}}\n",
        GROUP.replace("rate: 60/s", "rate: 60/s, replicas: 1"),
    )
    a, anywhere = (
        told(script, alone, more="cluster: {brokers: 3}\n"),
        told(script, more="cluster: {brokers: 3}\n"),
    )
    assert a.measure("rebalances") == anywhere.measure("rebalances") == 0
    assert 395 <= (a.measure("lag_peak_partition") or 0) <= 420  # 10/s for 40 s
    assert 790 <= (a.measure("lag_peak") or 0) <= 840
    known = [
        (seconds(e.at_us), e.records)
        for e in of(a, ev.LagMarked)
        if e.partition.number == 1 and 50 < seconds(e.at_us) < 99
    ]
    assert (
        known and known[0][0] == 60.0 and known[0][1] <= 1
    )  # not a straight line from when it was last told
    assert (anywhere.measure("lag_peak_partition") or 0) < 10
    twice = told(
        script,
        GROUP.replace("rate: 60/s", "rate: 60/s, replicas: 2"),
        more="cluster: {brokers: 3}\n",
    )
    assert (twice.measure("lag_peak_partition") or 0) < 10
    (alarm,) = a.alarms
    assert alarm.kind == "leaderless" and [str(p) for p in alarm.partitions] == [
        "orders-1",
        "orders-4",
    ]
    assert (seconds(alarm.at_us), seconds(alarm.back_us)) == (60.0, 100.0)
    assert not anywhere.alarms and not twice.alarms


def test_what_waits_behind_a_backlog_of_its_owner_falls_behind_from_then_on_and_not_before() -> (
    None
):
    """Cooperative: c2's partitions come with the backlog of a session, and what their new owners
    have had all along has to wait.
    """
    group = (
        "topics: {orders: {partitions: 6, rate: 300/s}}\ngroup:\n  members: 3\n  handler: 7ms\n"
        "  config: {partition.assignment.strategy: [cooperative-sticky], max.poll.records: 100}\n"
    )
    a = told("  - {at: 1m, crash: c2}\n", group, horizon="3m")
    moved = {p for e in of(a, ev.CallbackBegan) if e.at_us > 60 * SECOND for p in e.partitions}
    lines: dict[object, list[tuple[int, int]]] = {}
    for e in of(a, ev.LagMarked):
        if e.at_us >= 60 * SECOND and e.partition not in moved:
            lines.setdefault(e.partition, []).append((e.at_us, e.records))
    assert len(lines) == 4
    for (began, lag), (ended, most), *_ in lines.values():
        assert 101 < began / SECOND < 110 and lag <= 2
        assert (
            most > 200 and abs(most - lag - (ended - began) / SECOND * 50) <= 2
        )  # 50/s arrive meanwhile


def test_partitions_that_are_added_have_as_many_replicas_as_the_others() -> None:
    script = (
        "  - {at: 20s, add_partitions: 9}\n  - {at: 60s, broker_restart: {broker: 1, down: 40s, "
        "load: 1s}}\n"
    )
    group = (
        GROUP.replace("rate: 60/s", "rate: 90/s, replicas: 2")
        + "  config: {metadata.max.age.ms: 10s}\n"
    )
    assert (
        told(script, group, more="cluster: {brokers: 3}\n").measure("lag_peak_partition") or 0
    ) < 150


def test_a_leader_with_a_rack_assigns_anew_when_a_broker_goes_and_when_it_is_back() -> None:
    """KIP-881: replicas' racks are part of what the leader compares, and of a broker that is
    down its clients know none.
    """
    racks = '  racks: [a, b, c]\n  config: {client.rack: "{rack}"}\n'
    script, more = (
        "  - {at: 60s, broker_restart: {broker: 1, down: 40s, load: 1s}}\n",
        "cluster: {brokers: 3, racks: [a, b, c]}\n",
    )
    group = GROUP.replace("rate: 60/s", "rate: 60/s, replicas: 3")
    a = told(script, group + racks, more=more)
    asked = [
        (e.reason, seconds(e.at_us)) for e in of(a, ev.RejoinRequested) if "metadata" in e.reason
    ]
    assert asked == [("cached metadata has changed", 60.1), ("cached metadata has changed", 100.1)]
    assert a.measure("rebalances") == 2
    assert told(script, group, more=more).measure("rebalances") == 0


def test_the_coordinators_broker_need_not_be_known_by_its_number() -> None:
    a = told(
        "  - {at: 60s, broker_restart: {broker: coordinator, down: 10s, load: 1s}}\n",
        more="cluster: {brokers: 3}\n",
    )
    first = of(a, ev.CoordinatorFound)[0].broker
    assert [(e.broker, e.is_up) for e in of(a, ev.BrokerChanged)] == [(first, False), (first, True)]
    assert of(a, ev.CoordinatorMoved)[0].broker != first


def test_a_broker_that_restarts_hands_over_and_takes_back() -> None:
    script = "".join(
        f"  - {{at: {60 + 40 * n}s, broker_restart: {{broker: {n}, down: 10s, load: 1s}}}}\n"
        for n in range(3)
    )
    a = told(script, more="cluster: {brokers: 3}\n")
    assert [(e.broker, e.is_up) for e in of(a, ev.BrokerChanged)] == [
        (0, False),
        (0, True),
        (1, False),
        (1, True),
        (2, False),
        (2, True),
    ]
    assert (
        len([e for e in of(a, ev.CoordinatorMoved) if e.is_loaded]) == 2
        and a.measure("rebalances") == 0
    )


def test_the_only_broker_can_be_away_within_the_session() -> None:
    a = told("  - {at: 1m, broker_restart: {broker: 0, down: 20s, load: 1s}}\n")
    assert a.measure("rebalances") == 0 and a.group_states["group"][-1].state == "Stable"


def test_an_upgrade_takes_the_brokers_one_by_one() -> None:
    a = told(
        '  - {at: 1m, broker_upgrade: {to: "4.3", down: 5s, settle: 5s}}\n',
        more="cluster: {brokers: 2}\n",
    )
    assert [(e.broker, e.is_up, seconds(e.at_us)) for e in of(a, ev.BrokerChanged)] == [
        (0, False, 60.0),
        (0, True, 65.0),
        (1, False, 70.0),
        (1, True, 75.0),
    ]


# -------------------------------------------------------------------------------- topics and wishes


def test_added_partitions_are_seen_by_the_leader_when_its_metadata_are_old() -> None:
    a = told("  - {at: 1m, add_partitions: 9}\n", GROUP + "  config: {metadata.max.age.ms: 30s}\n")
    assert a.measure("rebalances") == 1
    assert {str(p) for m in of(a, ev.CallbackBegan) for p in m.partitions} >= {
        "orders-6",
        "orders-7",
        "orders-8",
    }


def test_who_asks_for_the_coordinator_waits_behind_the_fetch_where_each_connection_has_one() -> (
    None
):
    def found_after(brokers: int, rate: str) -> list[float]:
        group = (
            f"cluster: {{brokers: {brokers}}}\ntopics: {{orders: {{partitions: 2, rate: "
            f"{rate}}}}}\ngroup:\n  members: 1\n"
        )
        a = told(
            "  - {at: 1m, coordinator_failover: {load: 1s}}\n",
            group + "  config: {fetch.max.wait.ms: 900}\n",
        )
        lost = [e.at_us for e in of(a, ev.CoordinatorLost)]
        return [
            seconds(next(e.at_us for e in of(a, ev.CoordinatorFound) if e.at_us > at) - at)
            for at in lost
        ]

    (waited,) = found_after(2, "1/m")  # nothing comes: until a Fetch returns empty
    assert 0.05 < waited <= 0.91
    (waited,) = found_after(2, "100/s")  # with the next record
    assert waited < 0.03
    (waited,) = found_after(
        3, "1/m"
    )  # and here too: a third broker leads nothing, and there is no connection with it
    assert 0.05 < waited <= 0.91


def test_a_metadata_request_waits_behind_the_fetch_on_its_connection() -> None:
    group = (
        "topics: {orders: {partitions: 1, rate: 1/s}}\ngroup:\n  members: 1\n  config: "
        "{metadata.max.age.ms: 7300, fetch.max.wait.ms: %s}\n"
    )

    def since_the_last_record(group: str) -> float:
        text = (
            f"{group}replay: as-written\nhorizon: 2m\nscript:\n  - {{at: 1m, add_partitions: 2}}\n"
        )
        trace = play(story_of(text.encode(), "deed").check().scenario(), wire=True)
        seen = next(
            e.at_us
            for e in trace.events
            if type(e) is ev.RejoinRequested and e.reason == "cached metadata has changed"
        )
        return seconds(
            seen
            - max(
                e.at_us for e in trace.events if type(e) is ev.RecordsDelivered and e.at_us <= seen
            )
        )

    # Asked for in the middle of a second, it is answered with the next record; the client asks
    # again 7.3 s after that.
    assert since_the_last_record(group % "2s") < 0.02
    # Where nothing comes for longer than that, with a Fetch that returns empty.
    empty = since_the_last_record(group % "400")
    assert empty > 0.4 and empty % 0.4 < 0.02


def test_records_spread_over_added_partitions_and_none_come_from_nowhere() -> None:
    a = told(
        "  - {at: 1m, add_partitions: 12}\n",
        COLD + GROUP + "  config: {metadata.max.age.ms: 5s, auto.offset.reset: earliest}\n",
        "3m",
    )
    last = {}
    for e in of(a, ev.LagMarked):
        last[e.partition] = e.records
    assert len(last) == 12 and all(records <= 2 for records in last.values())
    handed = sum(a.lag_book.arrivals_of(p).count(a.horizon_us) for p in last)
    assert abs(handed - 60 * 180) < 20


def test_topics_that_are_created_and_deleted_come_and_go() -> None:
    group = (
        "topics:\n  orders: 3\n  bills: {partitions: 3, exists: false}\ngroup:\n  members: 2\n  "
        "handler: {commit: none}\n"
        "  config: {metadata.max.age.ms: 10s}\n"
    )
    a = told("  - {at: 1m, create_topic: bills}\n  - {at: 2m, delete_topic: bills}\n", group)
    at_two = [
        h.consumer
        for (_, p), found in a.holdings.items()
        if p.topic == "bills"
        for h in found
        if h.started_us < 115 * SECOND < h.ended_us
    ]
    at_end = [
        p
        for (_, p), found in a.holdings.items()
        if p.topic == "bills" and any(h.ended_us >= a.horizon_us for h in found)
    ]
    assert len(at_two) == 3 and at_end == []


NAMED = (
    "topics: {a: {partitions: 4, rate: 40/s}, b: {partitions: 4, rate: 40/s%s}}\ngroup:\n  "
    "members: 2\n  topics: [a, b]\n  handler: 1ms\n"
)


def test_a_topic_that_is_asked_for_by_name_is_looked_for_again_and_again() -> None:
    """Metadata.handleMetadataResponse asks for an update after an answer without the topic, at
    most retry.backoff.max.ms apart.
    """
    a = told("  - {at: 1m, create_topic: b}\n", NAMED % ", exists: false")
    first = next(e for e in of(a, ev.RejoinRequested) if e.at_us > 60 * SECOND)
    assert first.reason == "cached metadata has changed" and 60 < seconds(first.at_us) <= 61.1
    assert {seconds(p.started_us) for p in a.pauses if p.partition.topic == "b"} == {60.0}


def test_a_topic_that_is_deleted_and_created_anew_is_read_again() -> None:
    a = told("  - {at: 1m, delete_topic: b}\n  - {at: 2m, create_topic: b}\n", NAMED % "")
    assert not [p for p in a.pauses if p.is_open] and a.measure("open_pauses") == 0
    assert {
        h.consumer
        for (_, p), found in a.holdings.items()
        if p.topic == "b"
        for h in found
        if h.started_us > 120 * SECOND
    } == {"c0", "c1"}
    assert all(seconds(p.ended_us - p.started_us) < 5 for p in a.pauses if p.partition.topic == "b")


def test_who_commits_automatically_cannot_leave_a_deleted_topic_behind_until_it_is_back() -> None:
    """As seen on a real Kafka 4.3.1: the rejoin was asked for 7 ms after the deletion, and the
    callbacks came when the topic was created anew, 11 s later.

    The commit before the rebalance is refused for the deleted topic
    (UNKNOWN_TOPIC_OR_PARTITION), which the client repeats until max.poll.interval.ms is over;
    under eager nothing is handed over meanwhile, of other topics either.
    """
    script = "  - {at: 1m, delete_topic: b}\n  - {at: 71s, create_topic: b}\n"
    a = told(script, COLD + NAMED % "" + "  config: {partition.assignment.strategy: [range]}\n")
    asked = [e for e in of(a, ev.RejoinRequested) if e.at_us > 60 * SECOND]
    assert 60 < seconds(asked[0].at_us) < 60.2
    called = [seconds(e.at_us) for e in of(a, ev.CallbackBegan) if e.at_us > 60 * SECOND]
    assert 71 < min(called) < 72.2 and max(called) < 75
    stood = [
        p for p in a.pauses if p.owner_before == asked[0].consumer and p.partition.topic == "a"
    ]
    assert stood and all(seconds(p.ended_us - p.started_us) > 10 for p in stood)
    forever = told(
        "  - {at: 1m, delete_topic: b}\n",
        COLD + NAMED % "" + "  config: {max.poll.interval.ms: 30s}\n",
    )
    assert (
        89
        < min(seconds(e.at_us) for e in of(forever, ev.CallbackBegan) if e.at_us > 60 * SECOND)
        < 92
    )


def test_a_changed_subscription_is_a_rebalance() -> None:
    group = "topics: {orders: 4, bills: 4}\ngroup:\n  members: 2\n  topics: [orders]\n"
    a = told("  - {at: 1m, subscribe: {members: c1, topics: [orders, bills]}}\n", group)
    assert a.measure("rebalances") == 1
    assert {
        h.consumer for (_, p), found in a.holdings.items() if p.topic == "bills" for h in found
    } == {"c1"}


def test_enforce_rebalance_is_a_round_for_which_nobody_else_asked() -> None:
    a = told("  - {at: 1m, enforce_rebalance: c1}\n")
    assert a.measure("rebalances") == 1
    assert "rebalance enforced by user" in [e.reason for e in of(a, ev.RejoinRequested)]


def test_a_rate_that_is_set_holds_from_then_on() -> None:
    a = told("  - {at: 1m, set_rate: {rate: 600/s}}\n  - {at: 2m, crash: c1}\n")
    assert 40 * 600 * 2 / 6 < (a.measure("lag_peak") or 0) < 50 * 600 * 3 / 6


# --------------------------------------------------------------------------------------------- when


def test_an_action_waits_until_the_one_it_names_is_done() -> None:
    a = told(
        "  - {at: 1m, id: one, rolling_bounce: {members: c1, down: 10s, ready_after: 5s}}\n  - "
        "{after: one, delay: 3s, crash: c0}\n"
    )
    assert seconds(of(a, ev.ConsumerExited, "c0")[0].at_us) >= 78.0


def test_an_action_waits_until_its_condition_has_held_long_enough() -> None:
    a = told(
        "  - {at: 59s, scale: 4}\n  - {at: 59100ms, when: {is: stable, for: 10s}, crash: c0}\n"
    )
    stable = next(
        s for s in a.group_states["group"] if s.state == "Stable" and s.started_us > 59 * SECOND
    )
    assert stable.started_us > 59_100_000
    assert of(a, ev.ConsumerExited, "c0")[0].at_us == stable.started_us + 10 * SECOND


def test_caught_up_means_that_the_lag_is_gone() -> None:
    group = (
        "topics: {orders: {partitions: 2, rate: 50/s, backlog: 2000}}\ngroup:\n  members: 2\n  "
        "handler: 5ms\n  config: {auto.offset.reset: earliest}\n"
    )
    a = told("  - {at: 1s, when: group is caught-up, crash: c0}\n", group)
    assert 10.0 < seconds(of(a, ev.ConsumerExited, "c0")[0].at_us) < 25.0


def test_jitter_and_random_faults_are_drawn_from_the_seed_alone() -> None:
    faults = "random_faults:\n  - {kind: freeze, about_every: 40s, for: 3s, until: 3m}\n"
    text = f"{GROUP}replay: as-written\nhorizon: 4m\n{faults}"
    scenario = story_of(text.encode(), "chance").check().scenario()
    one, again, other = (play(scenario, seed=seed) for seed in (1, 1, 2))
    assert one.events == again.events != other.events
    assert all(e.at_us < 180 * SECOND for e in one.events if type(e) is ev.ConsumerFroze)


# -------------------------------------------------------------------------------- backlog and costs


def test_full_batches_can_outlast_the_poll_interval() -> None:
    group = (
        "topics: {orders: {partitions: 2, rate: 1/s, backlog: 3000}}\ngroup:\n  members: 1\n  "
        "handler: 50ms\n"
        "  config: {auto.offset.reset: earliest, max.poll.interval.ms: 20s"
    )
    assert len(of(told("  - {at: 1s, set_rate: {rate: 1/s}}\n", group + "}\n"), ev.PollExpired)) > 3
    assert (
        of(
            told("  - {at: 1s, set_rate: {rate: 1/s}}\n", group + ", max.poll.records: 300}\n"),
            ev.PollExpired,
        )
        == []
    )


def test_latest_skips_what_came_before_the_first_reader_and_earliest_does_not() -> None:
    script = "  - {at: 1m, add_partitions: 8}\n"
    config = "  config: {{metadata.max.age.ms: 20s, auto.offset.reset: {0}}}\n"
    latest, earliest = (
        told(script, GROUP + config.format(reset)) for reset in ("latest", "earliest")
    )
    positions = [e.offset for e in of(earliest, ev.PositionFound) if e.partition.number >= 6]
    assert positions == [0, 0] and all(
        e.offset > 0 for e in of(latest, ev.PositionFound) if e.partition.number >= 6
    )


def test_what_was_not_committed_is_handed_over_again() -> None:
    a = told("  - {at: 63s, crash: c1}\n")
    assert 0 < (a.measure("duplicates") or 0) <= 5 * 60
    assert told("  - {at: 63s, leave: c1}\n").measure("duplicates") == 0


def test_state_is_flushed_and_restored_and_a_standby_saves_its_share() -> None:
    group = GROUP + "  state: {per_partition: 100MB, restore: 10MB/s, flush: 100MB/s%s}\n"
    plain, standby = (
        told("  - {at: 1m, scale: 4}\n", group % more) for more in ("", ", standby: 80%")
    )
    restore = [
        (e.at_us - b.at_us) / SECOND
        for b, e in zip(of(plain, ev.CallbackBegan, "c3"), of(plain, ev.CallbackEnded, "c3"))
        if b.partitions
    ]
    assert restore[0] == 10.0 * len(of(plain, ev.CallbackBegan, "c3")[0].partitions)
    assert (standby.measure("longest_pause") or 0) < (plain.measure("longest_pause") or 0)


def test_a_listener_that_throws_is_survived_or_not_as_the_application_says() -> None:
    thrown = GROUP + "  listener: {throws_in: assigned}\n"
    group = thrown.replace("handler: 1ms", "handler: {per_record: 1ms, on_error: %s}")
    assert of(told("  - {at: 1m, scale: 4}\n", group % "retry"), ev.ConsumerExited) == []
    assert {
        e.how for e in of(told("  - {at: 1m, scale: 4}\n", group % "crash"), ev.ConsumerExited)
    } == {"fatal"}


@pytest.mark.slow
def test_a_selector_that_minds_racks_keeps_bytes_within_them() -> None:
    group = COLD + (
        "cluster: {brokers: 2, racks: [a, b]%s}\ntopics: {orders: {partitions: 4, rate: 100/s, "
        "replicas: 2}}\n"
        'group:\n  members: 2\n  racks: [a, b]\n  config: {client.rack: "{rack}"}\n'
    )
    script = "  - {at: 1m, set_rate: {rate: 100/s}}\n"
    leaders = of(told(script, group % ""), ev.BytesFetched)
    nearest = of(
        told(script, group % ", config: {replica.selector.class: RackAwareReplicaSelector}"),
        ev.BytesFetched,
    )
    assert sum(e.bytes for e in leaders) > 0.99 * 100 * 1_000 * 230
    assert 0.4 < sum(e.bytes for e in leaders if e.crosses) / sum(e.bytes for e in leaders) < 0.6
    assert nearest and not any(e.crosses for e in nearest)


def test_between_racks_messages_take_as_long_as_the_scenario_says() -> None:
    text = COLD + (
        "cluster: {brokers: [{id: 0, rack: a}], latency: 1ms, cross_rack: 30ms}\ntopics: "
        "{orders: 2}\n"
        "group:\n  members: [{name: near, rack: a}, {name: far, rack: b}]\n"
    )
    a = told("  - {at: 1m, enforce_rebalance: near}\n", text)
    first = {e.consumer: e.at_us for e in reversed(of(a, ev.CoordinatorFound))}
    assert (
        first["near"] == 6_000 and first["far"] == 180_000
    )  # TCP, ApiVersions, and the coordinator: three round trips


def noticed(analysis: Analysis, consumer: str, since: int) -> float:
    """When this member heard of the rebalance after an instant."""
    return min(
        seconds(e.at_us) for e in of(analysis, ev.RebalanceNoticed, consumer) if e.at_us > since
    )


def test_a_heartbeat_sets_at_which_moments_further_ones_leave() -> None:
    group = (
        "topics: {orders: {partitions: 6, rate: 60/s}}\n"
        "group: {members: [a, b, {name: late, starts_at: 60s}], client: CLIENT}\n"
    )
    script = "  - {at: 50s, heartbeat: a}\n  - {at: 50500ms, heartbeat: [b]}\n"
    for client in ("java", "librdkafka", "kafka-python"):
        found = told(script, group.replace("CLIENT", client), more=COLD)
        joined = min(e.at_us for e in of(found, ev.PollingBegan, "late"))
        assert noticed(found, "a", joined) % 3 - 50 % 3 < 0.1
        assert 0 <= noticed(found, "b", joined) - noticed(found, "a", joined) - 0.5 < 0.1


def test_a_heartbeat_may_leave_late_and_none_is_left_out_for_it() -> None:
    """Beats come late on a busy machine; but with a shorter interval others come before."""
    group = (
        "topics: {orders: {partitions: 6, rate: 60/s}}\n"
        "group:\n  members: [a, b, {name: late, starts_at: 60s}]\n"
        "  config: {heartbeat.interval.ms: EVERY}\n"
    )
    script = "  - {at: 59900ms, heartbeat: {members: [a], in: 3s, late: 400ms}}\n"
    for every, expected in (("3s", 63.3), ("1s", 60.3)):
        found = told(script, group.replace("EVERY", every), more=COLD)
        joined = min(e.at_us for e in of(found, ev.PollingBegan, "late"))
        assert expected <= noticed(found, "a", joined) < expected + 0.1


def test_a_heartbeat_of_the_consumer_protocol_brings_its_news_when_it_is_due() -> None:
    group = (
        "topics: {orders: {partitions: 6, rate: 60/s}}\n"
        "group:\n  members: [a, b, {name: late, starts_at: 60s}]\n"
        "  config: {group.protocol: consumer}\n"
    )
    found = told("  - {at: 58s, heartbeat: [a, b]}\n", group, more=COLD)
    states = of(found, ev.MemberStateChanged, "a")
    heard = [seconds(e.at_us) for e in states if e.after == "RECONCILING" and e.at_us > 60 * SECOND]
    assert 63.0 <= heard[0] < 63.1


def test_members_see_a_topic_grow_when_they_refresh_their_metadata() -> None:
    script = "  - {at: 60s, add_partitions: 8}\n  - {at: 61s, refresh_metadata: all}\n"
    found = told(script, more=COLD)
    asked = [e for e in of(found, ev.RejoinRequested) if e.reason == "cached metadata has changed"]
    assert [round(seconds(e.at_us)) for e in asked[:1]] == [61]


def test_callbacks_take_what_is_listed_for_them_in_turn() -> None:
    listed = "{before: {in_turn: [200ms, 0ms]}, fixed: {in_turn: [30ms, 10ms]}}"
    group = GROUP + f"  listener: {{on_revoked: {listed}}}\n"
    script = "  - {at: 60s, enforce_rebalance: c0}\n  - {at: 90s, enforce_rebalance: c0}\n"
    found = told(script, group, more=COLD)
    calls = [e for e in of(found, ev.CallbackBegan, "c0") if e.callback == "revoked"]
    ends = [e for e in of(found, ev.CallbackEnded, "c0") if e.callback == "revoked"]
    took = [e.at_us - b.at_us for b, e in zip(calls, ends) if b.partitions]
    assert took[:2] == [30_000, 10_000]
    asked = [e.at_us for e in of(found, ev.RejoinRequested, "c0")]
    waited = [b.at_us - min(a for a in asked if b.at_us - a < 2 * SECOND) for b in calls[:2]]
    assert waited[0] - waited[1] > 150_000
