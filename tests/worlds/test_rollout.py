"""A rollout's numbers, row by row as Kubernetes has them."""

from __future__ import annotations

import re

import pytest
from reading import deployment, one, read

from rebalsim.one_run import run_once
from rebalsim.scenario.load import story_of
from rebalsim.worlds.kubernetes import canary
from rebalsim.worlds.kubernetes.rollout import Fences, fences, next_probe
from rebalsim.worlds.rolls import rolls_of
from rebalsim.worlds.to_scenario import plays_of, to_scenario
from rebalsim.worlds.understood import Consumer, Understood, Update


@pytest.mark.parametrize(
    ("replicas", "surge", "unavailable"),
    [(1, 1, 0), (2, 1, 0), (3, 1, 0), (4, 1, 1), (5, 2, 1), (8, 2, 2), (10, 3, 2), (12, 3, 3)],
)
def test_a_quarter_rounds_up_for_surge_and_down_for_unavailable(
    replicas: int, surge: int, unavailable: int
) -> None:
    assert fences(replicas) == Fences(surge, unavailable)


def test_percentages_that_come_to_nothing_leave_one_unavailable() -> None:
    assert fences(3, "0%", "10%") == Fences(0, 1)


def test_a_whole_number_is_a_number_of_pods() -> None:
    assert fences(3, "2", "1") == Fences(2, 1)


@pytest.mark.parametrize(("start", "ready"), [(0, 5), (5, 5), (6, 15), (15, 15), (15.1, 25)])
def test_the_first_probe_that_can_succeed_is_on_its_grid(start: float, ready: float) -> None:
    assert next_probe(start, 5, 10) == ready


def test_what_is_left_out_of_a_deployment_is_kubernetes_default_and_says_so() -> None:
    consumer = one(d_yaml=deployment())
    assert consumer.replicas is not None and consumer.update is not None
    assert (consumer.replicas.value, consumer.replicas.sure) == (1, "default")
    assert consumer.update.surge == ("25%", 1, "default", "Kubernetes, apps/v1")
    assert (consumer.update.most_pods, consumer.update.fewest_available) == (2, 1)
    assert consumer.grace is not None and (consumer.grace.value, consumer.grace.sure) == (
        30,
        "default",
    )


def test_a_stated_fence_says_its_line() -> None:
    consumer = one(
        d_yaml=deployment(spec="replicas: 4\nstrategy: {rollingUpdate: {maxSurge: 50%}}")
    )
    assert consumer.update is not None
    assert consumer.update.surge == ("50%", 2, "stated", "d.yaml:6")
    assert consumer.update.unavailable is not None and consumer.update.unavailable[1] == 1


def test_a_stateful_set_goes_one_by_one_from_the_top() -> None:
    consumer = one(d_yaml=deployment(kind="StatefulSet", spec="replicas: 3"))
    update = consumer.update
    assert update is not None
    assert (update.order, update.pod_management) == ("highest ordinal first", "OrderedReady")
    assert (update.most_pods, update.fewest_available, update.partition) == (3, 2, 0)


def test_recreate_leaves_nobody_available() -> None:
    consumer = one(d_yaml=deployment(spec="replicas: 3\nstrategy: {type: Recreate}"))
    assert consumer.update is not None
    assert (consumer.update.type, consumer.update.fewest_available) == ("Recreate", 0)


def test_a_sleep_in_pre_stop_counts_against_the_grace() -> None:
    pod = "terminationGracePeriodSeconds: 60"
    text = deployment(pod).replace(
        "        env:",
        "        lifecycle: {preStop: {exec: {command: [sh, -c, sleep 15]}}}\n        env:",
    )
    consumer = one(d_yaml=text)
    assert consumer.pre_stop is not None and consumer.pre_stop.value == 15
    assert consumer.grace is not None and consumer.grace.value == 60


def test_a_shell_as_process_one_hurts_and_one_that_execs_does_not() -> None:
    loop = deployment().replace(
        "        env:", '        command: ["sh", "-c", "./run"]\n        env:'
    )
    assert any("SIGTERM" in h.why for h in read(d_yaml=loop).hurts)
    execs = loop.replace("./run", "exec ./run")
    assert not any("SIGTERM" in h.why for h in read(d_yaml=execs).hurts)


def test_an_old_api_version_is_read_as_the_new_one_and_says_so() -> None:
    made = read(d_yaml=deployment().replace("apps/v1", "extensions/v1beta1"))
    assert made.consumers[0].update is not None
    assert any("v1beta1" in h.what for h in made.hurts)


def test_a_startup_probe_alone_gives_its_own_first_success() -> None:
    text = deployment().replace(
        "        env:",
        "        startupProbe: {initialDelaySeconds: 7, periodSeconds: 4}\n        env:",
    )
    ready = one(d_yaml=text).ready
    assert ready is not None and (ready.at_least, ready.period) == (7, 4)


def _rolled(made: Consumer) -> Update:
    assert made.update is not None
    return made.update


def test_a_daemon_sets_share_is_of_nodes_that_no_file_counts() -> None:
    spec = "updateStrategy: {rollingUpdate: {maxUnavailable: 50%}}"
    made = read(a_yaml=deployment(kind="DaemonSet", spec=spec))
    assert _rolled(made.consumers[0]).unavailable[:3] == ("50%", 1, "inferred")
    text = to_scenario(made)
    assert "max_unavailable: 2} # DaemonSet: 2 of 3 assumed nodes at a time" in text
    two = one(a_yaml=deployment(kind="DaemonSet", spec=spec.replace("50%", "2")))
    assert _rolled(two).unavailable[:3] == ("2", 2, "stated")


# ---- Argo Rollouts, OpenKruise, Flagger ----
@pytest.mark.parametrize(
    ("weight", "replicas", "can_surge", "pods"),
    [
        (5, 10, True, (1, 10)),  # one of eleven is nearer than one of ten
        (5, 10, False, (1, 9)),
        (25, 10, True, (3, 8)),
        (25, 10, False, (3, 7)),  # two and three are as near: the larger
        (50, 10, True, (5, 5)),
        (25, 12, True, (3, 9)),
        (1, 4, False, (1, 3)),  # never none between nothing and all
        (99, 4, False, (3, 1)),
        (99, 4, True, (4, 1)),
        (10, 1, True, (1, 1)),
        (10, 1, False, (0, 1)),
        (0, 4, True, (0, 4)),
        (100, 4, True, (4, 0)),
        (50, 0, True, (0, 0)),
    ],
)
def test_a_canarys_weight_is_the_nearest_number_of_pods(
    weight: int, replicas: int, can_surge: bool, pods: tuple[int, int]
) -> None:
    assert canary.pods_at(weight, replicas, can_surge) == pods


def _argo(strategy: str, replicas: int = 4) -> Understood:
    text = deployment(kind="Rollout", spec=f"replicas: {replicas}\nstrategy: {strategy}")
    return read(a_yaml=text.replace("apps/v1", "argoproj.io/v1alpha1"))


def _script(made: Understood) -> list[str]:
    """The scenario's script, an action a line without its comment."""
    text = to_scenario(made).split("script:\n")[1].split("\nreplay")[0]
    lines = [re.sub(r" +#.*", "", line).strip() for line in text.strip().splitlines()]
    return [act.replace(" | ", " ") for act in " | ".join(lines).split("- ")[1:]]


STEPS = "[{setWeight: 5}, {pause: {duration: 1m}}, {setWeight: 50}, {pause: {duration: 120}}]"


def test_a_canary_goes_step_by_step_and_waits_in_between() -> None:
    first, second, left, last = _script(_argo(f"{{canary: {{steps: {STEPS}}}}}", 10))
    assert first.startswith("at: 60s id: rollout join: {group: orders-group, count: 1}")
    assert second.startswith("after: rollout delay: 60s id: rollout-2 rolling_bounce: {")
    assert "members: [orders-0, orders-1, orders-2, orders-3], as: deployment" in second
    assert left.startswith("after: rollout delay: 60s id: rollout-3 leave: {")
    assert "members: [orders-4]" in left
    assert last.startswith("after: rollout-2 delay: 120s id: rollout-4 rolling_bounce: {")
    assert "[orders-5, orders-6, orders-7, orders-8, orders-9]" in last


@pytest.mark.parametrize(
    "strategy",
    [
        f"{{canary: {{steps: {STEPS}}}}}",
        f"{{canary: {{maxSurge: 0, maxUnavailable: 1, steps: {STEPS}}}}}",
        f"{{canary: {{trafficRouting: {{istio: {{}}}}, steps: {STEPS}}}}}",
        f"{{canary: {{dynamicStableScale: true, trafficRouting: {{nginx: {{}}}}, steps: {STEPS}}}}}",
        "{canary: {steps: [{setWeight: 50}, {pause: {}}, {setWeight: 20}, {setWeight: 60}]}}",
        "{canary: {steps: [{pause: {duration: 1h}}, {setWeight: 101}]}}",
        "{blueGreen: {activeService: a}}",
        "{blueGreen: {previewReplicaCount: 1, autoPromotionEnabled: false}}",
    ],
)
def test_after_a_rollout_of_argos_all_pods_are_new_and_as_many_as_before(strategy: str) -> None:
    for replicas in (1, 2, 5, 10):
        story = story_of(to_scenario(_argo(strategy, replicas)).encode(), "a.yaml").check()
        analysis = run_once(story.scenario(story.variants[0]), 1).analysis
        owners = {m.consumer for m in analysis.members if m.held_last}
        assert len(owners) == replicas, (strategy, owners)  # of twelve partitions all have some
        assert not owners & {f"orders-{n}" for n in range(replicas)}


SCALER = """---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: s}
spec:
  scaleTargetRef: {kind: KIND, name: orders}
  minReplicaCount: 8
  triggers: [{type: kafka, metadata: {consumerGroup: orders-group, topic: t, lagThreshold: "50"}}]
"""


def test_shares_are_of_the_pods_that_a_scaler_keeps() -> None:
    """A left-out number is the scaler's minimum, also for the rollout."""
    made = read(a_yaml=deployment() + SCALER.replace("KIND", "Deployment"))
    assert "surge: 2, max_unavailable: 2" in to_scenario(made)
    strategy = "strategy: {canary: {steps: [{setWeight: 50}]}}"
    text = deployment(kind="Rollout", spec=strategy) + SCALER.replace("KIND", "Rollout")
    first, second = [line for line in _script(read(a_yaml=text)) if "rolling_bounce" in line]
    assert "orders-3]" in first and "orders-4" in second and "orders-7]" in second


def test_more_pods_than_are_played_are_rolled_as_those_that_are() -> None:
    for spec in (
        "replicas: 3000",
        "replicas: 3000\nstrategy: {canary: {steps: [{setWeight: 20}]}}",
    ):
        made = read(a_yaml=deployment(kind="Rollout", spec=spec))
        assert story_of(to_scenario(made).encode(), "a.yaml").check()


def test_a_restart_of_an_argo_rollout_knows_no_steps() -> None:
    plays = plays_of(_argo(f"{{canary: {{maxUnavailable: 2, steps: {STEPS}}}}}", 10))
    [roll] = rolls_of(plays, is_restart=True)
    [act] = roll.acts()
    assert "surge: 0, max_unavailable: 2" in act.inner and "members" not in act.inner


def test_what_no_file_tells_of_an_argo_rollout_is_told() -> None:
    made = _argo("{canary: {maxSurge: 50%, steps: [{setWeight: 20}, {analysis: {}}]}}")
    assert _rolled(made.consumers[0]).most_pods == 6
    assert any("how long its analysis takes is in no file" in why for why in made.ignored)
    blue = _rolled(_argo("{blueGreen: {activeService: a}}").consumers[0])
    assert (blue.most_pods, blue.fewest_available) == (8, 4)
    assert not _argo("{canary: {maxSurge: 50%}}").ignored
    assert "ASK how long that takes" in to_scenario(
        _argo("{canary: {steps: [{setWeight: 20}, {pause: {}}]}}")
    )


def test_a_rollout_may_take_its_pods_from_a_deployment() -> None:
    rollout = (
        "---\napiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: orders}\nspec:\n"
        "  replicas: 5\n  workloadRef: {apiVersion: apps/v1, kind: Deployment, name: orders}\n"
        "  strategy: {canary: {maxSurge: 1}}\n"
    )
    made = one(a_yaml=deployment(spec="replicas: 0") + rollout)
    assert made.workload == "Rollout/orders" and made.replicas is not None
    assert made.replicas.value == 5 and _rolled(made).most_pods == 6


@pytest.mark.parametrize(
    ("how", "surge", "away", "kept"),
    [
        ("{}", 0, 2, 0),  # a fifth of six, rounded up
        ("{maxUnavailable: 40%}", 0, 3, 0),
        ("{maxUnavailable: 40%, maxSurge: 1}", 1, 2, 0),  # rounds down beside a surge
        ("{maxUnavailable: 0, maxSurge: 10%, partition: 50%}", 1, 0, 3),
    ],
)
def test_a_clone_set_has_fences_of_its_own(how: str, surge: int, away: int, kept: int) -> None:
    text = deployment(kind="CloneSet", spec=f"replicas: 6\nupdateStrategy: {how}")
    made = read(a_yaml=text.replace("apps/v1", "apps.kruise.io/v1alpha1"))
    update = _rolled(made.consumers[0])
    assert update.surge is not None and update.unavailable is not None
    assert (update.surge[1], update.unavailable[1], update.partition) == (surge, away, kept)
    assert f"surge: {surge}, max_unavailable: {away}" in to_scenario(made)


@pytest.mark.parametrize(
    ("kind", "version", "spec", "said"),
    [
        ("Canary", "flagger.app/v1beta1", "targetRef: {kind: Deployment, name: orders}", "Flagger"),
        ("Rollout", "rollouts.kruise.io/v1beta1", "workloadRef: {name: orders}", "OpenKruise"),
    ],
)
def test_controllers_that_are_not_played_are_told(
    kind: str, version: str, spec: str, said: str
) -> None:
    other = f"---\napiVersion: {version}\nkind: {kind}\nmetadata: {{name: x}}\nspec: {{{spec}}}\n"
    made = read(a_yaml=deployment() + other)
    assert len(made.consumers) == 1
    assert any(why.startswith(f"{kind}/x of Deployment/orders: {said}") for why in made.ignored)
