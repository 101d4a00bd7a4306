"""What is played: the application, its group's settings, and how long things take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rebalsim.assignors.streams.settings import TaskAssignorSettings
from rebalsim.assignors.streams.tasks import Subtopology
from rebalsim.assignors.streams.versions import LATEST
from rebalsim.domain.ids import Partition
from rebalsim.simulation.streams.arrivals import Steps

MS = 1_000
SECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a step takes, measured with Kafka 4.3.1 on loopback (medians, µs)."""

    link_us: int = 1 * MS  # one way between client and broker
    log_us: int = 1 * MS  # an append of the coordinator
    start_us: int = 20 * MS  # from the process's start to its first request
    open_store_us: int = 25 * MS  # opening a store, on the stream thread
    first_open_us: int = 20 * MS  # the first one of a life takes so much longer
    old_first_open_us: int = 150 * MS  # … with a client of 2.3
    old_flush_us: int = 20 * MS  # a client of 2.3 flushes a store so long as it gives the task up
    close_store_us: int = 12 * MS
    first_close_us: int = 28 * MS  # the first store closed in one go takes so much longer
    close_task_us: int = 1 * MS
    probe_store_us: int = 10 * MS  # opened and closed once at start(), for its offsets
    commit_us: int = 12 * MS
    assign_us: int = 13 * MS  # the leader's assignment
    list_offsets_us: int = 12 * MS  # before a restoration begins
    fetch_offset_us: int = 6 * MS  # the committed offset of a task, before it runs
    first_fetch_us: int = 10 * MS  # from RUNNING to the first record, where no fetch is under way
    arrive_us: int = 12 * MS  # from a record's time to its arrival, beside the link
    close_us: int = 90 * MS  # KafkaStreams.close() beside its commits
    beat_late_us: int = 1 * MS  # how late a classic heartbeat is each time
    turn_us: int = 2 * MS  # one iteration of a thread beside its poll
    restore_poll_us: int = 100 * MS  # the restore consumer's poll that finds nothing

    @property
    def fetch_us(self) -> int:
        """From a record's time to its arrival at the client."""
        return self.link_us * 4 + self.arrive_us


@dataclass(frozen=True, slots=True)
class Store:
    """The state of each task of a sub-topology, as its changelog shows it."""

    records: int = 0  # in a task's changelog at the start
    record_bytes: int = 100
    writes: float = 1.0  # changelog records for a record handled
    in_memory: bool = False


@dataclass(frozen=True, slots=True)
class Punctuator:
    """What each task of a sub-topology is called for, every so often."""

    every_us: int
    takes_us: float
    is_of_stream: bool = False  # by the records' time, which stands still where none come


@dataclass(frozen=True, slots=True)
class Part:
    """A sub-topology: what it reads, and its stores."""

    sources: tuple[str, ...]
    stores: Mapping[str, Store] = field(default_factory=dict)
    repartition_sinks: tuple[str, ...] = ()
    repartition_sources: tuple[str, ...] = ()
    copartitioned: bool = False
    record_us: float = 0.0  # what processing a record takes
    punctuators: tuple[Punctuator, ...] = ()


@dataclass(frozen=True, slots=True)
class ThreadSettings:
    """A stream thread's settings; an instance may have its own."""

    threads: int = 1
    group_protocol: str = "classic"
    eager: bool = False  # a client of 2.3 and before, or upgrade.from up to 2.3
    restores_inside: bool = False  # before 3.8: the stream thread restores, and nothing else runs
    metadata_version: int = LATEST
    session_us: int = 45 * SECOND
    heartbeat_us: int = 3 * SECOND
    max_poll_us: int = 300 * SECOND
    poll_us: int = 100 * MS
    commit_us: int = 30 * SECOND
    restore_us: float = 4.0  # for a changelog record
    standby_us: float = 4.0
    restore_byte_us: float = 0.0  # … and for each of its bytes
    handler_us: float = 0.0
    exactly_once: bool = False
    transaction_timeout_us: int = 10 * SECOND
    instance_id: str | None = None
    rack: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    leave_on_close: bool = False
    keeps_disk: bool = True
    cleanup_delay_us: int = 600 * SECOND
    metadata_age_us: int = 300 * SECOND  # metadata.max.age.ms
    max_task_idle_us: int = 0  # how long a task waits for an input that has nothing
    start_us: int = 0  # from the process's start to KafkaStreams.start()


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """The broker's side."""

    initial_delay_us: int = 3 * SECOND  # classic
    streams_session_us: int = 45 * SECOND
    streams_heartbeat_us: int = 5 * SECOND
    streams_standbys: int = 0
    streams_initial_delay_us: int = 3 * SECOND
    streams_interval_us: int = 1 * SECOND
    max_size: int = 2_147_483_647
    streams_max_size: int = 2_147_483_647
    abort_check_us: int = 10 * SECOND  # transaction.abort.timed.out.transaction.cleanup.interval.ms
    abort_looks_us: int = 0  # a moment at which it looks: drawn anew for each run


@dataclass(frozen=True, slots=True)
class Application:
    """All of it."""

    name: str
    topics: dict[str, int]  # how many partitions each has now
    rates: Mapping[str, float]  # records a second into each partition of the topic
    parts: tuple[Part, ...]
    assignor: str = "streams-ha"
    assigning: TaskAssignorSettings = TaskAssignorSettings()
    group: GroupSettings = GroupSettings()
    timing: Timing = Timing()

    replica_racks: Mapping[str, Sequence[Sequence[str | None]]] | None = None
    internal_topics_exist: bool = True  # the application ran before
    exactly_once: bool = False
    flows: dict[str, Steps] = field(default_factory=dict)  # of topics whose rate changes
    born: dict[tuple[str, int], int] = field(default_factory=dict)  # later partitions, and when

    def flow_of(self, topic: str) -> Steps:
        """Records into each of its partitions."""
        return self.flows.get(topic) or ((0, self.rates.get(topic, 0.0)),)

    def flow_in(self, partition: Partition) -> Steps:
        """Into this one, which may have come later."""
        steps, born_us = self.flow_of(partition.topic), self.born.get(partition, 0)
        if not born_us:
            return steps
        return ((0, 0.0), *((max(at, born_us), rate) for at, rate in steps if at >= born_us))

    def internal_topics(self) -> dict[str, int]:
        """Changelogs and repartition topics that are there at the start."""
        if not self.internal_topics_exist:
            return {}
        made: dict[str, int] = {}
        for part in self.parts:
            tasks = self._most_partitions(part)
            made.update({f"{self.name}-{store}-changelog": tasks for store in part.stores if tasks})
        return made

    def repartition_counts(self) -> dict[str, int]:
        """Partitions of repartition topics, as their writers' sources have them."""
        made: dict[str, int] = {}
        for part in self.parts:
            for sink in part.repartition_sinks:
                made[sink] = max(made.get(sink, 0), self._most_partitions(part))
        for part in self.parts:
            mine = part.repartition_sources if part.copartitioned else ()
            fixed = [self.topics[name] for name in part.sources if name in self.topics]
            made.update(
                dict.fromkeys(mine, max(fixed or [made.get(n, 0) for n in mine], default=0))
            )
        return made

    def _most_partitions(self, part: Part) -> int:
        inputs = [*part.sources, *part.repartition_sources]
        return max((self.topics[name] for name in inputs if name in self.topics), default=0)

    def subtopologies(self) -> list[Subtopology]:
        return [
            Subtopology(
                (*part.sources, *part.repartition_sources),
                tuple(f"{store}-changelog" for store in part.stores),
            )
            for part in self.parts
        ]
