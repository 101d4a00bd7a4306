"""How a pod starts and ends: its probes, its preStop, its grace, and what its process 1 does."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rebalsim.worlds.kubernetes.rollout import first_success
from rebalsim.worlds.text_tree import at, texts
from rebalsim.worlds.values import Text, Tree, Value, default, place, stated, unknown
from rebalsim.worlds.words import whole


@dataclass(frozen=True, slots=True)
class Probe:
    """A probe's numbers, defaults filled in."""

    kind: str
    initial_delay: int = 0
    period: int = 10
    timeout: int = 1
    successes: int = 1
    failures: int = 3
    what: str = ""  # http path, command …
    where: str = ""


@dataclass(frozen=True, slots=True)
class Ready:
    """Earliest readiness: seconds from the container's start to the first probe that can succeed."""

    at_least: int
    period: int | None
    why: str


def probe(container: Tree, kind: str) -> Probe | None:
    tree = at(container, kind)
    if not isinstance(tree, dict):
        return None

    def number(key: str, fallback: int) -> int:
        said = whole(at(tree, key))
        return fallback if said is None else said

    what = at(tree, "httpGet", "path") or " ".join(texts(at(tree, "exec", "command")))
    return Probe(
        kind,
        number("initialDelaySeconds", 0),
        max(1, number("periodSeconds", 10)),
        number("timeoutSeconds", 1),
        number("successThreshold", 1),
        number("failureThreshold", 3),
        str(what or ""),
        place(next(iter(tree), None)),
    )


def ready(container: Tree) -> Ready:
    """The readiness probe's first success, behind the startup probe's where there is one."""
    startup, readiness = probe(container, "startupProbe"), probe(container, "readinessProbe")
    started = first_success(startup.initial_delay, startup.period) if startup else 0
    if readiness is None:
        if startup is None:
            return Ready(0, None, "no readiness probe: Ready as soon as the container runs")
        return Ready(started, startup.period, "startupProbe, and no readinessProbe")
    own = first_success(readiness.initial_delay, readiness.period, readiness.successes)
    return Ready(max(own, started), readiness.period, f"readinessProbe {readiness.where}".strip())


# Until whoever was asked to stop is killed, where nobody says it.
_GRACES = {
    "service": (10, "compose"),
    "ECS": (30, "ECS"),
    "ContainerApp": (30, "Container Apps"),
    "Nomad": (5, "Nomad"),
    "systemd": (90, "systemd"),
}


def grace(pod_spec: Tree, kind: str = "") -> Value:
    said = at(pod_spec, "terminationGracePeriodSeconds")
    if said is None:
        return default(*_GRACES.get(kind, (30, "Kubernetes")))
    number = whole(said)
    return unknown(place(said)) if number is None else stated(number, place(said))


def pre_stop(container: Tree) -> Value:
    """The seconds that preStop takes: a sleep says them, anything else does not."""
    hook = at(container, "lifecycle", "preStop")
    if not isinstance(hook, dict):
        return default(0, "no preStop")
    if (seconds := whole(at(hook, "sleep", "seconds"))) is not None:
        return stated(seconds, place(at(hook, "sleep", "seconds")))
    command = " ".join(texts(at(hook, "exec", "command")))
    slept = [float(n) for n in re.findall(r"\bsleep\s+(\d+(?:\.\d+)?)", command)]
    first = next(iter(texts(at(hook, "exec", "command"))), None)
    if slept:
        total = sum(slept)
        return stated(int(total) if total == int(total) else total, place(first))
    return unknown(place(first) or "a hook whose time nobody knows")


def shell_is_process_one(command: list[Text]) -> bool:
    """A shell that runs the program as its child: it does not pass SIGTERM on."""
    if not command or not re.search(r"(^|/)(sh|bash|ash|dash)$", command[0]):
        return False
    script = " ".join(command[1:])
    last = [line for line in re.split(r"[\n;]|&&", script) if line.strip(" '\"")]
    return "-c" in script and not (last and re.search(r"\bexec\s", last[-1]))
