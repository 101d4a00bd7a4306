"""client.rack without a replica selector on the brokers: everybody still fetches from the
leader.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import everyone, say_names
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

RULE = Rule(
    id="rack-without-selector",
    heading="Assignors and groups",
    title="client.rack is set, and brokers still send consumers to the leader",
    what="Consumers have a client.rack, brokers stand in several racks, and "
    "replica.selector.class is not set.",
    why="client.rack makes the assignors prefer partitions with a replica nearby, and brokers "
    "may then name a nearby replica to fetch from; "
    "but only with replica.selector.class. Without it all fetches go to the leader, across racks "
    "too, and the assignment pays for a "
    "nearness that is not used.",
    fix="Write replica.selector.class: org.apache.kafka.common.replica.RackAwareReplicaSelector "
    "on the brokers, or leave client.rack out.",
    example="client.rack: eu-1a               # brokers in eu-1a, eu-1b, no selector",
    source="KIP-392 (ReplicaSelector), KIP-881 (rack-aware assignors).",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    racks = dict.fromkeys(b.rack for b in scenario.cluster.brokers if b.rack)
    if len(racks) < 2 or scenario.cluster.config.replica_selector_class:
        return
    placed = [c for c in everyone(scenario) if c.config.client_rack]
    if placed:
        yield Finding(
            f"client.rack is set for {say_names(placed)}, but without replica.selector.class "
            "every fetch goes to the leader, in whatever rack — "
            "write replica.selector.class: "
            "org.apache.kafka.common.replica.RackAwareReplicaSelector for the cluster",
            Place("consumer", placed[0].name, "client.rack"),
        )
