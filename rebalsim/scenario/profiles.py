"""Which Kafka and which client a scenario can name, and the defaults that come with each. The one place that knows versions.

A profile is a version's effective defaults; behaviours that changed with versions hang on the version's name where they happen.
Source of the 4.3 defaults: the config definitions of Kafka 4.3.1 themselves (ConsumerConfig, GroupCoordinatorConfig), as in
domain/client.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalsim.domain.client import BrokerConfig, ClientConfig
from rebalsim.scenario.problems import one_of


@dataclass(frozen=True, slots=True)
class BrokerProfile:
    """A Kafka version's broker defaults."""

    version: str
    config: BrokerConfig = BrokerConfig()


@dataclass(frozen=True, slots=True)
class ClientProfile:
    """A client library's defaults in one of its versions. `allows` names the assignors it has; empty: any, and one's own code."""

    client: str
    version: str
    config: ClientConfig = ClientConfig()
    allows: tuple[str, ...] = ()


BROKERS: dict[str, BrokerProfile] = {"4.3": BrokerProfile("4.3")}
CLIENTS: dict[tuple[str, str], ClientProfile] = {("java", "4.3"): ClientProfile("java", "4.3")}
DEFAULT_KAFKA = "4.3"
DEFAULT_CLIENT = "java"


def broker_profile(version: str) -> BrokerProfile | str:
    """The version's profile, or why there is none."""
    found = BROKERS.get(version.removesuffix(".x")) or BROKERS.get(".".join(version.split(".")[:2]))
    return found or f"Kafka {version} is not modelled yet: other versions come with the profiles — write \"{DEFAULT_KAFKA}\""


def client_profile(client: str, version: str) -> ClientProfile | str:
    """The client's profile, or why there is none. `version` may be empty: the newest that is known."""
    versions = [v for c, v in CLIENTS if c == client]
    if not versions:
        known = one_of(dict.fromkeys(c for c, _ in CLIENTS))
        return f"The client {client} is not modelled yet: clients other than Java's come with the profiles — write {known}"
    wanted = ".".join(version.split(".")[:2]) if version else versions[-1]
    found = CLIENTS.get((client, wanted))
    return found or f"Version {version} of the client {client} is not modelled yet: it comes with the profiles — write \"{versions[-1]}\""
