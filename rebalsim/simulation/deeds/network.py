"""Links that are cut and heal, and links that get slower. The machine's trouble, not the
process's: a restart does not end it.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from rebalsim.domain.script import Cut, Delay
from rebalsim.scenario.script_words import say_deed
from rebalsim.simulation.deeds.waiting import wait_until
from rebalsim.trace.events import LinkCut, LinkHealed

if TYPE_CHECKING:
    from rebalsim.simulation.ports import World

Carried = Generator[Any, Any, None]


def _known(world: World, names: tuple[str, ...]) -> list[Any]:
    return [world.consumers[name] for name in names if name in world.consumers]


def cut(world: World, name: str, deed: Cut) -> Carried:
    """What is sent over a cut link is lost; nobody is told that it is cut."""
    struck = _known(world, deed.consumers)
    world.script.tell(name, "Cut", say_deed(deed), deed.consumers)
    now = world.engine.now
    heals_us = now + world.randomness.stream(f"script/{name}").draw(deed.for_)
    for consumer in struck:
        if consumer.is_alive and not consumer.link_trouble.is_cut_from_some:
            world.tell(LinkCut(now, consumer.name, deed.from_all_brokers))
        consumer.link_trouble.cut(deed.from_all_brokers)
    yield from wait_until(world, heals_us)
    for consumer in struck:
        consumer.link_trouble.heal(deed.from_all_brokers)
        if consumer.is_alive and not consumer.link_trouble.is_cut_from_some:
            world.tell(LinkHealed(world.engine.now, consumer.name))


def delay(world: World, name: str, deed: Delay) -> Carried:
    """Every message takes longer, each way, by a draw of its own."""
    struck = _known(world, deed.consumers)
    world.script.tell(name, "Delay", say_deed(deed), deed.consumers)
    for consumer in struck:
        consumer.link_trouble.slow_down(deed.extra)
    yield from wait_until(world, world.engine.now + deed.for_us)
    for consumer in struck:
        consumer.link_trouble.speed_up(deed.extra)


CARRIED_OUT = {
    Cut: cut,
    Delay: delay,
}
