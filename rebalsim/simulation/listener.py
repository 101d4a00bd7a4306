"""The rebalance listener: what its callbacks cost in the poll thread, commits within them, and
callbacks that throw.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rebalsim.domain.callback import Callback
from rebalsim.domain.commit_style import CommitOnRevoke
from rebalsim.domain.consumer import Cost
from rebalsim.domain.ids import Partition
from rebalsim.simulation.commits import thrown_by_commit
from rebalsim.simulation.lag import mark
from rebalsim.trace.events import CallbackBegan, CallbackEnded

if TYPE_CHECKING:
    from rebalsim.simulation.engine import Steps
    from rebalsim.simulation.inside import Inside


class ListenerFailed(Exception):
    """The callback threw."""


def call_listener(
    consumer: Inside,
    kind: str,
    partitions: tuple[Partition, ...],
    sleeps: Callable[[int], Steps] | None = None,
) -> Steps:
    """Enter and leave one callback. An empty list costs nothing. `sleeps`: how another thread
    than the application's passes the time.
    """
    engine = consumer.engine
    listener = consumer.spec.listener
    cost = listener.revoked if kind == Callback.REVOKED else listener.assigned
    cost = listener.lost if kind == Callback.LOST else cost
    if partitions and not cost.before.is_zero:
        yield from _pass(consumer, consumer.stream(f"before/{kind}").draw(cost.before), sleeps)
    consumer.tell(CallbackBegan(engine.now, consumer.name, kind, partitions))
    if partitions:
        took = _cost_us(consumer, cost, kind, partitions)
        yield from _pass(consumer, took, sleeps)
        if kind == Callback.REVOKED:
            yield from _commit(consumer, partitions, waits=sleeps is None)
    throws = listener.throws_in == kind and consumer.thrown < listener.throws_times
    consumer.tell(
        CallbackEnded(
            engine.now, consumer.name, kind, partitions, "RuntimeException" if throws else ""
        )
    )
    if consumer.spec.state.bytes_per_partition and partitions:
        if kind == Callback.ASSIGNED:
            consumer.world.stores.restore(consumer, partitions)
        else:
            consumer.world.stores.given_up(consumer, partitions, is_clean=True)
    if kind == Callback.ASSIGNED:
        consumer.is_assigned = True
        consumer.world.script.noticed(consumer)
    if throws:
        consumer.thrown += 1
        raise ListenerFailed(kind)


def _commit(consumer: Inside, partitions: tuple[Partition, ...], *, waits: bool) -> Steps:
    """What onPartitionsRevoked commits before its partitions are others'. A thread that is not the
    application's does not wait for it.
    """
    style = consumer.spec.handler.commit_on_revoke
    if style is CommitOnRevoke.NONE:
        return
    if not waits:
        consumer.commits.send_async(consumer.feed.consumed())
        return
    engine = consumer.engine
    for _ in range(len(partitions) if style is CommitOnRevoke.PER_PARTITION else 1):
        how = yield from consumer.commits.sync(engine.now + consumer.config.default_api_timeout_us)
        if how != "ok" and not consumer.spec.handler.goes_on_after_commits:
            thrown = thrown_by_commit(how)
            consumer.tell(
                CallbackEnded(engine.now, consumer.name, Callback.REVOKED, partitions, thrown)
            )
            raise ListenerFailed(Callback.REVOKED)


def _pass(consumer: Inside, us: int, sleeps: Callable[[int], Steps] | None) -> Steps:
    """The thread that calls is busy for so long."""
    until = consumer.engine.now + us
    if us and sleeps is not None:
        yield from sleeps(until)
    elif us:
        mark(consumer, consumer.feed.shares.values())
        yield from consumer.sleep(until)


def _cost_us(consumer: Inside, cost: Cost, kind: str, partitions: tuple[Partition, ...]) -> int:
    count, state = len(partitions), consumer.spec.state
    in_turn = cost.fixed.shape == "in_turn"  # each callback has its own turns
    stream = consumer.stream(f"listener/{kind}" if in_turn else "listener")
    took: int = stream.draw(cost.fixed)
    if not cost.per_partition.is_zero:
        took += sum(stream.draw(cost.per_partition) for _ in range(count))
    if state.bytes_per_partition:
        if kind == Callback.REVOKED and state.flush_bytes_per_second:
            took += int(count * state.bytes_per_partition / state.flush_bytes_per_second * 1e6)
        elif kind == Callback.ASSIGNED:
            took += consumer.world.stores.takes_us(consumer, partitions)
    return took
