"""FindCoordinator: the question, and what its answer does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.messages import FindCoordinatorRequest
from rebalsim.simulation.network import Call
from rebalsim.trace.events import CoordinatorFound

if TYPE_CHECKING:
    from rebalsim.simulation.endpoint import Endpoint


def found(consumer: Endpoint, call: Call, response: Any) -> None:
    """The answer to FindCoordinator."""
    consumer.is_looking_up = False
    if response.error is Error.NONE:
        consumer.take_coordinator(response.broker)
        consumer.tell(CoordinatorFound(consumer.engine.env._now, consumer.name, response.broker))
        consumer.heartbeat.timers.heard_us = consumer.engine.env._now      # the session timer begins anew (FindCoordinatorResponseHandler)


def ask_for_coordinator(consumer: Endpoint) -> Call:
    call: Call = consumer.call("FindCoordinator", FindCoordinatorRequest(consumer.group), lambda call, response: found(consumer, call, response))
    return call
