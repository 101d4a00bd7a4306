"""Pods that Kubernetes moves: a drained node under a disruption budget, a machine that is taken away,
and a Recreate, which waits until the last old pod is gone.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from rebalsim.domain.draws import Draw
from rebalsim.domain.kubernetes import DrainNode, Evict, Recreate
from rebalsim.domain.life_end import OUT_OF_GRACE

Carried = Generator[Any, Any, None]


def drain(world: Any, name: str, deed: DrainNode) -> Carried:
    """Each pod is asked for in turn; one that the budget protects is asked for again later."""
    left = list(deed.consumers)
    stand_ins = dict(zip(deed.consumers, deed.stand_ins, strict=False))
    moving = []
    while left:
        for who in list(left):
            if _available(world, deed.group) - 1 >= deed.keep:
                left.remove(who)
                consumer = world.consumers[who]
                life = consumer.life
                world.script.tell(name, "DrainNode", f"evict {who}", (who,))
                consumer.stop()
                coming = _comes(world, name, (consumer, life), stand_ins.get(who), deed.pull)
                moving.append(world.engine.begin(coming))
        if left:
            yield world.engine.timeout(deed.retry_us)
    yield from moving


def _available(world: Any, group: str) -> int:
    """Pods that are ready: they run, have been through an assignment, and are not on their way out."""
    return sum(1 for c in world.living(group) if c.is_assigned and not c.is_stopping)


def _comes(world: Any, name: str, gone: tuple[Any, int], stand_in: Any, pull: Draw) -> Carried:
    """What replaces a pod starts at once, or under the same name when that one is gone."""
    took = world.randomness.stream(f"script/{name}").draw(pull)
    if stand_in is None:
        yield from _gone(world, [gone])
    if took:
        yield world.engine.timeout(took)
    world.start(gone[0].name if stand_in is None else stand_in.name, stand_in)
    yield from ()


def evict(world: Any, name: str, deed: Evict) -> Carried:
    """Asked to stop now, gone after the notice whatever they do; what replaces them starts now."""
    consumers = [
        world.consumers[w]
        for w in deed.consumers
        if w in world.consumers and world.consumers[w].is_alive
    ]
    world.script.tell(
        name,
        "Evict",
        f"the machine is taken away in {deed.notice_us // 1_000_000} s",
        tuple([c.name for c in consumers]),
    )
    lives = [(c, c.life) for c in consumers]
    for consumer in consumers:
        consumer.stop()
    took = world.randomness.stream(f"script/{name}").draw(deed.pull)
    if deed.stand_ins:
        world.engine.begin(_after(world, took, deed.stand_ins))
    yield world.engine.timeout(deed.notice_us)
    for consumer, life in lives:
        if consumer.is_alive and consumer.life == life:
            consumer.kill(OUT_OF_GRACE)
    if not deed.stand_ins:
        yield world.engine.timeout(took)
        for consumer, _ in lives:
            world.start(consumer.name)


def _after(world: Any, us: int, specs: tuple[Any, ...]) -> Carried:
    yield world.engine.timeout(us)
    for spec in specs:
        world.start(spec.name, spec)


def recreate(world: Any, name: str, deed: Recreate) -> Carried:
    """Everything stands still until the last one is gone, and the first new one polls."""
    for spec in deed.settings:
        world.next_specs[spec.name] = spec
    consumers = [world.consumers[w] for w in deed.consumers if w in world.consumers]
    world.script.tell(
        name, "Recreate", "all pods stop, then all start", tuple([c.name for c in consumers])
    )
    lives = [(c, c.life) for c in consumers if c.is_alive]
    for consumer, _ in lives:
        consumer.stop()
    yield from _gone(world, lives)
    took = world.randomness.stream(f"script/{name}").draw(deed.pull)
    if took:
        yield world.engine.timeout(took)
    for who in deed.consumers:
        world.start(who)


def _gone(world: Any, lives: list[tuple[Any, int]]) -> Carried:
    for consumer, life in lives:
        while consumer.is_alive and consumer.life == life:
            event = world.engine.event()
            world.script.watch(consumer.name, event.succeed)
            yield event


CARRIED_OUT = {
    DrainNode: drain,
    Evict: evict,
    Recreate: recreate,
}
