"""close() of an asynchronous consumer: commit, callbacks, leave, in this order; the leave is
sent once.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rebalsim.domain.callback import Callback
from rebalsim.protocol.consumer_member import ClientState
from rebalsim.simulation.asynchronous.beats import CLOSED
from rebalsim.simulation.closing import CLOSE_TIMEOUT_US, end_fetch_sessions
from rebalsim.simulation.listener import ListenerFailed, call_listener
from rebalsim.trace.events import CloseBegan, CloseEnded, LeaveSent

if TYPE_CHECKING:
    from rebalsim.simulation.asynchronous.inside import AsyncInside


def close(consumer: AsyncInside, option: str) -> Generator[Any, Any, None]:
    """`option`: default (leaves; a static member for a while), leave (for good), remain. A
    dynamic member that shall remain leaves all the same: what keeps its beat back
    (shouldSendLeaveHeartbeatNow) is overruled by shouldHeartbeatNow, at least up to Kafka 4.3.1.
    """
    engine, member, background = consumer.engine, consumer.member, consumer.heartbeat
    until = engine.now + min(CLOSE_TIMEOUT_US, consumer.config.request_timeout_us)
    consumer.is_closing = True
    consumer.tell(CloseBegan(engine.now, consumer.name))
    readers = consumer.feed.brokers()
    if member.state is ClientState.FATAL:  # all was lost with the error
        consumer.feed.assign(())
    if consumer.commits.is_auto:
        yield from consumer.commits.sync(until)  # looks for the coordinator meanwhile, …
    background.is_closing = True  # … and not after that
    owned = tuple(sorted(consumer.feed.shares))
    if owned:
        with suppress(ListenerFailed):  # logged, and thrown when all is closed
            yield from call_listener(
                consumer, Callback.REVOKED if member.has_had_epoch else Callback.LOST, owned
            )
        consumer.feed.assign(())
    if member.is_in_group:
        if consumer.coordinator is not None:
            consumer.tell(LeaveSent(engine.now, consumer.name, CLOSED))
        consumer.step_to(
            lambda: member.leave(False, option == "leave"), ClientState.PREPARE_LEAVING
        )
        background.turn()
        while (
            background.beats.flying is not None
            and engine.now < until
            and consumer.coordinator is not None
        ):
            yield from consumer.wait_for_background(until)
    background.stop()
    yield from end_fetch_sessions(consumer, readers, until)
    consumer.tell(CloseEnded(engine.now, consumer.name))
