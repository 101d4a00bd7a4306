"""The scenario's script, carried out at its times. So far: consumers that join, scale, leave, crash, freeze and hang."""

from __future__ import annotations

from typing import Any

from rebalsim.domain.script import Action, Crash, Freeze, Hang, Join, Leave, Scale
from rebalsim.simulation.engine import SCRIPT, Once
from rebalsim.trace.events import ScriptActed


class Script:
    """Who does what to whom, and when."""

    __slots__ = ("world",)

    def __init__(self, world: Any) -> None:
        self.world = world

    def begin(self) -> None:
        for action in self.world.scenario.script:
            for i in range(action.times):
                self.world.engine.at(action.at_us + i * (action.every_us or 0), SCRIPT, self._act, action)

    def exited(self, consumer: Any) -> None:
        """A process is gone: whoever waits for that goes on."""

    def _act(self, event: Once) -> None:
        action: Action = event.value
        deed: Any = action.deed
        world = self.world
        now = world.engine.now
        stream = world.randomness.stream(f"script/{action.id}")
        kind = type(deed)
        targets: list[str] = []
        if kind is Join:
            for i, spec in enumerate(deed.consumers):
                self._start(spec, now + i * deed.stagger_us)
                targets.append(spec.name)
        elif kind is Scale:
            living = list(world.living(deed.group))
            joiners = [spec for spec in deed.joiners if spec.name not in world.consumers or not world.consumers[spec.name].is_alive]
            for i, spec in enumerate(joiners[:max(0, deed.to - len(living))]):
                self._start(spec, now + i * deed.stagger_us)
                targets.append(spec.name)
            for i, consumer in enumerate(reversed(living[deed.to:])):
                world.engine.at(now + i * deed.stagger_us, SCRIPT, _stop, (consumer, "default"))
                targets.append(consumer.name)
        else:
            targets.extend(deed.consumers)
            for i, name in enumerate(deed.consumers):
                consumer = world.consumers[name]
                if kind is Leave:
                    world.engine.at(now + i * deed.stagger_us, SCRIPT, _stop, (consumer, deed.option))
                elif kind is Crash:
                    consumer.kill()
                    if deed.restart_after is not None:
                        world.engine.at(now + stream.draw(deed.restart_after), SCRIPT, _begin, consumer)
                elif kind is Freeze:
                    consumer.freeze()
                    world.engine.at(now + stream.draw(deed.for_), SCRIPT, _thaw, consumer)
                elif kind is Hang:
                    consumer.hang(stream.draw(deed.for_))
        world.tell(ScriptActed(now, action.id, kind.__name__, kind.__name__.lower(), tuple(targets)))

    def _start(self, spec: Any, at_us: int) -> None:
        world = self.world
        consumer = world.consumers.get(spec.name) or world.add(spec)
        world.engine.at(at_us, SCRIPT, _begin, consumer)


def _begin(event: Once) -> None:
    event.value.begin()


def _stop(event: Once) -> None:
    consumer, option = event.value
    consumer.stop(option)


def _thaw(event: Once) -> None:
    event.value.thaw()
