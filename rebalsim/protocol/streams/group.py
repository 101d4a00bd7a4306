"""A streams group as its coordinator keeps it: members, epochs, topology, targets, and who holds
which task. Nothing here decides anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from rebalsim.domain.java_hash import TimelineHashMap
from rebalsim.domain.kafka_states import KafkaGroupState
from rebalsim.domain.streams_target import BrokersTaskAssignor
from rebalsim.domain.task_ids import TaskId
from rebalsim.protocol.consumer.topics import NO_TOPICS, Topic, TopicsImage
from rebalsim.protocol.streams.member import Member
from rebalsim.protocol.streams.topology import Configured, StreamsTopology
from rebalsim.protocol.streams_messages import Roles

MS = 1_000


@dataclass(slots=True)
class StreamsGroupSettings:
    """The broker's settings for a streams group; the defaults are those of Kafka 4.3."""

    assignor: BrokersTaskAssignor
    session_timeout_us: int = 45_000 * MS
    heartbeat_interval_us: int = 5_000 * MS
    num_standby_replicas: int = 0
    initial_delay_us: int = 3_000 * MS
    assignment_interval_us: int = 1_000 * MS
    max_size: int = 2_147_483_647


class GroupState(Enum):
    """Kafka's StreamsGroupState; the value is the name Kafka prints."""

    EMPTY = KafkaGroupState.EMPTY
    NOT_READY = KafkaGroupState.NOT_READY  # the topology is not what it has to be
    ASSIGNING = KafkaGroupState.ASSIGNING  # a target is due
    RECONCILING = KafkaGroupState.RECONCILING  # some member has not reached the target
    STABLE = KafkaGroupState.STABLE
    DEAD = KafkaGroupState.DEAD


@dataclass(slots=True)
class StreamsGroup:
    """One group. `exists` turns true with the first member that gets in."""

    name: str
    settings: StreamsGroupSettings
    topics: TopicsImage = NO_TOPICS
    exists: bool = False
    epoch: int = 1
    assignment_epoch: int = 1
    assigned_at_us: int | None = None  # when a target was last computed
    topology: StreamsTopology | None = None
    configured: Configured | None = None
    validated_epoch: int = -1  # the topology's, where it is as it must be
    standbys_then: int | None = None  # as at the last bump
    metadata: Mapping[str, Topic] = field(default_factory=dict)  # as at the last bump
    refresh_due: bool = True
    members: TimelineHashMap[str, Member] = field(default_factory=TimelineHashMap)
    targets: dict[str, Roles] = field(default_factory=dict)
    delayed: bool = False  # the initial delay runs
    revocations: dict[str, int] = field(default_factory=dict)  # member → epoch of its timer
    shutdown_by: str | None = None
    reconciled: int = 0  # members that are reconciled to the assignment epoch
    appends: int = 0
    active_on: dict[TaskId, str] = field(default_factory=dict)  # task → the process that has it
    standby_on: dict[TaskId, set[str]] = field(default_factory=dict)
    warmup_on: dict[TaskId, set[str]] = field(default_factory=dict)

    @property
    def state(self) -> GroupState:
        if not self.members:
            return GroupState.EMPTY
        if self.topology is None or self.topology.epoch != self.validated_epoch:
            return GroupState.NOT_READY
        if self.epoch > self.assignment_epoch:
            return GroupState.ASSIGNING
        return GroupState.STABLE if self.reconciled == len(self.members) else GroupState.RECONCILING

    @property
    def wanted_topics(self) -> dict[str, Topic]:
        """What Kafka's metadata hash is taken from: the topology's topics that exist."""
        names = self.topology.topics if self.topology else ()
        by_name = self.topics.by_name
        return {name: by_name[name] for name in sorted(names) if name in by_name}

    def install(self, old: Member | None, new: Member) -> None:
        """Put a member in the place of its older self, or in as a new one."""
        if old is None:
            # Two log records make a member, and each is a put that may double the table.
            self.members.put(new.member_id, new)
        else:
            self._release(old)
            self.reconciled -= old.is_reconciled_to(self.assignment_epoch)
        self.members.put(new.member_id, new)
        self._hold(new)
        self.reconciled += new.is_reconciled_to(self.assignment_epoch)

    def remove(self, member: Member) -> None:
        """Take a member out, with its target; its tasks are free at once."""
        self.members.remove(member.member_id)
        self.targets.pop(member.member_id, None)
        self._release(member)
        self.reconciled -= member.is_reconciled_to(self.assignment_epoch)
        if not self.members:
            self.shutdown_by = None

    def advance(self, epoch: int) -> None:
        """A new target holds."""
        self.assignment_epoch = epoch
        self.reconciled = sum(member.is_reconciled_to(epoch) for member in self.members.values())

    def _hold(self, member: Member) -> None:
        for held in (member.assigned, member.pending):
            self.active_on.update(dict.fromkeys(sorted(held.active), member.process))
            for task in sorted(held.standby):
                self.standby_on.setdefault(task, set()).add(member.process)
            for task in sorted(held.warmup):
                self.warmup_on.setdefault(task, set()).add(member.process)

    def _release(self, member: Member) -> None:
        for held in (member.assigned, member.pending):
            for task in sorted(held.active):
                self.active_on.pop(task, None)
            for task in sorted(held.standby):
                self.standby_on.get(task, set()).discard(member.process)
            for task in sorted(held.warmup):
                self.warmup_on.get(task, set()).discard(member.process)
