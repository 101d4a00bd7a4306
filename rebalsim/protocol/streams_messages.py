"""StreamsGroupHeartbeat (KIP-1071): the one request by which a stream thread joins a streams group,
lives, acknowledges and leaves, and its answer.

Durations are integer microseconds. Nobody changes a message after it was made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rebalsim.domain.task_ids import TaskId
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.streams.topology import StreamsTopology

JOINS = 0  # member epochs with a meaning of their own
LEAVES = -1
UNCHANGED = -1  # says that the rebalance timeout has not changed

STALE_TOPOLOGY = 0  # an answer's statuses
MISSING_SOURCE_TOPICS = 1
INCORRECTLY_PARTITIONED_TOPICS = 2
MISSING_INTERNAL_TOPICS = 3
SHUTDOWN_APPLICATION = 4
ASSIGNMENT_DELAYED = 5

NOT_READY = (
    MISSING_SOURCE_TOPICS,
    INCORRECTLY_PARTITIONED_TOPICS,
    MISSING_INTERNAL_TOPICS,
    ASSIGNMENT_DELAYED,
)  # a member that was told one of these goes on polling and processes nothing

Tasks = frozenset[TaskId]


@dataclass(frozen=True, slots=True)
class Roles:
    """Tasks in three roles; the broker of Kafka 4.3 hands out no warm-ups."""

    active: Tasks = frozenset()
    standby: Tasks = frozenset()
    warmup: Tasks = frozenset()

    @property
    def is_empty(self) -> bool:
        return not (self.active or self.standby or self.warmup)

    def meets(self, other: Roles) -> bool:
        """Whether a task is in both, in the same role."""
        return not (
            self.active.isdisjoint(other.active)
            and self.standby.isdisjoint(other.standby)
            and self.warmup.isdisjoint(other.warmup)
        )

    def within(self, other: Roles) -> bool:
        """Whether all of these are among the other's, role by role."""
        return (
            self.active <= other.active
            and self.standby <= other.standby
            and self.warmup <= other.warmup
        )


NO_TASKS = Roles()


@dataclass(slots=True)
class StreamsGroupHeartbeatRequest:
    """A field that is None (or UNCHANGED) is as the coordinator knows it; the owned tasks are all
    three lists or none.
    """

    member_id: str
    epoch: int
    rebalance_timeout_us: int = UNCHANGED
    topology: StreamsTopology | None = None
    active: Tasks | None = None
    standby: Tasks | None = None
    warmup: Tasks | None = None
    process: str | None = None
    client_id: str = ""
    instance_id: str | None = None
    rack_id: str | None = None
    tags: Mapping[str, str] | None = None
    shutdown: bool = False

    @property
    def owned(self) -> Roles | None:
        if self.active is None or self.standby is None or self.warmup is None:
            return None
        return Roles(self.active, self.standby, self.warmup)


@dataclass(slots=True)
class StreamsGroupHeartbeatResponse:
    """What the member shall have from now on; without tasks it is as before. After an error only
    that and its text count.
    """

    error: Error
    member_id: str = ""
    epoch: int = 0
    heartbeat_interval_us: int = 0
    tasks: Roles | None = None
    statuses: tuple[int, ...] = ()
    create_topics: Mapping[str, int] = field(default_factory=dict)
    text: str = ""

    @property
    def generation(self) -> int:
        """The epoch, by the name that traces have for it under any protocol."""
        return self.epoch
