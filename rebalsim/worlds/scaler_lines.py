"""Autoscalers in the scenario: KEDA on a group's lag, an HPA on the processors' use."""

from __future__ import annotations

from rebalsim.worlds.groups import Play, Pods, name_of
from rebalsim.worlds.kubernetes.autoscalers import CpuTarget, Rate, Scaling
from rebalsim.worlds.understood import Understood
from rebalsim.worlds.words import cores


def autoscalers_of(made: Understood, plays: list[Play]) -> list[tuple[str, str]]:
    """The scalers of the groups; as comments as long as the rate that they would follow is only
    assumed.
    """
    found: list[tuple[str, str]] = []
    is_measured = has_rate(made)
    mark = "" if is_measured else "# "
    for where, action in scalers_of(made, plays):
        if not is_measured:
            said = "an autoscaler owns the number of pods: take the # away once the rate is known"
            found.append((f"# {said}", ""))
        found += [(f"{mark}- at: 10s", where), (f"{mark}  {action}", "")]
    return found


def has_rate(made: Understood) -> bool:
    """Whether the files tell how much arrives."""
    return made.measured is not None and bool(made.measured.rate)


def scalers_of(made: Understood, plays: list[Play]) -> list[tuple[str, str]]:
    """Each scaler of a group: where it stands, and the action that plays it."""
    found: list[tuple[str, str]] = []
    for play in plays:
        for scaling in made.scalings:
            pods = next((p for p in play.pods if _is_of(scaling, p)), None)
            if pods is None:
                continue
            if scaling.triggers:
                found.append((scaling.where, _action(play, pods, scaling, _by_lag(scaling, pods))))
            elif scaling.cpu is not None:
                parts, why = _by_use(scaling.cpu, pods)
                found.append((why, _action(play, pods, scaling, parts)))
    return found


def _is_of(scaling: Scaling, pods: Pods) -> bool:
    workload = str(pods.consumer.workload or "") if pods.consumer is not None else ""
    return bool(scaling.target) and workload.split(" ")[0] == scaling.target


def _action(play: Play, pods: Pods, scaling: Scaling, parts: list[str]) -> str:
    """Numbers of pods become numbers of members."""
    told: list[tuple[str, object]] = [
        ("minReplicaCount", _times(scaling.min.value, pods.each)),
        ("maxReplicaCount", _times(scaling.max.value, pods.each)),
        ("scaleUpStabilization", _seconds(scaling.hpa.get("scale_up_stabilization"))),
        ("scaleDownStabilization", _seconds(scaling.hpa.get("scale_down_stabilization"))),
        ("scaleUp", _rates(scaling.up, pods.each)),
        ("scaleDown", _rates(scaling.down, pods.each)),
    ]
    group = name_of(play.name)
    said = [f"{key}: {value}" for key, value in told if value not in (None, "")]
    return f"autoscale: {{{', '.join([f'group: {group}', *parts, *said])}}}"


def _by_lag(scaling: Scaling, pods: Pods) -> list[str]:
    trigger = scaling.triggers[0]
    threshold = trigger.lag_threshold.value
    if isinstance(threshold, int) and pods.each > 1:
        threshold = round(threshold / pods.each, 3)
    told = (
        ("lagThreshold", threshold),
        ("activationLagThreshold", trigger.activation.value),
        ("pollingInterval", _seconds(scaling.poll.value if scaling.poll else None)),
        ("cooldownPeriod", _seconds(scaling.cooldown.value if scaling.cooldown else None)),
        ("idleReplicaCount", scaling.idle.value if scaling.idle else None),
        ("metricType", trigger.metric_type),
        ("allowIdleConsumers", _true(trigger.allow_idle.value)),
        ("limitToPartitionsWithLag", _true(trigger.limit_to_lagging.value)),
    )
    parts = [f"{key}: {value}" for key, value in told if value is not None]
    return parts if trigger.reset.value != "earliest" else [*parts, "offsetResetPolicy: earliest"]


def _by_use(target: CpuTarget, pods: Pods) -> tuple[list[str], str]:
    """An HPA measures cores against what pods request; a member that is busy all the time uses one
    core, or what its limit leaves it.
    """
    consumer = pods.consumer
    request = cores(consumer.cpu_request or consumer.cpu_limit) if consumer is not None else None
    limit = cores(consumer.cpu_limit) if consumer is not None else None
    wanted = target.value / 100 * (request or 1) if target.is_share else target.value
    most = min(limit or pods.each, pods.each)  # cores that a pod's members can use
    busy = max(1, min(1000, round(100 * wanted / most)))
    said = (
        f"{target.value:g} % of {request or 1:g} cores" if target.is_share else f"{wanted:g} cores"
    )
    why = (
        f"{target.where}: {said} is {busy} % of what busy members use, if handling is all "
        f"processor's work{'' if request or not target.is_share else '; ASK: requests.cpu'}"
    )
    return [f"averageUtilization: {busy}"], why


def _times(count: object, each: int) -> int | None:
    return count * each if isinstance(count, int) else None


def _seconds(value: object) -> str | None:
    return None if value is None else f"{value}s"


def _true(value: object) -> str | None:
    return "true" if value is True else None


def _rates(rates: tuple[Rate, ...], each: int) -> str:
    made = [
        (f"percent: {r.percent}" if r.percent else f"pods: {r.pods * each}")
        + f", periodSeconds: {r.seconds}s"
        for r in rates
    ]
    return "[" + ", ".join(f"{{{text}}}" for text in made) + "]" if made else ""
