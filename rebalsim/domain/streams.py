"""A Kafka Streams application as a story describes it: its topology, its stores, its settings under
Kafka's names (`_ms` becomes `_us`).
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalsim.domain.draws import NOTHING, Draw
from rebalsim.domain.instants import MINUTE, MS, SECOND

EAGER_UP_TO = ("2.0", "2.1", "2.2", "2.3")


@dataclass(frozen=True, slots=True)
class StreamsStore:
    """A state store of a sub-topology. Bytes and records are those of all its changelog's
    partitions together, at the start.
    """

    name: str
    records: int = 0
    record_bytes: int = 100
    writes: float = 1.0  # changelog records for a record handled
    in_memory: bool = False


@dataclass(frozen=True, slots=True)
class StreamsPunctuator:
    """What each task is called for, every so often."""

    every_us: int
    takes: Draw = NOTHING
    by: str = "wall-clock"  # wall-clock | stream-time


@dataclass(frozen=True, slots=True)
class StreamsPart:
    """A sub-topology; its sources are topics of the cluster or repartition topics."""

    sources: tuple[str, ...]
    stores: tuple[StreamsStore, ...] = ()
    writes_to: tuple[str, ...] = ()  # repartition topics
    joins: bool = False  # its sources must have as many partitions
    per_record: Draw | None = None  # what processing one takes; None: the application's
    punctuators: tuple[StreamsPunctuator, ...] = ()


@dataclass(frozen=True, slots=True)
class StreamsConfig:
    """The application's settings, and the group's that brokers keep for the streams protocol."""

    num_stream_threads: int = 1
    num_standby_replicas: int = 0
    acceptable_recovery_lag: int = 10_000
    max_warmup_replicas: int = 2
    probing_rebalance_interval_us: int = 10 * MINUTE
    task_assignor_class: str = "HighAvailabilityTaskAssignor"
    rack_aim: str = "none"
    rack_traffic_cost: int | None = None
    rack_non_overlap_cost: int | None = None
    rack_tags: tuple[str, ...] = ()
    commit_interval_us: int | None = None  # None: 30 s, or 100 ms under exactly-once
    poll_us: int = 100 * MS
    max_task_idle_us: int = 0
    state_cleanup_delay_us: int = 10 * MINUTE
    processing_guarantee: str = "at_least_once"
    transaction_timeout_us: int = 10 * SECOND
    upgrade_from: str = ""
    group_protocol: str = "classic"
    streams_session_timeout_us: int = 45 * SECOND
    streams_heartbeat_interval_us: int = 5 * SECOND
    streams_num_standby_replicas: int = 0
    streams_initial_rebalance_delay_us: int = 3 * SECOND
    streams_assignment_interval_us: int = 1 * SECOND

    @property
    def uses_streams_protocol(self) -> bool:
        """The brokers assign the tasks (KIP-1071)."""
        return self.group_protocol == "streams"

    @property
    def uses_classic_protocol(self) -> bool:
        return self.group_protocol == "classic"

    @property
    def standbys(self) -> int:
        """Of each task with state."""
        is_new = self.uses_streams_protocol
        return self.streams_num_standby_replicas if is_new else self.num_standby_replicas

    @property
    def standbys_key(self) -> str:
        """Whose setting that is: the client's, or the group's under the streams protocol."""
        is_new = self.uses_streams_protocol
        return "streams.num.standby.replicas" if is_new else "num.standby.replicas"

    @property
    def commits_every_us(self) -> int:
        """What is written, or what Kafka Streams takes for it."""
        if self.commit_interval_us is not None:
            return self.commit_interval_us
        return 100 * MS if self.is_exactly_once else 30 * SECOND

    @property
    def is_exactly_once(self) -> bool:
        return self.processing_guarantee == "exactly_once_v2"

    @property
    def is_eager(self) -> bool:
        """It gives up everything before each rebalance, as clients up to 2.3 do."""
        return self.upgrade_from[:2] in ("0.", "1.") or self.upgrade_from in EAGER_UP_TO


@dataclass(frozen=True, slots=True)
class StreamsApp:
    """All of it; the group's members are its instances."""

    parts: tuple[StreamsPart, ...]
    config: StreamsConfig = StreamsConfig()
    restore_bytes_per_second: float = 40e6  # for a thread's state updater
    starts: str = "warm"  # warm | cold: whether the stores are there when the story begins
    volume: str = "kept"  # kept | lost: whether the state directory survives a restart
    close: str = "remain"  # remain | leave
    repartition_topics: tuple[tuple[str, int], ...] = ()  # name, partitions
    clients: str = "cooperative"  # cooperative | eager
    per_record: Draw = NOTHING  # what processing one takes, where a sub-topology does not say

    @property
    def is_old(self) -> bool:
        """Its clients are 2.3's."""
        return self.clients == "eager"

    @property
    def is_eager(self) -> bool:
        """It gives up everything before each rebalance, from the start."""
        return self.is_old or self.config.is_eager
