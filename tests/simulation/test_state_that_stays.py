"""State that survives a restart, restores in the background, and goes on from a checkpoint."""

from __future__ import annotations

import pytest

from rebalsim.analysis import analyse
from rebalsim.analysis.analysis import Analysis
from rebalsim.domain.phase import PhaseKind
from rebalsim.scenario.load import story_of
from rebalsim.simulation.world import play
from rebalsim.trace.jsonl import lines_for
from rebalsim.trace.streams_events import StoreRestored

STORY = """
topics: {orders: {partitions: 6, rate: 60/s}}
group:
  members: {"pod-{n}": {count: 3}}
  %s
  handler: 1ms
  state: {per_partition: 1GB, restore: 50MB/s%s}
script: [{at: 3m, %s}]
replay: as-written
horizon: 6m
"""
STATIC = (
    'group.instance.id: "{name}"\n'
    "  config: {session.timeout.ms: 60s, partition.assignment.strategy: [cooperative-sticky]}"
)
BOUNCE = "rolling_bounce: {members: pod-0, down: 20s}"
KILL = "crash: {members: pod-0, restart_after: 20s}"
SURVIVES = ", survives: restart, changes: 1MB/s"
CLIENTS = {
    "classic": "config: {partition.assignment.strategy: [cooperative-sticky]}",
    "eager": "config: {partition.assignment.strategy: [range]}",
    "consumer": "config: {group.protocol: consumer}",
    "librdkafka": "client: librdkafka\n  config: {partition.assignment.strategy: [cooperative-sticky]}",
}


def text(state: str = "", script: str = BOUNCE, group: str = STATIC) -> str:
    return STORY % (group, state, script)


def told(state: str = "", script: str = BOUNCE, group: str = STATIC) -> Analysis:
    analysis = analyse(play(story_of(text(state, script, group).encode(), "s").check().scenario()))
    assert analysis.violations == []
    return analysis


def restored_s(analysis: Analysis) -> list[float]:
    """The restores of the pauses that begin with the script, in seconds."""
    return sorted(
        round(sum(f.length_us for f in p.phases if f.kind is PhaseKind.RESTORE) / 1e6, 1)
        for p in analysis.pauses
        if p.started_us >= 180_000_000
    )


def test_as_ever_a_pod_that_is_back_after_20_seconds_restores_everything() -> None:
    assert restored_s(told()) == [40.0, 40.0]  # one after the other, and both wait for both


def test_what_survives_is_gone_on_from_and_only_what_has_changed_is_restored() -> None:
    assert restored_s(told(SURVIVES)) == [0.8, 0.8]  # 2 × 20 s of 1 MB/s at 50 MB/s
    assert restored_s(told(", survives: restart")) == [0.0, 0.0]


def test_a_killed_process_goes_on_from_its_last_checkpoint() -> None:
    clean, killed, never = (
        sum(restored_s(told(state, script)))
        for state, script in (
            (f"{SURVIVES}, checkpoint: 50s", BOUNCE),
            (f"{SURVIVES}, checkpoint: 50s", KILL),
            (SURVIVES, KILL),
        )
    )
    assert clean == pytest.approx(never, abs=0.1)
    assert clean < killed < clean + 2 * 2 * 50 / 50 + 0.1


def test_in_the_background_each_partition_waits_for_its_own_state_alone() -> None:
    assert restored_s(told(", where: background")) == [20.0, 40.0]


@pytest.mark.slow
@pytest.mark.parametrize("client", CLIENTS)
def test_meanwhile_the_application_polls_and_is_not_put_out(client: str) -> None:
    group = CLIENTS[client].replace("config: {", "config: {max.poll.interval.ms: 30s, ")
    outlasts = told("", "scale: 2", group)
    beside = told(", where: background", "scale: 2", group)
    assert sum(m.poll_expired for m in outlasts.members) > 0
    assert sum(m.poll_expired for m in beside.members) == 0
    assert restored_s(beside)[-1] >= 20.0
    assert all(not p.is_open for p in beside.pauses)


def test_the_trace_tells_each_restore() -> None:
    events = told(f", where: background{SURVIVES}").trace.events
    last = [e for e in events if type(e) is StoreRestored and e.at_us > 180_000_000]
    assert [(e.consumer, e.how) for e in last] == [("pod-0", "checkpoint")] * 2
    assert all(20_000_000 <= e.bytes <= 21_000_000 for e in last)


def test_a_disk_is_that_of_its_name_alone() -> None:
    moves = told(SURVIVES, "scale: 2", CLIENTS["classic"])
    assert min(restored_s(moves)) >= 20.0  # whoever takes over has nothing of it


@pytest.mark.slow
@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("state", [SURVIVES, ", where: background"])
def test_asleep_and_awake_the_same_comes_of_it(client: str, state: str) -> None:
    seldom = text(state, KILL, CLIENTS[client]).replace("60/s", "12/s")
    scenario = story_of(seldom.encode(), "s").check().scenario()
    assert list(lines_for(play(scenario))) == list(lines_for(play(scenario, plain=True)))


def test_changes_and_checkpoints_of_what_does_not_survive_are_a_mistake() -> None:
    (problem,) = story_of(text(", changes: 1MB/s").encode(), "s").problems()
    assert "add survives: restart" in problem.message
