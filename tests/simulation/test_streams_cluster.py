"""What happens around a Kafka Streams application: brokers, topics, links, other applications."""

from __future__ import annotations

from typing import Any

import pytest
from streams_applications import SECOND, application, longest, scenario_in

from rebalsim.domain.phase import PhaseKind
from rebalsim.one_run import run_once
from rebalsim.trace import events as ev


def run(script: str, topology: str = "[orders]", config: str = "", topics: str = "") -> Any:
    text = f"""
cluster: {{brokers: 3}}
topics: {{orders: {{partitions: 6, rate: 600/s}}, users: {{partitions: 4, rate: 100/s}}{topics}}}
group:
  members: {{"app-{{n}}": {{count: 3}}}}
  config: {{session.timeout.ms: 10s}}
  streams: {{topology: {topology}, config: {{{config}}}}}
script: [{script}]
horizon: 14m
"""
    return run_once(scenario_in(text))


def deaths(done: Any) -> list[str]:
    return [e.error for e in done.trace.events if type(e) is ev.ConsumerExited and e.error]


PROTOCOLS = ["classic", "streams"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_coordinator_that_moves_stops_no_task(protocol: str) -> None:
    script = "{at: 5m, broker_restart: {broker: coordinator, down: 30s, load: 2s}}"
    done = run(script, config=f"group.protocol: {protocol}")
    moves = [e for e in done.trace.events if type(e) is ev.CoordinatorMoved]
    assert [e.is_loaded for e in moves] == [False, True, False, True]
    assert moves[0].broker != moves[-1].broker
    assert longest(done) == 0 and done.analysis.measure("open_pauses") == 0


def test_a_new_coordinator_counts_every_session_from_its_own_beginning() -> None:
    crash = "{at: 5m1s, crash: app-0}"
    plain = longest(run(crash))
    moved = longest(run(f"{{at: 5m, coordinator_failover: {{load: 5s}}}}, {crash}"))
    assert 7 < plain < 13 < moved < 18


def test_a_busy_coordinator_is_slow_to_answer_and_nothing_else() -> None:
    busy = "{at: 4m, broker_busy: {broker: coordinator, wait: 1s, for: 3m}}, "
    scale = "{at: 5m, scale: 4}"
    assert longest(run(busy + scale)) > longest(run(scale)) + 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_new_partitions_of_what_has_no_state_are_read(protocol: str) -> None:
    script = "{at: 3m, add_partitions: {topic: orders, to: 9}}"
    done = run(script, "[orders, users]", f"group.protocol: {protocol}")
    assert not deaths(done) and done.analysis.measure("open_pauses") == 0
    # a classic leader looks every metadata.max.age.ms, the brokers' coordinator at once
    assert longest(done) > 60 if protocol == "classic" else longest(done) < 6


@pytest.mark.parametrize(
    ("protocol", "error"), [("classic", "StreamsException"), ("streams", "TopologyException")]
)
def test_a_changelog_that_has_too_few_partitions_ends_the_application(
    protocol: str, error: str
) -> None:
    script = "{at: 3m, add_partitions: {topic: orders, to: 9}}"
    topology = "[{source: orders, store: 1GB}]"
    done = run(script, topology, f"group.protocol: {protocol}")
    assert deaths(done) == [error] * 3


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_without_a_source_topic_nobody_goes_on(protocol: str) -> None:
    done = run("{at: 3m, delete_topic: users}", "[orders, users]", f"group.protocol: {protocol}")
    assert deaths(done) == ["MissingSourceTopicException"] * 3
    spared = run("{at: 3m, delete_topic: users}", "[orders]", f"group.protocol: {protocol}")
    assert not deaths(spared) and spared.analysis.measure("rebalances") == 0


def test_a_rate_that_changes_makes_more_to_restore() -> None:
    topology = "[{source: orders, store: {records: 600, writes: 1}}]"
    crash = "{at: 8m, crash: {members: app-0, loses_volume: true}}"
    slow = run(crash, topology).analysis.measure("restored_bytes")
    fast = run(f"{{at: 1m, set_rate: {{topic: orders, rate: 6000/s}}}}, {crash}", topology)
    assert fast.analysis.measure("restored_bytes") > 5 * slow


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_who_is_cut_off_longer_than_its_session_loses_its_tasks_and_comes_back(
    protocol: str,
) -> None:
    cut = "{at: 5m, cut: {members: app-0, from: brokers, for: 60s}}"
    done = run(cut, config=f"group.protocol: {protocol}")
    removed = [e for e in done.trace.events if type(e) is ev.MemberRemoved]
    assert [e.why for e in removed] == ["session-expired"]
    assert done.analysis.measure("open_pauses") == 0 and not done.analysis.violations
    owners = {h.consumer for lane in done.analysis.lanes for h in lane.holdings if h.how == "held"}
    assert "app-0" in owners


def test_a_short_cut_from_the_coordinator_costs_nothing() -> None:
    assert longest(run("{at: 5m, cut: {members: app-0, for: 5s}}")) == 0


def test_links_that_are_cut_at_random_and_slow_ones_are_played() -> None:
    rest = """
random_faults: [{kind: cut, about_every: 8m, for: 5s..60s}]
script: [{at: 3m, add_latency: {members: app-0, extra: 20ms, for: 60s}}]
horizon: 30m
"""
    done = run_once(application("topology: [orders]", rest))
    assert any(type(e) is ev.LinkCut for e in done.trace.events)
    assert done.analysis.measure("open_pauses") == 0 and not done.analysis.violations


def test_two_applications_and_a_group_share_a_cluster_and_nothing_else() -> None:
    text = """
cluster: {brokers: 3}
topics: {orders: {partitions: 6, rate: 600/s}}
groups:
  billing:
    members: {"bill-{n}": {count: 3}}
    config: {session.timeout.ms: 10s}
    streams: {topology: [{source: orders, store: 1GB}], config: {num.standby.replicas: 1}}
  fraud:
    members: {"fraud-{n}": {count: 2}}
    streams: {topology: [orders], config: {group.protocol: streams}}
  plain:
    members: {"c-{n}": {count: 2}}
script:
  - {at: 5m, crash: bill-0}
  - {at: 6m, broker_restart: {broker: 1, down: 20s, load: 500ms}}
horizon: 10m
"""
    done = run_once(scenario_in(text))
    assert {p.group for p in done.analysis.pauses} == {"billing"}
    assert set(done.analysis.application_states) == {"billing", "fraud"}
    assert {group for group, _ in done.analysis.copies} == {"billing"}
    told = [e.broker for e in done.trace.events if type(e) is ev.BrokerChanged]
    assert told == [1, 1]  # once, though three groups saw it


def test_the_way_back_to_the_classic_protocol_leads_through_an_empty_group() -> None:
    deploy = (
        "{at: 5m, deploy: {down: 20s, max_unavailable: %d, streams: {group.protocol: classic}}}"
    )
    rolling = run(deploy % 1, config="group.protocol: streams")
    assert set(deaths(rolling)) == {"InconsistentGroupProtocolException"}
    at_once = run(deploy % 3, config="group.protocol: streams")
    assert not deaths(at_once) and at_once.analysis.measure("open_pauses") == 0


def test_a_deployment_starts_its_new_pods_before_it_stops_old_ones() -> None:
    roll = "{at: 4m, rolling_bounce: {as: deployment, surge: 1, max_unavailable: 0, settle: 30s}}"
    done = run(roll, "[{source: orders, store: 500MB}]")
    life = [
        (type(e) is ev.ConsumerStarted, e.consumer)
        for e in done.trace.events
        if type(e) in (ev.ConsumerStarted, ev.StopAsked) and e.at_us >= 240 * SECOND
    ]
    assert life == [
        *((True, "app-3"), (False, "app-0"), (True, "app-4")),
        *((False, "app-1"), (True, "app-5"), (False, "app-2")),
    ]
    owners = {h.consumer for lane in done.analysis.lanes for h in lane.holdings if h.how == "held"}
    assert owners <= {"app-3", "app-4", "app-5"}  # the last one's are warm-ups until it is probed


def test_a_second_roll_leaves_pods_in_peace_that_have_yet_to_come() -> None:
    first = "{at: 4m, rolling_bounce: {as: deployment, settle: 1m}}"
    second = "{at: 4m30s, %s}"
    for deed in ("rolling_bounce: {as: statefulset, down: 10s, settle: 5s}", "leave: app-5"):
        done = run(f"{first}, {second % deed}", "[{source: orders, store: 500MB}]")
        assert done.analysis.measure("open_pauses") == 0 and not deaths(done)
        stopped = {e.consumer for e in done.trace.events if type(e) is ev.StopAsked}
        assert stopped >= {"app-0", "app-1", "app-2"} and "app-5" not in stopped


def test_what_waits_for_a_dead_owners_transaction_is_told_apart_from_its_restoration() -> None:
    crash, stored = "{at: 5m, crash: app-0}", "[{source: orders, store: 500MB}]"
    done = run(crash, stored, "processing.guarantee: exactly_once_v2")
    pause = max(done.analysis.pauses, key=lambda p: p.length_us)
    doings = [x.facts.doing for x in pause.phases if x.kind is PhaseKind.RESTORE]
    assert doings == ["from-scratch", "uncommitted"]
    # a look of the brokers', every 10 s, once 10 s have passed since the transaction began
    assert 310 * SECOND - 200_000 < pause.phases[-2].ended_us < 320 * SECOND + 200_000
    plain = run(crash, stored)
    told = {x.facts.doing for p in plain.analysis.pauses for x in p.phases}
    assert "uncommitted" not in told


POISON = "{at: 5m, poison: {partition: orders-0, for: %s}}"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_poisoned_record_hangs_one_owner_after_another(protocol: str) -> None:
    text = f"""
topics: {{orders: {{partitions: 6, rate: 600/s}}}}
group:
  members: {{"app-{{n}}": {{count: 3}}}}
  config: {{session.timeout.ms: 10s, max.poll.interval.ms: 30s}}
  streams: {{topology: [orders], config: {{group.protocol: {protocol}}}}}
script: [{POISON % "50s, times: 2"}]
horizon: 14m
"""
    done = run_once(scenario_in(text))
    expired = [e.consumer for e in done.trace.events if type(e) is ev.PollExpired]
    assert len(expired) == 2 and len(set(expired)) == 2
    assert done.analysis.measure("open_pauses") == 0


def test_one_that_throws_ends_every_instance_in_turn() -> None:
    done = run(POISON % "1s, throws: true")
    assert deaths(done) == ["StreamsException"] * 3
    assert not deaths(run(POISON % "1s, throws: true, times: 1").analysis and run(POISON % "1s"))


def _starts(trace: Any, instance: str) -> list[int]:
    """When each life after the first began, in seconds."""
    return [
        event.at_us // SECOND
        for event in trace.events
        if isinstance(event, ev.ConsumerStarted) and event.consumer == instance and event.life > 1
    ]


def _in_pods(life: str, script: str, streams: str = "topology: [orders]") -> Any:
    text = f"""
topics: {{orders: {{partitions: 6, rate: 600/s}}}}
group:
  members: {{"app-{{n}}": {{count: 3}}}}
  life: {{{life}}}
  config: {{session.timeout.ms: 10s}}
  streams: {{{streams}}}
script: [{script}]
horizon: 30m
"""
    return run_once(scenario_in(text)).trace


def test_pods_that_crash_again_and_again_are_held_back() -> None:
    crashes = ", ".join(f"{{at: {at}s, crash: app-0}}" for at in (120, 240, 360))
    trace = _in_pods("restartPolicy: Always", crashes)
    assert _starts(trace, "app-0") == [120, 250, 380]
    once = _in_pods("restartPolicy: Never", "{at: 2m, crash: app-0}")
    assert _starts(once, "app-0") == []


def test_an_instance_that_is_refused_comes_back_until_the_group_lets_it_in() -> None:
    """A classic group takes nobody of the streams protocol: pods crash until its last member is gone."""
    roll = "{at: 5m, deploy: {as: statefulset, down: 5s, settle: 1m, streams: {group.protocol: streams}}}"
    trace = _in_pods("restartPolicy: Always", roll)
    died = [
        e.consumer for e in trace.events if isinstance(e, ev.ConsumerExited) and e.how == "fatal"
    ]
    assert died.count("app-2") > 2
    last = [e for e in trace.events if isinstance(e, ev.RecordsDelivered)][-1]
    assert last.at_us > max(e.at_us for e in trace.events if isinstance(e, ev.ConsumerExited))


def test_an_instance_that_is_too_slow_to_start_is_killed_by_its_startup_probe() -> None:
    probe = "startupProbe: {periodSeconds: 5s, failureThreshold: 2}"
    trace = _in_pods(f"restartPolicy: Always, start: 20s, {probe}", "{at: 2m, crash: app-0}")
    killed = [e.at_us // SECOND for e in trace.events if isinstance(e, ev.ConsumerExited)]
    assert [at for at in killed if at < 120][:1] == [5]
