"""`rebalsim migrate SCENARIO --to streams`: there is no live road, and what is on either side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from rebalsim.domain.errors import InputError
from rebalsim.domain.metrics import METRICS, Selection
from rebalsim.domain.percentiles import percentile
from rebalsim.words.times import say_duration

if TYPE_CHECKING:
    from rebalsim.domain.scenario import Group, Scenario
    from rebalsim.domain.streams import StreamsConfig

SEEDS = 5
SHOWN = ("longest_pause", "partition_seconds", "partitions_touched", "rebalances")
NO_LONGER = (
    ("acceptable.recovery.lag", "acceptable_recovery_lag"),
    ("max.warmup.replicas", "max_warmup_replicas"),
    ("probing.rebalance.interval.ms", "probing_rebalance_interval_us"),
)


def told(raw: bytes, name: str, variant: str) -> Iterator[str]:
    """What to print, line by line."""
    from rebalsim.scenario.load import story_of

    story = story_of(raw, name).check()
    before = story.scenario(variant or story.variants[0])
    group = next((group for group in before.groups if group.streams is not None), None)
    if group is None or group.streams is None:
        raise InputError(
            f"{name}: no group is a Kafka Streams application, and only those speak the streams "
            "protocol — write --to consumer"
        )
    if group.streams.config.uses_streams_protocol:
        raise InputError(
            f"{name}: it speaks the streams protocol already — name a classic variant with "
            "--variant"
        )
    config = group.streams.config
    yield from _steps(group)
    yield from _settings(group, config)
    after_config = replace(
        config,
        group_protocol="streams",
        streams_num_standby_replicas=config.num_standby_replicas,
    )
    after_group = replace(group, streams=replace(group.streams, config=after_config))
    after = replace(before, groups=(after_group,))
    yield ""
    yield f"The story's own script, median of {SEEDS} seeds"
    yield f"  {'':<22}{'classic':>14}{'streams':>14}"
    old, new = _figures(before), _figures(after)
    for metric in SHOWN:
        yield f"  {METRICS[metric].name:<22}{_say(metric, old):>14}{_say(metric, new):>14}"


def _steps(group: Group) -> Iterator[str]:
    session_us = max((c.config.session_timeout_us for c in group.consumers), default=0)
    yield "There is no live road: a group with classic members takes no member of the streams"
    yield "protocol, nor the other way round. It goes through an empty group:"
    yield "  1. Stop all instances. close() leaves no classic group: it is empty once the last"
    yield f"     session has run out ({say_duration(session_us)}), or at once with CloseOptions."
    yield "  2. Give the group what was the clients': kafka-configs.sh --entity-type groups."
    yield "  3. Start all with group.protocol=streams. Offsets and state directories stay."
    yield "All tasks stand still from the first step to the end of the third."


def _settings(group: Group, config: StreamsConfig) -> Iterator[str]:
    yield ""
    yield "Settings"
    yield (
        f"  num.standby.replicas {config.num_standby_replicas} → the group's "
        "streams.num.standby.replicas"
    )
    yield "  session.timeout.ms, heartbeat.interval.ms → the group's streams.… ones"
    names = ", ".join(key for key, _ in NO_LONGER)
    yield f"  {names}:"
    yield "    no longer heeded; there are no warm-ups, so what moves is restored standing still"
    if any(c.config.group_instance_id for c in group.consumers):
        yield "  group.instance.id: refused; there are no static members in 4.3"


def _figures(scenario: Scenario) -> dict[str, list[float]]:
    from rebalsim.one_run import run_once

    found: dict[str, list[float]] = {metric: [] for metric in SHOWN}
    for seed in range(scenario.seed, scenario.seed + SEEDS):
        analysis = run_once(scenario, seed).analysis
        for metric in SHOWN:
            value = analysis.measure(metric, Selection(after_start=True))
            if value is not None:
                found[metric].append(value)
    return found


def _say(metric: str, found: dict[str, list[float]]) -> str:
    middle = percentile(sorted(found[metric]), 50)
    if middle is None:
        return "–"
    if METRICS[metric].unit.is_time:
        return say_duration(round(middle))
    return f"{middle:g}"
