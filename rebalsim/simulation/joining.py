"""Joining a group: what a member says of itself, what it does when it leads, and how its answers
end the attempt.

Runs in the application's thread, inside poll(), or in whichever thread reads a SyncGroup answer;
the rules are classic_member's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rebalsim.assignors.claim import AssignmentFailed, Claim
from rebalsim.assignors.cooperative_check import check_cooperative
from rebalsim.assignors.registry import ClientAssignor
from rebalsim.domain.ids import Partition
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.own_code import is_own_code
from rebalsim.protocol.classic_member import After, ClassicMember, MemberState, Subscription
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.messages import JoinGroupRequest, SyncGroupRequest
from rebalsim.simulation.network import Call
from rebalsim.simulation.poll_failed import PollFailed
from rebalsim.trace.events import (
    AssignmentComputed,
    AssignmentReceived,
    Fenced,
    GenerationJoined,
    MemberReset,
    RejoinRequested,
)

if TYPE_CHECKING:
    from rebalsim.simulation.inside import Inside


class Joining:
    """One attempt to join, as far as requests and answers go."""

    __slots__ = (
        "assignors",
        "commit",
        "consumer",
        "engine",
        "given",
        "is_pending",
        "member",
        "prepare_ends_us",
        "result",
    )

    def __init__(self, consumer: Inside) -> None:
        self.consumer = consumer
        self.engine = consumer.engine
        self.assignors: tuple[ClientAssignor, ...] = consumer.assignors
        self.member: ClassicMember = consumer.member
        self.is_pending = (
            False  # a JoinGroup or its SyncGroup is under way, or its result not taken yet
        )
        self.result: tuple[After, Error] | None = None
        self.given: tuple[Partition, ...] = ()
        self.commit: list[Any] | None = (
            None  # the commit before a rebalance: [] while under way, then how it ended
        )
        self.prepare_ends_us = 0

    def _ask(self, reason: str) -> None:
        self.member.request_rejoin(reason)
        self.consumer.tell(RejoinRequested(self.engine.now, self.consumer.name, reason))

    def subscription(self, assignor: ClientAssignor) -> Subscription:
        """What this member says of itself for this assignor."""
        consumer, member = self.consumer, self.member
        said = member.remembered.get(assignor.name, assignor.fresh)
        return Subscription(
            consumer.topics,
            member.owned,
            member.generation,
            consumer.config.client_rack,
            said[0],
            said[1],
        )

    def _send_join(self) -> None:
        consumer, member = self.consumer, self.member
        config = consumer.config
        consumer.heartbeat.disable()
        member.state = MemberState.PREPARING
        self.is_pending = True
        self.result = None
        member.joined_topics = consumer.topics
        rebalance_timeout_us = consumer.habits.rebalance_timeout_of(
            config.session_timeout_us, config.max_poll_interval_us
        )
        request = JoinGroupRequest(
            member.member_id,
            member.instance_id,
            consumer.client_id,
            config.session_timeout_us,
            rebalance_timeout_us,
            tuple([(assignor.name, self.subscription(assignor)) for assignor in self.assignors]),
            reason=member.rejoin_reason or None,
            version=min(
                consumer.habits.join_version,
                consumer.world.brokers.join_version(consumer.coordinator),
            ),
        )
        call = consumer.call(KafkaApi.JOIN, request, self._joined)
        call.expires_us = self.engine.now + max(
            config.request_timeout_us, rebalance_timeout_us + 5_000_000
        )
        consumer.send(call, member.rejoin_reason)

    def _joined(self, call: Call, response: Any) -> None:
        """The JoinGroup answer, always read by the application's thread."""
        consumer, member = self.consumer, self.member
        now = self.engine.now
        before = member.member_id, member.generation
        error = response.error
        after = member.on_join(response, call.sent_generation, call.sent_member_id)
        if after is After.LEAD or after is After.SYNC:
            leads = after is After.LEAD
            consumer.heartbeat.enable()
            consumer.tell(
                GenerationJoined(
                    now,
                    consumer.name,
                    response.generation,
                    response.member_id,
                    response.protocol,
                    leads,
                    response.skip_assignment,
                )
            )
            self._send_sync(self._assign(response) if leads else {})
            return
        if error is Error.FENCED_INSTANCE_ID:
            consumer.tell(Fenced(now, consumer.name, KafkaApi.JOIN, error.name))
        elif (
            error is Error.COORDINATOR_NOT_AVAILABLE
            or error is Error.NOT_COORDINATOR
            or error is Error.NETWORK_EXCEPTION
        ):
            consumer.lose_coordinator(f"error response {error.name}")
        elif error is Error.UNKNOWN_MEMBER_ID and before != (member.member_id, member.generation):
            consumer.tell(MemberReset(now, consumer.name, member.rejoin_reason))
        self.result = (after if after is not After.IGNORE else After.LATER, error)

    def _assign(self, response: Any) -> dict[str, Any]:
        """onLeaderElected: the assignor runs here, and everybody waits for it."""
        consumer, member = self.consumer, self.member
        member.is_leader = True
        claims = []
        topics: dict[str, None] = {}
        for member_id, instance_id, said in response.members:
            claims.append(
                Claim(
                    member_id,
                    said.topics,
                    instance_id,
                    said.rack or None,
                    said.owned,
                    said.generation,
                    said.user_owned,
                    said.user_generation,
                )
            )
            for topic in said.topics:
                topics[topic] = None
        consumer.group_topics = tuple(sorted(topics))
        consumer.metadata.watch(consumer.group_topics)
        member.snapshot = consumer.metadata.snapshot(consumer.group_topics)
        if response.skip_assignment:
            return {}
        assignor = next(a for a in self.assignors if a.name == response.protocol)
        counts = {
            topic: count
            for topic, count in consumer.metadata.of(consumer.group_topics).items()
            if count
        }
        try:
            given = assignor.assign(
                counts, claims, consumer.world.replica_racks(), response.generation
            )
            if member.is_cooperative and assignor.is_checked:
                check_cooperative(
                    assignor.name, {claim.member_id: claim.owned for claim in claims}, given
                )
        except AssignmentFailed as e:
            self.result = (After.FATAL, Error.UNKNOWN_SERVER_ERROR)
            why = f": {e}" if is_own_code(assignor.name) else ""
            raise PollFailed(f"IllegalStateException{why}", True) from None
        now = self.engine.now
        moved = (
            sum(1 for claim in claims for p in claim.owned if p not in given[claim.member_id])
            if len(claims) < 200
            else -1
        )
        consumer.tell(
            AssignmentComputed(
                now, consumer.name, consumer.group, response.generation, assignor.name, moved
            )
        )
        cost = consumer.spec.assignor_cost
        takes = consumer.world.randomness.stream(f"assignor/{consumer.group}")
        took = int(
            takes.draw(cost.fixed)
            + cost.per_member_partition_us * len(claims) * sum(counts.values())
        )
        if took:
            consumer.blocked_until_us = now + took
        return {member_id: tuple(partitions) for member_id, partitions in given.items()}

    def _send_sync(self, assignments: dict[str, Any]) -> None:
        consumer, member = self.consumer, self.member
        request = SyncGroupRequest(
            member.member_id,
            member.instance_id,
            member.generation,
            "consumer",
            member.protocol,
            assignments,
        )
        call = consumer.call(KafkaApi.SYNC, request, self._synced)
        if consumer.blocked_until_us > self.engine.now:
            self.engine.at(consumer.blocked_until_us, consumer.rank + 2, consumer.send_late, call)
        else:
            consumer.send(call)

    def _synced(self, call: Call, response: Any) -> None:
        """The SyncGroup answer, read by whichever thread looks first."""
        consumer, member = self.consumer, self.member
        now = self.engine.now
        error = response.error
        before = member.generation
        after = member.on_sync(error, call.sent_generation, call.sent_member_id)
        if error is Error.NONE:
            if after is After.GO_ON:
                given = tuple(sorted(response.assignment or ()))
                self.given = (
                    member.owned if given == member.owned else given
                )  # a trace holds it in every round
                consumer.tell(AssignmentReceived(now, consumer.name, member.generation, self.given))
            else:
                error = Error.ILLEGAL_GENERATION
        elif error is Error.FENCED_INSTANCE_ID:
            consumer.tell(Fenced(now, consumer.name, KafkaApi.SYNC, error.name))
        elif (
            error is Error.COORDINATOR_NOT_AVAILABLE
            or error is Error.NOT_COORDINATOR
            or error is Error.NETWORK_EXCEPTION
        ):
            consumer.lose_coordinator(f"error response {error.name}")
        elif before != member.generation:
            consumer.tell(MemberReset(now, consumer.name, member.rejoin_reason))
        elif error is Error.REBALANCE_IN_PROGRESS:
            consumer.heard_by_sync()
        self.result = (after, error)
