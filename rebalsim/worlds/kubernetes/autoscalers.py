"""Autoscalers: KEDA's ScaledObject and Kubernetes' HorizontalPodAutoscaler, with their defaults."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rebalsim.worlds.placeholders import resolved
from rebalsim.worlds.text_tree import at, rows, table, word
from rebalsim.worlds.values import Hurt, Text, Tree, Value, default, place, stated, unknown
from rebalsim.worlds.words import boolean, cores, listed, whole

# KEDA's kafka trigger: the metadata it reads. Others are dropped without a word.
TRIGGER_KEYS = frozenset(
    listed(
        """
    bootstrapServers consumerGroup topic lagThreshold activationLagThreshold offsetResetPolicy
    allowIdleConsumers scaleToZeroOnInvalidOffset excludePersistentLag version partitionLimitation
    limitToPartitionsWithLag ensureEvenDistributionOfPartitions sasl tls unsafeSsl saslTokenProvider
    awsRegion awsEndpoint awsRoleArn bootstrapServersFromEnv consumerGroupFromEnv topicFromEnv
    minEntriesPerRequest keyPassword oauthTokenEndpointUri scopes oauthExtensions
    awsEnterpriseRoleArn identityOwner
    """
    )
)
KAFKA_TRIGGERS = ("kafka", "apache-kafka")


@dataclass(slots=True)
class Trigger:
    """A KEDA trigger on a group's lag."""

    type: str
    group: str | None
    topic: str | None
    lag_threshold: Value
    activation: Value
    metric_type: str
    reset: Value
    allow_idle: Value
    limit_to_lagging: Value


@dataclass(frozen=True, slots=True)
class CpuTarget:
    """What an HPA holds the processors' use at: a share of what a pod requests, or cores a pod."""

    value: float  # percent of the request, or cores
    is_share: bool
    where: str


@dataclass(frozen=True, slots=True)
class Rate:
    """How much a policy lets change within a time."""

    pods: int
    percent: int
    seconds: int


@dataclass(slots=True)
class Scaling:
    """Who scales what, and when."""

    kind: str
    name: str
    target: str | None
    min: Value
    max: Value
    poll: Value | None = None
    cooldown: Value | None = None
    idle: Value | None = None
    triggers: list[Trigger] = field(default_factory=list)
    others: list[str] = field(default_factory=list)  # triggers and metrics that are no group's lag
    unknown_keys: list[str] = field(default_factory=list)
    hpa: dict[str, object] = field(default_factory=dict)
    hurts: list[Hurt] = field(default_factory=list)
    where: str = ""
    effective_max: str | None = None
    cpu: CpuTarget | None = None
    up: tuple[Rate, ...] = ()  # () for the defaults
    down: tuple[Rate, ...] = ()


def number(tree: Tree, fallback: int | None, why: str) -> Value:
    """A number of a manifest: stated, a default where it is left out, unknown where it waits."""
    if tree is None:
        return default(fallback, why)
    said = resolved(tree, {}) if isinstance(tree, Text) else None
    found = whole(said) if said is not None else None
    return unknown(place(tree)) if found is None else stated(found, place(tree))


def scaled_object(tree: Tree) -> Scaling:
    """A ScaledObject with KEDA's defaults; of its triggers, those on a group's lag are told."""
    spec = at(tree, "spec")
    named = at(spec, "scaleTargetRef")
    target = word(at(named, "name")) or word(at(named, "deploymentName"))  # KEDA 1 called it so
    kind = word(at(named, "kind")) or "Deployment"
    made = Scaling(
        "ScaledObject",
        str(at(tree, "metadata", "name") or ""),
        f"{kind}/{target}" if target else None,
        number(at(spec, "minReplicaCount"), 0, "KEDA"),
        number(at(spec, "maxReplicaCount"), 100, "KEDA"),
        number(at(spec, "pollingInterval"), 30, "KEDA"),
        number(at(spec, "cooldownPeriod"), 300, "KEDA"),
        number(at(spec, "idleReplicaCount"), None, "KEDA"),
        where=place(next(iter(table(tree)), None)),
    )
    for row in rows(at(spec, "triggers")):
        if at(row, "type") in KAFKA_TRIGGERS:
            made.triggers.append(_trigger(row, made))
        else:
            made.others.append(str(at(row, "type") or "a trigger"))
    if made.triggers:
        made.effective_max = _effective_max(made)
        behaviour = at(spec, "advanced", "horizontalPodAutoscalerConfig", "behavior")
        _behave(made, behaviour)
        _hurts(made)
    return made


def _trigger(row: Tree, made: Scaling) -> Trigger:
    told = table(at(row, "metadata"))
    for key in told:
        if key not in TRIGGER_KEYS:
            made.unknown_keys.append(_with_nearest(key))
            made.hurts.append(
                Hurt(f"{key}", "KEDA ignores a key it does not know without a word", place(key))
            )

    def text(key: str) -> Text | None:
        said = word(told.get(Text(key)))
        return resolved(said, {}) if said is not None else None

    def flag(key: str) -> Value:
        said = told.get(Text(key))
        if said is None:
            return default(False, "KEDA")
        value = boolean(said)
        return unknown(place(said)) if value is None else stated(value, place(said))

    reset = told.get(Text("offsetResetPolicy"))
    group, topic = text("consumerGroup"), text("topic")
    return Trigger(
        "kafka",
        str(group).strip() if group else None,
        str(topic).strip() if topic else None,
        number(told.get(Text("lagThreshold")), 10, "KEDA"),
        number(told.get(Text("activationLagThreshold")), 0, "KEDA"),
        str(word(at(row, "metricType")) or "AverageValue"),
        stated(str(reset), place(reset)) if reset is not None else default("latest", "KEDA"),
        flag("allowIdleConsumers"),
        flag("limitToPartitionsWithLag"),
    )


def _with_nearest(key: str) -> str:
    from rebalsim.words.nearest import several_nearest

    near = several_nearest(key, sorted(TRIGGER_KEYS), 1)
    return f"{key} (did you mean {near[0]}?)" if near else str(key)


def _effective_max(made: Scaling) -> str:
    """maxReplicaCount, and never more than partitions unless idle consumers are allowed."""
    top = made.max.value if made.max.known else "maxReplicaCount"
    if all(t.allow_idle.value is True for t in made.triggers):
        return str(top)
    topics = [t.topic for t in made.triggers if t.allow_idle.value is not True]
    of = " and ".join(t or "every topic of the group" for t in topics)
    return f"min({top}, partitions of {of})"


def _hurts(made: Scaling) -> None:
    for trigger in made.triggers:
        made.hurts += _hurts_of_trigger(trigger, made.where)
    cooldown, least = made.cooldown, made.min
    never_idle = least.known and least.value > 0 and not (made.idle and made.idle.known)
    if cooldown and cooldown.sure == "stated" and never_idle:
        made.hurts.append(
            Hurt(
                f"cooldownPeriod {cooldown.value}",
                f"does nothing with minReplicaCount {least.value}: it rules the way to 0 only; "
                f"the HPA's stabilisation of {made.hpa.get('scale_down_stabilization', 300)} s rules "
                "the way down",
                cooldown.source,
            )
        )
    if made.poll and made.poll.known and made.poll.value <= 5 and made.poll.sure == "stated":
        made.hurts.append(
            Hurt(
                f"pollingInterval {made.poll.value}",
                "asks the brokers for every partition's offsets every few seconds, and sees the lag of "
                "every pause",
                made.poll.source,
            )
        )


def _hurts_of_trigger(trigger: Trigger, where: str) -> Iterator[Hurt]:
    threshold = trigger.lag_threshold
    if trigger.metric_type == "Value":
        yield Hurt(
            "metricType Value",
            "the HPA multiplies the pods it has by lag ÷ threshold: while any lag above the "
            "threshold stays it climbs to the most there may be",
            where,
        )
    if threshold.known and threshold.value <= 50:
        yield Hurt(
            f"lagThreshold {threshold.value}",
            "less than a poll brings: the pause of any rebalance lifts lag above it and adds "
            "pods, which is the next rebalance",
            threshold.source or where,
        )


# ---- HPA ----
def horizontal(tree: Tree) -> Scaling:
    spec = at(tree, "spec")
    target = word(at(spec, "scaleTargetRef", "name"))
    made = Scaling(
        "HorizontalPodAutoscaler",
        str(at(tree, "metadata", "name") or ""),
        f"{at(spec, 'scaleTargetRef', 'kind') or 'Deployment'}/{target}" if target else None,
        number(at(spec, "minReplicas"), 1, "Kubernetes"),
        number(at(spec, "maxReplicas"), None, "not told"),
        where=place(next(iter(table(tree)), None)),
    )
    if (share := at(spec, "targetCPUUtilizationPercentage")) is not None:
        made.others.append("cpu")
        if percent := whole(share):
            made.cpu = CpuTarget(percent, True, place(share))
    for row in rows(at(spec, "metrics")):
        kind = str(at(row, "type") or "").lower()
        named = at(row, kind, "name") or at(row, kind, "metric", "name")
        made.others.append(str(named or kind))
        if str(named or kind) == "cpu":
            made.cpu = made.cpu or _cpu_target(at(row, kind))
    _behave(made, at(spec, "behavior"))
    return made


def _behave(made: Scaling, behaviour: Tree) -> None:
    """What the HPA does with what it measures."""
    made.hpa = _behaviour(behaviour)
    made.up, made.down = (_rates(behaviour, way) for way in ("scaleUp", "scaleDown"))


def _cpu_target(resource: Tree) -> CpuTarget | None:
    """autoscaling/v2's `target`, and v2beta1's keys beside the name."""
    share = at(resource, "target", "averageUtilization") or at(resource, "targetAverageUtilization")
    if percent := whole(share):
        return CpuTarget(percent, True, place(share))
    value = at(resource, "target", "averageValue") or at(resource, "targetAverageValue")
    if value is not None and (found := cores(str(value))) is not None:
        return CpuTarget(found, False, place(value))
    return None


def _rates(tree: Tree, way: str) -> tuple[Rate, ...]:
    """The policies of one direction, as numbers; none where a template stands in them."""
    found = []
    for row in rows(at(tree, way, "policies")):
        value, seconds = whole(at(row, "value")), whole(at(row, "periodSeconds"))
        if value is None or not seconds:
            return ()
        is_share = str(at(row, "type")) == "Percent"
        found.append(Rate(0 if is_share else value, value if is_share else 0, seconds))
    return tuple(found)


def _behaviour(tree: Tree) -> dict[str, object]:
    """The HPA's behaviour, its defaults where nothing is told."""
    up_window = whole(at(tree, "scaleUp", "stabilizationWindowSeconds"))
    down_window = whole(at(tree, "scaleDown", "stabilizationWindowSeconds"))
    return {
        "sync": 15,
        "tolerance": 0.1,
        "scale_up_stabilization": 0 if up_window is None else up_window,
        "scale_down_stabilization": 300 if down_window is None else down_window,
        "scale_up": _policies(at(tree, "scaleUp"), "max(4 pods, 100 %) per 15 s"),
        "scale_down": _policies(at(tree, "scaleDown"), "100 % per 15 s"),
    }


def _policies(tree: Tree, fallback: str) -> str:
    if at(tree, "selectPolicy") == "Disabled":
        return "never"
    told = [
        f"{at(p, 'value')} {'%' if at(p, 'type') == 'Percent' else 'pods'} per "
        f"{at(p, 'periodSeconds')} s"
        for p in rows(at(tree, "policies"))
    ]
    if not told:
        return fallback
    pick = "min" if at(tree, "selectPolicy") == "Min" else "max"
    return told[0] if len(told) == 1 else f"{pick}({', '.join(told)})"
