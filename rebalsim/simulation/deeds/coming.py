"""Processes that start, stop, die and are started again."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING, Any

from rebalsim.domain.script import Crash, Join, Leave, Scale
from rebalsim.scenario.script_words import say_deed
from rebalsim.simulation.deeds.waiting import wait_exited, wait_until

if TYPE_CHECKING:
    from rebalsim.simulation.ports import Client, World

Carried = Generator[Any, Any, None]


def join(world: World, name: str, deed: Join) -> Carried:
    """New consumers start, one after another."""
    world.script.tell(name, "Join", say_deed(deed), tuple([spec.name for spec in deed.consumers]))
    yield from _start(world, deed.consumers, deed.stagger_us)


def scale(world: World, name: str, deed: Scale) -> Carried:
    """So many consumers from now on: new ones start as needed, or the last ones stop. Who died
    of an exception, which no script foresees, is started again after the new ones.
    """
    living = list(world.living(deed.group))
    if len(living) <= deed.to:
        idle = [
            spec
            for spec in deed.joiners
            if spec.name not in world.consumers or not world.consumers[spec.name].is_alive
        ]
        named = {spec.name for spec in idle}
        idle += [
            dead.spec for dead in world.dead_of_exceptions(deed.group) if dead.name not in named
        ]
        coming = idle[: deed.to - len(living)]
        world.script.tell(
            name, "Scale", f"scale to {deed.to}", tuple([spec.name for spec in coming])
        )
        yield from _start(world, coming, deed.stagger_us)
        return
    leaving = list(reversed(living[deed.to :]))
    world.script.tell(
        name, "Scale", f"scale to {deed.to}", tuple([consumer.name for consumer in leaving])
    )
    yield from _stop(world, leaving, deed.stagger_us, "default")


def leave(world: World, name: str, deed: Leave) -> Carried:
    """Consumers are asked to stop, one after another."""
    world.script.tell(name, "Leave", say_deed(deed), deed.consumers)
    leaving = [world.consumers[who] for who in deed.consumers if who in world.consumers]
    yield from _stop(world, leaving, deed.stagger_us, deed.option)


def crash(world: World, name: str, deed: Crash) -> Carried:
    """Processes die at once; perhaps they are started again. One that is away already is left
    alone.
    """
    struck = [
        world.consumers[who]
        for who in deed.consumers
        if who in world.consumers and world.consumers[who].is_alive
    ]
    world.script.tell(name, "Crash", say_deed(deed), tuple([consumer.name for consumer in struck]))
    if not struck:
        return
    back_us = world.engine.now
    if deed.restart_after is not None:
        back_us += world.randomness.stream(f"script/{name}").draw(deed.restart_after)
    for consumer in struck:
        consumer.is_awaited = deed.restart_after is not None
        consumer.kill()
    if deed.restart_after is not None:
        yield from wait_until(world, back_us)
        for consumer in struck:
            world.start(consumer.name)


def _start(world: World, specs: Iterable[Any], stagger_us: int) -> Carried:
    began = world.engine.now
    for i, spec in enumerate(specs):
        yield from wait_until(world, began + i * stagger_us)
        world.start(spec.name, spec)


def _stop(world: World, consumers: list[Client], stagger_us: int, option: str) -> Carried:
    began = world.engine.now
    for i, consumer in enumerate(consumers):
        yield from wait_until(world, began + i * stagger_us)
        consumer.stop(option)
    yield from wait_exited(world, consumers)


CARRIED_OUT = {
    Join: join,
    Scale: scale,
    Leave: leave,
    Crash: crash,
}
