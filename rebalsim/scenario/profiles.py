"""Which Kafka and which client a scenario can name, and the defaults that come with each. The one
place that knows versions.

A profile is a version's effective defaults and its habits: a set of named behaviours, which is all
that the rest of rebalsim knows of it. Nobody else compares versions or clients' names. `HABITS` says
what differs, since when, and by which source: a claim without a source is not modelled, and what is
documented but not modelled says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rebalsim.domain.client import BrokerConfig, ClientConfig
from rebalsim.domain.habits import JAVA, NEWEST, BrokerHabits, Habits
from rebalsim.domain.instants import MINUTE, MS, SECOND
from rebalsim.words.lists import one_of


@dataclass(frozen=True, slots=True)
class BrokerProfile:
    """A Kafka version's broker defaults and habits."""

    version: str
    config: BrokerConfig = BrokerConfig()
    habits: BrokerHabits = NEWEST

    @property
    def has_consumer_protocol(self) -> bool:
        """Generally available since 4.0; before that a preview, off by default."""
        return self.habits.has_consumer_protocol

    def is_older_than(self, other: BrokerProfile) -> bool:
        return _number_of(self.version) < _number_of(other.version)

    def lacks_since(self, key: str) -> str:
        """The version that brought this setting of the brokers, where this one has it not yet;
        else empty.
        """
        since = next((v for part, v in _SETTINGS_SINCE if part in f".{key}"), "")
        return since if since and _number_of(self.version) < _number_of(since) else ""


@dataclass(frozen=True, slots=True)
class ClientProfile:
    """A client library's defaults and habits in one of its versions. `allows` names the
    assignors it has; empty: any, and one's own code.
    """

    client: str
    version: str
    config: ClientConfig = ClientConfig()
    allows: tuple[str, ...] = ()
    habits: Habits = JAVA
    mixes_protocols: bool = (
        True  # may a list of assignors hold eager ones beside cooperative-sticky?
    )

    has_consumer_protocol: bool = False  # can group.protocol: consumer be asked of it?
    # what of its ways under that protocol is known and not modelled, as sentences
    unmodelled: tuple[str, ...] = ()
    asks_first: str = ""  # what must be done before a group goes over to it, as a sentence
    has_brokers_version: bool = False  # where none is named

    @property
    def says(self) -> str:
        """As people call it, without a version."""
        return say_client(self.client)


@dataclass(frozen=True, slots=True)
class Habit:
    """What a version or a client does otherwise."""

    who: str
    what: str
    source: str
    is_modelled: bool = True


def say_client(client: str) -> str:
    """A client's name as people write it."""
    return "Java" if client == DEFAULT_CLIENT else client


def _number_of(version: str) -> tuple[int, ...]:
    """4.3.1 → (4, 3)."""
    return tuple([int(part) for part in version.split(".")[:2] if part.isdigit()])


DEFAULT_CLIENT = "java"
# the longest that a setting in ms can say: for clients that have no max.poll.interval.ms
NO_LIMIT_US = 2_147_483_647_000
LIBRDKAFKA = Habits(
    runs_itself=True,
    awaits_poll="registered",
    pauses_meanwhile=True,
    poll_check_us=500 * MS,
    join_spacing_us=1 * SECOND,
    join_version=5,
    ends_session="last-answer",
    drains_first=False,
    may_leave_static=False,
)
FRANZ_GO = Habits(
    runs_itself=True,
    has_poll_limit=False,
    rebalance_timeout="fixed",
    rebalance_timeout_us=1 * MINUTE,
    beats_after_join_us=500 * MS,
    follows_group=True,
    ends_session="first-try",
    at_refused_commit="rejoins",
    drains_first=False,
    gives_up_after_sync=True,
    may_leave_static=False,
)
SARAMA = Habits(
    runs_itself=True,
    awaits_poll="always",
    has_poll_limit=False,
    rebalance_timeout="fixed",
    rebalance_timeout_us=1 * MINUTE,
    join_spacing_us=2 * SECOND,
    join_version=5,
    at_refused_commit="nothing",
    drains_first=False,
    may_leave_static=False,
)
KAFKA_PYTHON = Habits(drains_first=False, may_leave_static=False)
AIOKAFKA = Habits(
    runs_itself=True,
    rebalance_timeout="session",
    join_version=5,
    drains_first=False,
    may_leave_static=False,
)
# a part of a setting of the brokers, and the version since which they have such
_SETTINGS_SINCE = ((".assignment.interval.ms", "4.3"), (".group.consumer.", "4.0"))
_OWN_TIMING = (
    "{} under the consumer protocol is played with the Java client's poll loop: its own timing "
    "there is not known"
)
_INCREMENTAL = (
    "Have librdkafka's rebalance callbacks call incremental_assign and incremental_unassign: under "
    "the consumer protocol the others are refused."
)
_RECONCILES_ITSELF = (
    "Java {} under the consumer protocol is played as 4.3: that it applies what it is given "
    "without waiting for a poll(), where nobody listens to rebalances, is not modelled"
)


def _broker_habits(version: tuple[int, ...]) -> BrokerHabits:
    return BrokerHabits(
        has_consumer_protocol=version >= (4, 0),
        has_scala_coordinator=version < (4, 0),
        join_version=9 if version >= (3, 2) else 8,
        has_assignment_interval=version >= (4, 3),
        first_epoch=1 if version >= (4, 3) else 0,
        known_members_may_join_again=version >= (4, 2),
        commits_by_partition=version >= (4, 3),
        classic_members_follow_target=version >= (4, 3),
    )


def java_habits(version: str) -> Habits:
    """What Kafka's own client of this version does otherwise than the newest."""
    number = _number_of(version)
    return Habits(
        join_version=9 if number >= (3, 2) else 8,
        drains_first=number >= (4, 1),
        may_leave_static=number >= (4, 1),
    )


def _brokers() -> dict[str, BrokerProfile]:
    found = {}
    for version in (
        "2.8",
        *(f"3.{minor}" for minor in range(10)),
        "4.0",
        "4.1",
        "4.2",
        "4.3",
        "4.4",
    ):
        config = BrokerConfig()
        number = _number_of(version)
        if number < (4, 3):
            linger = 5 * MS if number >= (4, 0) else 0
            config = replace(config, group_coordinator_append_linger_us=linger)
        found[version] = BrokerProfile(version, config, _broker_habits(number))
    return found


def _clients() -> dict[tuple[str, str], ClientProfile]:
    """Of each client the newest version that was measured comes last."""
    listed = [*map(_java, _JAVAS), *map(_librdkafka, range(17)), *_OTHERS]
    return {(profile.client, profile.version): profile for profile in listed}


_JAVAS = ("2.8", *(f"3.{minor}" for minor in range(10)), "4.0", "4.1", "4.2", "4.4", "4.3")
_BOTH = replace(ClientConfig(), partition_assignment_strategy=("range", "roundrobin"))
_SHORT = replace(
    ClientConfig(), session_timeout_us=10 * SECOND, partition_assignment_strategy=("range",)
)
_UNLIMITED = replace(_SHORT, max_poll_interval_us=NO_LIMIT_US)
_ASSIGNORS = ("range", "roundrobin", "sticky")


def _java(version: str) -> ClientProfile:
    number = _number_of(version)
    return ClientProfile(
        "java",
        version,
        _SHORT if number < (3, 0) else ClientConfig(),
        habits=java_habits(version),
        has_consumer_protocol=number >= (4, 0),
        unmodelled=(_RECONCILES_ITSELF.format(version),) if number < (4, 3) else (),
        has_brokers_version=True,
    )


def _librdkafka(minor: int) -> ClientProfile:
    return ClientProfile(
        "librdkafka",
        f"2.{minor}",
        _BOTH,
        ("range", "roundrobin", "cooperative-sticky"),
        LIBRDKAFKA,
        mixes_protocols=False,
        has_consumer_protocol=minor >= 12,
        unmodelled=(_OWN_TIMING.format("librdkafka"),),
        asks_first=_INCREMENTAL,
    )


_OTHERS = (
    ClientProfile(
        "franz-go",
        "1.21",
        replace(
            ClientConfig(),
            partition_assignment_strategy=("cooperative-sticky",),
            max_poll_interval_us=NO_LIMIT_US,
        ),
        (*_ASSIGNORS, "cooperative-sticky"),
        FRANZ_GO,
    ),
    ClientProfile("sarama", "1.59", _UNLIMITED, _ASSIGNORS, SARAMA),
    ClientProfile(
        "sarama",
        "1.60",
        _UNLIMITED,
        (*_ASSIGNORS, "cooperative-sticky"),
        SARAMA,
        mixes_protocols=False,
    ),
    ClientProfile("kafka-python", "2.3", _BOTH, _ASSIGNORS, KAFKA_PYTHON),
    ClientProfile("kafka-python", "3.0", _BOTH, (*_ASSIGNORS, "cooperative-sticky"), KAFKA_PYTHON),
    ClientProfile(
        "aiokafka",
        "0.14",
        replace(_SHORT, partition_assignment_strategy=("roundrobin",)),
        _ASSIGNORS,
        AIOKAFKA,
    ),
)


BROKERS: dict[str, BrokerProfile] = _brokers()
CLIENTS: dict[tuple[str, str], ClientProfile] = _clients()
DEFAULT_KAFKA = "4.3"

HABITS: tuple[Habit, ...] = (
    Habit(
        "brokers up to 3.9",
        "the coordinator in Scala: the initial delay grows only before a group's first "
        "generation, the members of one "
        "LeaveGroup go one by one, a SyncGroup renews the session",
        "GroupCoordinator.scala, tags 2.3 to 3.9",
    ),
    Habit(
        "brokers up to 3.9",
        "no group.protocol: consumer (a preview in 3.7 to 3.9, off by default)",
        "KIP-848, generally available in 4.0",
    ),
    Habit(
        "brokers up to 3.1",
        "a static leader that returns within its session is told its former id as the leader's "
        "(JoinGroup below version 9 has no "
        "SkipAssignment) and does not know that it leads: until the next rebalance nobody minds "
        "the topics, and partitions added to them are "
        "nobody's",
        "KIP-814, KAFKA-13435",
    ),
    Habit(
        "brokers 4.0 and 4.1",
        "epoch 0 of a known member is fenced unless its previous epoch is 0",
        "GroupMetadataManager, versions 4.0 to 4.2",
    ),
    Habit(
        "brokers up to 4.2",
        "no assignment interval (group.consumer.assignment.interval.ms): a target is computed at "
        "once; a group begins at epoch 0; "
        "a commit needs the very epoch",
        "KIP-1263, KIP-1251",
    ),
    Habit(
        "brokers 4.0 to 4.2",
        "a classic member of a consumer group is told to join again as soon as the group epoch "
        "is ahead of its own; since 4.3 when "
        "the target is",
        "GroupMetadataManager: classicGroupHeartbeatToConsumerGroup, throwIfRebalanceInProgress",
    ),
    Habit(
        "brokers 4.0 to 4.2",
        "group.coordinator.append.linger.ms is 5; since 4.3 it is adaptive (-1)",
        "GroupCoordinatorConfig",
    ),
    Habit("java up to 2.8", "session.timeout.ms is 10 s, since 3.0 it is 45 s", "KIP-735"),
    Habit(
        "java up to 2.8",
        "partition.assignment.strategy is [range], since 3.0 [range, cooperative-sticky]",
        "KIP-726",
    ),
    Habit("java up to 3.1", "JoinGroup version 8: no SkipAssignment", "KIP-814"),
    Habit(
        "java up to 4.0",
        "fetches what is not buffered while other partitions of the broker are; since 4.1 it "
        "drains them first",
        "KAFKA-17182",
    ),
    Habit("java up to 3.9", "no group.protocol: consumer", "KIP-848, generally available in 4.0"),
    Habit(
        "java 4.0 to 4.2",
        "under group.protocol: consumer a thread in the background applies what was given, and "
        "the application's is needed only for a "
        "listener; without auto-commit that thread begins to give up by itself, too (all are "
        "played as 4.3, where the application's poll() does both, and "
        "as if somebody listened)",
        "AbstractMembershipManager: maybeReconcile, assignPartitions; KAFKA-20332",
        False,
    ),
    Habit(
        "librdkafka",
        "range,roundrobin by default, cooperative-sticky beside them, but not in one list with "
        "them; no sticky; session.timeout.ms is 45 s",
        "rdkafka_assignor.c, CONFIGURATION.md",
    ),
    Habit(
        "librdkafka",
        "a thread of its own joins, beats and assigns, whatever the application does; attempts "
        "to join are 1 s apart unless the last led on; "
        "JoinGroup version 5: no SkipAssignment",
        "rdkafka_cgrp.c, rdkafka_request.c; seen with 2.16 on Kafka 4.3.1",
    ),
    Habit(
        "librdkafka",
        "the client itself ends its session when no SyncGroup or beat was answered for "
        "session.timeout.ms: all is lost, and it joins anew; "
        "so it does when a commit is refused as a stranger's",
        "rdkafka_cgrp.c: rd_kafka_cgrp_session_timeout_check, rd_kafka_cgrp_op_handle_OffsetCommit",
    ),
    Habit(
        "librdkafka",
        "with a rebalance callback (a story's listener:) partitions are given up and taken when "
        "the application polls, and nothing at all is "
        "handed over until then; eager members join after that, cooperative ones before; without "
        "one nobody waits for the application",
        "rdkafka_cgrp.c: rd_kafka_rebalance_op, rd_kafka_rebalance_op_incr; seen with 2.16 on "
        "Kafka 4.3.1",
    ),
    Habit(
        "librdkafka",
        "max.poll.interval.ms is looked at every 0.5 s; who exceeds it leaves (a static member "
        "does not), and joins again after its next poll",
        "rdkafka_cgrp.c: rd_kafka_cgrp_max_poll_interval_check_tmr_cb",
    ),
    Habit(
        "librdkafka up to 2.11",
        "no group.protocol: consumer (early access in 2.4, a preview in 2.10)",
        "CHANGELOG.md 2.12.0",
    ),
    Habit(
        "librdkafka since 2.12",
        "under group.protocol: consumer the application's callbacks must be incremental; its "
        "leave waits for them; its own "
        "timing there (it is played with the Java client's poll loop)",
        "INTRODUCTION.md, CHANGELOG.md 2.15.0",
        False,
    ),
    Habit("librdkafka", "faults that single releases mended", "CHANGELOG.md", False),
    Habit(
        "librdkafka",
        "range and roundrobin put members in the order of their ids, static ones by their "
        "instance ids only among themselves (a Java leader, "
        "which is played, puts static ones first)",
        "rdkafka_cgrp.c: rd_kafka_group_member_cmp",
        False,
    ),
    Habit(
        "franz-go",
        "cooperative-sticky by default; session 45 s, heartbeat 3 s, rebalance timeout 60 s; no "
        "max.poll.interval.ms: a stuck handler never "
        "leaves",
        "kgo/config.go",
    ),
    Habit(
        "franz-go",
        "joins, beats and calls back beside the application, whatever it does (without "
        "BlockRebalanceOnPoll); one more heartbeat 500 ms after "
        "each cooperative join; cooperative where the group's assignor is: one eager-only member "
        "makes everybody eager, and what they "
        "owned is given up after the sync, when it may have a new owner already",
        "kgo/consumer_group.go, config.go",
    ),
    Habit(
        "franz-go",
        "a beat is tried again for session.timeout.ms; then all is given up as lost, and the "
        "group joined anew",
        "kgo/config.go: RetryTimeoutFn, consumer_group.go: heartbeat, manageFailWait",
    ),
    Habit(
        "franz-go",
        "whose commit is refused as a stranger's joins at once",
        "kgo/consumer_group.go: commitHasFatalMemberError, CHANGELOG.md 1.21.3",
    ),
    Habit(
        "franz-go",
        "… and, cooperative, keeps what it owns until the sync (played: it gives it up when the "
        "join is refused)",
        "kgo/consumer_group.go: joinAndSync",
        False,
    ),
    Habit(
        "franz-go",
        "group.protocol: consumer is a hidden opt-in",
        "kgo/consumer_group_848.go: should848",
        False,
    ),
    Habit(
        "sarama",
        "range by default; session 10 s, heartbeat 3 s, rebalance timeout 60 s; attempts to join "
        "2 s apart; no max.poll.interval.ms; "
        "cooperative-sticky since 1.60.1",
        "config.go, CHANGELOG.md",
    ),
    Habit(
        "sarama",
        "beats on while a rebalance waits for the handlers to return; whoever takes longer than "
        "the rebalance timeout is put out of the group",
        "consumer_group_session.go: heartbeatLoop, release",
    ),
    Habit(
        "sarama",
        "neither a session that ends without an answer nor a commit that is refused makes it "
        "give anything up: only the answer to a beat does",
        "consumer_group_session.go: heartbeatLoop, offset_manager.go: handleResponse",
    ),
    Habit(
        "sarama",
        "gives its session up after four beats in a row that failed",
        "consumer_group_session.go: heartbeatLoop, Metadata.Retry.Max",
        False,
    ),
    Habit(
        "sarama",
        "its own arithmetic of range (Kafka's assignor of the name decides here)",
        "sarama's range",
        False,
    ),
    Habit(
        "kafka-python",
        "range,roundrobin by default, and sticky; cooperative-sticky since 3.0; callbacks and "
        "joins in poll(), heartbeats by a thread, as "
        "in Java",
        "coordinator/consumer.py, coordinator/assignors",
    ),
    Habit(
        "aiokafka",
        "roundrobin by default, and range and sticky, nothing cooperative; session 10 s, "
        "heartbeat 3 s, the session is the rebalance timeout",
        "consumer.py, group_coordinator.py",
    ),
    Habit(
        "aiokafka",
        "keeps what it owns however long the coordinator does not answer; gives it up when a "
        "beat or a commit is refused",
        "group_coordinator.py: _heartbeat_routine, _do_commit_offsets, reset_generation",
    ),
    Habit(
        "aiokafka",
        "joins and beats beside the application and waits for nobody; max.poll.interval.ms is "
        "known to be over the moment it is",
        "group_coordinator.py: _heartbeat_routine, _maybe_leave_group",
    ),
)


def broker_profile(version: str) -> BrokerProfile | str:
    """The version's profile, or why there is none."""
    found = BROKERS.get(version.removesuffix(".x")) or BROKERS.get(".".join(version.split(".")[:2]))
    return (
        found
        or f"Kafka {version} is not modelled: the profiles go from {next(iter(BROKERS))} to "
        f'{list(BROKERS)[-1]} — write "{DEFAULT_KAFKA}"'
    )


def broker_habits(version: str) -> BrokerHabits:
    """Those of a version that somebody else names: of a recording, say. Of one that is not known,
    the newest's.
    """
    found = broker_profile(version)
    return NEWEST if isinstance(found, str) else found.habits


def plays_workers_of(kafka: str) -> bool:
    """Do Connect's workers of this version rebalance as those of 4.3, which are the ones played?"""
    return _number_of(kafka) >= (3, 7)


def first_with_consumer_protocol(client: str) -> ClientProfile | None:
    """The oldest version of the client that speaks it; None where none does."""
    return next(
        (
            profile
            for (name, _), profile in CLIENTS.items()
            if name == client and profile.has_consumer_protocol
        ),
        None,
    )


def first_that_may_leave_static(client: str) -> str:
    """The oldest version of the client whose close() can have a static member leave; empty where
    none can.
    """
    return next(
        (v for (name, v), p in CLIENTS.items() if name == client and p.habits.may_leave_static), ""
    )


def client_profile(client: str, version: str, brokers: str = "") -> ClientProfile | str:
    """The client's profile, or why there is none. `version` may be empty: Java's is then the
    brokers' own, any other's the newest that is known.
    """
    versions = [v for c, v in CLIENTS if c == client]
    if not versions:
        known = one_of(dict.fromkeys(c for c, _ in CLIENTS))
        return (
            f"The client {client} is not modelled: nothing sourced says how it differs — write "
            f"{known}"
        )
    if not version and (client, brokers) in CLIENTS:
        version = brokers
    wanted = ".".join(version.split(".")[:2]) if version else versions[-1]
    found = CLIENTS.get((client, wanted))
    return (
        found
        or f'Version {version} of the client {client} is not modelled — write "{versions[-1]}"'
    )
