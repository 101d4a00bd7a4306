"""A consumer's part in its group, in the order of ConsumerCoordinator.poll: find the coordinator, prepare, join, assign, take what is given.

Everything here runs in the application's thread, inside poll(); what must be decided by rule is the protocol's (classic_member).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from rebalsim.assignors.claim import AssignmentFailed, Claim
from rebalsim.assignors.cooperative_check import check_cooperative
from rebalsim.assignors.registry import ClientAssignor
from rebalsim.domain.ids import Partition
from rebalsim.protocol.classic_member import After, ClassicMember, MemberState, Subscription, exception_name
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.member_timers import backoff_us
from rebalsim.protocol.messages import (
    FindCoordinatorRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    LeavingMember,
    SyncGroupRequest,
)
from rebalsim.simulation.listener import ListenerFailed, call_listener
from rebalsim.simulation.network import Call
from rebalsim.simulation.poll_failed import PollFailed
from rebalsim.trace.events import (
    AssignmentComputed,
    AssignmentReceived,
    CoordinatorFound,
    Fenced,
    GenerationJoined,
    LeaveSent,
    MemberReset,
    RejoinRequested,
)


class Membership:
    """What ConsumerCoordinator does for the application's thread."""

    __slots__ = ("assignors", "commit", "consumer", "engine", "given", "is_pending", "member", "prepare_ends_us", "result", "skips", "view")

    def __init__(self, consumer: Any) -> None:
        self.consumer = consumer
        self.engine = consumer.engine
        self.assignors: tuple[ClientAssignor, ...] = consumer.assignors
        self.member: ClassicMember = consumer.member
        self.is_pending = False                        # a JoinGroup or its SyncGroup is under way, or its result not taken yet
        self.result: tuple[After, Error] | None = None
        self.given: tuple[Partition, ...] = ()
        self.commit: list[Any] | None = None           # the commit before a rebalance: [] while under way, then how it ended
        self.prepare_ends_us = 0
        self.skips = False

    # ---------------------------------------------------------------------------------------------- ConsumerCoordinator.poll

    def poll(self) -> Generator[Any, Any, bool]:
        """One turn; False if positions must wait (no coordinator, or a join that is not finished)."""
        consumer, member = self.consumer, self.member
        beats = consumer.heartbeat
        now = self.engine.env._now
        if beats.failure is not None:
            raise PollFailed(exception_name(beats.failure), True)
        is_steady = consumer.feed.cycle is not None             # then beats and commits keep their own time, whoever is awake
        if not is_steady:
            beats.timers.polled_us = now
            if beats.is_enabled and now >= beats.timers.due_us and member.has_joined() and consumer.coordinator is not None:
                beats.beat()
        if consumer.coordinator is None and not (yield from self.find_coordinator(consumer.deadline_us)):
            return False
        while self.must_join():
            if consumer.coordinator is None:
                return False
            if member.needs_prepare:
                if not (yield from self._prepare()):
                    return False
                member.needs_prepare = False
            if not self.is_pending:
                self._send_join()
            consumer.read()
            if consumer.blocked_until_us > self.engine.env._now:
                yield from consumer.sleep(consumer.blocked_until_us)      # the leader computes in this thread
            if self.result is None:
                return False
            after, error = self.result
            if after is After.GO_ON:
                if member.state is MemberState.STABLE:
                    yield from self._complete()
                else:
                    self.is_pending, self.result = False, None
                    member.request_rejoin("rebalance failed since the generation/state was modified by heartbeat thread")
                    member.needs_prepare = True
                continue
            self.is_pending, self.result = False, None
            if error is not Error.MEMBER_ID_REQUIRED:
                member.on_failed_join(error)
            if after is After.FATAL:
                raise PollFailed(exception_name(error), True)
            if after is After.LATER:
                return False
        if now >= consumer.commits.due_us + (beats.late_us if is_steady else 0):
            consumer.commits.maybe_auto()
        return True

    def has_to_try_again(self) -> bool:
        """Will the next pass do what this one could not: find the coordinator, or join?"""
        return self.consumer.coordinator is None or (self.member.needs_rejoin and not self.is_pending)

    def is_quiet(self) -> bool:
        """A member in good standing, with nothing under way that it waits for."""
        member = self.member
        return member.state is MemberState.STABLE and not member.needs_rejoin and not self.is_pending and self.consumer.coordinator is not None

    def must_join(self) -> bool:
        """rejoinNeededOrPending, with what the leader and the subscription may have noticed."""
        member = self.member
        if member.needs_rejoin or self.is_pending:
            return True
        consumer = self.consumer
        if member.snapshot is not None and member.snapshot != consumer.metadata.of(consumer.group_topics):
            self._ask("cached metadata has changed")
            return True
        if member.joined_topics is not None and member.joined_topics != consumer.topics:
            self._ask("subscription has changed")
            return True
        return False

    def _ask(self, reason: str) -> None:
        self.member.request_rejoin(reason)
        self.consumer.tell(RejoinRequested(self.engine.env._now, self.consumer.name, reason))

    # ---------------------------------------------------------------------------------------------- discovery

    def find_coordinator(self, until_us: int) -> Generator[Any, Any, bool]:
        """ensureCoordinatorReady: blocks in poll() until it is found or the time is over."""
        consumer = self.consumer
        attempt = 0
        while consumer.coordinator is None:
            if not consumer.is_looking_up:
                consumer.look_up_coordinator()
            while consumer.is_looking_up:
                if self.engine.env._now >= until_us:
                    return False
                yield from consumer.wait(until_us)
            if consumer.coordinator is not None:
                if self.engine.env._now >= consumer.unavailable_us.get(consumer.coordinator, 0):
                    break
                consumer.lose_again()                  # found where the client has just hung up: reconnect.backoff.ms is not over
            config = consumer.config
            jitter = consumer.jitter()
            pause = backoff_us(attempt, config.retry_backoff_us, config.retry_backoff_max_us, jitter)
            attempt += 1
            if self.engine.env._now >= until_us:
                return False
            yield from consumer.sleep(min(until_us, self.engine.env._now + pause))
        return True

    # ---------------------------------------------------------------------------------------------- preparing

    def _prepare(self) -> Generator[Any, Any, bool]:
        """onJoinPrepare: commit (eager: with everything marked for revocation), wait for it over as many passes as it takes, revoke."""
        consumer, member = self.consumer, self.member
        now = self.engine.env._now
        if not self.prepare_ends_us:
            self.prepare_ends_us = now + consumer.config.max_poll_interval_us
        if consumer.feed.cycle is not None:
            consumer.commits.make_up()                     # the application's own commits of steady times, before the revocation ends them
        if consumer.commits.is_auto and self.commit is None:
            if not member.is_cooperative:
                consumer.feed.suspend()
            offsets = consumer.feed.consumed()
            if offsets:
                box: list[Any] = []
                self.commit = box
                if consumer.commits.request(
                        offsets, lambda call, response: box.append((call, response)), is_before_rebalance=True) is None:
                    box.append(None)                   # refused by the client itself: goes on without
        if self.commit is not None:
            if not self.commit:
                consumer.read()
            if not self.commit and now < self.prepare_ends_us:
                return False
            if self.commit and self.commit[0] is not None and consumer.commits.outcome(*self.commit[0]) == "later" \
                    and now < self.prepare_ends_us:
                self.commit = None
                return False
        kind, partitions = member.prepare(consumer.topics)
        self.commit = None
        self.prepare_ends_us = 0
        failed = None
        if kind:
            try:
                yield from call_listener(consumer, kind, partitions)
            except ListenerFailed as e:
                failed = e
            member.drop(partitions)
            consumer.feed.assign(member.owned)
        member.is_leader = False
        if failed is not None:
            member.needs_prepare = False               # thrown only after the assignment is gone, and not repeated
            raise PollFailed("KafkaException", False)
        return True

    # ---------------------------------------------------------------------------------------------- joining

    def subscription(self, assignor: ClientAssignor) -> Subscription:
        """What this member says of itself for this assignor."""
        consumer, member = self.consumer, self.member
        said = member.remembered.get(assignor.name, assignor.fresh)
        return Subscription(consumer.topics, member.owned, member.generation, consumer.rack, said[0], said[1])

    def _send_join(self) -> None:
        consumer, member = self.consumer, self.member
        config = consumer.config
        if consumer.feed.cycle is not None:
            consumer.commits.make_up()
        member.state = MemberState.PREPARING
        self.is_pending = True
        self.result = None
        member.joined_topics = consumer.topics
        request = JoinGroupRequest(
            member.member_id, member.instance_id, consumer.client_id, config.session_timeout_us, config.max_poll_interval_us,
            tuple([(assignor.name, self.subscription(assignor)) for assignor in self.assignors]), reason=member.rejoin_reason or None,
            version=consumer.join_version,
        )
        call = consumer.call("JoinGroup", request, self._joined)
        call.expires_us = self.engine.env._now + max(config.request_timeout_us, config.max_poll_interval_us + 5_000_000)
        consumer.send(call, member.rejoin_reason)

    def _joined(self, call: Call, response: Any) -> None:
        """The JoinGroup answer, always read by the application's thread."""
        consumer, member = self.consumer, self.member
        now = self.engine.env._now
        before = member.member_id, member.generation
        error = response.error
        after = member.on_join(response, call.sent_generation, call.sent_member_id)
        if after is After.LEAD or after is After.SYNC:
            leads = after is After.LEAD
            consumer.heartbeat.enable()
            consumer.tell(GenerationJoined(
                now, consumer.name, response.generation, response.member_id, response.protocol, leads, response.skip_assignment))
            self._send_sync(self._assign(response) if leads else {})
            return
        if error is Error.FENCED_INSTANCE_ID:
            consumer.tell(Fenced(now, consumer.name, "JoinGroup", error.name))
        elif error is Error.COORDINATOR_NOT_AVAILABLE or error is Error.NOT_COORDINATOR or error is Error.NETWORK_EXCEPTION:
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
            claims.append(Claim(member_id, said.topics, instance_id, said.rack or None, said.owned, said.generation,
                                said.user_owned, said.user_generation))
            for topic in said.topics:
                topics[topic] = None
        consumer.group_topics = tuple(sorted(topics))
        consumer.metadata.watch(consumer.group_topics)
        member.snapshot = consumer.metadata.of(consumer.group_topics)
        if response.skip_assignment:
            return {}
        assignor = next(a for a in self.assignors if a.name == response.protocol)
        counts = {topic: count for topic, count in member.snapshot.items() if count}
        try:
            given = assignor.assign(counts, claims, consumer.world.replica_racks(), response.generation)
            if member.is_cooperative and assignor.is_checked:
                check_cooperative(assignor.name, {claim.member_id: claim.owned for claim in claims}, given)
        except AssignmentFailed:
            self.result = (After.FATAL, Error.UNKNOWN_SERVER_ERROR)
            raise PollFailed("IllegalStateException", True) from None
        now = self.engine.env._now
        moved = sum(1 for claim in claims for p in claim.owned if p not in given[claim.member_id]) if len(claims) < 200 else -1
        consumer.tell(AssignmentComputed(now, consumer.name, consumer.group, response.generation, assignor.name, moved))
        cost = consumer.spec.assignor_cost
        took = int(cost.fixed_us + cost.per_member_partition_us * len(claims) * sum(counts.values()))
        if took:
            consumer.blocked_until_us = now + took
        return {member_id: tuple(partitions) for member_id, partitions in given.items()}

    def _send_sync(self, assignments: dict[str, Any]) -> None:
        consumer, member = self.consumer, self.member
        request = SyncGroupRequest(
            member.member_id, member.instance_id, member.generation, "consumer", member.protocol, assignments)
        call = consumer.call("SyncGroup", request, self._synced)
        if consumer.blocked_until_us > self.engine.env._now:
            self.engine.at(consumer.blocked_until_us, consumer.rank + 2, consumer.send_late, call)
        else:
            consumer.send(call)

    def _synced(self, call: Call, response: Any) -> None:
        """The SyncGroup answer, read by whichever thread looks first."""
        consumer, member = self.consumer, self.member
        now = self.engine.env._now
        error = response.error
        before = member.generation
        after = member.on_sync(error, call.sent_generation, call.sent_member_id)
        if error is Error.NONE:
            if after is After.GO_ON:
                self.given = tuple(sorted(response.assignment or ()))
                consumer.tell(AssignmentReceived(now, consumer.name, member.generation, self.given))
            else:
                error = Error.ILLEGAL_GENERATION
        elif error is Error.FENCED_INSTANCE_ID:
            consumer.tell(Fenced(now, consumer.name, "SyncGroup", error.name))
        elif error is Error.COORDINATOR_NOT_AVAILABLE or error is Error.NOT_COORDINATOR or error is Error.NETWORK_EXCEPTION:
            consumer.lose_coordinator(f"error response {error.name}")
        elif before != member.generation:
            consumer.tell(MemberReset(now, consumer.name, member.rejoin_reason))
        elif error is Error.REBALANCE_IN_PROGRESS:
            consumer.heard_by_sync()
        self.result = (after, error)

    # ---------------------------------------------------------------------------------------------- taking the assignment

    def _complete(self) -> Generator[Any, Any, None]:
        """onJoinComplete."""
        consumer, member = self.consumer, self.member
        given = self.given
        if not member.is_leader:
            member.snapshot = None
        failed = None
        topics = consumer.topics
        if any(p.topic not in topics for p in given):
            self._ask("received assignment does not match the current subscription")
        else:
            added, revoked = member.changes(given)
            if revoked:
                try:
                    yield from call_listener(consumer, "revoked", revoked)
                except ListenerFailed as e:
                    failed = e
                self._ask("need to revoke partitions and re-join")
            for assignor in self.assignors:
                if assignor.name == member.protocol:
                    member.remembered[assignor.name] = assignor.remember(given, member.generation)
            if consumer.commits.is_auto:
                consumer.commits.due_us = self.engine.env._now + consumer.commits.interval_us
            member.owned = given
            if added or revoked or consumer.feed.is_suspended or len(consumer.feed.shares) != len(given):
                consumer.feed.assign(given)
            try:
                yield from call_listener(consumer, "assigned", added)
            except ListenerFailed as e:
                failed = failed or e
        if failed is not None:
            raise PollFailed("KafkaException", False)  # the result stays: the next poll() completes again, with nothing added
        self.is_pending, self.result = False, None
        member.needs_prepare = True

    # ---------------------------------------------------------------------------------------------- leaving

    def leave(self, reason: str, *, is_forced: bool = False, is_barred: bool = False) -> bool:
        """maybeLeaveGroup: a LeaveGroup that nobody waits for, if dynamic; the identity is forgotten in any case. True if it was sent."""
        consumer, member = self.consumer, self.member
        now = self.engine.env._now
        sends = (
            not is_barred and (member.instance_id is None or is_forced) and consumer.coordinator is not None
            and member.state is not MemberState.UNJOINED and member.member_id != ""
        )
        if sends:
            consumer.tell(LeaveSent(now, consumer.name, reason))
            request = LeaveGroupRequest((LeavingMember(member.member_id, member.instance_id, reason),))
            consumer.send(consumer.call("LeaveGroup", request, _ignore))
        member.reset(keeps_id=False, reason="consumer pro-actively leaving the group")
        consumer.tell(MemberReset(now, consumer.name, member.rejoin_reason))
        return sends


def _ignore(call: Call, response: Any) -> None:
    """Nobody waits for it."""


def found(consumer: Any, call: Call, response: Any) -> None:
    """The answer to FindCoordinator."""
    consumer.is_looking_up = False
    if response.error is Error.NONE:
        consumer.take_coordinator(response.broker)
        consumer.tell(CoordinatorFound(consumer.engine.env._now, consumer.name, response.broker))
        consumer.heartbeat.timers.heard_us = consumer.engine.env._now      # the session timer begins anew (FindCoordinatorResponseHandler)


def ask_for_coordinator(consumer: Any) -> Call:
    call: Call = consumer.call("FindCoordinator", FindCoordinatorRequest(consumer.group), lambda call, response: found(consumer, call, response))
    return call
