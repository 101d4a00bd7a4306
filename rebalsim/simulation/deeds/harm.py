"""Processes that freeze, handlers that hang, handlers that slow down."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from rebalsim.domain.script import Freeze, Hang, Slow
from rebalsim.scenario.script_words import say_deed
from rebalsim.simulation.deeds.waiting import wait_until

if TYPE_CHECKING:
    from rebalsim.simulation.ports import World

Carried = Generator[Any, Any, None]


def _living(world: World, names: tuple[str, ...]) -> list[Any]:
    return [
        world.consumers[name]
        for name in names
        if name in world.consumers and world.consumers[name].is_alive
    ]


def freeze(world: World, name: str, deed: Freeze) -> Carried:
    """Nothing of these processes runs for a while; one draw, for they are one machine's."""
    struck = _living(world, deed.consumers)
    world.script.tell(name, "Freeze", say_deed(deed), deed.consumers)
    thaws_us = world.engine.now + world.randomness.stream(f"script/{name}").draw(deed.for_)
    lives = [consumer.life for consumer in struck]
    for consumer in struck:
        consumer.freeze()
    yield from wait_until(world, thaws_us)
    for consumer, life in zip(struck, lives):
        if consumer.life == life:
            consumer.thaw()


def hang(world: World, name: str, deed: Hang) -> Carried:
    """Each handler is stuck after its batch."""
    struck = _living(world, deed.consumers)
    world.script.tell(name, "Hang", say_deed(deed), deed.consumers)
    longest = 0
    for consumer in struck:
        us = world.randomness.stream(f"script/{name}").draw(deed.for_)
        longest = max(longest, us)
        consumer.hang(us)
    yield from wait_until(world, world.engine.now + longest)


def slow(world: World, name: str, deed: Slow) -> Carried:
    """Batches begun from now on take longer, until it is over; two slowings at a time multiply."""
    struck = _living(world, deed.consumers)
    ends_us = world.engine.now + deed.for_us
    world.script.tell(name, "Slow", say_deed(deed), deed.consumers, ends_us)
    for consumer in struck:
        consumer.change_pace(consumer.slowness * deed.factor)
    yield from wait_until(world, ends_us)
    for consumer in struck:
        consumer.change_pace(consumer.slowness / deed.factor)


CARRIED_OUT = {
    Freeze: freeze,
    Hang: hang,
    Slow: slow,
}
