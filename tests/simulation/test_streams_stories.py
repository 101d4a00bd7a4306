"""What a deploy, a crash or a newcomer does to a Kafka Streams application."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from streams_applications import SECOND, application, longest, scenario_in

from rebalsim.analysis.committed import committed_at
from rebalsim.domain.pause_start import PauseStart
from rebalsim.one_run import run_once
from rebalsim.reports.describe import Handled
from rebalsim.scenario.load import story_of
from rebalsim.simulation.streams.hosts import Host
from rebalsim.simulation.streams.stream_thread import StreamThread
from rebalsim.simulation.world import play
from rebalsim.trace import events as ev
from rebalsim.trace import streams_events as se

SCENARIOS = Path(__file__).parents[2] / "scenarios"


def run(
    streams: str,
    script: str,
    config: str = "",
    members: int = 3,
    horizon: str = "40m",
    topics: str = "",
) -> Any:
    text = f"""
topics: {{orders: {{partitions: 6, rate: 600/s}}{topics}}}
group:
  members: {{"app-{{n}}": {{count: {members}}}}}
  config: {{{config}}}
  streams: {{{streams}}}
script: [{script}]
horizon: {horizon}
"""
    return run_once(scenario_in(text))


BOUNCE = "{at: 5m, rolling_bounce: {members: all, down: 5s, settle: 2m}}"
STORE = "topology: [{source: orders, store: 12GB}]"


def test_a_dynamic_instance_stands_still_for_the_whole_session_however_fast_it_is_back() -> None:
    done = run(STORE, BOUNCE, "session.timeout.ms: 20s")
    assert 20 < longest(done) < 23


def test_a_static_one_for_its_restart_only() -> None:
    config = 'session.timeout.ms: 20s, group.instance.id: "{name}"'
    assert 5 < longest(run(STORE, BOUNCE, config)) < 8


def test_closing_with_leave_moves_tasks_at_once() -> None:
    script = "{at: 5m, leave: app-0}"
    stays = run("topology: [orders]", script, "session.timeout.ms: 20s")
    leaves = run("topology: [orders], close: leave", script, "session.timeout.ms: 20s")
    assert longest(stays) > 15 and longest(leaves) < 5


def test_a_standby_saves_the_restoration_and_not_the_session() -> None:
    crash = "{at: 5m, crash: app-0}"
    cold = longest(run(STORE, crash, "session.timeout.ms: 20s"))
    config = "config: {num.standby.replicas: 1}"
    hot = longest(run(f"{STORE}, {config}", crash, "session.timeout.ms: 20s"))
    assert cold > 60 and 17 < hot < 25


def test_a_newcomers_tasks_are_warmed_up_first_and_move_hot() -> None:
    done = run(STORE, "{at: 5m, scale: 3}", members=2)
    warmed = [e for e in done.trace.events if type(e) is se.StandbyBegan]
    assert warmed and longest(done) < 4
    assert done.analysis.measure("moved_partitions") >= 2


def test_small_stores_move_at_once_and_cold() -> None:
    small = "topology: [{source: orders, store: {records: 50000, writes: 0.01}}]"
    done = run(small, "{at: 5m, scale: 3}", members=2)
    assert not [e for e in done.trace.events if type(e) is se.StandbyBegan]
    assert any(e.how == "scratch" for e in done.trace.events if type(e) is se.StoreRestored)


def test_under_the_streams_protocol_every_move_is_cold() -> None:
    done = run(f"{STORE}, config: {{group.protocol: streams}}", "{at: 5m, scale: 3}", members=2)
    assert longest(done) > 30


def test_without_a_volume_a_restart_restores_everything() -> None:
    config = 'session.timeout.ms: 60s, group.instance.id: "{name}"'
    kept = longest(run(STORE, BOUNCE, config))
    lost = longest(run(f"{STORE}, volume: lost", BOUNCE, config))
    assert kept < 10 < 60 < lost


def test_a_pause_is_cut_into_waiting_and_restoring() -> None:
    done = run(STORE, "{at: 5m, crash: {members: app-0, loses_volume: true}}")
    pause = max(done.analysis.pauses, key=lambda p: p.ended_us - p.started_us)
    kinds = [phase.kind.value for phase in pause.phases]
    assert "detection" in kinds and "restore" in kinds and kinds[-1] == "fetch"


def test_a_stuck_instance_loses_its_tasks_when_its_poll_interval_is_over() -> None:
    config = "max.poll.interval.ms: 1m"
    done = run(STORE, "{at: 5m, hang: {members: app-0, for: 10m}}", config)
    assert done.analysis.measure("moved_partitions") > 0
    assert longest(done) > 60


def test_the_applications_own_state_is_told() -> None:
    done = run(STORE, "{at: 5m, crash: app-0}")
    states = [e.after for e in done.trace.events if type(e) is se.ApplicationStateChanged]
    assert "REBALANCING" in states and states[-1] == "RUNNING"


@pytest.mark.parametrize("protocol", ["classic", "streams"])
def test_every_partition_is_handed_on_to_exactly_one(protocol: str) -> None:
    config = f"config: {{group.protocol: {protocol}, num.stream.threads: 2}}"
    done = run(
        f"topology: [orders], {config}",
        "{at: 3m, scale: 4}, {at: 8m, crash: app-1}, {at: 12m, leave: app-0}",
    )
    assert done.analysis.measure("open_pauses") == 0
    assert not done.analysis.violations


def test_stores_and_states_are_measured() -> None:
    script = "{at: 5m, crash: {members: app-0, restart_after: 20s, loses_volume: true}}"
    cold = run(STORE, script, "session.timeout.ms: 10s").analysis
    warm = run(f"{STORE}, config: {{num.standby.replicas: 1}}", script).analysis
    assert (cold.measure("restored_bytes") or 0) >= 4_000_000_000
    assert (cold.measure("restore_time") or 0) > 2 * 60 * SECOND
    assert (warm.measure("standby_catch_up") or 0) > 60 * SECOND
    assert (cold.measure("longest_not_running") or 0) > 60 * SECOND
    assert (cold.measure("not_running_time") or 0) >= (cold.measure("longest_not_running") or 0)


def test_what_is_no_streams_application_has_none_of_its_measures() -> None:
    text = b"topics: {orders: 6}\ngroup: {members: 3}\nhorizon: 1m\n"
    done = run_once(story_of(text, "story.yaml").check().scenario())
    assert done.analysis.measure("restored_bytes") is None


@pytest.mark.parametrize(
    "name",
    [
        "streams-scale-out",
        "streams-rolling-deploy",
        "streams-two-bounces",
        "streams-stuck-instance",
        "streams-new-protocol",
    ],
)
def test_beats_that_change_nothing_are_left_out_and_nothing_changes(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = (SCENARIOS / f"{name}.yaml").read_bytes()
    story = story_of(raw, name).check()
    for variant in story.variants:
        scenario = story.scenario(variant)
        with monkeypatch.context() as patched:
            patched.setattr(Host, "rest", lambda *_: False)
            plain = play(scenario).events
        events = play(scenario).events
        assert commits(events) == commits(plain)
        assert told(events) == told(plain)


def test_sessions_of_two_threads_end_in_the_same_order_whoever_rested(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    streams = "topology: [{source: orders, store: 2GB}], config: {num.stream.threads: 2}"
    cut, roll = "cut: {members: app-0, for: 60s}", "rolling_bounce: {members: all, down: 20s}"
    scenario = application(
        streams, f"script: [{{at: 2m, {cut}}}, {{at: 6m, {roll}}}]\nhorizon: 14m"
    )
    for seed in range(2):
        with monkeypatch.context() as patched:
            patched.setattr(Host, "rest", lambda *_: False)
            plain = play(scenario, seed=seed).events
        assert told(play(scenario, seed=seed).events) == told(plain)


def told(events: Sequence[Any]) -> list[str]:
    """All but commits, which rest tells many at a time."""
    return [repr(event) for event in events if type(event) is not se.CommitsMade]


def commits(events: Sequence[Any]) -> list[tuple[int, str]]:
    made = [e for e in events if type(e) is se.CommitsMade]
    return sorted(
        {(at, e.consumer) for e in made for at in range(e.at_us, e.last_us + 1, e.every_us or 1)}
    )


def test_faults_at_random_strike_instances() -> None:
    rest = """
random_faults:
  - {kind: crash, about_every: 15m, for: 5s..20s}
  - {kind: freeze, about_every: 30m, for: 15s}
  - {kind: hang, about_every: 30m, for: 15s}
horizon: 40m
"""
    streams = "topology: [{source: orders, store: 1GB}], config: {num.standby.replicas: 1}"
    scenario = application(streams, rest)
    done, again, other = (run_once(scenario, seed) for seed in (1, 1, 2))
    struck = [e.kind for e in done.trace.events if type(e) is ev.ScriptActed]
    assert {"Crash", "Freeze", "Hang"} <= set(struck)
    assert [repr(e) for e in done.trace.events] == [repr(e) for e in again.trace.events]
    assert [e.at_us for e in other.trace.events] != [e.at_us for e in done.trace.events]


def test_no_live_road_leads_to_the_streams_protocol() -> None:
    deploy = "{at: 5m, deploy: {down: %s, max_unavailable: %d, streams: {group.protocol: streams}}}"
    rolling = run(STORE, deploy % ("20s", 1))
    died = [e.error for e in rolling.trace.events if type(e) is ev.ConsumerExited and e.error]
    assert died == ["GroupIdNotFoundException"] * 3
    at_once = run(STORE, deploy % ("60s", 3))
    assert not any(e.error for e in at_once.trace.events if type(e) is ev.ConsumerExited)
    assert at_once.analysis.measure("longest_pause") < 5 * 60 * SECOND


def test_a_task_waits_for_an_input_that_has_nothing() -> None:
    topology = "topology: [{sources: [orders, silent]}]"
    script = "{at: 5m, scale: 4}"
    at_once = run(topology, script, topics=", silent: 6")
    waits = run(f"{topology}, config: {{max.task.idle.ms: 2s}}", script, topics=", silent: 6")
    assert longest(at_once) < 1 < 2 < longest(waits) < 3


BESIDE = """
topics: {orders: {partitions: 6, rate: 600/s}, clicks: {partitions: 4, rate: 100/s}}
groups:
  app:
    topics: [orders]
    members: {"app-{n}": {count: 3}}
    streams: {topology: [{source: orders, store: 1GB}]}
  plain:
    topics: [clicks]
    members: {"c-{n}": {count: 2}}
script:
  - {at: 5m, crash: app-0}
  - {at: 6m, id: other, crash: c-1}
  - {at: 8m, scale: {group: plain, to: 3}}
horizon: 12m
"""


def test_other_groups_are_played_beside_the_application() -> None:
    done = run_once(story_of(BESIDE.encode(), "story.yaml").check().scenario())
    paused = {(p.group, p.partition.topic) for p in done.analysis.pauses}
    assert paused == {("app", "orders"), ("plain", "clicks")}
    acted = [e.action for e in done.trace.events if type(e) is ev.ScriptActed]
    assert acted == ["crash-1", "other", "scale-3"]
    alone = BESIDE.replace("  - {at: 6m, id: other, crash: c-1}\n", "")
    same = run_once(story_of(alone.encode(), "story.yaml").check().scenario())

    def of_app(each: Any) -> list[tuple[int, int]]:
        pauses = [p for p in each.analysis.pauses if p.group == "app"]
        return [(p.started_us, p.ended_us) for p in pauses]

    assert of_app(done) == of_app(same)  # neither group sees anything of the other


def test_nothing_waits_for_what_happens_to_the_other() -> None:
    text = BESIDE.replace("{at: 5m, crash: app-0}", "{after: other, delay: 1m, crash: app-0}")
    said = [str(problem.message) for problem in story_of(text.encode(), "story.yaml").problems()]
    assert any("waits for one of the other's" in each for each in said)


def test_a_dead_owner_s_transaction_is_aborted_at_the_coordinator_s_next_look() -> None:
    text = """
topics: {orders: {partitions: 6, rate: 600/s}}
group:
  members: {"app-{n}": {count: 3}}
  config: {session.timeout.ms: 6s}
  streams:
    topology: [{source: orders, store: 100MB}]
    config: {processing.guarantee: exactly_once_v2}
script: [{at: 5m, crash: app-0}]
horizon: 10m
"""
    scenario = scenario_in(text)
    lengths = [longest(run_once(scenario, seed)) for seed in range(1, 7)]
    # transaction.timeout.ms, and up to an interval of the coordinator's looks
    assert all(10 < each < 21 for each in lengths) and max(lengths) - min(lengths) > 2


@pytest.mark.parametrize("protocol", ["classic", "streams"])
def test_a_quiet_time_costs_nothing_however_many_records_come(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = []
    work = StreamThread._work
    monkeypatch.setattr(StreamThread, "_work", lambda self: turns.append(1) or work(self))
    text = """
topics: {orders: {partitions: 6, rate: RATE}}
group:
  members: {"app-{n}": {count: 3}}
  streams: {topology: [orders], config: {group.protocol: PROTOCOL}}
script: [{at: 5m, crash: app-0}]
horizon: 10h
""".replace("PROTOCOL", protocol)

    def turns_at(rate: str) -> int:
        turns.clear()
        run_once(story_of(text.replace("RATE", rate).encode(), "story.yaml").check().scenario())
        return len(turns)

    assert turns_at("600000/s") < turns_at("600/s") + 300


def test_standbys_that_take_over_together_wait_for_one_poll_and_not_for_one_each() -> None:
    """The state updater takes whatever was opened until it looks up."""
    done = run(
        "topology: [{source: orders, store: 1GB}], config: {num.standby.replicas: 1}",
        "{at: 5m, crash: app-0}",
        "session.timeout.ms: 10s",
        members=2,
    )
    restored = [
        event
        for event in done.trace.events
        if isinstance(event, se.StoreRestored) and event.at_us > 5 * 60 * SECOND
    ]
    assert [event.how for event in restored] == ["standby"] * 3
    assert len({event.at_us for event in restored}) == 1


def test_a_thread_that_polls_and_may_not_process_has_no_stuck_handler() -> None:
    """Clients of 2.3 wait until all of a thread's tasks are restored, and poll on meanwhile."""
    done = run(
        f"{STORE}, clients: eager", "{at: 5m, scale: 4}", "max.poll.interval.ms: 20s", horizon="10m"
    )
    held = [e for e in done.trace.events if isinstance(e, se.ProcessingHeld)]
    assert held and any(isinstance(e, se.ProcessingWentOn) for e in done.trace.events)
    asked = {answer.question: answer for answer in done.analysis.answers}
    assert asked["outlasts-poll-interval"].is_yes is False
    assert done.analysis.measure("time_between_poll_max") < 20 * SECOND


def test_tasks_that_a_thread_keeps_wait_while_it_closes_others() -> None:
    """Stores are closed in the stream thread: ten of them take it more than a tenth of a second."""
    stores = ", ".join(["{size: 10MB}"] * 10)
    few, many = (
        [
            pause
            for pause in run(
                f"topology: [{{source: orders, stores: [{those}]}}]",
                "{at: 5m, scale: 3}",
                members=2,
            ).analysis.pauses
            if pause.why is PauseStart.CALLBACK
        ]
        for those in ("{size: 10MB}", stores)
    )
    assert not few
    assert many and max(pause.length_us for pause in many) > SECOND // 10


def test_a_crash_repeats_what_was_handled_since_the_last_commit() -> None:
    """Thirty seconds between commits by default, a tenth of a second under exactly-once, whose
    aborted transactions count for nothing.
    """
    crash, config = "{at: 5m, crash: app-0}", "session.timeout.ms: 10s"
    usual = run("topology: [orders]", crash, config).analysis
    often = run("topology: [orders], config: {commit.interval.ms: 1s}", crash, config).analysis
    exact = "topology: [orders], config: {processing.guarantee: exactly_once_v2}"
    assert 0 < often.measure("duplicates") <= 230  # two tasks of a hundred records a second
    assert 230 < usual.measure("duplicates") <= 6_030
    assert run(exact, crash, config).analysis.measure("duplicates") == 0
    assert run("topology: [orders]", BOUNCE, config).analysis.measure("duplicates") == 0


@pytest.mark.parametrize("guarantee", ["at_least_once", "exactly_once_v2"])
@pytest.mark.parametrize(
    "deed", ["crash: app-0", "leave: app-0", "freeze: {member: app-0, for: 40s}"]
)
def test_what_had_been_committed_is_where_the_next_owner_begins(guarantee: str, deed: str) -> None:
    part = "{source: orders, store: 1MB, per_record: 1ms}"
    streams = f"topology: [{part}], config: {{processing.guarantee: {guarantee}}}"
    script = f"{{at: 5m3s, {deed}}}, {{at: 8m7s, join: late}}"
    a = run(streams, script, "session.timeout.ms: 10s").analysis
    handled, seen = Handled(a, "group"), 0
    for e in a.trace.events:
        if type(e) is ev.PositionFound and e.at_us > 60 * SECOND:
            before = committed_at(a, "group", e.at_us - 1, handled.by)
            assert before[e.partition] == pytest.approx(e.offset, abs=2)
            seen += 1
    assert seen >= 4
