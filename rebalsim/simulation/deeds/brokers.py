"""Brokers that restart, are upgraded one by one, and a group whose coordinator moves. What
follows from it is in simulation/brokers.py.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rebalsim.domain.script import BrokerBusy, BrokerRestart, BrokerUpgrade, Failover
from rebalsim.scenario.script_words import say_deed
from rebalsim.simulation.deeds.waiting import wait_until

if TYPE_CHECKING:
    from rebalsim.simulation.ports import World

Carried = Generator[Any, Any, None]


def restart(world: World, name: str, deed: BrokerRestart) -> Carried:
    """Away for a while; others lead its partitions meanwhile, and coordinate its groups."""
    broker = world.hosts[deed.group].broker if deed.broker is None else deed.broker
    if broker not in world.brokers.ids:  # all brokers are down, and so nobody coordinates
        return
    world.script.tell(
        name, "BrokerRestart", say_deed(replace(deed, broker=broker)), (f"broker-{broker}",)
    )
    yield from _restart(world, name, broker, deed.down, deed.load)


def be_busy(world: World, name: str, deed: BrokerBusy) -> Carried:
    """Whatever is asked of it takes longer for a while, whoever asks."""
    broker = world.hosts[deed.group].broker if deed.broker is None else deed.broker
    if broker not in world.brokers.ids:  # all brokers are down
        return
    world.script.tell(
        name, "BrokerBusy", say_deed(replace(deed, broker=broker)), (f"broker-{broker}",)
    )
    world.brokers.burden(broker, deed.wait)
    yield from wait_until(world, world.engine.now + deed.for_us)
    world.brokers.relieve(broker, deed.wait)


def upgrade(world: World, name: str, deed: BrokerUpgrade) -> Carried:
    """One after another, each back with the new version before the next one goes."""
    world.script.tell(name, "BrokerUpgrade", say_deed(deed), ())
    for i, broker in enumerate(world.brokers.ids):
        if i:
            yield from wait_until(world, world.engine.now + deed.settle_us)
        yield from _restart(world, name, broker, deed.down, deed.load, deed)


def fail_over(world: World, name: str, deed: Failover) -> Carried:
    """Another broker (the same one, where there is no other) coordinates the group, once it has
    read it.
    """
    world.script.tell(name, "Failover", say_deed(deed), ())
    load_us = world.randomness.stream(f"script/{name}").draw(deed.load)
    host = world.hosts.get(deed.group)
    if host is not None:
        host.move(world.brokers.next_up(host.broker), load_us)
    yield from wait_until(world, world.engine.now + load_us)


def _restart(
    world: World,
    name: str,
    broker: int,
    down: Any,
    load: Any,
    upgraded: BrokerUpgrade | None = None,
) -> Carried:
    stream = world.randomness.stream(f"script/{name}")
    world.brokers.go_down(broker, lambda: stream.draw(load))
    yield from wait_until(world, world.engine.now + stream.draw(down))
    world.brokers.come_back(broker, lambda: stream.draw(load), upgraded)


CARRIED_OUT = {
    BrokerRestart: restart,
    BrokerBusy: be_busy,
    BrokerUpgrade: upgrade,
    Failover: fail_over,
}
