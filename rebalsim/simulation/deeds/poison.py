"""A record that hangs its handler, whoever gets it. As long as nobody commits past it, the next
owner gets it too.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from rebalsim.domain.ids import Partition
from rebalsim.domain.script import Poison
from rebalsim.scenario.script_words import say_deed

if TYPE_CHECKING:
    from rebalsim.simulation.ports import World

Carried = Generator[Any, Any, None]


def poison(world: World, name: str, deed: Poison) -> Carried:
    """From now on it is there, or comes when its offset does."""
    partition = Partition(deed.topic, deed.partition)
    world.script.tell(name, "Poison", say_deed(deed), (str(partition), deed.topic))
    offset = (
        deed.offset if deed.offset is not None else world.flow(partition).count(world.engine.now)
    )
    world.poisons.add(
        partition,
        offset,
        deed.for_,
        deed.times,
        world.randomness.stream(f"script/{name}"),
        deed.throws,
    )
    yield from ()


CARRIED_OUT = {
    Poison: poison,
}
