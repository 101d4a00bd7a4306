"""Groups whose members speak both protocols, or change over: a pause is told by what the group
was at each moment, and names members that were there.
"""

from __future__ import annotations

import json
from pathlib import Path

from told import one

from rebalsim.analysis.values import Pause
from rebalsim.domain.metrics import Selection
from rebalsim.one_run import Run, run_once
from rebalsim.reports import to_perfetto
from rebalsim.reports.describe import moment_of
from rebalsim.reports.event_table import rows
from rebalsim.reports.hints import hint_on
from rebalsim.reports.sentences import Together, tell
from rebalsim.reports.view import View
from rebalsim.scenario.load import load_scenario
from rebalsim.trace import events as ev

OFFLINE = """
title: All of a group are stopped, and come back with the other protocol
topics: {orders: {partitions: 4, rate: 40/s}}
group: {members: 2, handler: 1ms, config: {group.protocol: consumer}}
script:
  - {at: 1m, id: back, deploy: {max_unavailable: 2, down: 20s, config: {group.protocol: classic, partition.assignment.strategy: [cooperative-sticky]}}}
replay: as-written
horizon: 2m
"""
MIXED = """
title: Classic members in a consumer group whose brokers are told to beat slowly
topics: {orders: {partitions: 12, rate: 600/s}}
group:
  members:
    new: {config: {group.protocol: consumer}}
    old0: {config: {partition.assignment.strategy: [cooperative-sticky]}}
    old1: {config: {partition.assignment.strategy: [cooperative-sticky]}}
    old2: {config: {partition.assignment.strategy: [cooperative-sticky]}}
  handler: 1ms
  stagger: 3700ms
cluster: {config: {group.consumer.heartbeat.interval.ms: 15s}}
script:
  - {at: 93s, leave: old2}
replay: as-written
horizon: 3m
"""
LAST_ONE = """
title: The only member of the new protocol dies, and the group is a classic one again
topics: {orders: {partitions: 12, rate: 600/s}}
group:
  members:
    new: {config: {group.protocol: consumer}}
    old0: {config: {partition.assignment.strategy: [range]}}
    old1: {config: {partition.assignment.strategy: [cooperative-sticky, range]}}
  handler: 1ms
script:
  - {at: 1m, crash: old1}
  - {at: 3m, crash: new}
replay: as-written
horizon: 6m
"""
TORN = """
title: A static member is killed in its revocation callback
topics: {orders: {partitions: 6, rate: 60/s}}
group:
  members: {c0: {config: {group.instance.id: c0}}}
  handler: 1ms
  listener: {on_revoked: 5s}
  config: {group.protocol: consumer}
script:
  - {at: 1m, join: {names: [c1]}}
  - {at: 64s, crash: c0}
replay: as-written
horizon: 3m
"""
LONE = """
title: A lone member freezes for longer than its session
topics: {orders: {partitions: 4, rate: 40/s}}
group: {members: 1, handler: 1ms}
script:
  - {at: 1m, freeze: {members: c0, for: 2m}}
replay: [consumer]
horizon: 5m
"""

BOUNCED = """
title: Members of the consumer protocol are restarted, each within a heartbeat
topics: {orders: {partitions: 6, rate: 60/s}}
group: {members: 3, handler: 1ms, config: {group.protocol: consumer}}
cluster: {config: {group.consumer.heartbeat.interval.ms: 15s}}
script:
  - {at: 1m, rolling_bounce: {down: 500ms, settle: 20s}}
replay: as-written
horizon: 3m
"""


def played(text: str, tmp_path: Path, variant: str = "as-written") -> Run:
    path = tmp_path / "story.yaml"
    path.write_text(text, encoding="utf-8")
    return run_once(load_scenario(str(path)).scenario(variant))


def long_ones(p: Pause) -> list[tuple[str, str, str]]:
    return [
        (phase.kind.value, phase.facts.consumer, phase.facts.doing)
        for phase in p.phases
        if phase.length_us >= 100_000
    ]


def test_a_group_that_comes_back_with_the_classic_protocol_waits_out_the_initial_delay(
    tmp_path: Path,
) -> None:
    run = played(OFFLINE, tmp_path)
    longest = max(run.analysis.pauses, key=lambda p: p.length_us)
    assert [(kind, doing) for kind, _, doing in long_ones(longest)] == [
        ("away", "away"),
        ("barrier", "initial-delay"),
    ]
    assert "waiting out group.initial.rebalance.delay.ms" in tell(Together((longest,)))


def test_who_left_a_consumer_group_keeps_nobody_waiting(tmp_path: Path) -> None:
    """There is no barrier and no leader: the new protocol's one member must beat before anything
    is computed, then the classic one whose partition it is.
    """
    run = played(MIXED, tmp_path)
    (given,) = [
        p
        for p in run.analysis.pauses
        if p.owner_before == "old2" and p.owner_after == "old1" and p.started_us > 90_000_000
    ]
    assert long_ones(given) == [("pickup", "new", "computing"), ("pickup", "old1", "unaware")]
    assert "until the broker computed at new's heartbeat" in tell(Together((given,)))
    assert "old2" not in tell(Together((given,))).replace("when old2 left", "")
    assert hint_on(given, run.analysis).startswith(
        "A shorter group.consumer.heartbeat.interval.ms on the brokers has them compute sooner"
    )
    assert [phase.facts.timer for phase in given.phases if phase.kind.value == "pickup"] == [
        "group.consumer.heartbeat.interval.ms",
        "heartbeat.interval.ms",
    ]


def test_the_dead_are_not_waited_for_once_they_are_removed(tmp_path: Path) -> None:
    run = played(LAST_ONE, tmp_path)
    for p in run.analysis.pauses:
        if p.owner_before == "old1" and p.why == "killed":
            assert [kind for kind, _, _ in long_ones(p)][:2] == ["detection", "pickup"]
            assert p.phases[0].facts.until_us == p.phases[0].ended_us
            assert all(phase.facts.consumer != "old1" for phase in p.phases[1:])


def test_a_group_turned_back_has_rounds_again_from_that_moment_on(tmp_path: Path) -> None:
    """The consumer group's last member of its own kind is dead until its session ends; what
    follows is a classic rebalance, with a notice.
    """
    run = played(LAST_ONE, tmp_path)
    pause = next(p for p in run.analysis.pauses if p.owner_before == "new" and p.why == "killed")
    assert long_ones(pause) == [("detection", "new", "dead"), ("notice", "old0", "unaware")]
    assert pause.phases[0].facts.timer == "session.timeout.ms"


def test_one_killed_in_its_callback_gave_nothing_up(tmp_path: Path) -> None:
    """What it was about to hand on waits for the end of its session, and not for a commit."""
    run = played(TORN, tmp_path)
    pause = next(p for p in run.analysis.pauses if p.owner_before == "c0" and p.why == "revoked")
    assert long_ones(pause)[:2] == [("revoke", "c0", "in-callback"), ("detection", "c0", "dead")]
    detection = pause.phases[1]
    assert (detection.started_us, detection.facts.timer) == (64_000_000, "session.timeout.ms")
    assert hint_on(pause, run.analysis).startswith("Only the session's end tells of a dead member")


def test_nobodys_heartbeat_is_waited_for_in_an_empty_group(tmp_path: Path) -> None:
    run = played(LONE, tmp_path, "consumer")
    longest = max(run.analysis.pauses, key=lambda p: p.length_us)
    assert long_ones(longest) == [("detection", "c0", "frozen"), ("away", "c0", "frozen")]
    assert "until c0 had thawed at 3:00.000" in tell(Together((longest,)))
    assert hint_on(longest, run.analysis) == hint_on(longest, run.analysis).replace(
        "quicker start", ""
    )


def test_who_is_not_there_is_not_waited_for_at_its_heartbeat(tmp_path: Path) -> None:
    """A restart takes less than a heartbeat: until the process has joined it has none, however
    soon that is.
    """
    run = played(BOUNCED, tmp_path)
    came = [(e.consumer, e.at_us) for e in run.trace.events if type(e) is ev.MemberAdded]
    picked = [
        phase for p in run.analysis.pauses for phase in p.phases if phase.kind.value == "pickup"
    ]
    assert picked and not [
        who
        for phase in picked
        for who, at in came
        if who == phase.facts.consumer and phase.started_us < at < phase.ended_us
    ]
    back = next(
        p
        for p in run.analysis.pauses
        if p.started_us >= 60_000_000 and any(phase.kind.value == "away" for phase in p.phases)
    )
    assert f"until {back.owner_after} was back" in tell(Together((back,)))


def test_a_hint_has_the_settings_that_were_in_force_then() -> None:
    """A deploy later gave the members the consumer protocol, and with it the brokers' heartbeat
    interval.
    """
    run = run_once(load_scenario("migration-to-consumer").scenario("as-written"))
    left = next(
        p for p in run.analysis.pauses if p.started_us >= 60_000_000 and p.owner_before == "c0"
    )
    assert left.phases[1].kind.value == "notice"
    facts = run.analysis.header.consumers["c1"]
    assert [facts.at(at).protocol for at in (70_000_000, 150_000_000, 400_000_000)] == [
        "cooperative",
        "consumer",
        "cooperative",
    ]
    assert [facts.at(at).heartbeat_interval_us for at in (70_000_000, 150_000_000)] == [
        3_000_000,
        5_000_000,
    ]


def test_a_group_that_counted_epochs_has_no_highest_generation() -> None:
    """Turned back into a classic one it goes on counting from the epoch that it had come to;
    before it was turned it had generations alone.
    """
    converted = run_once(load_scenario("migration-to-consumer").scenario("as-written")).analysis
    assert converted.measure("generations") is None
    assert converted.measure("generations", Selection(until_us=69_000_000)) == 2


def test_classic_members_of_a_consumer_group_make_no_rounds_of_their_own(tmp_path: Path) -> None:
    """They join epochs: its rebalances are its changed targets."""
    analysis = played(MIXED, tmp_path).analysis
    assert analysis.measure("generations") is None
    assert {r.completed_by for r in analysis.rounds_by_group["group"]} == {"computed"}
    computed = [e for e in analysis.trace.events if type(e) is ev.AssignmentComputed]
    assert len(analysis.rounds_by_group["group"]) == len(computed)


def test_a_trace_in_words_tells_epochs_from_generations() -> None:
    run = run_once(load_scenario("migration-to-consumer").scenario("as-written"))
    told = list(rows(run.trace, View()))
    classic = [t.text for t in told if t.at_us < 70_000_000]
    assert not [text for text in classic if "epoch" in text]
    since, until = [
        e.at_us for e in run.trace.events if getattr(e, "reason", "").startswith("Converted the")
    ]
    consumer = [t for t in told if since < t.at_us < until]
    whole = {
        (
            run.trace.events[t.number].__class__.__name__,
            getattr(run.trace.events[t.number], "api", ""),
        )
        for t in consumer
        if "generation " in t.text
    }
    of_classic_members = {
        ("RequestSent", "JoinGroup"),
        ("RequestSent", "SyncGroup"),
        ("ResponseReceived", "JoinGroup"),
        ("RequestSent", "OffsetCommit"),
        ("GenerationJoined", ""),
        ("AssignmentReceived", ""),
    }
    assert whole <= of_classic_members
    assert any(t.text.startswith("uniform for epoch ") for t in consumer)
    assert any(", epoch " in t.text and t.name == "GroupStateChanged" for t in consumer)
    assert all(
        "in epoch " in t.text
        for t in consumer
        if t.name == "AssignmentReceived" and t.who == "c0" and t.at_us < 210_000_000
    )


def test_a_group_is_described_as_what_it_was_at_that_moment() -> None:
    """The coordinator shows epochs, and the brokers' assignor, for as long as it keeps a
    consumer group.
    """
    analysis = run_once(load_scenario("migration-to-consumer").scenario("as-written")).analysis
    moments = [moment_of(analysis, "group", at * 1_000_000) for at in (65, 95, 150, 350)]
    assert [(m.is_new_protocol, m.assignor) for m in moments] == [
        (False, "cooperative-sticky"),
        (True, "uniform"),
        (True, "uniform"),
        (False, "cooperative-sticky"),
    ]


def test_a_timeline_for_perfetto_numbers_states_by_what_the_group_counted_then() -> None:
    run = run_once(load_scenario("migration-to-consumer").scenario("as-written"))
    events = json.loads(to_perfetto.render(one(run.trace, "as-written")))["traceEvents"]
    states = [
        (e["ts"], "epoch" in e["args"], "generation" in e["args"])
        for e in events
        if e.get("cat") == "state"
    ]
    assert states and all(
        is_epoch is not is_generation and is_epoch == (70_016_000 <= at < 270_035_000)
        for at, is_epoch, is_generation in states
    )
