"""What a request takes of the coordinator that is asked, and its answer of the broker, from the
figures of the machine (domain/machine.py).

Only what a rebalance is made of: whatever goes on in quiet times as well must not hang on who else
asks something at that moment.
"""

from __future__ import annotations

from typing import Any

from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.machine import RequestCosts
from rebalsim.protocol.consumer_messages import ConsumerGroupHeartbeatRequest
from rebalsim.protocol.wire_sizes import assignment_bytes, subscription_bytes


def taking_in_us(costs: RequestCosts, api: str, request: Any, members: int) -> float:
    """What the coordinator needs for it. `members`: how many its group has."""
    if api == KafkaApi.JOIN:
        return costs.join_us
    if api == KafkaApi.SYNC:
        given = request.assignments if costs.per_kilobyte_us else ()
        size = sum(map(assignment_bytes, given.values())) if given else 0
        return costs.sync_us + costs.per_kilobyte_us * size / 1000
    if api == KafkaApi.LEAVE:
        return costs.leave_us
    if type(request) is ConsumerGroupHeartbeatRequest and _says_something(request):
        joins = request.epoch == 0
        return costs.heartbeat_us + (costs.target_per_member_us * members if joins else 0)
    return 0


def answering_us(costs: RequestCosts, api: str, response: Any) -> float:
    """What the broker needs to send its answer."""
    if api == KafkaApi.JOIN:
        members = getattr(response, "members", ()) if costs.per_kilobyte_us else ()
        size = sum(subscription_bytes(said) for _, _, said in members)
        return costs.join_answer_us + costs.per_kilobyte_us * size / 1000
    if api == KafkaApi.SYNC:
        return costs.sync_answer_us
    return costs.offset_fetch_us if api == KafkaApi.OFFSET_FETCH else 0


def _says_something(request: ConsumerGroupHeartbeatRequest) -> bool:
    return request.epoch <= 0 or request.owned is not None
