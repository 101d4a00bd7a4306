"""A rollout's numbers, row by row as Kubernetes has them."""

from __future__ import annotations

import pytest
from reading import deployment, one, read

from rebalsim.worlds.kubernetes.rollout import Fences, fences, next_probe
from rebalsim.worlds.to_scenario import to_scenario
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


def test_what_an_argo_rollout_does_besides_is_told() -> None:
    def rollout(strategy: str) -> Understood:
        text = deployment(kind="Rollout", spec=f"replicas: 4\nstrategy: {strategy}")
        return read(a_yaml=text.replace("apps/v1", "argoproj.io/v1alpha1"))

    canary = rollout("{canary: {maxSurge: 50%, steps: [{setWeight: 20}]}}")
    assert _rolled(canary.consumers[0]).most_pods == 6
    assert any("canary's steps" in why for why in canary.ignored)
    blue = rollout("{blueGreen: {activeService: a}}")
    assert (_rolled(blue.consumers[0]).most_pods, _rolled(blue.consumers[0]).fewest_available) == (
        8,
        4,
    )
    assert any("blue-green" in why for why in blue.ignored)
    assert not rollout("{canary: {maxSurge: 50%}}").ignored
