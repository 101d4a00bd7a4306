"""Kubernetes' own actions and names in the script: a rollout, a drained node, an eviction, a probe."""

from __future__ import annotations

from math import ceil
from typing import Any

from rebalsim.domain.draws import NOTHING
from rebalsim.domain.kubernetes import DrainNode, Evict, Probe, Recreate
from rebalsim.scenario.kinds import (
    Choice,
    DrawOf,
    Duration,
    Field,
    Section,
    ShareOrWhole,
    Text,
    Whole,
    Written,
)
from rebalsim.scenario.pods import looks_of

DEADLINE_US = 600_000_000
_SECONDS = Duration()
_PERIOD = Duration(least=1)
_GROUP = Field("group", Text("a group's name"), "Which group, where there are several.")
_PULL = Field("imagePull", DrawOf(), "How long a new pod's image takes to be pulled.", default="0s")
_KIND = Field(
    "kind",
    Choice("Deployment", "StatefulSet"),
    "Deployment: new pods with new names, at once. StatefulSet: the same name, once it is gone.",
    default="Deployment",
)
READINESS = Section(
    "readinessProbe",
    (
        Field("initialDelaySeconds", _SECONDS, "The first look.", default="0s"),
        Field("periodSeconds", _PERIOD, "And the next ones.", default="10s"),
        Field("successThreshold", Whole(1, 100), "So often content.", default="1"),
        Field(
            "looks_at",
            Choice("process", "assignment"),
            "process: content once the process runs. assignment: once it has its partitions.",
            default="process",
        ),
    ),
    "When a pod counts as ready.",
    allows_nothing=True,
)
ROLLOUT_FIELDS = (
    _GROUP,
    _KIND,
    Field(
        "type",
        Choice("RollingUpdate", "Recreate", "OnDelete"),
        "How pods are replaced. OnDelete (StatefulSet): each by its next restart alone.",
        default="RollingUpdate",
    ),
    Field("maxSurge", ShareOrWhole(), "How many more; a percentage rounds up.", default="25%"),
    Field(
        "maxUnavailable", ShareOrWhole(), "How many fewer; a percentage rounds down.", default="25%"
    ),
    Field("minReadySeconds", _SECONDS, "Ready for so long is available.", default="0s"),
    Field(
        "partition",
        Whole(0, 10_000),
        "StatefulSet: pods below this ordinal stay as they are.",
        default="0",
    ),
    Field("readinessProbe", READINESS, "When a new pod is ready."),
    Field(
        "progressDeadlineSeconds",
        _SECONDS,
        "Deployment: so long without a new pod that gets ready is told of.",
        default="10m",
    ),
    _PULL,
)


_DRAIN = (
    _GROUP,
    _KIND,
    Field("minAvailable", ShareOrWhole(), "The budget; a percentage rounds up."),
    Field("maxUnavailable", ShareOrWhole(), "Or so; a percentage rounds up."),
    _PULL,
)
_EVICT = (
    _GROUP,
    _KIND,
    Field("notice", _SECONDS, "Until the machine is gone.", default="2m"),
    _PULL,
)
_PROBE = (
    _GROUP,
    Field(
        "looks_at",
        Choice("process", "poll_loop", "heartbeat"),
        "What the liveness probe sees: that the process answers, that it polled not long ago, or "
        "that it is in the group.",
        default="process",
    ),
    Field("staleAfter", _PERIOD, "How long ago the last poll may be.", default="30s"),
    Field("initialDelaySeconds", _SECONDS, "The first look.", default="0s"),
    Field("periodSeconds", _PERIOD, "And the next ones.", default="10s"),
    Field("failureThreshold", Whole(1, 1000), "So often in a row kills.", default="3"),
)


def targeted(who: Field) -> dict[str, Section]:
    """The actions that name members; `who` is the language's own way to say them."""
    sections = (
        Section(
            "drain_node",
            (who, *_DRAIN),
            "A node is drained: its pods are evicted as far as the disruption budget lets.",
        ),
        Section(
            "evict",
            (who, *_EVICT),
            "A machine (a spot instance, say) is taken away, budget or none.",
        ),
        Section(
            "probe",
            (who, *_PROBE),
            "From now on a liveness probe kills a pod that fails, with back-off.",
            allows_nothing=True,
        ),
    )
    return {section.title: section for section in sections}


def keep_of(written: Any, replicas: int) -> int:
    """How many must stay available; both kinds of percentage round up."""
    least, most = written.get("minAvailable"), written.get("maxUnavailable")
    if least is not None:
        return _pods(least, replicas)
    return max(0, replicas - (_pods(most, replicas) if most is not None else replicas))


def _pods(said: tuple[int | None, float | None], replicas: int) -> int:
    count, share = said
    return count if count is not None else ceil(round(replicas * (share or 0.0), 9))


def read_drain(
    written: Any, group: str, names: tuple[str, ...], stand_ins: tuple[Any, ...], replicas: int
) -> DrainNode:
    return DrainNode(
        group, names, stand_ins, keep_of(written, replicas), written.get("imagePull", NOTHING)
    )


def read_evict(written: Any, names: tuple[str, ...], stand_ins: tuple[Any, ...]) -> Evict:
    given = Evict(names)
    return Evict(
        names,
        stand_ins,
        written.get("notice", given.notice_us),
        written.get("imagePull", NOTHING),
    )


def read_probe(written: Any, names: tuple[str, ...]) -> Probe:
    given = Probe(names)
    return Probe(
        names,
        written.get("looks_at", given.looks_at),
        written.get("staleAfter", given.stale_us),
        written.get("initialDelaySeconds", given.initial_delay_us),
        written.get("periodSeconds", given.period_us),
        written.get("failureThreshold", given.failures),
    )


def read_recreate(written: Any, names: tuple[str, ...], settings: tuple[Any, ...]) -> Recreate:
    return Recreate(names, settings, written.get("imagePull", NOTHING))


def ready_after_us(written: Any, start_us: int) -> int:
    """From the pod's start to the first probe that is content, and for as long as is asked."""
    probe = written.get("readinessProbe")
    if probe is None:
        return 0
    delay, period = probe.get("initialDelaySeconds", 0), probe.get("periodSeconds", 10_000_000)
    looks = max(0, -(-(start_us - delay) // period))
    return int(delay + (looks + probe.get("successThreshold", 1) - 1) * period)


def as_bounce(written: Written, start_us: int, members: Any = None) -> Written:
    """A rollout's block in the words of a rolling bounce, which plays it."""
    probe = written.get("readinessProbe")
    is_set = written.get("kind", "Deployment") == "StatefulSet"
    values: dict[str, Any] = {
        **{k: v for k, v in written.values.items() if k not in _OWN},
        "as": "statefulset" if is_set else "deployment",
        "ready_after": ready_after_us(written, start_us),
        "settle": written.get("minReadySeconds", 0),
    }
    at = dict(written.at)
    if not is_set:
        values["deadline"] = written.get("progressDeadlineSeconds", DEADLINE_US)
    if written.get("imagePull") is not None:
        values["down"] = written.get("imagePull")
    if probe is not None:
        values["readiness"] = looks_of(probe, probe.get("looks_at") == "assignment")
    for ours, theirs in (("surge", "maxSurge"), ("max_unavailable", "maxUnavailable")):
        if theirs in written and not is_set:
            values[ours], at[ours] = written.get(theirs), written.at[theirs]
    for key in values:
        at.setdefault(key, written.node)
    if members is not None:
        values["members"], at["members"] = members, written.node
    return Written(written.node, written.section, values, at)


_OWN = frozenset(f.name for f in ROLLOUT_FIELDS) - {"group"}
