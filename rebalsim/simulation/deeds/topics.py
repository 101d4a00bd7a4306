"""Topics that grow, come and go, rates that change; and consumers that ask for other topics, or
for a rebalance.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from rebalsim.domain.script import (
    AddPartitions,
    CreateTopic,
    DeleteTopic,
    EnforceRebalance,
    SetRate,
    Subscribe,
)
from rebalsim.scenario.script_words import say_deed

if TYPE_CHECKING:
    from rebalsim.simulation.ports import World

Carried = Generator[Any, Any, None]


def add_partitions(world: World, name: str, deed: AddPartitions) -> Carried:
    """Producers spread over all of them at once; consumers see it when their metadata are
    refreshed.
    """
    world.script.tell(name, "AddPartitions", say_deed(deed), (deed.topic,))
    world.set_partitions(deed.topic, deed.to)
    yield from ()


def create(world: World, name: str, deed: CreateTopic) -> Carried:
    world.script.tell(name, "CreateTopic", say_deed(deed), (deed.topic,))
    world.set_partitions(deed.topic, world.topic(deed.topic).partitions)
    yield from ()


def delete(world: World, name: str, deed: DeleteTopic) -> Carried:
    world.script.tell(name, "DeleteTopic", say_deed(deed), (deed.topic,))
    world.set_partitions(deed.topic, 0)
    yield from ()


def set_rate(world: World, name: str, deed: SetRate) -> Carried:
    world.script.tell(name, "SetRate", say_deed(deed), (deed.topic,))
    world.set_rate(deed.topic, deed.per_second)
    yield from ()


def subscribe(world: World, name: str, deed: Subscribe) -> Carried:
    """subscribe() with other topics, between two polls; a process that is not there begins with
    them when it starts.
    """
    world.script.tell(name, "Subscribe", say_deed(deed), deed.consumers)
    for who in deed.consumers:
        if who in world.consumers:
            world.consumers[who].subscribe(deed.topics, deed.pattern)
    yield from ()


def enforce(world: World, name: str, deed: EnforceRebalance) -> Carried:
    """enforceRebalance()."""
    world.script.tell(name, "EnforceRebalance", say_deed(deed), deed.consumers)
    for who in deed.consumers:
        if who in world.consumers:
            world.consumers[who].enforce_rebalance()
    yield from ()


CARRIED_OUT = {
    AddPartitions: add_partitions,
    CreateTopic: create,
    DeleteTopic: delete,
    SetRate: set_rate,
    Subscribe: subscribe,
    EnforceRebalance: enforce,
}
