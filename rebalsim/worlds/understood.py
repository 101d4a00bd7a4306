"""What was understood of a set of files: consumers, scalers, topics, live groups, and the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rebalsim.worlds.clients.reading import Reading
from rebalsim.worlds.kubernetes.autoscalers import Scaling
from rebalsim.worlds.kubernetes.canary import Stage
from rebalsim.worlds.kubernetes.pods import Probe, Ready
from rebalsim.worlds.live.listings import Listed
from rebalsim.worlds.live.metrics import Measured
from rebalsim.worlds.values import Hurt, Value

RULE_OF_SINKS = "Connect's rule for sinks"  # where a sink's group has its name from


@dataclass(slots=True)
class Update:
    """How a rollout replaces the pods."""

    type: str  # RollingUpdate · Recreate · OnDelete
    surge: tuple[str | None, int, str, str] | None = None  # given, pods, sure, source
    unavailable: tuple[str | None, int, str, str] | None = None
    most_pods: int | None = None
    fewest_available: int | None = None
    order: str | None = None
    pod_management: str | None = None
    partition: int | None = None
    min_ready_seconds: int = 0
    progress_deadline: int = 600
    paused: bool = False
    # Of a rollout that does not go in one go: its stages for so many pods, and so many more at most.
    staged: Callable[[int, int], tuple[Stage, ...]] | None = None


@dataclass(slots=True)
class Consumer:
    """One workload (or a client without one) that consumes."""

    reading: Reading
    client: Value
    group: Value
    instance: Value
    topics: Value
    members: Value
    workload: str | None = None
    container: str | None = None
    name: str | None = None
    namespace: Value | None = None
    replicas: Value | None = None
    replicas_left_out: bool = False
    update: Update | None = None
    grace: Value | None = None
    pre_stop: Value | None = None
    ready: Ready | None = None
    probes: list[Probe] = field(default_factory=list)
    shell: bool = False
    where: str = ""
    annotations: dict[str, str] = field(default_factory=dict)
    cpu_limit: str | None = None
    cpu_request: str | None = None
    image: str = ""
    template: str = ""  # the pod's template as text: where it differs, pods are replaced

    @property
    def is_sink(self) -> bool:
        """Tasks of a sink connector: so many in all, however many workers there are."""
        return self.group.source == RULE_OF_SINKS

    @property
    def settings(self) -> dict[str, Value]:
        return self.reading.settings


@dataclass(slots=True)
class Workers:
    """A cluster of Connect's workers: how they are deployed and set, as of any consumer."""

    name: str
    pods: Consumer
    of_sinks: dict[str, Value] = field(default_factory=dict)  # what sink tasks' consumers have


@dataclass(slots=True)
class Connector:
    """A connector; one with topics is a sink, whose tasks are the group connect-NAME."""

    name: str
    tasks: Value
    topics: list[str] = field(default_factory=list)
    where: str = ""
    is_pattern: bool = False  # topics by an expression
    settings: dict[str, Value] = field(default_factory=dict)  # its tasks' consumers' own


@dataclass(slots=True)
class Understood:
    """Everything that a set of files tells, and what it does not."""

    kind: str = "client-config"
    consumers: list[Consumer] = field(default_factory=list)
    scalings: list[Scaling] = field(default_factory=list)
    topics: dict[str, dict[str, Value]] = field(default_factory=dict)
    listed: Listed = field(default_factory=Listed)
    measured: Measured | None = None
    budgets_min_available: list[tuple[str, str, str]] = field(default_factory=list)
    kafka_version: Value | None = None
    broker_settings: dict[str, Value] = field(default_factory=dict)
    maybe: list[tuple[str, str]] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    hurts: list[Hurt] = field(default_factory=list)
    unknown_keys: list[str] = field(default_factory=list)
    unread: list[tuple[str, int, str]] = field(default_factory=list)
    to_render: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    asks: list[str] = field(default_factory=list)
    connect: list[str] = field(default_factory=list)
    workers: list[Workers] = field(default_factory=list)
    connectors: list[Connector] = field(default_factory=list)
    share_groups: list[str] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)  # objects of kinds that nobody here knows

    def ignore(self, what: str, why: str) -> None:
        self.ignored.append(f"{what}: {why}")
