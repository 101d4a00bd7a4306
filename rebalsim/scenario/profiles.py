"""Which Kafka and which client a scenario can name, and the defaults that come with each. The one
place that knows versions.

A profile is a version's effective defaults and its habits: a set of named behaviours, which is all
that the rest of rebalsim knows of it. Nobody else compares versions or clients' names. What differs,
since when, and by which source is told in `known_differences.py`.
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
_UNLIMITED = replace(
    _SHORT, max_poll_interval_us=NO_LIMIT_US, rebalance_timeout_us=SARAMA.rebalance_timeout_us
)
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
            rebalance_timeout_us=FRANZ_GO.rebalance_timeout_us,
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


def broker_profile(version: str) -> BrokerProfile | str:
    """The version's profile, or why there is none."""
    found = BROKERS.get(version.removesuffix(".x")) or BROKERS.get(".".join(version.split(".")[:2]))
    return (
        found
        or f"Kafka {version} is not modelled: the profiles go from {next(iter(BROKERS))} to "
        f'{list(BROKERS)[-1]} — write "{DEFAULT_KAFKA}"'
    )


def broker_habits(version: str) -> BrokerHabits:
    """What brokers of a version do, where somebody else names it: a recording, say. Of a version
    that is not known, what the newest do.
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
