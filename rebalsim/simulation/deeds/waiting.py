"""How a deed waits: for an instant, for processes that exit, for a consumer that has its
partitions.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rebalsim.simulation.ports import Client, World

Carried = Generator[Any, Any, None]


def wait_until(world: World, at_us: int) -> Carried:
    """Sleep; not at all if it is that late already."""
    engine = world.engine
    if at_us > engine.now:
        yield engine.timeout(at_us - engine.now)


def wait_noticed(world: World, consumer: Client) -> Carried:
    """Until the consumer exits or is assigned, whichever comes first."""
    event = world.engine.event()
    world.script.watch(consumer.name, event.succeed)
    yield event


def wait_exited(world: World, consumers: Iterable[Any]) -> Carried:
    """Until none of these processes is left, in the life that it lives now."""
    for consumer in consumers:
        life = consumer.life
        while consumer.is_alive and consumer.life == life:
            yield from wait_noticed(world, consumer)


def wait_assigned(world: World, consumer: Client) -> Carried:
    """Until it has its partitions, or is gone."""
    life = consumer.life
    while consumer.is_alive and consumer.life == life and not consumer.is_assigned:
        yield from wait_noticed(world, consumer)
