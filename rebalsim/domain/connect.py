"""A Kafka Connect cluster as the story has it: workers' settings, connectors, and what their tasks
cost.

A worker is one of the story's consumers (a member of a classic group, with a process's life); what
it is beyond that stands here.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalsim.domain.client import ClientConfig
from rebalsim.domain.draws import NOTHING, Draw, constantly
from rebalsim.domain.instants import MINUTE, MS, SECOND

EAGER, COMPATIBLE, SESSIONED = "eager", "compatible", "sessioned"
# what a worker offers by its setting connect.protocol, in order of preference
OFFERED = {
    EAGER: ("default",),
    COMPATIBLE: ("compatible", "default"),
    SESSIONED: ("sessioned", "compatible", "default"),
}
SOURCE, SINK = "source", "sink"
STARTED, PAUSED, STOPPED = "started", "paused", "stopped"  # a connector's target states


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    """A worker's settings by Kafka's keys, with Connect's own defaults (4.3.1)."""

    connect_protocol: str = SESSIONED
    session_timeout_us: int = 10 * SECOND
    heartbeat_interval_us: int = 3 * SECOND
    rebalance_timeout_us: int = 1 * MINUTE
    scheduled_rebalance_max_delay_us: int = 5 * MINUTE
    task_shutdown_graceful_timeout_us: int = 5 * SECOND
    worker_sync_timeout_us: int = 3 * SECOND
    worker_unsync_backoff_us: int = 5 * MINUTE
    offset_flush_interval_us: int = 1 * MINUTE
    request_timeout_us: int = 40 * SECOND
    retry_backoff_us: int = 100 * MS
    retry_backoff_max_us: int = 1 * SECOND
    reconnect_backoff_us: int = 50 * MS
    exactly_once_source_support: str = "disabled"
    consumer: ClientConfig = ClientConfig()  # of its sink tasks (`consumer.…`)

    @property
    def is_exactly_once(self) -> bool:
        """Do its sources' tasks produce in transactions?"""
        return self.exactly_once_source_support == "enabled"

    @property
    def waits_for_the_lost(self) -> bool:
        """Does lost work wait for its worker, where this one's settings hold for the cluster?"""
        return self.connect_protocol != EAGER and self.scheduled_rebalance_max_delay_us > 0

    @property
    def offers(self) -> tuple[str, ...]:
        return OFFERED[self.connect_protocol]


@dataclass(frozen=True, slots=True)
class Connector:
    """A connector, and what its tasks are like."""

    name: str
    kind: str = SOURCE
    tasks_max: int = 1
    topics: tuple[str, ...] = ()  # that a sink reads
    start: Draw = NOTHING  # a task's start()
    stop: Draw = NOTHING  # … and its stop()
    connector_start: Draw = NOTHING  # the connector's own start()
    poll: Draw = constantly(100 * MS)  # how long a source's poll() takes, which its stop waits for
    per_record: Draw = NOTHING  # a sink's put(), for each record
    open: Draw = NOTHING  # a sink's open(), when it is given partitions …
    close: Draw = NOTHING  # … and its close(), when they are taken
    consumer: ClientConfig | None = None  # of its sink tasks, where it overrides the worker's
    revision: int = 0  # another one: its tasks are configured anew

    @property
    def group(self) -> str:
        """The consumer group of a sink's tasks."""
        return f"connect-{self.name}"


@dataclass(frozen=True, slots=True)
class ConnectCluster:
    """The connectors of a group of workers; the workers are the group's consumers."""

    group: str
    connectors: tuple[Connector, ...] = ()  # there from the start
    later: tuple[Connector, ...] = ()  # that the script creates
