"""What hurts in how pods are started, replaced and ended: one function a rule, each with its why."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.worlds.understood import Consumer, Understood
from rebalsim.worlds.values import Hurt


def shell(consumer: Consumer, made: Understood) -> Iterator[Hurt]:
    if consumer.shell:
        grace = consumer.grace.value if consumer.grace else 30
        yield Hurt(
            "a shell is process 1",
            f"it does not pass SIGTERM on: the consumer goes on until it is killed after {grace} s, "
            "without leaving the group, which then waits for its session as well",
            consumer.where,
        )


def no_grace(consumer: Consumer, made: Understood) -> Iterator[Hurt]:
    grace, stop = consumer.grace, consumer.pre_stop
    if grace is None or not grace.known:
        return
    if grace.value == 0:
        yield Hurt(
            "terminationGracePeriodSeconds 0: no grace",
            "the pod is killed at once: no LeaveGroup, no commit; every restart is a crash",
            grace.source,
        )
    elif stop is not None and stop.known and stop.value >= grace.value:
        yield Hurt(
            f"preStop takes {stop.value} s of a grace of {grace.value} s",
            "nothing is left for the application: it is killed before it can leave the group",
            stop.source,
        )


def short_grace(consumer: Consumer, made: Understood) -> Iterator[Hurt]:
    grace = consumer.grace
    is_pod = not str(consumer.workload or "").startswith("service/")
    if grace is not None and grace.sure == "stated" and is_pod and 0 < (grace.value or 0) <= 10:
        yield Hurt(
            f"terminationGracePeriodSeconds: a grace of {grace.value} s",
            "the batch in hand, the commit and close() must fit into it, else the pod is killed and "
            "its session must run out",
            grace.source,
        )


def http_probe(consumer: Consumer, made: Understood) -> Iterator[Hurt]:
    for probe in consumer.probes:
        if probe.kind == "readinessProbe" and probe.what.startswith("/"):
            yield Hurt(
                f"readiness probe {probe.what} of an HTTP server",
                "it knows nothing of Kafka: a pod is ready before, or long after, it has joined the "
                "group, and the rollout goes by it",
                probe.where,
            )


def stateful_one(consumer: Consumer, made: Understood) -> Iterator[Hurt]:
    label, count = str(consumer.workload or ""), consumer.replicas
    if not label.startswith("StatefulSet/"):
        return
    if count is not None and count.value == 1 and count.sure == "stated":
        yield Hurt(
            "StatefulSet with one replica",
            "the old pod goes before the new one comes: nothing is consumed from SIGTERM until the new "
            "member has joined",
            count.source or consumer.where,
        )
    if consumer.update and consumer.update.pod_management == "Parallel":
        yield Hurt(
            "podManagementPolicy Parallel",
            "speaks of scaling only: an update still goes one pod at a time, the highest ordinal first",
            consumer.where,
        )


def recreate(consumer: Consumer, made: Understood) -> Iterator[Hurt]:
    is_pod = not str(consumer.workload or "").startswith("service/")
    if consumer.update and consumer.update.type == "Recreate" and is_pod:
        yield Hurt(
            "strategy Recreate",
            "every pod stops before the first new one starts: everything stands still for the grace "
            "period, the start and the join",
            consumer.where,
        )


def probe(consumer: Consumer, made: Understood) -> Iterator[Hurt]:
    """Compose and systemd wait for nobody to be ready."""
    of_others = str(consumer.workload or "").startswith(("service/", "systemd/"))
    is_pod = consumer.ready is not None and not of_others
    if is_pod and consumer.ready is not None and consumer.ready.period is None:
        yield Hurt(
            "no readiness probe",
            "a pod counts as ready as soon as its container runs: the rollout goes on before the new "
            "member has joined",
            consumer.where,
        )


def one_by_one(consumer: Consumer, made: Understood) -> Iterator[Hurt]:
    """surge 1, unavailable 0: a join, then a leave, for each pod."""
    update, count = consumer.update, consumer.replicas
    if not update or not update.surge or not update.unavailable or count is None:
        return
    pods = count.value if isinstance(count.value, int) else 0
    if update.surge[1] == 1 and update.unavailable[1] == 0 and pods >= 2:
        ready = consumer.ready.at_least if consumer.ready else 0
        yield Hurt(
            f"one pod at a time: surge 1, unavailable 0, {pods} pods",
            f"one after the other, each at least {ready} s, each a join of the new and a leave of the "
            f"old: up to {2 * pods} rebalances under the classic protocol",
            consumer.where,
        )
