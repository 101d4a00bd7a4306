"""A trace: a header that says of which world, and events in order. The narrow waist between what
happens and what it means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from rebalsim.domain.habits import JAVA, NEWEST, BrokerHabits, Habits
from rebalsim.trace.events import TraceEvent

SCHEMA_VERSION = 1


@dataclass(slots=True)
class TopicFacts:
    """What analysis needs to know of a topic. Rates are records a second per partition, as (from
    µs, rate, is it a ramp from the step before).
    """

    partitions: int
    rates: tuple[tuple[int, float, bool], ...] | None = None  # of the whole topic; None: unknown
    weights: tuple[float, ...] = ()
    record_bytes: int = -1
    # (from µs, partitions): later counts, over which records then spread
    growth: tuple[tuple[int, int], ...] = ()


@dataclass(slots=True)
class FormerFacts:
    """What a consumer ran with until it was started with other settings; it holds for all of its
    lives that began before `until_us`.
    """

    until_us: int
    client: str = ""
    protocol: str = ""
    session_timeout_us: int = -1
    heartbeat_interval_us: int = -1
    max_poll_interval_us: int = -1
    habits: Habits = JAVA


@dataclass(slots=True)
class ConsumerFacts:
    """What analysis needs to know of a consumer; −1 and empty mean unknown. Where a deploy
    changed it, its latest settings.
    """

    group: str
    process: str = ""
    rack: str = ""
    client: str = ""
    protocol: str = ""  # eager | cooperative | consumer
    assignors: tuple[str, ...] = ()
    instance_id: str | None = None
    session_timeout_us: int = -1
    heartbeat_interval_us: int = -1
    max_poll_interval_us: int = -1
    poll_timeout_us: int = -1
    per_record_us: float = -1.0  # mean handler cost
    is_auto_commit: bool | None = None
    auto_commit_us: int = -1  # its interval, where it is automatic
    commit: str = ""  # else: none, or how the application commits with its batches
    # topics it subscribes to, by name or pattern, that are not there all the time
    awaits: tuple[str, ...] = ()
    former: tuple[FormerFacts, ...] = ()  # what it ran with before, ascending
    max_poll_records: int = -1

    habits: Habits = JAVA  # what its client does otherwise than Kafka's newest own

    @property
    def is_of_streams(self) -> bool:
        """Whether it is a thread of a Kafka Streams application."""
        return self.client.endswith("Streams")

    @property
    def is_worker(self) -> bool:
        """Whether it is a worker of Kafka Connect, whose facts have `connect` for a library."""
        return self.client.startswith("connect")

    @property
    def uses_consumer_protocol(self) -> bool:
        return self.protocol == "consumer"

    def at(self, at_us: int) -> ConsumerFacts:
        """As it was at that instant."""
        was = next((f for f in self.former if at_us < f.until_us), None)
        if was is None:
            return self
        return replace(
            self,
            client=was.client,
            protocol=was.protocol,
            session_timeout_us=was.session_timeout_us,
            heartbeat_interval_us=was.heartbeat_interval_us,
            max_poll_interval_us=was.max_poll_interval_us,
            habits=was.habits,
        )


@dataclass(slots=True)
class TraceHeader:
    """The first line of a trace file."""

    schema: int = SCHEMA_VERSION
    rebalsim: str = ""
    source: str = "simulated"  # simulated | recorded | logs
    title: str = ""
    variant: str = ""
    heading: str = ""
    kafka: str = ""
    habits: BrokerHabits = NEWEST  # what brokers of that version do otherwise than the newest
    digest: str = ""
    seed: int | None = None
    horizon_us: int = 0
    topics: dict[str, TopicFacts] = field(default_factory=dict)
    consumers: dict[str, ConsumerFacts] = field(default_factory=dict)
    command: str = ""  # what repeats the run
    shift_us: int = 0  # how much later than written the script was played
    lead_us: int = 0  # how long the group ran before the story's 0; what came then stands at 0

    @property
    def is_simulated(self) -> bool:
        return self.source == "simulated"

    @property
    def is_recorded(self) -> bool:
        return self.source == "recorded"

    @property
    def is_of_logs(self) -> bool:
        return self.source == "logs"


@dataclass(slots=True)
class Trace:
    """Events sorted by time; equal times keep the order in which they happened. An event's
    number is its index.
    """

    header: TraceHeader
    events: Sequence[TraceEvent]
    # the entries that the simulation's queue had: what it cost, which no file tells
    work: int = field(default=0, compare=False, repr=False)
