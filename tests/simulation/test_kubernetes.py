"""Kubernetes in the simulation: rollouts by its own rules, drains under a budget, evictions, probes."""

from __future__ import annotations

from typing import Any

import pytest

from rebalsim.analysis import analyse
from rebalsim.domain.kubernetes import DrainNode
from rebalsim.domain.pods import back_off_us
from rebalsim.domain.script import RollingBounce
from rebalsim.scenario.load import story_of
from rebalsim.simulation.world import play
from rebalsim.trace.events import ConsumerExited, ConsumerStarted, ScriptActed

STORY = """
topics: {{orders: {{partitions: 8, rate: 100/s}}}}
group:
  members: {members}
  handler: 1ms
  life: {{start: 10s, grace: 30s}}
script:
{script}
replay: [eager]
horizon: {horizon}
"""


def scenario(script: str, members: int = 4, horizon: str = "10m") -> Any:
    lines = "\n".join(f"  {line}" for line in script.strip().splitlines())
    text = STORY.format(script=lines, members=members, horizon=horizon)
    return story_of(text.encode(), "story").check().scenario("eager")


def events(trace: Any, kind: type) -> list[Any]:
    return [e for e in trace.events if type(e) is kind]


def said(trace: Any, kind: str) -> list[tuple[int, str]]:
    return [(e.at_us // 1_000_000, e.text) for e in events(trace, ScriptActed) if e.kind == kind]


@pytest.mark.parametrize(("replicas", "surge", "unavailable"), [(3, 1, 0), (4, 1, 1), (10, 3, 2)])
def test_a_rollout_rounds_as_kubernetes_does(replicas: int, surge: int, unavailable: int) -> None:
    deed = scenario("- {at: 2m, kubectl_rollout: }", replicas).script[0].deed
    assert isinstance(deed, RollingBounce)
    assert (deed.surge, deed.max_unavailable) == (surge, unavailable)


def test_a_pod_is_ready_at_the_first_probe_after_its_start() -> None:
    text = "- {at: 2m, kubectl_rollout: {readinessProbe: {initialDelaySeconds: 3s, periodSeconds: 4s}}}"
    deed = scenario(text).script[0].deed
    assert isinstance(deed, RollingBounce) and deed.ready_after_us == 11_000_000


def test_a_partition_leaves_the_lower_ordinals_alone() -> None:
    text = "- {at: 2m, kubectl_rollout: {kind: StatefulSet, partition: 2}}"
    trace = play(scenario(text))
    stopped = [e.consumer for e in events(trace, ConsumerExited)]
    assert stopped == ["c3", "c2"]


def test_a_recreate_starts_nobody_before_the_last_one_is_gone() -> None:
    trace = play(scenario("- {at: 2m, kubectl_rollout: {type: Recreate, imagePull: 5s}}"))
    gone = max(e.at_us for e in events(trace, ConsumerExited))
    again = [e.at_us for e in events(trace, ConsumerStarted) if e.at_us > 60_000_000]
    assert len(again) == 4 and min(again) == gone + 5_000_000


def test_a_drain_waits_for_the_disruption_budget() -> None:
    text = "- {at: 2m, drain_node: {members: [c0, c1], kind: StatefulSet, minAvailable: 75%}}"
    built = scenario(text)
    deed = built.script[0].deed
    assert isinstance(deed, DrainNode) and deed.keep == 3
    evicted = said(play(built), "DrainNode")
    assert [text for _, text in evicted] == ["evict c0", "evict c1"]
    assert evicted[1][0] - evicted[0][0] >= 10  # the second only when the first was back


def test_without_a_budget_a_node_is_drained_at_once_and_others_come_elsewhere() -> None:
    trace = play(scenario("- {at: 2m, drain_node: {members: [c0, c1]}}"))
    assert [at for at, _ in said(trace, "DrainNode")] == [120, 120]
    assert {"c4", "c5"} <= {e.consumer for e in events(trace, ConsumerStarted)}


def test_an_evicted_machine_is_gone_after_its_notice_whoever_hangs() -> None:
    text = "- {at: 2m, hang: {member: c0, for: 5m}}\n- {at: 3m, evict: {members: c0, notice: 5s}}"
    exits = events(play(scenario(text)), ConsumerExited)
    assert [(e.consumer, e.at_us) for e in exits] == [("c0", 185_000_000)]


@pytest.mark.parametrize(("looks_at", "is_killed"), [("process", False), ("poll_loop", True)])
def test_whether_a_hung_handler_is_killed_depends_on_what_the_probe_sees(
    looks_at: str, is_killed: bool
) -> None:
    script = (
        f"- {{at: 1m, id: kubelet, probe: {{looks_at: {looks_at}, staleAfter: 20s}}}}\n"
        "- {at: 2m, hang: {member: c0, for: 4m}}"
    )
    trace = play(scenario(script))
    killed = said(trace, "Probe")
    assert bool(killed) == is_killed
    if is_killed:  # 20 s stale, three looks 10 s apart: long before max.poll.interval.ms
        assert 120 + 20 <= killed[0][0] <= 120 + 60
        assert (analyse(trace).measure("longest_pause") or 0) < 150_000_000


def test_a_frozen_process_answers_no_probe_at_all() -> None:
    script = "- {at: 1m, probe: }\n- {at: 2m, freeze: {member: c0, for: 3m}}"
    assert said(play(scenario(script)), "Probe")


def test_the_restarts_of_a_crash_loop_are_held_back_longer_and_longer() -> None:
    waits = [back_off_us(n) // 1_000_000 for n in range(8)]
    assert waits == [0, 10, 20, 40, 80, 160, 300, 300]


@pytest.mark.slow
def test_the_plain_way_tells_the_same() -> None:
    script = (
        "- {at: 1m, probe: {looks_at: poll_loop}}\n"
        "- {at: 2m, drain_node: {members: c1, kind: StatefulSet, maxUnavailable: 1}}\n"
        "- {at: 4m, kubectl_rollout: {minReadySeconds: 5s}}"
    )
    built = scenario(script)
    quiet, plain = play(built), play(built, plain=True)
    assert said(quiet, "Probe") == said(plain, "Probe") == []
    assert said(quiet, "RollingBounce") == said(plain, "RollingBounce") != []
    exits = [[(e.at_us, e.consumer) for e in events(t, ConsumerExited)] for t in (quiet, plain)]
    assert exits[0] == exits[1]
