"""KafkaConsumer.close(): commit, callback, LeaveGroup, the end of the fetch sessions, in this
order, and each within the time given.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rebalsim.domain.callback import Callback
from rebalsim.protocol.classic_member import NO_GENERATION
from rebalsim.simulation.listener import ListenerFailed, call_listener
from rebalsim.trace.events import CloseBegan, CloseEnded

if TYPE_CHECKING:
    from rebalsim.simulation.inside import Inside

CLOSE_TIMEOUT_US = 30_000_000  # close() without a duration


def close(consumer: Inside, option: str) -> Generator[Any, Any, None]:
    """`option`: default (dynamic members leave), leave, remain."""
    engine = consumer.engine
    until = engine.now + min(CLOSE_TIMEOUT_US, consumer.config.request_timeout_us)
    consumer.is_closing = True
    consumer.tell(CloseBegan(engine.now, consumer.name))
    readers = consumer.feed.brokers()
    if consumer.commits.is_auto:
        yield from consumer.commits.sync(until)
    if consumer.commits.waiting and consumer.coordinator is None:
        yield from consumer.membership.find_coordinator(until)
    consumer.heartbeat.stop()
    with suppress(ListenerFailed):  # logged, and thrown when all is closed
        yield from _leave(consumer, option)
        while (
            consumer.coordinator is not None
            and consumer.is_awaiting_coordinator()
            and engine.now < until
        ):
            yield from consumer.wait(
                until
            )  # for whatever is under way there: a JoinGroup that is parked, too
    yield from end_fetch_sessions(consumer, readers, until)
    consumer.tell(CloseEnded(engine.now, consumer.name))


def _leave(consumer: Inside, option: str) -> Generator[Any, Any, None]:
    """The callback for what it owns, then LeaveGroup; which a callback that throws prevents
    (AbstractCoordinator.close).
    """
    member = consumer.member
    owned = member.owned
    if owned:
        lost = (
            member.generation == NO_GENERATION or member.member_id == "" or member.is_rebalancing()
        )
        try:
            yield from call_listener(consumer, Callback.LOST if lost else Callback.REVOKED, owned)
        finally:
            member.drop(owned)
            consumer.feed.assign(())
    consumer.membership.leave(
        "the consumer is being closed", is_forced=option == "leave", is_barred=option == "remain"
    )


def end_fetch_sessions(
    consumer: Inside, brokers: Iterable[int], until_us: int
) -> Generator[Any, Any, None]:
    """A last Fetch to each broker that was read from ends its session: behind the one that is
    parked there, and its answer is waited for.
    """
    now = ended = consumer.engine.now
    for broker in brokers:
        link = consumer.link(broker)
        if link.is_cut:
            ended = until_us
        elif link.is_open:
            ended = max(ended, link.turn(now) + link.latency_us(now))
    if ended > now:
        yield from consumer.sleep(min(ended, max(until_us, now)))
