"""Faults at random: each process (or member's link) suffers at exponential intervals, drawn from
a stream of its own.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from rebalsim.domain.draws import Draw
from rebalsim.domain.script import Crash, Cut, Freeze, Hang, RandomFault
from rebalsim.simulation.deeds import carry_out

if TYPE_CHECKING:
    from rebalsim.simulation.ports import World


class RandomFaults:
    """All random faults of a scenario."""

    def __init__(self, world: World) -> None:
        self.world = world

    def begin(self) -> None:
        """Start one process for each fault and target."""
        for number, fault in enumerate(self.world.scenario.random_faults, 1):
            for names in self._targets(fault):
                self.world.engine.begin(self.random_fault(number, fault, names))

    def _targets(self, fault: RandomFault) -> list[tuple[str, ...]]:
        """Who is struck together: consumers of one process, except by what strikes a handler or
        a link.
        """
        if fault.kind == "hang" or fault.kind == "cut":
            return [(name,) for name in fault.consumers]
        together: dict[str, list[str]] = {}
        specs = self.world.specs
        for name in fault.consumers:
            spec = specs.get(name)
            together.setdefault(
                spec.process if spec is not None and spec.process else f"/{name}", []
            ).append(name)
        return [tuple(names) for names in together.values()]

    def random_fault(
        self, number: int, fault: RandomFault, names: tuple[str, ...]
    ) -> Generator[Any, Any, None]:
        """It strikes, lasts, and strikes again, until its time is over."""
        world = self.world
        engine = world.engine
        stream = world.randomness.stream(f"chance/{number}/{names[0]}")
        between = Draw("exponential", fault.mean_between_us)
        until = world.scenario.horizon_us if fault.until_us is None else fault.until_us
        if fault.from_us:
            yield engine.timeout(fault.from_us)
        while True:
            yield engine.timeout(max(1, stream.draw(between)))
            if engine.now >= until:
                return
            lasts = Draw(a=stream.draw(fault.for_))
            struck = tuple(
                [
                    name
                    for name in names
                    if name in world.consumers and world.consumers[name].is_alive
                ]
            )
            if struck:
                yield from carry_out(
                    world, f"chance-{fault.kind}", _deed(fault.kind, struck, lasts)
                )


def _deed(kind: str, names: tuple[str, ...], lasts: Draw) -> Crash | Freeze | Hang | Cut:
    if kind == "crash":
        return Crash(names, lasts)
    if kind == "freeze":
        return Freeze(names, lasts)
    if kind == "hang":
        return Hang(names, lasts)
    return Cut(names, False, lasts)
