"""KafkaConsumer.close(): commit, callback, LeaveGroup, in this order, and each within the time given."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rebalsim.protocol.classic_member import NO_GENERATION
from rebalsim.simulation.listener import ListenerFailed, call_listener
from rebalsim.trace.events import CloseBegan, CloseEnded

if TYPE_CHECKING:
    from rebalsim.simulation.consumer import Consumer

CLOSE_TIMEOUT_US = 30_000_000         # close() without a duration


def close(consumer: Consumer, option: str) -> Generator[Any, Any, None]:
    """`option`: default (dynamic members leave), leave, remain."""
    engine, member = consumer.engine, consumer.member
    until = engine.env._now + min(CLOSE_TIMEOUT_US, consumer.config.request_timeout_us)
    consumer.is_closing = True
    consumer.tell(CloseBegan(engine.env._now, consumer.name))
    if consumer.feed.cycle is not None:
        consumer.feed.unsettle()
    if consumer.commits.is_auto:
        yield from consumer.commits.sync(until)
    while consumer.commits.under_way and engine.env._now < until and consumer.coordinator is not None:
        yield from consumer.wait(until)
    consumer.heartbeat.stop()
    owned = member.owned
    if owned:
        lost = member.generation == NO_GENERATION or member.member_id == "" or member.is_rebalancing()
        with suppress(ListenerFailed):                 # logged, and thrown when all is closed
            yield from call_listener(consumer, "lost" if lost else "revoked", owned)
        member.drop(owned)
        consumer.feed.assign(())
    consumer.membership.leave("the consumer is being closed", is_forced=option == "leave", is_barred=option == "remain")
    while consumer.calls and engine.env._now < until:
        consumer.drop_calls("JoinGroup", "SyncGroup", "Heartbeat")
        if consumer.calls:
            yield from consumer.wait(until)
    consumer.tell(CloseEnded(engine.env._now, consumer.name))
