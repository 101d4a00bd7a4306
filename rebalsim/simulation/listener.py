"""The rebalance listener: what its callbacks cost in the poll thread, commits within them, and
callbacks that throw.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

from rebalsim.domain.ids import Partition
from rebalsim.simulation.commits import thrown_by_commit
from rebalsim.simulation.lag import mark
from rebalsim.trace.events import CallbackBegan, CallbackEnded

if TYPE_CHECKING:
    from rebalsim.simulation.consumer import Consumer


class ListenerFailed(Exception):
    """The callback threw."""


Steps = Generator[Any, Any, None]


def call_listener(
    consumer: Consumer,
    kind: str,
    partitions: tuple[Partition, ...],
    sleeps: Callable[[int], Steps] | None = None,
) -> Steps:
    """Enter and leave one callback. An empty list costs nothing. `sleeps`: how another thread
    than the application's passes the time.
    """
    engine = consumer.engine
    consumer.tell(CallbackBegan(engine.now, consumer.name, kind, partitions))
    listener = consumer.spec.listener
    if partitions:
        took = _cost_us(consumer, kind, partitions)
        if took and sleeps is not None:
            yield from sleeps(engine.now + took)
        elif took:
            consumer.break_cycle()
            mark(consumer, consumer.feed.shares.values())
            yield from consumer.sleep(engine.now + took)
        commit = consumer.spec.handler.commit_on_revoke
        if kind == "revoked" and commit != "none" and sleeps is not None:
            consumer.commits.send_async(consumer.feed.consumed())
        elif kind == "revoked" and commit != "none":
            for _ in range(len(partitions) if commit == "per-partition" else 1):
                how = yield from consumer.commits.sync(
                    engine.now + consumer.config.default_api_timeout_us
                )
                if how != "ok" and not consumer.spec.handler.goes_on_after_commits:
                    consumer.tell(
                        CallbackEnded(
                            engine.now, consumer.name, kind, partitions, thrown_by_commit(how)
                        )
                    )
                    raise ListenerFailed(kind)
    throws = listener.throws_in == kind and consumer.thrown < listener.throws_times
    consumer.tell(
        CallbackEnded(
            engine.now, consumer.name, kind, partitions, "RuntimeException" if throws else ""
        )
    )
    if consumer.spec.state.bytes_per_partition and partitions:
        if kind == "assigned":
            consumer.world.stores.restore(consumer, partitions)
        else:
            consumer.world.stores.given_up(consumer, partitions, is_clean=True)
    if kind == "assigned":
        consumer.is_assigned = True
        consumer.world.script.noticed(consumer)
    if throws:
        consumer.thrown += 1
        raise ListenerFailed(kind)


def _cost_us(consumer: Consumer, kind: str, partitions: tuple[Partition, ...]) -> int:
    count = len(partitions)
    listener, state = consumer.spec.listener, consumer.spec.state
    cost = (
        listener.revoked
        if kind == "revoked"
        else listener.assigned
        if kind == "assigned"
        else listener.lost
    )
    stream = consumer.stream("listener")
    took: int = stream.draw(cost.fixed)
    if not cost.per_partition.is_zero:
        took += sum(stream.draw(cost.per_partition) for _ in range(count))
    if state.bytes_per_partition:
        if kind == "revoked" and state.flush_bytes_per_second:
            took += int(count * state.bytes_per_partition / state.flush_bytes_per_second * 1e6)
        elif kind == "assigned":
            took += consumer.world.stores.takes_us(consumer, partitions)
    return took
