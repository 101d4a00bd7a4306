"""Which Kafka and which client a scenario can name, and the defaults that come with each. The one place that knows versions.

A profile is a version's effective defaults; what a version does otherwise hangs on its name where it happens. `HABITS` says what
differs, since when, and by which source: a claim without a source is not modelled, and what is documented but not modelled says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rebalsim.domain.client import BrokerConfig, ClientConfig
from rebalsim.domain.instants import MS, SECOND
from rebalsim.scenario.problems import one_of


@dataclass(frozen=True, slots=True)
class BrokerProfile:
    """A Kafka version's broker defaults."""

    version: str
    config: BrokerConfig = BrokerConfig()

    @property
    def has_consumer_protocol(self) -> bool:
        """Generally available since 4.0; before that a preview, off by default."""
        return number_of(self.version) >= (4, 0)


@dataclass(frozen=True, slots=True)
class ClientProfile:
    """A client library's defaults in one of its versions. `allows` names the assignors it has; empty: any, and one's own code."""

    client: str
    version: str
    config: ClientConfig = ClientConfig()
    allows: tuple[str, ...] = ()

    @property
    def has_consumer_protocol(self) -> bool:
        """Whether group.protocol: consumer can be asked of it."""
        return number_of(self.version) >= ((4, 0) if self.client == "java" else (2, 12)) if self.client in ("java", "librdkafka") else False


@dataclass(frozen=True, slots=True)
class Habit:
    """What a version or a client does otherwise."""

    who: str
    what: str
    source: str
    is_modelled: bool = True


def number_of(version: str) -> tuple[int, ...]:
    """4.3.1 → (4, 3)."""
    return tuple([int(part) for part in version.split(".")[:2] if part.isdigit()])


def _brokers() -> dict[str, BrokerProfile]:
    found = {}
    for version in ("2.8", *(f"3.{minor}" for minor in range(10)), "4.0", "4.1", "4.2", "4.3", "4.4"):
        config = BrokerConfig()
        if number_of(version) < (4, 3):
            linger = 5 * MS if number_of(version) >= (4, 0) else 0
            config = replace(config, group_coordinator_append_linger_us=linger)      # that there is no assignment interval is the coordinator's own
        found[version] = BrokerProfile(version, config)
    return found


def _clients() -> dict[tuple[str, str], ClientProfile]:
    listed = []
    for version in ("2.8", *(f"3.{minor}" for minor in range(10)), "4.0", "4.1", "4.2", "4.4", "4.3"):      # the newest that was measured comes last
        config = ClientConfig()
        if number_of(version) < (3, 0):
            config = replace(config, session_timeout_us=10 * SECOND, partition_assignment_strategy=("range",))
        listed.append(ClientProfile("java", version, config))
    listed += [
        ClientProfile("librdkafka", "2.15", replace(ClientConfig(), partition_assignment_strategy=("range", "roundrobin")),
                      ("range", "roundrobin", "cooperative-sticky")),
        ClientProfile("kafka-python", "2.3", replace(ClientConfig(), partition_assignment_strategy=("range", "roundrobin")),
                      ("range", "roundrobin", "sticky")),
        ClientProfile("kafka-python", "3.0", replace(ClientConfig(), partition_assignment_strategy=("range", "roundrobin")),
                      ("range", "roundrobin", "sticky", "cooperative-sticky")),
    ]
    return {(profile.client, profile.version): profile for profile in listed}


BROKERS: dict[str, BrokerProfile] = _brokers()
CLIENTS: dict[tuple[str, str], ClientProfile] = _clients()
DEFAULT_KAFKA = "4.3"
DEFAULT_CLIENT = "java"

HABITS: tuple[Habit, ...] = (
    Habit("brokers up to 3.9", "the coordinator in Scala: the initial delay grows only before a group's first generation, the members of one "
          "LeaveGroup go one by one, a SyncGroup renews the session", "GroupCoordinator.scala, tags 2.3 to 3.9"),
    Habit("brokers up to 3.9", "no group.protocol: consumer (a preview in 3.7 to 3.9, off by default)", "KIP-848, generally available in 4.0"),
    Habit("brokers up to 3.1", "a static leader that returns within its session assigns anew: JoinGroup below version 9 has no SkipAssignment", "KIP-814"),
    Habit("brokers 4.0 and 4.1", "epoch 0 of a known member is fenced unless its previous epoch is 0", "GroupMetadataManager, versions 4.0 to 4.2"),
    Habit("brokers up to 4.2", "no assignment interval (group.consumer.assignment.interval.ms): a target is computed at once; a group begins at epoch 0; "
          "a commit needs the very epoch", "KIP-1263, KIP-1251"),
    Habit("brokers 4.0 to 4.2", "group.coordinator.append.linger.ms is 5; since 4.3 it is adaptive (-1)", "GroupCoordinatorConfig"),
    Habit("java up to 2.8", "session.timeout.ms is 10 s, since 3.0 it is 45 s", "KIP-735"),
    Habit("java up to 2.8", "partition.assignment.strategy is [range], since 3.0 [range, cooperative-sticky]", "KIP-726"),
    Habit("java up to 3.1", "JoinGroup version 8: no SkipAssignment", "KIP-814"),
    Habit("java up to 4.0", "fetches what is not buffered while other partitions of the broker are; since 4.1 it drains them first", "KAFKA-17182"),
    Habit("java up to 3.9", "no group.protocol: consumer", "KIP-848, generally available in 4.0"),
    Habit("librdkafka", "range,roundrobin by default; all assignors of the list must share one protocol; has no sticky",
          "rdkafka_assignor.c, CONFIGURATION.md"),
    Habit("librdkafka", "its own thread joins, beats and assigns; while a rebalance callback waits for the application, all partitions are paused",
          "rdkafka_cgrp.c", False),
    Habit("librdkafka", "max.poll.interval.ms is looked at every 0.5 s; a static member that exceeds it does not leave", "rdkafka_cgrp.c", False),
    Habit("kafka-python", "range,roundrobin by default, and sticky; cooperative-sticky since 3.0", "coordinator/consumer.py, coordinator/assignors"),
    Habit("franz-go, sarama, aiokafka", "have no max.poll.interval.ms, or a rebalance timeout of their own: not modelled, so they cannot be named",
          "config.go, consumer_group.go, consumer.py", False),
)


def broker_profile(version: str) -> BrokerProfile | str:
    """The version's profile, or why there is none."""
    found = BROKERS.get(version.removesuffix(".x")) or BROKERS.get(".".join(version.split(".")[:2]))
    return found or f"Kafka {version} is not modelled: the profiles go from {next(iter(BROKERS))} to {list(BROKERS)[-1]} — write \"{DEFAULT_KAFKA}\""


def client_profile(client: str, version: str, brokers: str = "") -> ClientProfile | str:
    """The client's profile, or why there is none. `version` may be empty: Java's is then the brokers' own, any other's the newest that is known."""
    versions = [v for c, v in CLIENTS if c == client]
    if not versions:
        known = one_of(dict.fromkeys(c for c, _ in CLIENTS))
        return f"The client {client} is not modelled: nothing sourced says how it differs — write {known}"
    if not version and (client, brokers) in CLIENTS:
        version = brokers
    wanted = ".".join(version.split(".")[:2]) if version else versions[-1]
    found = CLIENTS.get((client, wanted))
    return found or f"Version {version} of the client {client} is not modelled — write \"{versions[-1]}\""
