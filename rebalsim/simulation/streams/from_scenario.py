"""A scenario's Kafka Streams application as it is played: its topics, tasks and stores, its group, and
what an instance starts with.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rebalsim.assignors.streams.settings import TaskAssignorSettings
from rebalsim.assignors.streams.versions import LATEST, version_of
from rebalsim.domain.consumer import Consumer
from rebalsim.domain.draws import mean_of
from rebalsim.domain.scenario import Group, Scenario
from rebalsim.domain.streams import StreamsApp, StreamsConfig
from rebalsim.simulation.streams.application import (
    Application,
    GroupSettings,
    Part,
    Punctuator,
    Store,
    ThreadSettings,
    Timing,
)
from rebalsim.simulation.streams.arrivals import Steps, stepped

RECORD_US = 2.0  # what a restored record costs beside its bytes


def app_group(scenario: Scenario) -> Group | None:
    """The group that is a Streams application."""
    return next((group for group in scenario.groups if group.streams is not None), None)


def application_of(scenario: Scenario, group: Group) -> Application:
    """The application as it is played."""
    app = group.streams
    assert app is not None
    topics = {t.name: t.partitions if t.exists_from_start else 0 for t in scenario.topics}
    topics.update(app.repartition_topics)
    rates = {t.name: rate_of(t.rate) / max(1, t.partitions) for t in scenario.topics}
    broker, config = scenario.cluster.config, app.config
    link_us = max(1, int(mean_of(scenario.cluster.network.latency)))
    return Application(
        group.name,
        topics,
        rates,
        tuple(_part(app, part, topics) for part in app.parts),
        _assignor(app),
        TaskAssignorSettings(
            config.num_standby_replicas,
            config.acceptable_recovery_lag,
            config.max_warmup_replicas,
            config.probing_rebalance_interval_us // 1000,
            config.rack_aim,
            config.rack_traffic_cost,
            config.rack_non_overlap_cost,
            config.rack_tags,
        ),
        GroupSettings(
            broker.group_initial_rebalance_delay_us,
            config.streams_session_timeout_us,
            config.streams_heartbeat_interval_us,
            config.streams_num_standby_replicas,
            config.streams_initial_rebalance_delay_us,
            config.streams_assignment_interval_us,
            broker.group_max_size,
            broker.group_streams_max_size,
        ),
        replace(Timing(), link_us=link_us),
        flows=_flows(scenario),
        exactly_once=config.is_exactly_once,
    )


def _flows(scenario: Scenario) -> dict[str, Steps]:
    """Of the topics whose rate changes."""
    return {
        t.name: stepped([(r.at_us, r.per_second, r.is_ramp) for r in t.rate], 1 / t.partitions)
        for t in scenario.topics
        if len(t.rate) > 1
    }


def _assignor(app: StreamsApp) -> str:
    return "streams-sticky" if "Sticky" in app.config.task_assignor_class else "streams-ha"


def rate_of(steps: Any) -> float:
    return float(steps[0].per_second) if steps else 0.0


def _part(app: StreamsApp, part: Any, topics: dict[str, int]) -> Part:
    tasks = max((topics.get(name, 0) for name in part.sources), default=0)
    internal = {name for name, _ in app.repartition_topics}
    return Part(
        tuple(name for name in part.sources if name not in internal),
        {
            store.name: Store(
                store.records // max(1, tasks), store.record_bytes, store.writes, store.in_memory
            )
            for store in part.stores
        },
        part.writes_to,
        tuple(name for name in part.sources if name in internal),
        part.joins,
        mean_of(app.per_record if part.per_record is None else part.per_record),
        tuple(
            Punctuator(each.every_us, mean_of(each.takes), each.by == "stream-time")
            for each in part.punctuators
        ),
    )


def settings_of(
    spec: Consumer, app: StreamsApp, start_us: int, deployed: StreamsConfig | None
) -> ThreadSettings:
    """An instance's settings, as it would start now. A deploy brings later clients, if the ones
    before were 2.3's.
    """
    config = app.config if deployed is None else deployed
    is_old = app.is_old and deployed is None
    client = spec.config
    return ThreadSettings(
        threads=config.num_stream_threads,
        group_protocol=config.group_protocol,
        eager=config.is_eager or is_old,
        restores_inside=is_old,
        metadata_version=version_of((2, 3)) if is_old else LATEST,
        session_us=client.session_timeout_us,
        heartbeat_us=client.heartbeat_interval_us,
        max_poll_us=client.max_poll_interval_us,
        poll_us=config.poll_us,
        commit_us=config.commits_every_us,
        restore_us=RECORD_US,
        standby_us=RECORD_US,
        restore_byte_us=1e6 / app.restore_bytes_per_second,
        handler_us=mean_of(spec.handler.per_record),
        exactly_once=config.is_exactly_once,
        transaction_timeout_us=config.transaction_timeout_us,
        instance_id=client.group_instance_id,
        rack=spec.rack or None,
        tags={**({"rack": spec.rack} if spec.rack else {}), **dict(spec.tags)},
        leave_on_close=app.close == "leave",
        keeps_disk=app.volume == "kept",
        cleanup_delay_us=config.state_cleanup_delay_us,
        metadata_age_us=client.metadata_max_age_us,
        max_task_idle_us=max(0, config.max_task_idle_us),
        start_us=start_us,
    )
