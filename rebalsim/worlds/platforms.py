"""Workloads of other platforms than Kubernetes, in the words of its objects: ECS' services, Azure's
Container Apps, Nomad's groups and systemd's units. What each does otherwise (how it rounds, how long
it waits before it kills) is said as it is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rebalsim.worlds import hcl
from rebalsim.worlds.text_tree import at, rows, table, word
from rebalsim.worlds.values import Text, Tree, like
from rebalsim.worlds.words import boolean, milliseconds, whole

ECS, CONTAINER_APP, NOMAD, SYSTEMD = "ECS", "ContainerApp", "Nomad", "systemd"
_UNIT = re.compile(r"(?m)^\[Service\]\s*$")
_STARTED = re.compile(r"(?m)^ExecStart\s*=")
_PER_INSTANCE = re.compile(r"%[iIjJ]")


def objects_of_text(text: str, file: str) -> list[Tree]:
    """Those of a unit file or a job's specification; none where the text is neither."""
    if _UNIT.search(text) and _STARTED.search(text):
        return [_unit(text, file)]
    return list(_job(hcl.read(text, file))) if hcl.is_job(text) else []


def objects_of_tree(tree: Tree) -> list[Tree]:
    """Those of a Container App, or of ECS, whose service and task stand apart."""
    if "containerapps" in str(at(tree, "type")).lower():
        return list(_container_app(tree))
    task = at(tree, "taskDefinition") if isinstance(at(tree, "taskDefinition"), dict) else tree
    if rows(at(task, "containerDefinitions")):
        return [_task(task)]
    if isinstance(at(tree, "desiredCount"), Text) and at(tree, "taskDefinition") is not None:
        return [_made("ECSService", at(tree, "serviceName"), dict(table(tree)))]
    return []


def with_their_services(objects: list[Tree]) -> list[Tree]:
    """ECS' tasks with the number and the rollout of the service that runs them."""
    services = [tree for tree in objects if at(tree, "kind") == "ECSService"]
    tasks = [tree for tree in objects if at(tree, "kind") == ECS]
    made = []
    for tree in objects:
        if at(tree, "kind") == ECS:
            mine = [s for s in services if _runs(s, tree)] or services * (len(tasks) == 1)
            made.append(_run_by(mine[0], tree) if len(mine) == 1 else tree)
        elif at(tree, "kind") != "ECSService":
            made.append(tree)
    return made


# ---- ECS ----
def _task(task: Tree) -> Tree:
    containers = rows(at(task, "containerDefinitions"))
    graces = [whole(at(c, "stopTimeout")) for c in containers]
    longest = max((g for g in graces if g is not None), default=None)
    said = next((at(c, "stopTimeout") for c in containers if at(c, "stopTimeout")), None)
    pod: Tree = {Text("containers"): [_of_ecs(c) for c in containers]}
    if longest is not None:
        pod[Text("terminationGracePeriodSeconds")] = like(str(longest), said)
    return _made(ECS, at(task, "family"), {Text("template"): {Text("spec"): pod}})


def _of_ecs(container: Tree) -> Tree:
    """Its command and entry point are called the other way round in a pod."""
    made = dict(table(container))
    entry, command = made.pop(Text("entryPoint"), []), made.pop(Text("command"), [])
    made[Text("env")] = made.pop(Text("environment"), [])
    return {**made, Text("command"): entry, Text("args"): command}


def _runs(service: Tree, task: Tree) -> bool:
    """Whether a service names this task: as FAMILY, FAMILY:REVISION, or by its ARN."""
    named = str(at(service, "spec", "taskDefinition")).rpartition("/")[2].partition(":")[0]
    return named == str(at(task, "metadata", "name"))


def _run_by(service: Tree, task: Tree) -> Tree:
    """Of its shares the most rounds down, and the least up."""
    told = at(service, "spec")
    count = at(told, "desiredCount")
    spec = {**table(at(task, "spec")), Text("replicas"): count}
    number, how = whole(count), at(told, "deploymentConfiguration")
    if number:
        most = whole(at(how, "maximumPercent")) or 200
        least = whole(at(how, "minimumHealthyPercent"))
        least = 100 if least is None else least
        surge, away = number * most // 100 - number, number - -(-number * least // 100)
        spec[Text("strategy")] = _rolling(
            like(str(max(0, surge)), at(how, "maximumPercent") or count),
            like(str(max(0, away)), at(how, "minimumHealthyPercent") or count),
        )
    return {**table(task), Text("spec"): spec}


# ---- Azure's Container Apps ----
def _container_app(tree: Tree) -> Iterator[Tree]:
    """A new revision comes up whole before the old one goes; KEDA scales it."""
    template = at(tree, "properties", "template")
    pod = {
        Text("containers"): rows(at(template, "containers")),
        Text("terminationGracePeriodSeconds"): at(template, "terminationGracePeriodSeconds"),
    }
    spec: Tree = {Text("template"): {Text("spec"): {k: v for k, v in pod.items() if v is not None}}}
    name, scale = at(tree, "name"), at(template, "scale")
    least = at(scale, "minReplicas")
    if (whole(least) or 0) > 0:
        spec[Text("replicas")] = least
    spec[Text("strategy")] = _rolling(like("100%", name), like("0", name))
    yield _made(CONTAINER_APP, name, spec)
    rules = [at(rule, "custom") for rule in rows(at(scale, "rules")) if at(rule, "custom")]
    if rules:
        scaled = {
            Text("scaleTargetRef"): {Text("kind"): Text(CONTAINER_APP), Text("name"): name},
            Text("minReplicaCount"): least,
            Text("maxReplicaCount"): at(scale, "maxReplicas"),
            Text("triggers"): rules,
        }
        yield _made("ScaledObject", name, {k: v for k, v in scaled.items() if v is not None})


# ---- Nomad ----
def _job(tree: Tree) -> Iterator[Tree]:
    """Each group of a job: its tasks live and die together."""
    for job in table(at(tree, "job")).values():
        for name, group in table(at(job, "group")).items():
            update = {**table(at(job, "update")), **table(at(group, "update"))}
            yield _made(NOMAD, name, _group(group, update))


def _group(group: Tree, update: Tree) -> Tree:
    tasks = table(at(group, "task"))
    graces = [t for task in tasks.values() if (t := word(at(task, "kill_timeout"))) is not None]
    pod: Tree = {Text("containers"): [_of_nomad(name, task) for name, task in tasks.items()]}
    if graces:
        longest = max(graces, key=lambda t: milliseconds(t) or 0)
        pod[Text("terminationGracePeriodSeconds")] = like(
            str((milliseconds(longest) or 0) // 1000), longest
        )
    spec: Tree = {Text("template"): {Text("spec"): pod}}
    if (count := at(group, "count")) is not None:
        spec[Text("replicas")] = count
    parallel = at(update, "max_parallel") or like("1", at(group, "count"))
    spec[Text("strategy")] = {**_rolling(like("0", parallel), parallel), **_canaries(update)}
    healthy = word(at(update, "min_healthy_time"))
    seconds = (milliseconds(healthy) or 0) // 1000 if healthy is not None else 10
    return {**spec, Text("minReadySeconds"): like(str(seconds), healthy)}


def _canaries(update: Tree) -> Tree:
    if not whole(at(update, "canary")):
        return {}
    promoted = Text(str(boolean(at(update, "auto_promote")) is True).lower())
    return {Text("canaries"): at(update, "canary"), Text("autoPromote"): promoted}


def _of_nomad(name: Text, task: Tree) -> Tree:
    variables = table(at(task, "env"))
    return {
        Text("name"): name,
        Text("image"): at(task, "config", "image") or Text(""),
        Text("env"): [{Text("name"): k, Text("value"): v} for k, v in variables.items()],
        Text("command"): [c for c in (word(at(task, "config", "command")),) if c is not None],
        Text("args"): at(task, "config", "args") or [],
    }


# ---- systemd ----
def _unit(text: str, file: str) -> Tree:
    """A unit is one process; of a template (NAME@.service) as many run as are started."""
    path = file.rpartition("/")[2]
    name, is_template = path.partition(".service")[0].rstrip("@"), "@" in path
    told: dict[str, list[Text]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        key, sign, value = line.partition("=")
        if sign:
            told.setdefault(key.strip(), []).append(Text(value.strip(), file, number))
    command = told["ExecStart"][-1]
    container = {
        Text("name"): Text(name, file, command.line),
        Text("env"): [pair for line in told.get("Environment", []) for pair in _assigned(line)],
        Text("command"): [like(w, command) for w in command.lstrip("-@:+!").split()],
    }
    pod: Tree = {Text("containers"): [container]}
    if "TimeoutStopSec" in told:
        pod[Text("terminationGracePeriodSeconds")] = _seconds(told["TimeoutStopSec"][-1])
    spec: Tree = {Text("template"): {Text("spec"): pod}}
    spec[Text("replicas")] = like("as many as are started" if is_template else "1", command)
    return _made(SYSTEMD, Text(name or "unit", file, command.line), spec)


def _assigned(line: Text) -> Iterator[Tree]:
    """`A=1 "B=2 3"`; what differs from instance to instance is as good as a pod's name."""
    for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', line):
        key, sign, value = (quoted or plain).partition("=")
        if sign:
            said = _PER_INSTANCE.sub("{pod}", value).replace("%%", "%")
            yield {Text("name"): like(key, line), Text("value"): like(said, line)}


def _seconds(told: Text) -> Text:
    number = whole(told)
    ms = milliseconds(told) if number is None else number * 1000
    return told if ms is None else like(str(ms // 1000), told)


# ---- all of them ----
def _made(kind: str, name: Tree, spec: Tree) -> Tree:
    where = name if isinstance(name, Text) else Text("workload")
    return {
        like("kind", where): Text(kind),
        Text("metadata"): {Text("name"): where},
        Text("spec"): spec,
    }


def _rolling(surge: Tree, unavailable: Tree) -> Tree:
    fences = {Text("maxSurge"): surge, Text("maxUnavailable"): unavailable}
    return {Text("rollingUpdate"): fences}
