"""A workload's own numbers: replicas, how it is updated, how its pods start and end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from rebalsim.words.lists import joined
from rebalsim.worlds.kubernetes import canary
from rebalsim.worlds.kubernetes.rollout import fences, is_share, share
from rebalsim.worlds.placeholders import GAP, resolved
from rebalsim.worlds.text_tree import at, rows, table, word
from rebalsim.worlds.understood import Update
from rebalsim.worlds.values import (
    DEFAULT,
    INFERRED,
    STATED,
    Hurt,
    Text,
    Tree,
    Value,
    default,
    place,
    place_in,
    stated,
    unknown,
)
from rebalsim.worlds.words import boolean, whole

# Kinds that an operator turns into a Deployment with its own defaults.
OPERATORS = ("ClowdApp", "Application", "Rollout", "Service", "App", "LeaderElectedDeployment")
KINDS = (
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "ReplicaSet",
    "DeploymentConfig",
    "CloneSet",
    "Job",
    "CronJob",
    "Pod",
    *OPERATORS,
    "ECS",  # of other platforms, in these words
    "ContainerApp",
    "Nomad",
    "systemd",
)
OLD_VERSIONS = ("extensions/v1beta1", "apps/v1beta1", "apps/v1beta2")


@dataclass(slots=True)
class Workload:
    """A workload before anybody asked whether it consumes."""

    kind: str
    name: str
    pod: Tree  # the pod's spec
    containers: list[Tree]
    tree: Tree
    made_by_operator: bool = False
    replicas: Value = field(default_factory=unknown)
    replicas_left_out: bool = False
    update: Update | None = None
    hurts: list[Hurt] = field(default_factory=list)
    where: str = ""
    annotations: dict[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return f"{self.kind}/{self.name}"


def workloads(tree: Tree) -> list[Workload]:
    """The workloads of one object: none, one, or those of a ClowdApp."""
    kind = str(at(tree, "kind"))
    if kind not in KINDS:
        return []
    if kind == "ClowdApp":
        return [_clowd(tree, row) for row in rows(at(tree, "spec", "deployments"))]
    if kind == "Application" and isinstance(at(tree, "spec", "image"), Text):
        return [_nais(tree)]
    pod = _pod_spec(tree, kind)
    if not isinstance(pod, dict) or not rows(at(pod, "containers")):
        return []
    made = Workload(kind, _name(tree), pod, rows(at(pod, "containers")), tree)
    made.made_by_operator = kind in OPERATORS
    _numbers(made, at(tree, "spec", "replicas"), "replicas" in table(at(tree, "spec")))
    return [made]


def _pod_spec(tree: Tree, kind: str) -> Tree:
    if kind == "CronJob":
        return at(tree, "spec", "jobTemplate", "spec", "template", "spec")
    return at(tree, "spec") if kind == "Pod" else at(tree, "spec", "template", "spec")


def _name(tree: Tree) -> str:
    name = word(at(tree, "metadata", "name"))
    if name is not None and GAP not in name:
        return str(name)
    labels = table(at(tree, "metadata", "labels")) or table(
        at(tree, "spec", "template", "metadata", "labels")
    )
    for key in ("app.kubernetes.io/name", "app", "name", "component"):
        said = word(labels.get(Text(key)))
        if said is not None and GAP not in said:
            return str(said)
    container = word(at(tree, "spec", "template", "spec", "containers", 0, "name"))
    if container is not None and GAP not in container:
        return str(container)
    return str(name).replace(GAP, "").strip("-") if name and name.strip(GAP + "-") else "workload"


def _clowd(tree: Tree, row: Tree) -> Workload:
    """A deployment of a ClowdApp: the operator names it APP-NAME."""
    pod = table(at(row, "podSpec"))
    name = f"{_name(tree)}-{at(row, 'name')}"
    made = Workload("ClowdApp", f"{_name(tree)}", pod, [pod], tree, True)
    made.name = f"{_name(tree)} deployment {at(row, 'name')} (becomes Deployment/{name})"
    count = next(
        (c for k in ("replicas", "minReplicas") if (c := at(row, k)) is not None),
        at(row, "autoScalerSimple", "replicas", "min"),
    )
    _numbers(made, count, count is not None)
    return made


def _nais(tree: Tree) -> Workload:
    """A NAIS Application: one container, replicas between min and max."""
    spec = table(at(tree, "spec"))
    container: dict[Text, Tree] = {
        Text("name"): Text(_name(tree)),
        Text("image"): spec.get(Text("image")),
        Text("env"): spec.get(Text("env")),
        Text("envFrom"): [],
    }
    for ours, theirs in (("readiness", "readinessProbe"), ("liveness", "livenessProbe")):
        if isinstance(own := at(spec, ours), dict):
            delay = at(own, "initialDelay")
            container[Text(theirs)] = {
                Text("initialDelaySeconds"): delay,
                Text("periodSeconds"): at(own, "periodSeconds"),
            }
    made = Workload("Application", _name(tree), spec, [container], tree, True)
    count = at(spec, "replicas", "min")
    _numbers(made, count, count is not None)
    return made


def _numbers(made: Workload, count: Tree, told: bool) -> None:
    made.where = place(next(iter(table(made.tree)), None))
    notes = table(at(made.tree, "metadata", "annotations"))
    made.annotations = {str(k): v for k, v in notes.items() if isinstance(v, Text)}
    if made.kind in ("DaemonSet", "Job", "CronJob"):
        made.replicas = unknown(
            "one a node" if made.kind == "DaemonSet" else "as many as are started"
        )
        made.replicas_left_out = True
    else:
        made.replicas = _count(count, told)
        made.replicas_left_out = not told
    made.update = _update(made)
    version = str(at(made.tree, "apiVersion") or "")
    if version in OLD_VERSIONS:
        gone = "removed in Kubernetes 1.16" if version != "apps/v1beta2" else "gone since 1.16"
        made.hurts.append(
            Hurt(
                f"apiVersion {version}",
                f"{gone}; its defaults differ (surge and unavailable 1 each, no deadline): "
                "read here as apps/v1",
                made.where,
            )
        )


def _count(count: Tree, told: bool) -> Value:
    if not told or count is None:
        return default(1, "no spec.replicas: Kubernetes takes 1")
    said = resolved(count, {}) if isinstance(count, Text) else None
    number = whole(said) if said is not None else None
    return unknown(place(count)) if number is None else stated(number, place(count))


# ---- how it is updated ----
def _update(made: Workload) -> Update | None:
    if made.kind == "StatefulSet":
        return _stateful(made)
    if made.kind in ("Job", "CronJob", "Pod", "systemd"):
        return None
    if made.kind == "DaemonSet":
        return _daemon(made)
    if made.kind == "CloneSet":
        return _clone_set(made)
    spec = at(made.tree, "spec")
    how = at(spec, "strategy")
    kind = str(at(how, "type") or "RollingUpdate")
    if kind == "Recreate":
        update = Update("Recreate", most_pods=made.replicas.value, fewest_available=0)
    else:
        update = _rolling(made, how)
    update.min_ready_seconds = whole(at(spec, "minReadySeconds")) or 0
    update.progress_deadline = whole(at(spec, "progressDeadlineSeconds")) or 600
    update.paused = boolean(at(spec, "paused")) is True
    return update


def _rolling(made: Workload, how: Tree) -> Update:
    told = at(how, "rollingUpdate") or at(how, "rollingParams") or at(how, "canary")
    surge, unavailable = at(told, "maxSurge"), at(told, "maxUnavailable")
    update = Update("RollingUpdate")
    replicas = made.replicas.value
    update.staged = _staged(made, how)
    if not isinstance(replicas, int):
        return update
    if made.kind == "Rollout" and at(how, "blueGreen") is not None:
        return _blue_green(update, replicas, place_in(how))
    given = [str(g) if isinstance(g, Text) and is_share(g) else "25%" for g in (surge, unavailable)]
    limits = fences(replicas, given[0], given[1])
    unsaid = INFERRED if made.made_by_operator else DEFAULT
    update.surge = _fence(surge, limits.surge, unsaid)
    update.unavailable = _fence(unavailable, limits.unavailable, unsaid)
    update.most_pods = replicas + limits.surge
    update.fewest_available = replicas - limits.unavailable
    return update


def _staged(made: Workload, how: Tree) -> Callable[[int, int], tuple[canary.Stage, ...]] | None:
    """For Argo's and Nomad's rollouts, which wait in between."""
    if made.kind == "Rollout":
        return partial(canary.stages_of, how)
    if made.kind == "Nomad":
        is_auto = boolean(at(how, "autoPromote")) is True
        return partial(canary.nomads, whole(at(how, "canaries")) or 0, is_auto)
    return None


def _blue_green(update: Update, replicas: int, where: str) -> Update:
    """Argo's: as many new pods as there are old ones, and none of these goes before."""
    update.surge = ("100%", replicas, INFERRED, where)
    update.unavailable = ("0", 0, INFERRED, where)
    update.most_pods, update.fewest_available = 2 * replicas, replicas
    return update


def _fence(given: Tree, pods: int, unsaid: str) -> tuple[str | None, int, str, str]:
    if isinstance(given, Text) and is_share(given):
        return str(given), pods, STATED, place(given)
    return "25%", pods, unsaid, "Kubernetes, apps/v1"


def _daemon(made: Workload) -> Update:
    """One pod a node at a time unless it says otherwise; a share is of nodes that no file counts."""
    how = at(made.tree, "spec", "updateStrategy")
    given = at(how, "rollingUpdate", "maxUnavailable")
    update = Update(str(at(how, "type") or "RollingUpdate"))
    update.unavailable = (None, 1, DEFAULT, "Kubernetes")
    if isinstance(given, Text) and is_share(given):
        pods = whole(given)
        sure = STATED if pods is not None else INFERRED
        update.unavailable = (str(given), max(1, pods or 1), sure, place(given))
    return update


def _clone_set(made: Workload) -> Update:
    """OpenKruise's: a fifth may be away and none comes in addition, unless it says otherwise; a share
    of pods away rounds up, and down where some come in addition. `partition` pods stay old.
    """
    how = at(made.tree, "spec", "updateStrategy")
    update = Update("RollingUpdate", paused=boolean(at(how, "paused")) is True)
    update.min_ready_seconds = whole(at(made.tree, "spec", "minReadySeconds")) or 0
    replicas = made.replicas.value
    if not isinstance(replicas, int):
        return update
    given = {key: at(how, key) for key in ("maxSurge", "maxUnavailable", "partition")}
    said = {k: str(v) if isinstance(v, Text) and is_share(v) else "" for k, v in given.items()}
    surge = share(said["maxSurge"] or "0", replicas, True)
    away = min(replicas, share(said["maxUnavailable"] or "20%", replicas, surge == 0))
    away = away if surge or away else 1
    update.surge = _of_clone_set(given["maxSurge"], said["maxSurge"], "0", surge)
    update.unavailable = _of_clone_set(given["maxUnavailable"], said["maxUnavailable"], "20%", away)
    update.partition = share(said["partition"] or "0", replicas, True)
    update.most_pods, update.fewest_available = replicas + surge, replicas - away
    return update


def _of_clone_set(
    given: Tree, said: str, unsaid: str, pods: int
) -> tuple[str | None, int, str, str]:
    where = place(given) if said else "OpenKruise, CloneSet"
    return said or unsaid, pods, STATED if said else DEFAULT, where


def not_played_of(made: Workload) -> str:
    """What an Argo Rollout waits for that no file tells; empty for all others."""
    waits = canary.not_played(at(made.tree, "spec", "strategy")) if made.kind == "Rollout" else ()
    if not waits:
        return ""
    return f"how long its {joined(waits)} takes is in no file: played as passed at once"


def _stateful(made: Workload) -> Update:
    spec = at(made.tree, "spec")
    how = at(spec, "updateStrategy")
    told = table(at(how, "rollingUpdate"))
    kind = str(at(how, "type") or "RollingUpdate")
    update = Update(kind, order="highest ordinal first")
    update.unavailable = (None, 1, DEFAULT, "Kubernetes, apps/v1")
    update.pod_management = str(at(spec, "podManagementPolicy") or "OrderedReady")
    update.partition = whole(told.get(Text("partition"))) or 0
    update.min_ready_seconds = whole(at(spec, "minReadySeconds")) or 0
    replicas = made.replicas.value
    if isinstance(replicas, int):
        update.most_pods, update.fewest_available = replicas, max(0, replicas - 1)
    for part in (told, table(at(how, "rollingParams"))):
        for key in ("maxSurge",):
            if key in part:
                made.hurts.append(
                    Hurt(
                        "maxSurge on a StatefulSet",
                        "a StatefulSet knows no surge: the field is refused, or dropped",
                        place(part[Text(key)]),
                    )
                )
    return update
