"""A rolling bounce: pods restarted a few at a time, in place (a StatefulSet, systemd units) or by
replacements with new names (a Deployment).

Consumers of one process are one pod. A pod is ready so long after it was started, or once all of
it has its partitions; then the bounce settles for a while before it goes on.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from rebalsim.domain.script import RollingBounce
from rebalsim.scenario.action_words import say_names
from rebalsim.scenario.script_words import say_deed
from rebalsim.simulation.deeds.waiting import wait_assigned, wait_exited, wait_until
from rebalsim.simulation.engine import SCRIPT

if TYPE_CHECKING:
    from rebalsim.simulation.ports import Client, World

Carried = Generator[Any, Any, None]


def bounce(world: World, name: str, deed: RollingBounce) -> Carried:
    """Done when the last pod is ready."""
    for spec in deed.deploy.consumers:
        world.next_specs[spec.name] = spec
    pods = _pods(world, deed.consumers)
    if not pods:
        world.script.tell(name, "RollingBounce", say_deed(deed), ())
        return
    if deed.surge_consumers:
        stand_ins = dict(zip(deed.consumers, deed.surge_consumers))
        yield from _Replacement(
            world, name, deed, [(pod, [stand_ins[old] for old in pod]) for pod in pods]
        ).run()
        return
    left = list(pods)
    engine = world.engine
    workers = [
        engine.begin(bounce_in_place(world, name, deed, left))
        for _ in range(min(deed.max_unavailable, len(left)))
    ]
    yield from workers


def _pods(world: World, names: tuple[str, ...]) -> list[list[str]]:
    """Who goes together, in the order of the bounce. Who has yet to come for the first time
    (another bounce is under way) is left in peace.
    """
    found: dict[str, list[str]] = {}
    for name in names:
        if name in world.specs:
            process = world.specs[name].process
            found.setdefault(process or f"/{name}", []).append(name)
    return list(found.values())


# ----------------------------------------------------------------------------------------- in place


def bounce_in_place(world: World, name: str, deed: RollingBounce, left: list[list[str]]) -> Carried:
    """One after another, for as long as there are any; several of these run side by side."""
    while left:
        pod = left.pop(0)
        world.script.tell(name, "RollingBounce", f"restart {say_names(pod)}", tuple(pod))
        consumers = [world.consumers[who] for who in pod]
        for consumer in consumers:
            consumer.stop()
        yield from wait_exited(world, consumers)
        yield from _away(world, name, deed)
        for who in pod:
            world.start(who)
        yield from _ready(world, deed, consumers)


def _away(world: World, name: str, deed: RollingBounce) -> Carried:
    if deed.down is not None:
        yield from wait_until(
            world, world.engine.now + world.randomness.stream(f"script/{name}").draw(deed.down)
        )


def _ready(world: World, deed: RollingBounce, consumers: list[Client]) -> Carried:
    if deed.readiness is not None:
        yield from world.kubelet.wait_ready(consumers, deed.readiness)
    else:
        yield from wait_until(world, world.engine.now + deed.ready_after_us)
    if deed.ready_when_assigned:
        for consumer in consumers:
            yield from wait_assigned(world, consumer)
    yield from wait_until(world, world.engine.now + deed.settle_us)


# ---------------------------------------------------------------------------------- by replacements


class _Replacement:
    """Kubernetes' rolling update: never more pods than wanted + surge, never fewer ready ones
    than wanted − unavailable. Pods on their way out do not count.
    """

    def __init__(
        self, world: World, name: str, deed: RollingBounce, pods: list[tuple[list[str], list[Any]]]
    ) -> None:
        self.world = world
        self.name = name
        self.deed = deed
        self.old = [old for old, _ in pods]
        self.new = [new for _, new in pods]
        self.wanted = len(pods)
        self.started = self.ready = 0
        self.changed: Any = None

    def run(self) -> Carried:
        engine = self.world.engine
        self._progress()
        while self.ready < self.wanted or self.old:
            self.changed = engine.event()
            while self.new and len(self.old) + self.started < self.wanted + self.deed.surge:
                self.started += 1
                engine.begin(self.bounce_by_replacement(self.new.pop(0)))
            while self.old and len(self.old) + self.ready > self.wanted - self.deed.max_unavailable:
                self._stop(self.old.pop(0))
                if self.new and len(self.old) + self.started < self.wanted + self.deed.surge:
                    self.started += 1
                    engine.begin(self.bounce_by_replacement(self.new.pop(0)))
            if self.ready < self.wanted or self.old:
                yield self.changed

    def bounce_by_replacement(self, pod: list[Any]) -> Carried:
        """A new pod comes, and is ready in the end."""
        world = self.world
        yield from _away(world, self.name, self.deed)
        names = [spec.name for spec in pod]
        world.script.tell(self.name, "RollingBounce", f"start {say_names(names)}", tuple(names))
        consumers = [world.start(spec.name, spec) for spec in pod]
        yield from _ready(world, self.deed, consumers)
        self.ready += 1
        self._progress()
        if not self.changed.triggered:
            self.changed.succeed()

    def _progress(self) -> None:
        """From now on the deadline runs again."""
        if self.deed.deadline_us:
            at = self.world.engine.now + self.deed.deadline_us
            self.world.engine.at(at, SCRIPT, self._is_late, self.ready)

    def _is_late(self, ready: int) -> None:
        """progressDeadlineSeconds sets a condition, and nothing is rolled back."""
        if self.ready == ready and ready < self.wanted:
            said = f"progress deadline exceeded: {ready} of {self.wanted} new pods are ready"
            self.world.script.tell(self.name, "RollingBounce", said, ())

    def _stop(self, pod: list[str]) -> None:
        self.world.script.tell(self.name, "RollingBounce", f"stop {say_names(pod)}", tuple(pod))
        for who in pod:
            self.world.consumers[who].stop()


CARRIED_OUT = {
    RollingBounce: bounce,
}
