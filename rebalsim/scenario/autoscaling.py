"""`autoscale:` as it is written: KEDA's and the HorizontalPodAutoscaler's own names and defaults."""

from __future__ import annotations

from typing import Any

from rebalsim.domain.autoscaling import Autoscale, Policy
from rebalsim.scenario.kinds import (
    Choice,
    Duration,
    Field,
    Flag,
    ListOf,
    Number,
    Section,
    Text,
    Whole,
)

_MOST = 10_000
_SECONDS = Duration()
_PERIOD = Duration(least=1)
POLICY = Section(
    "policy",
    (
        Field("pods", Whole(0, _MOST), "So many pods.", default="0"),
        Field("percent", Whole(0, 10_000), "Or so many percent of those there are.", default="0"),
        Field("periodSeconds", _PERIOD, "Within this time.", default="15s", target="period_us"),
    ),
    "How much may change within a period.",
)
AUTOSCALE = Section(
    "autoscale",
    (
        Field("group", Text("a group's name"), "Which group, where there are several."),
        Field(
            "topics",
            ListOf(Text("a topic"), is_lenient=True, least=1),
            "The topics whose lag is looked at.",
            default="every topic of the story",
        ),
        Field("lagThreshold", Number(0.001, 1e12), "Lag that one pod is wanted for.", default="10"),
        Field(
            "activationLagThreshold",
            Number(0, 1e12),
            "More lag than this wakes a group of none.",
            default="0",
        ),
        Field("minReplicaCount", Whole(0, _MOST), "Never fewer.", default="1"),
        Field("maxReplicaCount", Whole(1, _MOST), "Never more.", default="10"),
        Field("idleReplicaCount", Whole(0, _MOST), "So many while there is nothing to do."),
        Field("pollingInterval", _PERIOD, "How often KEDA looks.", default="30s"),
        Field(
            "cooldownPeriod",
            _SECONDS,
            "How long there must have been nothing to do before it goes to none.",
            default="5m",
        ),
        Field(
            "metricType",
            Choice("AverageValue", "Value"),
            "AverageValue divides the lag by the threshold; Value multiplies the pods there are.",
            default="AverageValue",
        ),
        Field("allowIdleConsumers", Flag(), "More pods than partitions.", default="false"),
        Field(
            "limitToPartitionsWithLag",
            Flag(),
            "No more pods than partitions with lag.",
            default="false",
        ),
        Field(
            "offsetResetPolicy",
            Choice("latest", "earliest"),
            "What a partition without a committed offset counts for: 1, or its whole log.",
            default="latest",
        ),
        Field(
            "averageUtilization",
            Number(1, 1000),
            "Scale on how busy the members are instead, in percent.",
        ),
        Field(
            "scaleUpStabilization",
            _SECONDS,
            "The window over which the least counts.",
            default="0s",
        ),
        Field(
            "scaleDownStabilization",
            _SECONDS,
            "The window over which the most counts.",
            default="5m",
        ),
        Field(
            "scaleUp",
            ListOf(POLICY, least=1),
            "How fast it may add pods: the policy that lets the most rules.",
            default="4 pods or 100 % in 15 s",
        ),
        Field(
            "scaleDown",
            ListOf(POLICY, least=1),
            "How fast it may take pods away.",
            default="100 % in 15 s",
        ),
    ),
    "From now on an autoscaler (KEDA, or an HPA on load) decides how many members there are.",
    allows_nothing=True,
)


def read_autoscale(written: Any, group: str, joiners: tuple[Any, ...]) -> Autoscale:
    """The deed as written, with the autoscalers' own defaults."""
    given = Autoscale(group)
    busy = written.get("averageUtilization")
    return Autoscale(
        group,
        joiners,
        written.get("minReplicaCount", 1),
        written.get("maxReplicaCount", 10),
        written.get("idleReplicaCount"),
        tuple(written.get("topics") or ()),
        float(written.get("lagThreshold", given.lag_threshold)),
        float(written.get("activationLagThreshold", 0)),
        written.get("metricType") == "Value",
        bool(written.get("allowIdleConsumers", False)),
        bool(written.get("limitToPartitionsWithLag", False)),
        written.get("offsetResetPolicy") == "earliest",
        written.get("pollingInterval", given.polling_us),
        written.get("cooldownPeriod", given.cooldown_us),
        cpu_target=None if busy is None else busy / 100,
        up_window_us=written.get("scaleUpStabilization", given.up_window_us),
        down_window_us=written.get("scaleDownStabilization", given.down_window_us),
        up=_policies(written.get("scaleUp")) or given.up,
        down=_policies(written.get("scaleDown")) or given.down,
    )


def _policies(written: Any) -> tuple[Policy, ...]:
    return tuple(
        Policy(p.get("pods", 0), p.get("percent", 0), p.get("periodSeconds", Policy().period_us))
        for p in written or ()
    )
