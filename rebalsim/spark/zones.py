"""Bytes that consumers fetched from another zone: who held which partition when, where its leader
(or the nearest replica) is, what arrived.

An owner fetches what arrives while it owns; backlog and re-reads are left out, so it is the
steady bill, not that of an incident.
"""

from __future__ import annotations

from rebalsim.analysis import Analysis
from rebalsim.analysis.arrivals import Arrivals
from rebalsim.domain.ids import Partition
from rebalsim.domain.scenario import Scenario


def cross_zone_bytes(scenario: Scenario, analysis: Analysis) -> float | None:
    """Bytes that crossed zones in this run; None where no zones are stated."""
    racks = {broker.id: broker.rack for broker in scenario.cluster.brokers}
    homes = {c.name: c.rack for g in scenario.groups for c in g.consumers if c.rack}
    if not homes or not any(racks.values()):
        return None
    is_nearest = bool(scenario.cluster.config.replica_selector_class)
    topics = {t.name: (place, t) for place, t in enumerate(scenario.topics)}
    total = 0.0
    for (_, partition), holdings in analysis.holdings.items():
        facts = analysis.header.topics.get(partition.topic)
        if partition.topic not in topics or facts is None or facts.rates is None:
            continue
        offset, topic = topics[partition.topic]
        replicas = topic.replicas_of(partition.number, list(racks), offset)
        arrivals = Arrivals(facts, Partition(partition.topic, partition.number))
        zones = [racks.get(r, "") for r in replicas]
        for holding in holdings:
            home = homes.get(holding.consumer, "")
            source = home if is_nearest and home in zones else zones[0]
            if home and source and home != source:
                records = arrivals.count(holding.ended_us) - arrivals.count(holding.started_us)
                total += records * topic.record_bytes
    return total
