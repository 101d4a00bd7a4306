"""A pod's own life: hooks, probes, restarts that are held back, limits on its CPU, and what Spring does
with a record whose handling throws.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from rebalsim.analysis import analyse
from rebalsim.domain.errors import ProblemsError
from rebalsim.scenario.load import story_of
from rebalsim.simulation.world import play
from rebalsim.trace.events import (
    ConsumerExited,
    ConsumerStarted,
    HandlerStuck,
    PollingBegan,
    RecordsDelivered,
    ScriptActed,
    StopAsked,
)

STORY = """
topics: {{orders: {{partitions: 6, rate: 60/s}}}}
group:
  members: 3
  handler: {{{handler}}}
  life: {{{life}}}
script:
{script}
replay: [{variant}]
horizon: {horizon}
"""


def played(
    script: str,
    life: str = "start: 5s",
    handler: str = "per_record: 1ms, commit: sync-batch",
    horizon: str = "15m",
    variant: str = "eager",
    *,
    plain: bool = False,
) -> Any:
    lines = "\n".join(f"  {line}" for line in script.strip().splitlines())
    text = STORY.format(script=lines, life=life, handler=handler, horizon=horizon, variant=variant)
    return play(story_of(text.encode(), "story").check().scenario(variant), plain=plain)


def times(trace: Any, kind: type, consumer: str = "") -> list[float]:
    found = [e for e in trace.events if type(e) is kind]
    return [e.at_us / 1e6 for e in found if not consumer or e.consumer == consumer]


def ends(trace: Any) -> list[tuple[float, str, str, str]]:
    return [
        (e.at_us / 1e6, e.consumer, e.how, e.error or e.why)
        for e in trace.events
        if type(e) is ConsumerExited
    ]


def said(trace: Any, kind: str) -> list[str]:
    return [e.text for e in trace.events if type(e) is ScriptActed and e.kind == kind]


# ---- preStop ----
def test_a_pod_consumes_on_while_its_hook_runs_and_closes_then() -> None:
    trace = played("- {at: 1m, leave: c0}", "start: 5s, preStop: 10s, grace: 30s")
    assert times(trace, StopAsked) == [60.0]
    assert [(round(at), who, how) for at, who, how, _ in ends(trace)] == [(70, "c0", "closed")]


@pytest.mark.parametrize(
    ("hook", "stop", "end"), [("40s", "1s", 31), ("40s", "5s", 32), ("25s", "10s", 30)]
)
def test_a_hook_uses_up_the_grace_and_leaves_two_seconds_at_least(
    hook: str, stop: str, end: int
) -> None:
    life = f"start: 5s, stop: {stop}, preStop: {hook}, grace: 30s"
    (at, _, how, _), *others = ends(played("- {at: 1m, leave: c0}", life))
    assert not others and round(at) == 60 + end
    assert how == ("closed" if end == 31 else "killed")


# ---- restarts ----
def test_a_pod_that_dies_again_and_again_is_started_later_and_later() -> None:
    trace = played(
        "- {at: 1m, crash: c0, every: 1s, times: 30}", "start: 100ms, restartPolicy: Always"
    )
    died = [at for at, who, _, _ in ends(trace) if who == "c0"]
    back = times(trace, ConsumerStarted, "c0")[1:]
    waits = [round(b - d) for d, b in zip(died, back, strict=True)]
    assert waits == [0, 10, 20]
    assert "is started again after 20 s of back-off" in said(trace, "Kubelet")[2]


def test_ten_quiet_minutes_begin_the_back_off_anew() -> None:
    script = "- {at: 1m, crash: c0}\n- {at: 2m, crash: c0}\n- {at: 13m, crash: c0}"
    trace = played(script, "start: 1s, restartPolicy: Always")
    assert [text.rsplit(" is started ", 1)[1] for text in said(trace, "Kubelet")] == [
        "again at once",
        "again after 10 s of back-off",
        "again at once",
    ]


def test_who_is_stopped_or_restarted_by_the_script_is_not_the_kubelets() -> None:
    life = "start: 1s, restartPolicy: Always"
    assert not said(played("- {at: 1m, leave: c0}", life), "Kubelet")
    trace = played("- {at: 1m, crash: {member: c0, restart_after: 7s}}", life)
    assert not said(trace, "Kubelet") and times(trace, ConsumerStarted, "c0")[1] == 67.0


def test_without_a_policy_the_dead_stay_dead() -> None:
    assert len(times(played("- {at: 1m, crash: c0}"), ConsumerStarted, "c0")) == 1


# ---- startup probes and rollouts ----
ROLL = "- {at: 2m, kubectl_rollout: {maxSurge: 1, maxUnavailable: 0, readinessProbe: {periodSeconds: 5s}}}"


def test_a_start_that_outlasts_its_probe_is_killed_and_the_rollout_never_ends() -> None:
    life = (
        "start: 40s, restartPolicy: Always, startupProbe: {periodSeconds: 10s, failureThreshold: 4}"
    )
    trace = played(ROLL.replace("kubectl_rollout: {", "kubectl_rollout: {life: {" + life + "}, "))
    killed = [e for e in ends(trace) if e[3] == "startup-probe"]
    assert killed[0][:3] == (120 + 30, "c3", "killed")
    assert all(who == "c3" for _, who, _, _ in ends(trace))  # no old pod is stopped for it
    assert said(trace, "RollingBounce")[-1] == (
        "progress deadline exceeded: 0 of 3 new pods are ready"
    )


def test_readiness_goes_by_the_start_that_was_drawn() -> None:
    trace = played(ROLL, "start: 5s..30s", horizon="10m")
    for name in ("c3", "c4"):
        began, runs = (times(trace, k, name)[0] for k in (ConsumerStarted, PollingBegan))
        looks = -(-(runs - began) // 5)
        stops = [at for at in times(trace, StopAsked) if at > began]
        assert min(stops) == pytest.approx(began + 5 * looks, abs=0.01)


def test_a_startup_probe_holds_the_readiness_probe_back() -> None:
    life = "start: 12s, startupProbe: {periodSeconds: 10s, failureThreshold: 30}"
    trace = played(ROLL, life, horizon="10m")
    began = times(trace, ConsumerStarted, "c3")[0]
    assert times(trace, StopAsked)[0] - began == pytest.approx(20)


def test_on_delete_restarts_nothing_and_each_pod_changes_with_its_next_restart() -> None:
    script = (
        "- {at: 1m, kubectl_rollout: {kind: StatefulSet, type: OnDelete, life: {start: 30s}}}\n"
        "- {at: 2m, crash: {member: c1, restart_after: 1s}}"
    )
    trace = played(script)
    assert [who for _, who, _, _ in ends(trace)] == ["c1"]
    took = times(trace, PollingBegan, "c1")[1] - times(trace, ConsumerStarted, "c1")[1]
    assert took == pytest.approx(30)
    with pytest.raises(ProblemsError, match="OnDelete is a StatefulSet's"):
        played("- {at: 1m, kubectl_rollout: {type: OnDelete}}")


# ---- CPU ----
def test_less_than_a_core_stretches_the_start_and_the_handling() -> None:
    script = "- {at: 1m, crash: {member: c0, restart_after: 1s}}"
    for limit, took in (("250m", 20), ("2", 5)):
        trace = played(script, f"start: 5s, cpuLimit: {limit}")
        assert times(trace, PollingBegan, "c0")[1] == pytest.approx(61 + took)
    text = STORY.format(
        script="  []",
        life="cpuLimit: 0.5",
        handler="per_record: 4ms",
        horizon="1m",
        variant="eager",
    )
    made = story_of(text.encode(), "s").check().scenario("eager")
    assert made.groups[0].consumers[0].handler.per_record.a == 8_000
    assert "take 2 × as long" in made.notes[0]


# ---- records whose handling throws ----
SPRING = (
    "per_record: 1ms, commit: sync-batch, error_handler: {attempts: 5, backOff: 2s, multiplier: 2}"
)
THROWS = "- {at: 1m, poison: {partition: orders-0, throws: true}}"


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["eager", "consumer"])
def test_springs_error_handler_waits_seeks_and_skips_in_the_end(variant: str) -> None:
    trace = played(THROWS, handler=SPRING, horizon="5m", variant=variant)
    assert not ends(trace)
    stuck = [e.at_us for e in trace.events if type(e) is HandlerStuck]
    gaps = [round((b - a) / 1e6) for a, b in pairwise(stuck)]
    assert len(stuck) == 4 and gaps == [2, 4, 8]  # the fifth attempt is the last
    firsts = [
        told[0]
        for e in trace.events
        if type(e) is RecordsDelivered and e.at_us > 60_000_000
        for partition, told in e.batch.items()
        if str(partition) == "orders-0"
    ]
    assert len(firsts) - len(set(firsts)) == 3  # the record itself, sought again and again
    assert analyse(trace).measure("rebalances") == 0


def test_a_throw_that_passes_is_over_after_so_many_deliveries() -> None:
    trace = played(THROWS.replace("true}", "true, times: 2}"), handler=SPRING, horizon="5m")
    assert len(times(trace, HandlerStuck)) == 2


def test_without_an_error_handler_it_is_as_the_application_takes_exceptions() -> None:
    crashing = "per_record: 1ms, commit: sync-batch, on_error: crash"
    trace = played(THROWS.replace("true}", "true, times: 2}"), handler=crashing, horizon="5m")
    assert [(who, how, error) for _, who, how, error in ends(trace)] == [
        ("c0", "fatal", "RuntimeException"),
        ("c1", "fatal", "RuntimeException"),
    ]
    assert not ends(played(THROWS, handler="per_record: 1ms, on_error: retry", horizon="5m"))


def test_a_poison_says_what_it_does() -> None:
    with pytest.raises(ProblemsError, match="neither hangs nor throws"):
        played("- {at: 1m, poison: {partition: orders-0}}")


@pytest.mark.parametrize(
    ("script", "life", "handler"),
    [
        (THROWS, "start: 5s", SPRING),
        (ROLL, "start: 5s..20s, startupProbe: {periodSeconds: 3s, failureThreshold: 9}", SPRING),
        ("- {at: 1m, crash: c0, every: 7s, times: 9}", "start: 1s, restartPolicy: Always", SPRING),
    ],
)
def test_the_plain_way_tells_the_same(script: str, life: str, handler: str) -> None:
    quiet, plain = (
        played(script, life, handler, "5m", plain=is_plain) for is_plain in (False, True)
    )
    assert ends(quiet) == ends(plain)
    for kind in (ConsumerStarted, PollingBegan, HandlerStuck):
        assert times(quiet, kind) == times(plain, kind)
