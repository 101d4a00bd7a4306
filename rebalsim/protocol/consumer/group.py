"""A consumer group as its coordinator keeps it: members, epochs, targets, and the tables that make
a quiet heartbeat cheap.

Every change of a member goes through `install` or `remove`, which keep the tables true. Nothing
here decides anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from rebalsim.domain.errors import BugError
from rebalsim.domain.ids import Partition
from rebalsim.domain.java_hash import TimelineHashMap
from rebalsim.domain.kafka_states import KafkaGroupState
from rebalsim.domain.server_target import Target, Targets
from rebalsim.protocol.consumer.assignor import Assignor
from rebalsim.protocol.consumer.member import Held, Member
from rebalsim.protocol.consumer.topics import NO_TOPICS, Topic, TopicsImage

MS = 1_000
# metadata is looked at unasked after so long (GroupMetadataManager): practically never
REFRESH_US = 2_147_483_647 * MS


@dataclass(frozen=True, slots=True)
class ConsumerGroupSettings:
    """The broker's settings for consumer groups, and what changed between Kafka's versions; the
    defaults are those of Kafka 4.3.
    """

    assignors: Mapping[str, Assignor]  # group.consumer.assignors, the first is the default
    session_timeout_us: int = 45_000 * MS
    heartbeat_interval_us: int = 5_000 * MS
    max_size: int = 2_147_483_647
    assignment_interval_us: int = 1_000 * MS  # KIP-1263; 0 before 4.3
    regex_refresh_interval_us: int = 600_000 * MS
    first_epoch: int = 1  # 0 before 4.3
    known_members_may_join_again: bool = (
        True  # False in 4.0 and 4.1: epoch 0 is fenced unless the previous epoch is 0
    )
    classic_members_follow_target: bool = (
        True  # False up to 4.2: they shall join again once the group epoch is ahead of theirs
    )
    commits_by_partition: bool = True  # KIP-1251; before 4.3 a commit needs the very epoch


class GroupState(Enum):
    """Kafka's ConsumerGroupState; the value is the name Kafka prints."""

    EMPTY = KafkaGroupState.EMPTY
    ASSIGNING = KafkaGroupState.ASSIGNING  # a new target has to be computed
    RECONCILING = KafkaGroupState.RECONCILING  # some member has not reached the target
    STABLE = KafkaGroupState.STABLE
    DEAD = KafkaGroupState.DEAD


@dataclass(frozen=True, slots=True)
class ResolvedRegex:
    """The topics that a regular expression stood for when it was last looked at."""

    topics: tuple[str, ...]
    version: int  # of the topics image
    at_us: int


@dataclass(slots=True)
class ConsumerGroup:
    """One group. `exists` turns true with the first member that gets in."""

    name: str
    settings: ConsumerGroupSettings
    topics: TopicsImage = NO_TOPICS
    exists: bool = False
    epoch: int = -1  # of the group; set to first_epoch
    assignment_epoch: int = -1
    assigned_at_us: int | None = None  # when a target was last computed, in whole ms
    members: TimelineHashMap[str, Member] = field(default_factory=TimelineHashMap)
    targets: Targets = field(default_factory=dict)
    statics: dict[str, str] = field(default_factory=dict)  # instance id → member id
    # topic id → partition → member id
    owners: dict[str, dict[int, str]] = field(default_factory=dict)
    topic_counts: dict[str, int] = field(default_factory=dict)  # name → members that name it
    regex_counts: dict[str, int] = field(default_factory=dict)
    regexes: dict[str, ResolvedRegex] = field(default_factory=dict)
    regexes_are_due: bool = False  # a resolution is under way
    newest_topics_version: int = -1  # the image that last brought new topics
    assignor_counts: TimelineHashMap[str, int] = field(default_factory=TimelineHashMap)
    # of the subscribed topics, as at the last look
    metadata: dict[str, Topic] = field(default_factory=dict)
    refresh_due_us: int = 0  # from then on a heartbeat looks at the metadata
    is_homogeneous: bool = (
        True  # as when a member last changed: what regular expressions match may be newer
    )
    reconciled: int = 0  # members that are reconciled to the assignment epoch
    # member id → (epoch, timeout) of its rebalance timer
    revocations: dict[str, tuple[int, int]] = field(default_factory=dict)
    # classic members whose join timer runs
    awaited_joins: dict[str, None] = field(default_factory=dict)
    # topic id → name, of deleted topics too
    topic_names: dict[str, str] = field(default_factory=dict)
    appends: int = 0
    interval_noted_for: int = -1  # the group epoch whose waiting for the interval was told

    def __post_init__(self) -> None:
        if self.epoch < 0:
            self.epoch = self.assignment_epoch = self.settings.first_epoch
        self.topic_names.update(self.topics.name_of)
        self.newest_topics_version = self.topics.version

    @property
    def state(self) -> GroupState:
        if not self.members:
            return GroupState.EMPTY
        if self.epoch > self.assignment_epoch:
            return GroupState.ASSIGNING
        return GroupState.STABLE if self.reconciled == len(self.members) else GroupState.RECONCILING

    def target_of(self, member_id: str, instance_id: str | None) -> Target:
        """What the member should have; a static member's target goes by its instance id, also
        for the one that takes its place.
        """
        if instance_id is not None:
            member_id = self.statics.get(instance_id, "")
        return self.targets.get(member_id, {})

    def subscribed_names(
        self, leaving: Member | None = None, coming: Member | None = None
    ) -> dict[str, None]:
        """The names of all topics that anybody subscribes to, with one member's subscription
        taken out and another one's put in.
        """
        counts = self.topic_counts
        if leaving is not None or coming is not None:
            counts = dict(counts)
            _count(counts, leaving, coming)
        names = dict.fromkeys(counts)
        for regex, found in self.regexes.items():
            if (
                leaving is None
                or leaving.regex != regex
                or self.regex_counts.get(regex, 0) > 1
                or (coming and coming.regex == regex)
            ):
                names.update(dict.fromkeys(found.topics))
        return names

    def metadata_of(self, names: Mapping[str, None]) -> dict[str, Topic]:
        """What Kafka's metadata hash is taken from: the subscribed topics that exist."""
        by_name = self.topics.by_name
        return {name: by_name[name] for name in names if name in by_name}

    def will_be_homogeneous(self, leaving: Member, coming: Member) -> bool:
        """Will all members name the same topics (or have one and the same regular expression and
        name none) after this heartbeat?
        """
        named = dict(self.topic_counts)
        regexes = dict(self.regex_counts)
        _count(named, leaving, coming)
        _count_regex(regexes, leaving, coming)
        is_new = coming.member_id not in self.members and (
            coming.instance_id is None or coming.instance_id not in self.statics
        )
        goes = (
            leaving.regex
            if leaving.regex != coming.regex and self.regex_counts.get(leaving.regex) == 1
            else ""
        )
        return _is_homogeneous(named, self._matched(goes), regexes, len(self.members) + is_new)

    def _matched(self, without: str = "") -> dict[str, int]:
        """Topic → regular expressions that matched it."""
        counts: dict[str, int] = {}
        for regex, found in self.regexes.items():
            if regex != without:
                for topic in found.topics:
                    counts[topic] = counts.get(topic, 0) + 1
        return counts

    # ---------------------------------------------------------------------- keeping the tables true

    def install(self, old: Member | None, new: Member) -> None:
        """Put a member in the place of its older self, or in as a new one."""
        if old is None:
            # Two log records make a member (subscription, then assignment), and each is a put that
            # may double the table.
            self.members.put(new.member_id, new)
        self.members.put(new.member_id, new)
        if old is None or old.topics is not new.topics:
            _count(self.topic_counts, old, new)
        if (old.regex if old else "") != new.regex:
            _count_regex(self.regex_counts, old, new)
        if (old.assignor if old else None) != new.assignor:
            self._vote(old.assignor if old else None, -1)
            self._vote(new.assignor, 1)
        if old is None or old.assigned is not new.assigned or old.pending is not new.pending:
            if old is not None:
                self._disown(old)
            self._own(new.assigned, new.member_id)
            self._own(new.pending, new.member_id)
        if new.instance_id is not None:
            self.statics[new.instance_id] = new.member_id
        if (
            old is None
            or old.topics is not new.topics
            or self.regexes
            or self.regex_counts
            or not self.is_homogeneous
        ):
            self._judge_subscriptions()
        self.reconciled += new.is_reconciled_to(self.assignment_epoch)
        if old is not None:
            self.reconciled -= old.is_reconciled_to(self.assignment_epoch)

    def remove(self, member: Member) -> None:
        """Take a member out, with its target; its partitions are free at once."""
        self.members.remove(member.member_id)
        self.targets.pop(member.member_id, None)
        _count(self.topic_counts, member, None)
        _count_regex(self.regex_counts, member, None)
        self._vote(member.assignor, -1)
        self._disown(member)
        if member.instance_id is not None:
            self.statics.pop(member.instance_id, None)
        self._judge_subscriptions()
        self.reconciled -= member.is_reconciled_to(self.assignment_epoch)

    def advance(self, epoch: int) -> None:
        """From now on the target of this epoch holds."""
        self.assignment_epoch = epoch
        self.reconciled = sum(member.is_reconciled_to(epoch) for member in self.members.values())

    def _judge_subscriptions(self) -> None:
        self.is_homogeneous = _is_homogeneous(
            self.topic_counts, self._matched(), self.regex_counts, len(self.members)
        )

    def forget_unused_regexes(self) -> None:
        for regex in [regex for regex in self.regexes if regex not in self.regex_counts]:
            del self.regexes[regex]

    def _own(self, held: Held, member_id: str) -> None:
        for topic, partitions in held.items():
            owner_of = self.owners.setdefault(topic, {})
            for p in partitions:
                before = owner_of.setdefault(p, member_id)
                if before != member_id:
                    raise BugError(
                        f"Partition {self.partition(topic, p)} was given to {member_id} while "
                        f"{before} still holds it"
                    )

    def _disown(self, member: Member) -> None:
        for held in (member.assigned, member.pending):
            for topic, partitions in held.items():
                owner_of = self.owners[topic]
                for p in partitions:
                    del owner_of[p]

    def _vote(self, assignor: str | None, by: int) -> None:
        if assignor is not None:
            votes = self.assignor_counts.get(assignor, 0) + by
            if votes:
                self.assignor_counts.put(assignor, votes)
            else:
                self.assignor_counts.remove(assignor)

    def partition(self, topic_id: str, number: int) -> Partition:
        """For people: the partition by its topic's name."""
        return Partition(self.topic_names.get(topic_id, topic_id), number)

    def still_there(self, held: Target | Held) -> tuple[Partition, ...]:
        """As a classic member is told: in the order of the map, without topics that have been
        deleted (toTopicPartitionList).
        """
        return tuple(
            [
                self.partition(topic, p)
                for topic, numbers in held.items()
                if topic in self.topics.name_of
                for p in numbers
            ]
        )

    def partitions(self, held: Target | Held) -> tuple[Partition, ...]:
        """For people: all of them, sorted."""
        return tuple(
            sorted(self.partition(topic, p) for topic, numbers in held.items() for p in numbers)
        )


def _is_homogeneous(
    named: dict[str, int], matched: dict[str, int], regexes: dict[str, int], members: int
) -> bool:
    if not regexes:
        return all(count == members for count in named.values()) and all(
            topic in named for topic in matched
        )
    return (
        not named
        and next(iter(regexes.values())) == members
        and all(count == 1 for count in matched.values())
    )


def _count(counts: dict[str, int], leaving: Member | None, coming: Member | None) -> None:
    for member, by in ((leaving, -1), (coming, 1)):
        if member is not None:
            for name in member.topics.in_order:
                counts[name] = counts.get(name, 0) + by
                if not counts[name]:
                    del counts[name]


def _count_regex(counts: dict[str, int], leaving: Member | None, coming: Member | None) -> None:
    for member, by in ((leaving, -1), (coming, 1)):
        if member is not None and member.regex:
            counts[member.regex] = counts.get(member.regex, 0) + by
            if not counts[member.regex]:
                del counts[member.regex]
