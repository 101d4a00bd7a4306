"""What a script can do to the world: a file per kind of deed, and here which is which.

A deed is a generator: it acts when it begins, and is done when it returns (a bounce: when the
last pod is ready; a freeze: at the thaw).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

from rebalsim.domain import script as deeds
from rebalsim.domain.autoscaling import Autoscale
from rebalsim.domain.kubernetes import DrainNode, Evict, Probe, Recreate
from rebalsim.simulation.deeds import (
    autoscale,
    bounce,
    brokers,
    coming,
    connectors,
    evictions,
    harm,
    kubelet,
    network,
    poison,
    topics,
)

if TYPE_CHECKING:
    from rebalsim.simulation.world import World

Carried = Generator[Any, Any, None]

_BY_KIND: dict[type, Callable[[Any, str, Any], Carried]] = {
    deeds.Join: coming.join,
    deeds.Scale: coming.scale,
    deeds.Leave: coming.leave,
    deeds.Crash: coming.crash,
    deeds.Freeze: harm.freeze,
    deeds.Hang: harm.hang,
    deeds.Slow: harm.slow,
    deeds.Poison: poison.poison,
    deeds.RollingBounce: bounce.bounce,
    deeds.Cut: network.cut,
    deeds.Delay: network.delay,
    deeds.BrokerRestart: brokers.restart,
    deeds.BrokerBusy: brokers.be_busy,
    deeds.BrokerUpgrade: brokers.upgrade,
    deeds.Failover: brokers.fail_over,
    deeds.AddPartitions: topics.add_partitions,
    deeds.CreateTopic: topics.create,
    deeds.DeleteTopic: topics.delete,
    deeds.SetRate: topics.set_rate,
    Autoscale: autoscale.autoscale,
    Probe: kubelet.probe,
    DrainNode: evictions.drain,
    Evict: evictions.evict,
    Recreate: evictions.recreate,
    deeds.Subscribe: topics.subscribe,
    deeds.EnforceRebalance: topics.enforce,
    deeds.CreateConnector: connectors.create,
    deeds.DeleteConnector: connectors.delete,
    deeds.ReconfigureConnector: connectors.reconfigure,
    deeds.RestartConnector: connectors.restart,
    deeds.TargetConnector: connectors.retarget,
    deeds.FailTask: connectors.fail,
}


def carry_out(world: World, name: str, deed: Any) -> Carried:
    """Do it; returns when it is done."""
    return _BY_KIND[type(deed)](world, name, deed)
