"""A Kafka Connect cluster, played: what a lost worker, a lost leader, a newcomer and a connector
cost, and what becomes of tasks that fail or do not stop.
"""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from rebalsim.analysis.analysis import Analysis
from rebalsim.domain.phase import PhaseKind
from rebalsim.one_run import run_once
from rebalsim.reports.phases.delay import CARD
from rebalsim.scenario.load import load_scenario
from rebalsim.trace.connect_events import TaskCancelled, TaskFailed, TaskStarting, WorkAssigned
from rebalsim.trace.events import GenerationJoined, PollingBegan, RequestSent, StopAsked

HEAD = """
topics: {{orders: {{partitions: 4, rate: 40/s}}}}
connect:
  workers: {workers}
  config: {{connect.protocol: {protocol}, scheduled.rebalance.max.delay.ms: {delay}{more}}}
  connectors:
    src: {{tasks.max: 6{src}}}
    snk: {{topics: [orders], tasks.max: 2}}
    late: {{exists: later, tasks.max: 3}}
horizon: 6m
"""


def played(tmp_path: Path, script: str, **more: Any) -> Analysis:
    said = {"workers": 3, "protocol": "sessioned", "delay": "1m", "more": "", "src": "", **more}
    path = tmp_path / "story.yaml"
    path.write_text(HEAD.format(**said) + f"script: {script}\n", encoding="utf-8")
    analysis: Analysis = run_once(load_scenario(path).scenario()).analysis
    assert analysis.violations == []
    for pause in analysis.pauses:
        assert sum(phase.length_us for phase in pause.phases) == pause.length_us
    return analysis


def leader(analysis: Analysis) -> str:
    """Who led the cluster when it had settled."""
    rounds = analysis.rounds_by_group["connect"]
    return [r.leader for r in rounds if r.stable_us >= 0 and r.stable_us < 60_000_000][-1]


def after(analysis: Analysis, at_us: int) -> list[Any]:
    return [p for p in analysis.task_pauses if p.started_us >= at_us - 1_000_000]


def spent(pauses: list[Any], kind: PhaseKind) -> int:
    return max((x.length_us for p in pauses for x in p.phases if x.kind is kind), default=0)


def followers(tmp_path: Path) -> list[str]:
    first = leader(played(tmp_path, "[]"))
    return [name for name in ("w0", "w1", "w2") if name != first]


def test_a_lost_worker_is_waited_for_and_its_return_changes_nothing(tmp_path: Path) -> None:
    who = followers(tmp_path)[0]
    script = f"[{{at: 2m, crash: {{members: {who}, restart_after: 20s}}}}]"
    lost = after(played(tmp_path, script), 120_000_000)
    longest = max(lost, key=lambda p: p.length_us)
    assert 67_000_000 < longest.length_us < 76_000_000  # session, notice, delay
    assert 59_000_000 < spent(lost, PhaseKind.DELAY) <= 60_100_000
    assert longest.cause.kind == "crashed" and longest.owner_after == who


def test_one_that_leaves_cleanly_costs_the_same_delay(tmp_path: Path) -> None:
    who = followers(tmp_path)[0]
    left = after(played(tmp_path, f"[{{at: 2m, leave: {who}}}]"), 120_000_000)
    assert 59_000_000 < spent(left, PhaseKind.DELAY) <= 60_100_000
    assert spent(left, PhaseKind.STOP) > 500_000


def test_the_leaders_loss_is_waited_for_by_nobody(tmp_path: Path) -> None:
    first = leader(played(tmp_path, "[]"))
    lost = after(played(tmp_path, f"[{{at: 2m, crash: {first}}}]"), 120_000_000)
    assert spent(lost, PhaseKind.DELAY) == 0
    assert max(p.length_us for p in lost) < 15_000_000


def test_a_worker_that_freezes_shorter_than_the_delay_keeps_its_tasks(tmp_path: Path) -> None:
    who = followers(tmp_path)[0]
    script = f"[{{at: 2m, freeze: {{members: {who}, for: 30s}}}}]"
    frozen = after(played(tmp_path, script), 120_000_000)
    stood = [p for p in frozen if p.owner_before == who]
    assert stood and all(p.owner_after == who for p in stood)
    assert all(29_000_000 < p.length_us < 36_000_000 for p in stood)


def test_a_newcomer_moves_few_tasks_incrementally_and_stops_all_under_eager(tmp_path: Path) -> None:
    script = "[{at: 2m, join: {group: connect, count: 1}}]"
    gentle = after(played(tmp_path, script), 120_000_000)
    rough = after(played(tmp_path, script, protocol="eager"), 120_000_000)
    assert 0 < len({p.partition for p in gentle}) < 4
    assert len({p.partition for p in rough}) == 8
    assert max(p.length_us for p in rough) < max(p.length_us for p in gentle)


def test_from_one_worker_to_two_the_sinks_group_may_run_empty(tmp_path: Path) -> None:
    script = "[{at: 2m, join: {group: connect, count: 1}}]"
    a = played(tmp_path, script, workers=1, protocol="eager")
    waits = [
        phase
        for p in a.partition_pauses
        if p.started_us >= 119_000_000
        for phase in p.phases
        if phase.facts.doing == "initial-delay"
    ]
    assert sum(phase.length_us for phase in waits) >= 5_000_000


def test_a_worker_that_shall_stop_does_not_wait_for_the_round_it_joins(tmp_path: Path) -> None:
    script = "[{at: 2m, join: {group: connect, names: [new]}}, {at: 124s, leave: new}]"
    a = played(tmp_path, script, protocol="eager", src=", stop: 4s")
    asked = {e.consumer: e.at_us for e in a.trace.events if type(e) is StopAsked}
    joined = [e for e in a.trace.events if type(e) is GenerationJoined and e.consumer == "new"]
    assert asked["new"] > 120_000_000 and not joined
    assert not any(e.consumer == "new" for e in a.trace.events if type(e) is WorkAssigned)
    assert not any(p.is_open for p in a.pauses)


def test_a_connector_is_created_and_deleted_in_two_rounds_each(tmp_path: Path) -> None:
    script = "[{at: 2m, create_connector: late}, {at: 3m, delete_connector: late}]"
    a = played(tmp_path, script)
    started = [e for e in a.trace.events if type(e) is TaskStarting and e.task.startswith("late")]
    assert sorted(e.task for e in started)[:3] == ["late-0", "late-1", "late-2"]
    rounds = [r for r in a.rebalances if r.group == "connect" and r.barrier_us > 119_000_000]
    created = [r for r in rounds if r.barrier_us < 150_000_000]
    assert len(created) >= 2 and len(rounds) - len(created) >= 2
    gone = [h for (g, p), held in a.holdings.items() if p.topic == "late" for h in held]
    assert all(h.ended_us < 190_000_000 for h in gone)
    assert not any(p.is_open for p in a.task_pauses)


def test_a_task_that_will_not_stop_is_given_up_after_its_grace(tmp_path: Path) -> None:
    script = "[{at: 2m, join: {group: connect, count: 1}}]"
    a = played(tmp_path, script, src=", stop: 30s", more=", task.shutdown.graceful.timeout.ms: 3s")
    given_up = [e for e in a.trace.events if type(e) is TaskCancelled]
    assert given_up and all(e.at_us > 122_000_000 for e in given_up)
    stops = [x for p in after(a, 120_000_000) for x in p.phases if x.kind is PhaseKind.STOP]
    assert all(x.length_us <= 3_200_000 for x in stops)


def test_two_copies_at_work_are_an_alarm(tmp_path: Path) -> None:
    who = followers(tmp_path)[0]
    script = f"[{{at: 2m, freeze: {{members: {who}, for: 100s}}}}]"
    copies = [x for x in played(tmp_path, script).alarms if x.kind == "held-twice"]
    assert [x.why for x in copies] == ["two-copies"] and copies[0].consumers == (who,)
    assert 0 < copies[0].figures["longest_us"] < 10_000_000
    script = "[{at: 2m, join: {group: connect, count: 1}}]"
    slow = played(tmp_path, script, src=", stop: 30s")
    given_up = [x for x in slow.alarms if x.why == "given-up"]
    assert given_up and 24_000_000 < given_up[0].figures["longest_us"] < 26_000_000


def test_what_a_connector_costs_is_put_down_to_it_in_both_layers(tmp_path: Path) -> None:
    script = "[{at: 2m, create_connector: late}]"
    a = played(tmp_path, script, protocol="eager", src=", stop: 4s")
    tasks, partitions = after(a, 120_000_000), a.partition_pauses
    told = {(p.cause.kind, p.cause.consumer, p.cause.action) for p in tasks if p.group == "connect"}
    assert told == {("connector-changed", "late", "create-connector-1")}
    sinks = {
        (p.cause.kind, p.cause.consumer, p.cause.action)
        for p in partitions
        if 120_000_000 < p.started_us < 123_000_000
    }
    assert sinks == {("task-stopped", "", "create-connector-1")}


def test_a_sinks_task_that_moves_is_put_down_to_the_worker_that_was_lost(tmp_path: Path) -> None:
    sinks = {name for name in played(tmp_path, "[]").header.consumers if name.startswith("snk-0@")}
    who = sinks.pop().partition("@")[2]
    a = played(tmp_path, f"[{{at: 2m, crash: {who}}}]", delay="0s")
    later = [p for p in a.partition_pauses if p.started_us > 119_000_000]
    started = [p for p in later if p.cause.kind == "task-started"]
    assert started and {(p.cause.action, p.cause.consumer) for p in started} == {("crash-1", "")}


def test_a_worker_has_metrics_by_kafkas_own_names(tmp_path: Path) -> None:
    a = played(tmp_path, "[{at: 2m, create_connector: late}]", src=", start: 3s")
    first = leader(a)
    values = a.client_metrics[first]
    assert values["epoch"] == max(r.generation for r in a.rounds_by_group["connect"])
    assert (values["completed-rebalances-total"] or 0) >= 3
    # neither the wait at the barrier nor a task's own start() is in it
    assert 0 < (values["rebalance-max-time-ms"] or 0) < 1_000_000
    held = [a.client_metrics[w]["assigned-tasks"] for w in ("w0", "w1", "w2")]
    assert sum(x or 0 for x in held) == 11
    assert sum(a.client_metrics[w]["assigned-connectors"] or 0 for w in ("w0", "w1", "w2")) == 3
    assert "partition-revoked-latency-avg" not in values
    sink = next(name for name in a.client_metrics if "@" in name)
    assert "epoch" not in a.client_metrics[sink]
    assert a.measure("assigned_tasks") == max(x or 0 for x in held)


def test_what_is_restarted_without_a_round_is_in_no_workers_rebalance(tmp_path: Path) -> None:
    script = "[{at: 2m, join: {group: connect, count: 1}}, {at: 4m, restart_connector: src}]"
    a = played(tmp_path, script)
    assert len([e for e in a.trace.events if type(e) is TaskStarting and e.at_us > 240e6]) == 6
    longest = [a.client_metrics[w]["rebalance-max-time-ms"] for w in ("w0", "w1", "w2", "w3")]
    assert all(0 <= (us or 0) < 1_000_000 for us in longest)


@pytest.mark.parametrize("task", ["src-2", "snk-1"])
def test_a_failed_task_stands_until_it_is_restarted(tmp_path: Path, task: str) -> None:
    name = task.partition("-")[0]
    script = f"[{{at: 2m, fail_task: {task}}}, {{at: 4m, restart_connector: {name}}}]"
    a = played(tmp_path, script)
    assert [e.task for e in a.trace.events if type(e) is TaskFailed] == [task]
    failed = next(p for p in a.task_pauses if p.why == "lost")
    assert str(failed.partition) == task
    assert 119_000_000 < failed.length_us < 122_000_000
    assert failed.phases[0].kind is PhaseKind.STUCK and failed.phases[0].facts.doing == "failed"
    assert (failed.cause.kind, failed.cause.action) == ("task-failed", "fail-task-1")


def test_workers_stop_all_their_work_where_no_coordinator_is_to_be_found(tmp_path: Path) -> None:
    """They look for it for one heartbeat interval, and no longer."""
    script = "[{at: 2m, broker_restart: {broker: coordinator, down: %ds}}]"
    assert played(tmp_path, script % 2).measure("longest_task_pause") == 0
    a = played(tmp_path, script % 20)
    assert {str(p.partition) for p in a.task_pauses} >= {f"src-{n}" for n in range(6)}
    for pause in (p for p in a.task_pauses if p.partition.topic == "src"):
        assert (pause.cause.kind, pause.cause.action) == ("coordinator-lost", "broker-restart-1")
        waited = [x for x in pause.phases if x.facts.doing == "no-coordinator"]
        assert waited[0].kind is PhaseKind.NOTICE
        stopped_us = waited[0].started_us  # its sink waits for an answer, and is given up after 5 s
        assert stopped_us < 129_000_000 and 140_000_000 < waited[0].ended_us < 142_000_000
        assert pause.started_us == pytest.approx(123_000_000, abs=200_000)


def test_a_restart_is_no_matter_of_the_group(tmp_path: Path) -> None:
    script = "[{at: 2m, reconfigure_connector: {connector: snk, tasks.max: 1}}, "
    script += "{at: 4m, restart_connector: src}]"
    a = played(tmp_path, script, src=", stop: 1s")
    told = {(p.cause.kind, p.cause.action) for p in after(a, 240_000_000)}
    assert told == {("connector-restarted", "restart-connector-2")}
    # what was stopped for it revokes nothing, and keeps no round before it open
    assert all(d.ended_us - d.started_us < 20_000_000 for d in a.disturbances)


def test_the_end_of_a_delay_is_put_down_to_what_began_it(tmp_path: Path) -> None:
    sinks = {name for name in played(tmp_path, "[]").header.consumers if name.startswith("snk-")}
    first = leader(played(tmp_path, "[]"))
    who = next(w for w in sorted(name.partition("@")[2] for name in sinks) if w != first)
    a = played(tmp_path, f"[{{at: 2m, crash: {who}}}]")
    started = [p for p in a.partition_pauses if p.cause.kind == "task-started"]
    assert started and {p.cause.action for p in started} == {"crash-1"}


def test_a_mixed_upgrade_needs_one_bounce(tmp_path: Path) -> None:
    script = (
        "[{at: 1m, deploy: {group: connect, worker: {connect.protocol: sessioned}, down: 5s, "
        "settle: 20s}}]"
    )
    a = played(tmp_path, script, protocol="eager")
    spoken = [e.protocol for e in a.trace.events if type(e) is WorkAssigned]
    assert spoken[0] == "default" and spoken[-1] == "sessioned"


def test_metrics_of_tasks_are_their_own(tmp_path: Path) -> None:
    who = followers(tmp_path)[0]
    a = played(tmp_path, f"[{{at: 2m, crash: {who}}}]")
    assert a.measure("longest_task_pause") == max(p.length_us for p in a.task_pauses)
    assert a.measure("longest_pause") == max(p.length_us for p in a.partition_pauses)
    assert (a.measure("tasks_unassigned") or 0) >= 2
    assert a.measure("worker_rebalances") == 2


@pytest.mark.parametrize("seed", range(1, 5))
def test_whatever_happens_all_tasks_run_once_in_the_end(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "story.yaml"
    said = {"workers": 4, "protocol": "sessioned", "delay": "20s", "more": "", "src": ""}
    path.write_text(
        HEAD.format(**said)
        + "script: [{at: 30s, create_connector: late}]\n"
        + "random_faults:\n"
        + "  - {kind: crash, about_every: 2m, for: 5s..30s, from: 40s, until: 3m}\n"
        + "  - {kind: freeze, about_every: 3m, for: 5s..40s, from: 40s, until: 3m}\n",
        encoding="utf-8",
    )
    a: Analysis = run_once(load_scenario(path).scenario(), seed).analysis
    assert a.violations == []
    held = {
        str(p): [h.consumer for h in holdings if h.ended_us == a.horizon_us]
        for (group, p), holdings in a.holdings.items()
        if group == "connect"
    }
    assert len(held) == 11
    assert all(len(owners) == 1 for owners in held.values()), held


def test_a_worker_that_is_cut_off_takes_its_sinks_with_it_and_stops_its_work(
    tmp_path: Path,
) -> None:
    who = followers(tmp_path)[0]
    script = f"[{{at: 2m, cut: {{members: {who}, for: 40s, from: brokers}}}}]"
    a = played(tmp_path, script)
    cut = {e.consumer for e in a.trace.events if type(e).__name__ == "LinkCut"}
    sinks = {c for c in a.header.consumers if c.endswith(f"@{who}")}
    assert who in cut and cut - {who} <= sinks
    assert not any(p.is_open for p in a.pauses)


def test_brokers_and_coordinators_that_move_are_lived_through(tmp_path: Path) -> None:
    script = (
        "[{at: 1m, broker_restart: {broker: 0, down: 20s, load: 1s}}, "
        "{at: 2m, coordinator_failover: {group: connect, load: 2s}}, "
        "{at: 3m, scale: {group: connect, to: 5}}, {at: 4m, scale: {group: connect, to: 2}}]"
    )
    a = played(tmp_path, script)
    assert not any(p.is_open for p in a.task_pauses)
    assert (a.measure("worker_rebalances") or 0) >= 3


def test_a_settled_cluster_is_told_with_every_request(tmp_path: Path) -> None:
    path = tmp_path / "story.yaml"
    text = HEAD.format(workers=3, protocol="sessioned", delay="1m", more="", src="")
    path.write_text("start: settled\n" + text + "script: [{at: 2m, crash: w1}]\n", encoding="utf-8")
    trace = run_once(load_scenario(path).scenario(), wire=True).trace
    beats = [e for e in trace.events if type(e) is RequestSent and e.api == "Heartbeat"]
    assert {e.consumer for e in beats} >= {"w0", "w1", "w2"}


def test_a_round_after_the_delay_is_put_down_to_what_began_the_delay(tmp_path: Path) -> None:
    first, second = followers(tmp_path)
    script = f"[{{at: 1m, id: lost, crash: {first}}}, {{at: 3m, id: lost-too, crash: {second}}}]"
    analysis = played(tmp_path, script)
    mine = [d for d in analysis.disturbances if d.group == "connect"][1:]
    # each loss is noticed, and its delay is over a minute later: two rounds
    assert [d.action for d in mine] == ["lost", "lost", "lost-too", "lost-too"]
    assert mine[1].started_us - mine[0].started_us > 60_000_000


def test_a_sinks_tasks_may_speak_the_consumer_protocol(tmp_path: Path) -> None:
    """Their group is one of epochs, and the workers' stays a classic one."""
    text = HEAD.format(workers=3, protocol="sessioned", delay="1m", more="", src="").replace(
        "tasks.max: 2}", "tasks.max: 2, consumer: {group.protocol: consumer}}"
    )
    path = tmp_path / "story.yaml"
    path.write_text(text + "script: [{at: 1m, crash: w1}]\n", encoding="utf-8")
    analysis: Analysis = run_once(load_scenario(path).scenario()).analysis
    assert analysis.violations == []
    assert {r.is_of_epochs for r in analysis.rounds_by_group["connect-snk"]} == {True}
    assert {r.is_of_epochs for r in analysis.rounds_by_group["connect"]} == {False}
    assert any(p.partition.topic == "orders" for p in analysis.pauses)


def test_what_is_left_of_a_delay_is_told_where_it_is_not_waited_out(tmp_path: Path) -> None:
    """Whoever leads next knows nothing of it; and the observation may end before it does."""
    first = leader(played(tmp_path, "[]"))
    lost = followers(tmp_path)[0]

    def delays(script: str, delay: str) -> list[Any]:
        analysis = played(tmp_path, script, delay=delay)
        mine = [p for p in analysis.task_pauses if p.owner_before == lost]
        return [x for p in mine for x in p.phases if x.kind is PhaseKind.DELAY]

    gone = f"{{at: 1m, crash: {lost}}}"
    waited = delays(f"[{gone}]", "1m")
    assert waited and {x.facts.left_us for x in waited} == {-1}
    cut = delays(f"[{gone}, {{at: 90s, leave: {first}}}]", "4m")
    assert cut and {x.length_us + x.facts.left_us for x in cut} == {240_000_000}
    assert all(x.facts.until_us == x.ended_us for x in cut)
    (still,) = {x.facts.left_us for x in delays(f"[{gone}]", "10m")}
    assert 300_000_000 < still < 320_000_000 and "(5 m " in CARD.tell(
        delays(f"[{gone}]", "10m")[0].facts, lost
    )


def test_a_roll_that_waits_until_workers_are_at_work_has_one_of_them_away_at_a_time(
    tmp_path: Path,
) -> None:
    def away(readiness: str) -> int:
        path = tmp_path / "story.yaml"
        text = HEAD.format(workers=3, protocol="sessioned", delay="1m", more="", src="")
        text = text.replace("workers: 3", "workers: 3\n  life: {start: 20s}")
        roll = "script: [{at: 1m, rolling_bounce: {down: 2s%s}}]\n"
        path.write_text(text + roll % readiness, encoding="utf-8")
        turns = [
            (e.at_us, 1 if type(e) is StopAsked else -1)
            for e in run_once(load_scenario(path).scenario()).trace.events
            if (type(e) is StopAsked and e.consumer in ("w0", "w1", "w2"))
            or (type(e) is PollingBegan and e.consumer in ("w0", "w1", "w2") and e.at_us > 60e6)
        ]
        return max(accumulate(change for _, change in sorted(turns)))

    assert away(", ready_when: assigned") == 1
    assert away("") > 1
