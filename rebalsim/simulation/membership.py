"""A consumer's part in its group, in the order of ConsumerCoordinator.poll: find the coordinator,
prepare, join, assign, take what is given.

Everything here runs in the application's thread, inside poll(); what must be decided by rule is
the protocol's (classic_member).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from rebalsim.domain.callback import Callback
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.protocol.classic_member import After, MemberState, exception_name
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.member_timers import backoff_us
from rebalsim.protocol.messages import LeaveGroupRequest, LeavingMember
from rebalsim.simulation.joining import Joining
from rebalsim.simulation.listener import ListenerFailed, call_listener
from rebalsim.simulation.network import Call
from rebalsim.simulation.poll_failed import PollFailed
from rebalsim.trace.events import LeaveSent, MemberReset


class Membership(Joining):
    """What ConsumerCoordinator does for the application's thread."""

    __slots__ = ()

    # --------------------------------------------------------------------- ConsumerCoordinator.poll

    def begin_turn(self) -> bool:
        """What each turn begins with. True if that is all, as mostly; else `poll` goes on."""
        consumer, member = self.consumer, self.member
        beats = consumer.heartbeat
        now = self.engine.now
        if beats.failure is not None:
            raise PollFailed(exception_name(beats.failure), True)
        beats.timers.polled_us = now
        if (
            beats.is_enabled
            and now >= beats.next_us()
            and member.has_joined()
            and consumer.coordinator is not None
        ):
            beats.beat()
        if consumer.coordinator is None or self.must_join():
            return False
        consumer.commits.maybe_auto()
        return True

    def poll(self) -> Generator[Any, Any, bool]:
        """The rest of a turn; False if positions must wait (no coordinator, or a join that is
        not finished).
        """
        consumer, member = self.consumer, self.member
        if consumer.coordinator is None and not (
            yield from self.find_coordinator(consumer.deadline_us)
        ):
            return False
        while self.must_join():
            if consumer.coordinator is None:
                return False
            if member.needs_prepare:
                if consumer.pattern is not None and not self.prepare_ends_us:
                    yield from self._look_for_topics()
                # before: the heartbeat thread may set it anew meanwhile, and a callback that throws
                # is not repeated
                member.needs_prepare = False
                if not (yield from self._prepare()):
                    member.needs_prepare = True
                    return False
            if not self.is_pending:
                self._send_join()
            consumer.read()
            if consumer.blocked_until_us > self.engine.now:
                yield from consumer.sleep(
                    consumer.blocked_until_us
                )  # the leader computes in this thread
            if self.result is None:
                return False
            after, error = self.result
            if after is After.GO_ON:
                if member.state is MemberState.STABLE:
                    yield from self._complete()
                else:
                    self.is_pending, self.result = False, None
                    member.request_rejoin(
                        "rebalance failed since the generation/state was modified by heartbeat "
                        "thread"
                    )
                    member.needs_prepare = True
                continue
            self.is_pending, self.result = False, None
            if error is not Error.MEMBER_ID_REQUIRED:
                member.on_failed_join(error)
            if after is After.FATAL:
                raise PollFailed(exception_name(error), True)
            if after is After.LATER:
                return False
        consumer.commits.maybe_auto()
        return True

    def _look_for_topics(self) -> Generator[Any, Any, None]:
        """A pattern subscriber asks for fresh metadata before it joins, so that a new topic costs
        one rebalance and not one for each member.

        Not where the last answer is younger than retry.backoff.ms (Metadata.timeToAllowUpdate).
        """
        consumer = self.consumer
        now = self.engine.now
        if now - consumer.metadata.refreshed_us < consumer.config.retry_backoff_us:
            return
        yield from consumer.sleep(now + 2 * consumer.link(consumer.world.bootstrap).latency_us(now))
        consumer.metadata.refresh()
        consumer.resolve_pattern()

    def has_to_try_again(self) -> bool:
        """Will the next pass do what this one could not: find the coordinator, or join?"""
        return self.consumer.coordinator is None or (
            self.member.needs_rejoin and not self.is_pending
        )

    def must_join(self) -> bool:
        """rejoinNeededOrPending, with what the leader and the subscription may have noticed."""
        member = self.member
        if member.needs_rejoin or self.is_pending:
            return True
        consumer = self.consumer
        if member.snapshot is not None and member.snapshot != consumer.metadata.snapshot(
            consumer.group_topics
        ):
            self._ask("cached metadata has changed")
            return True
        if member.joined_topics is not None and member.joined_topics != consumer.topics:
            self._ask("subscription has changed")
            return True
        return False

    # ------------------------------------------------------------------------------------ discovery

    def find_coordinator(self, until_us: int) -> Generator[Any, Any, bool]:
        """ensureCoordinatorReady: blocks in poll() until it is found or the time is over."""
        consumer = self.consumer
        attempt = 0
        while not consumer.knows_coordinator():
            if not consumer.is_looking_up:
                consumer.look_up_coordinator()
            while consumer.is_looking_up:
                if self.engine.now >= until_us:
                    return False
                yield from consumer.wait(until_us)
            if consumer.coordinator is not None:
                if self.engine.now >= consumer.unavailable_us.get(consumer.coordinator, 0):
                    break
                # found where the client has just hung up: reconnect.backoff.ms is not over
                consumer.lose_again()
            config = consumer.config
            jitter = consumer.jitter()
            pause = backoff_us(
                attempt, config.retry_backoff_us, config.retry_backoff_max_us, jitter
            )
            attempt += 1
            if self.engine.now >= until_us:
                return False
            yield from consumer.sleep(min(until_us, self.engine.now + pause))
        return True

    # ------------------------------------------------------------------------------------ preparing

    def _prepare(self) -> Generator[Any, Any, bool]:
        """onJoinPrepare: commit (eager: with everything marked for revocation), wait for it over
        as many passes as it takes, revoke.
        """
        consumer, member = self.consumer, self.member
        now = self.engine.now
        if not self.prepare_ends_us:
            self.prepare_ends_us = now + consumer.config.max_poll_interval_us
        if consumer.commits.is_auto and self.commit is None:
            if not member.is_cooperative:
                consumer.feed.suspend()
            offsets = consumer.feed.consumed()
            if offsets:
                box: list[Any] = []
                self.commit = box
                if (
                    consumer.commits.request(
                        offsets,
                        lambda call, response: box.append((call, response)),
                        is_before_rebalance=True,
                    )
                    is None
                ):
                    box.append(None)  # refused by the client itself: goes on without
        if self.commit is not None:
            if not self.commit:
                consumer.read()
            if not self.commit and now < self.prepare_ends_us:
                return False
            answer = self.commit.pop() if self.commit else None
            if (
                answer is not None
                and consumer.commits.outcome(*answer) == "later"
                and now < self.prepare_ends_us
            ):
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
        if failed is not None:  # thrown only after the assignment is gone
            raise PollFailed("KafkaException", False)
        return True

    # ------------------------------------------------------------------------ taking the assignment

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
                    yield from call_listener(consumer, Callback.REVOKED, revoked)
                except ListenerFailed as e:
                    failed = e
                self._ask("need to revoke partitions and re-join")
            for assignor in self.assignors:
                if assignor.name == member.protocol:
                    member.remembered[assignor.name] = assignor.remember(given, member.generation)
            if consumer.commits.is_auto:
                consumer.commits.due_us = self.engine.now + consumer.commits.interval_us
            member.owned = given
            if (
                added
                or revoked
                or consumer.feed.is_suspended
                or len(consumer.feed.shares) != len(given)
            ):
                consumer.feed.assign(given)
            try:
                yield from call_listener(consumer, Callback.ASSIGNED, added)
            except ListenerFailed as e:
                failed = failed or e
        if failed is not None:
            raise PollFailed(
                "KafkaException", False
            )  # the result stays: the next poll() completes again, with nothing added
        self.is_pending, self.result = False, None
        member.needs_prepare = True

    # ---------------------------------------------------------------------------- what commits tell

    def commit_disowned(self, error: Error) -> None:
        """An OffsetCommit tells that the group does not know this member, or not in this
        generation: what it owns is lost before it joins again.
        """
        member = self.member
        member.reset(
            keeps_id=error is Error.ILLEGAL_GENERATION,
            reason=f"encountered {error.name} from OffsetCommit response",
        )
        self.consumer.tell(MemberReset(self.engine.now, self.consumer.name, member.rejoin_reason))

    def commit_fenced(self, error: Error) -> None:
        """The answer to a commit says that another member has taken this one's place: the next
        poll() throws.
        """
        self.consumer.heartbeat.failure = error

    # -------------------------------------------------------------------------------------- leaving

    def leave(self, reason: str, *, is_forced: bool = False, is_barred: bool = False) -> bool:
        """maybeLeaveGroup: a LeaveGroup that nobody waits for, if dynamic; the identity is
        forgotten in any case. True if it was sent.
        """
        consumer, member = self.consumer, self.member
        now = self.engine.now
        sends = (
            not is_barred
            and (member.instance_id is None or is_forced)
            and consumer.coordinator is not None
            and member.state is not MemberState.UNJOINED
            and member.member_id != ""
        )
        if sends:
            consumer.tell(LeaveSent(now, consumer.name, reason))
            request = LeaveGroupRequest(
                (LeavingMember(member.member_id, member.instance_id, reason),)
            )
            consumer.send(consumer.call(KafkaApi.LEAVE, request, _ignore))
        member.reset(keeps_id=False, reason="consumer pro-actively leaving the group")
        consumer.tell(MemberReset(now, consumer.name, member.rejoin_reason))
        return sends


def _ignore(call: Call, response: Any) -> None:
    """Nobody waits for it."""
