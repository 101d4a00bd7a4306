"""FindCoordinator: the question, how long it waits behind others, and what its answer does.

Any broker may be asked. Kafka's own client takes a connection on which nothing is under way, if
it has one; a member that reads has a Fetch parked on each (NetworkClient.leastLoadedNode), and a
broker answers one request of a connection after the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.messages import FindCoordinatorRequest
from rebalsim.simulation.network import Call, Link
from rebalsim.trace.events import CoordinatorFound

if TYPE_CHECKING:
    from rebalsim.simulation.inside import OnNetwork


def queued_us(consumer: OnNetwork, link: Link) -> int:
    """How long the question waits, beyond its way there, for the Fetch that is parked on its
    connection.
    """
    if consumer.habits.runs_itself:
        return 0
    feed, now = consumer.feed, consumer.engine.now
    if (
        any(other.is_open and other.broker not in feed.flying for other in consumer.data_links())
        or link.broker not in feed.flying
    ):
        return 0
    leaves = link.busy_us
    return int(max(0, leaves - now - link.latency_us(now)))


def found(consumer: OnNetwork, call: Call, response: Any) -> None:
    """The answer to FindCoordinator."""
    consumer.is_looking_up = False
    if response.error is Error.NONE:
        consumer.take_coordinator(response.broker)
        consumer.tell(CoordinatorFound(consumer.engine.now, consumer.name, response.broker))
        consumer.heartbeat.coordinator_found(consumer.engine.now)
    consumer.commits.send_waiting()


def ask_for_coordinator(consumer: OnNetwork) -> Call:
    call: Call = consumer.call(
        KafkaApi.FIND_COORDINATOR,
        FindCoordinatorRequest(consumer.group),
        lambda call, response: found(consumer, call, response),
    )
    return call
