"""Kafka Connect as written → as meant: workers with their layers of settings, and connectors."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, Protocol

from rebalsim.domain.client import ClientConfig
from rebalsim.domain.connect import (
    EAGER,
    SESSIONED,
    SINK,
    SOURCE,
    ConnectCluster,
    Connector,
    WorkerConfig,
)
from rebalsim.domain.pods import Life
from rebalsim.domain.scenario import Cluster, Topic
from rebalsim.scenario.connect_language import MAX_TASKS
from rebalsim.scenario.document import Node
from rebalsim.scenario.kinds import Written, build, merge
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.profiles import plays_workers_of
from rebalsim.scenario.quantities import say_us
from rebalsim.scenario.source import shorten
from rebalsim.words.nearest import or_nearest

CLIENT = "connect"  # what a worker is called where consumers have their library's name


class Asked(Protocol):
    """The part of the resolver that Connect's blocks need."""

    out: Problems
    story: Written
    cluster: Cluster
    topics: dict[str, Topic]
    variant: Any
    notes: dict[str, None]
    checks: Any  # MemberChecks


# ------------------------------------------------------------------------------------------- workers


def settings_of(
    layers: tuple[Written, ...], deployed: list[Written], variant: Any
) -> Written | None:
    """The workers' settings with all layers laid upon each other; the variant's come before what
    the script deploys.
    """
    found: Written | None = None
    blocks = [_config_in(layer) for layer in layers]
    if variant.layer is not None:
        blocks.append(variant.layer.get("worker"))
    blocks += [layer.get("worker") for layer in deployed]
    for block in blocks:
        if isinstance(block, Written):
            found = block if found is None else merge(found, block)
    return found


def _config_in(layer: Written) -> Written | None:
    """A worker's own settings stand under config, a joining one's under worker."""
    found: Written | None = layer.get("worker" if layer.section.name == "join" else "config")
    return found


def worker_parts(
    asked: Asked, layers: tuple[Written, ...], deployed: list[Written]
) -> tuple[dict[str, Any], Written]:
    """What all workers with these layers have in common, and the block in which it is written."""
    settings = settings_of(layers, deployed, asked.variant)
    config = build(WorkerConfig, settings)
    if asked.variant.base == "consumer":
        asked.notes[
            "Connect's workers, and its sinks' tasks, are played in classic groups: workers have no "
            "other."
        ] = None
    base = layers[0]
    if not plays_workers_of(asked.cluster.kafka):
        asked.notes[
            f"Connect's workers are played as those of Kafka 4.3, not {asked.cluster.kafka}: before "
            "3.4 they evened load out otherwise."
        ] = None
    config = replace(
        config,
        connect_protocol=_protocol(asked, config.connect_protocol, deployed),
        consumer=sinks_of(asked, base),
    )
    _check(asked, config, settings or base)
    life = Life()
    for layer in (*layers, *deployed):
        if isinstance(layer.get("life"), Written):
            life = build(Life, layer.get("life"))
    rest = {
        "client": CLIENT,
        "client_version": asked.cluster.kafka,
        "config": ClientConfig(
            session_timeout_us=config.session_timeout_us,
            heartbeat_interval_us=config.heartbeat_interval_us,
            max_poll_interval_us=config.rebalance_timeout_us,
            request_timeout_us=config.request_timeout_us,
            retry_backoff_us=config.retry_backoff_us,
            retry_backoff_max_us=config.retry_backoff_max_us,
            reconnect_backoff_us=config.reconnect_backoff_us,
        ),
        "life": life,
        "worker": config,
    }
    values, at = dict(base.values), dict(base.at)
    for layer in layers[1:]:
        for key in ("starts_at", "rack", "life"):
            if key in layer:
                values[key], at[key] = layer.get(key), layer.at[key]
    if settings is not None:
        values["config"] = settings
    return rest, Written(base.node, base.section, values, at)


def _protocol(asked: Asked, protocol: str, deployed: list[Written]) -> str:
    """The variants eager and cooperative turn the cluster to theirs, unless the story deploys
    protocols itself.
    """
    if any("connect.protocol" in layer.get("worker", ()) for layer in deployed):
        return protocol
    if asked.variant.base == EAGER:
        return EAGER
    if asked.variant.base == "cooperative" and protocol == EAGER:
        return SESSIONED
    return protocol


def _check(asked: Asked, config: WorkerConfig, written: Written) -> None:
    """Notes what a worker or the brokers would refuse."""
    if config.heartbeat_interval_us >= config.session_timeout_us:
        asked.out.add(
            _place(written, "heartbeat.interval.ms", "session.timeout.ms"),
            f"heartbeat.interval.ms {say_us(config.heartbeat_interval_us)} is not below "
            f"session.timeout.ms {say_us(config.session_timeout_us)}, so the worker refuses to "
            f"start — write a third of the session, {say_us(config.session_timeout_us // 3_000 * 1_000)}",
        )
    brokers = asked.cluster.config
    least, most = brokers.group_min_session_timeout_us, brokers.group_max_session_timeout_us
    if not least <= config.session_timeout_us <= most:
        bound = least if config.session_timeout_us < least else most
        asked.out.add(
            _place(written, "session.timeout.ms"),
            f"session.timeout.ms {say_us(config.session_timeout_us)} is outside what the brokers "
            f"allow, {say_us(least)} to {say_us(most)}, so no worker can join — write "
            f"{say_us(bound)}, or change the bound under cluster: config:",
        )


def _place(written: Written, *keys: str) -> Node:
    return next((written.at[key] for key in keys if key in written.at), written.node)


# ---------------------------------------------------------------------------------------- connectors


def sinks_of(asked: Asked, workers: Written) -> ClientConfig:
    """What the consumers of all sinks' tasks have, by the workers' settings."""
    return _sink_config(asked, workers.get("consumer"), ClientConfig(auto_offset_reset="earliest"))


def _sink_config(asked: Asked, written: Written | None, base: ClientConfig) -> ClientConfig:
    """The settings of sink tasks' consumers; notes what the client or the brokers would refuse."""
    if written is None:
        return base
    targets = written.section.fields
    values = {targets[key].target: value for key, value in written.values.items()}
    config = replace(base, **values)
    said = {field.name: getattr(config, field.name) for field in fields(config)}
    asked.checks.config(said, written, written)
    return config


def cluster_of(asked: Asked, group: str, written: Written, workers: ClientConfig) -> ConnectCluster:
    """The connectors of a cluster, those there from the start and those that come later."""
    there: list[Connector] = []
    later: list[Connector] = []
    named = written.get("connectors")
    tasks = 0
    for name, block in named.values.items() if named is not None else ():
        if block.is_bad:
            continue
        made = connector_of(asked, name, block, workers)
        tasks += made.tasks_max
        (later if block.get("exists") == "later" else there).append(made)
    if tasks > MAX_TASKS:
        asked.out.add(
            named.node,
            f"The connectors have {tasks:,} tasks together — write at most {MAX_TASKS:,}",
        )
    return ConnectCluster(group, tuple(there), tuple(later))


def connector_of(asked: Asked, name: str, block: Written, workers: ClientConfig) -> Connector:
    is_sink = "topics" in block or block.get("kind") == SINK
    if is_sink and "topics" not in block and "topics" not in block.at:
        asked.out.add(
            block.at.get("kind", block.node),
            f"{shorten(name)} is a sink, and which topics it reads is not said — add topics: "
            f"[{shorten(next(iter(asked.topics), 'orders'))}]",
        )
    if "topics" in block and block.get("kind") == SOURCE:
        asked.out.add(
            block.at["topics"],
            f"{shorten(name)} is a source, which reads no topics — leave them out",
        )
    for topic in block.get("topics", ()):
        if topic not in asked.topics:
            asked.out.add(
                block.at["topics"],
                f"There is no topic '{shorten(topic)}' — "
                f"{or_nearest(topic, asked.topics, 'write it under topics:')}",
            )
    if "consumer" in block and not is_sink:
        asked.out.add(
            block.at["consumer"],
            f"{shorten(name)} is a source, which has no consumers — leave it out",
        )
    return build(
        Connector,
        block,
        name=name,
        kind=SINK if is_sink else SOURCE,
        topics=tuple(block.get("topics", ())),
        consumer=_sink_config(asked, block.get("consumer"), workers)
        if "consumer" in block
        else None,
    )
