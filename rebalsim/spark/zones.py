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
    ids = list(racks)
    is_nearest = bool(scenario.cluster.config.replica_selector_class)
    topics = {t.name: t for t in scenario.topics}
    offsets = {name: i for i, name in enumerate(topics)}
    total = 0.0
    for (_, partition), holdings in analysis.holdings.items():
        topic, facts = topics.get(partition.topic), analysis.header.topics.get(partition.topic)
        if topic is None or facts is None or facts.rates is None:
            continue
        replicas = topic.replicas_of(partition.number, ids, offsets[topic.name])
        arrivals = Arrivals(facts, Partition(partition.topic, partition.number))
        places = [racks.get(r, "") for r in replicas]
        for holding in holdings:
            home = homes.get(holding.consumer, "")
            source = home if is_nearest and home in places else places[0]
            if home and source and home != source:
                records = arrivals.count(holding.ended_us) - arrivals.count(holding.started_us)
                total += records * topic.record_bytes
    return total
