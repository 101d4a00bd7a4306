"""The kubelet's liveness probe: it looks at a pod on its grid, kills what fails so often, and starts
it again, later and later.

Whether a handler that hangs is killed depends on what the probe looks at: a process that answers
HTTP is alive while its poll loop is stuck; one that says when it polled last is not.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from rebalsim.domain.kubernetes import Probe

Carried = Generator[Any, Any, None]


def probe(world: Any, name: str, deed: Probe) -> Carried:
    """From now on, for each of the pods."""
    for who in deed.consumers:
        world.engine.begin(_probe_loop(world, name, deed, who))
    yield from ()


def _probe_loop(world: Any, name: str, deed: Probe, who: str) -> Carried:
    engine = world.engine
    life, began, failed = -1, 0, 0
    while True:
        yield engine.timeout(deed.period_us)
        consumer = world.consumers.get(who)
        if consumer is None or not consumer.is_alive or consumer.is_stopping:
            failed = 0
            continue
        if consumer.life != life:
            life, began, failed = consumer.life, engine.now, 0
        if engine.now - began < deed.initial_delay_us or is_well(consumer, deed):
            failed = 0
            continue
        failed += 1
        if failed < deed.failures:
            continue
        wait = world.kubelet.next_wait(consumer)
        said = f"its probe kills {who}" + (f", back-off {wait // 1_000_000} s" if wait else "")
        world.script.tell(name, "Probe", said, (who,))
        consumer.stop()
        yield from _gone(world, consumer, life)
        yield engine.timeout(wait)
        world.start(who)


def is_well(consumer: Any, deed: Probe) -> bool:
    """What the probe sees: a frozen process answers nobody."""
    if consumer.is_frozen:
        return False
    if deed.looks_at == "poll_loop":
        return _polls(consumer, deed.stale_us)
    if deed.looks_at == "heartbeat":
        return bool(consumer.is_assigned) and _polls(consumer, consumer.config.max_poll_interval_us)
    return True


def _polls(consumer: Any, stale_us: int) -> bool:
    """Whether it polled not longer ago."""
    consumer.touch()
    if consumer.is_polling:
        return True
    last: int = consumer.heartbeat.timers.polled_us
    return bool(consumer.engine.now - last <= stale_us)


def _gone(world: Any, consumer: Any, life: int) -> Carried:
    while consumer.is_alive and consumer.life == life:
        event = world.engine.event()
        world.script.watch(consumer.name, event.succeed)
        yield event


CARRIED_OUT = {
    Probe: probe,
}
