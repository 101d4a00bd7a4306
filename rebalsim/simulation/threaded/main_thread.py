"""The client's own thread: it finds the coordinator, joins, assigns, beats and takes what is given,
and never waits for the application, except where a rebalance callback does.

One turn (`serve`) does whatever is due; it follows each answer and each of its timers. Rules of
the member are classic_member's.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rebalsim.domain.callback import Callback
from rebalsim.domain.ids import Partition
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.noticed_by import NoticedBy
from rebalsim.protocol.classic_member import NO_GENERATION, After, MemberState, exception_name
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.member_timers import backoff_us
from rebalsim.protocol.messages import HeartbeatRequest
from rebalsim.simulation.engine import BEAT, NEVER, Signal
from rebalsim.simulation.listener import ListenerFailed, call_listener
from rebalsim.simulation.membership import Membership
from rebalsim.simulation.network import Call
from rebalsim.simulation.poll_failed import PollFailed
from rebalsim.trace.events import (
    Fenced,
    MemberReset,
    PollExpired,
    RebalanceNoticed,
    RejoinRequested,
)

if TYPE_CHECKING:
    from rebalsim.simulation.threaded.inside import ThreadedInside


@dataclass(slots=True)
class Errand:
    """A rebalance callback that is to run, and what follows from it."""

    kind: str  # assigned | revoked | lost
    partitions: tuple[Partition, ...]
    given: tuple[Partition, ...] = ()  # assigned: all that is owned from then on
    rejoins: bool = False  # the group is joined again when it is done
    has_begun: bool = False  # its callback is running


class MainThread(Membership):
    """What the client does by itself."""

    __slots__ = (
        "attempts",
        "beat_again_us",
        "errands",
        "error",
        "has_assignment",
        "is_calling",
        "is_eager_now",
        "is_overdue",
        "is_unassigning",
        "joins_not_before_us",
        "looks_not_before_us",
    )
    consumer: ThreadedInside

    def __init__(self, consumer: ThreadedInside) -> None:
        super().__init__(consumer)
        self.errands: list[Errand] = []
        self.error = ""  # what the next poll() throws
        self.has_assignment = False  # one was given since the last join, an empty one counts
        self.is_unassigning = False  # the commit that ends an assignment is under way
        self.is_overdue = (
            False  # max.poll.interval.ms ran out, and the application has not polled since
        )
        self.joins_not_before_us = 0
        self.looks_not_before_us = 0  # for the coordinator
        self.is_eager_now = False  # the group has become eager while this member owned something
        self.is_calling = False  # a callback runs in a thread of the client's
        self.beat_again_us = NEVER
        self.attempts = 0

    # ------------------------------------------------------------------------------------- one turn

    def serve(self) -> None:
        """Whatever is due now."""
        consumer, member = self.consumer, self.member
        if not consumer.is_alive or consumer.is_frozen or consumer.is_closing or self.error:
            return
        now = self.engine.now
        if (
            now < consumer.blocked_until_us
        ):  # it computes an assignment, and does nothing else meanwhile
            self.plan()
            return
        if (
            member.state is MemberState.STABLE
            and not self.is_pending
            and now >= consumer.heartbeat.session_ends_us()
        ):
            self._end_session(now)  # the answer to a SyncGroup, read late, begins it anew
        if consumer.coordinator is None:
            self._look_for_coordinator(now)
        else:
            if self.is_pending and self.result is not None:
                self._take_result(now)
            if member.state is MemberState.STABLE and not self.is_pending:
                self._watch_group(now)
            if self._wants_to_join() and now >= self.joins_not_before_us:
                self.joins_not_before_us = now + consumer.habits.join_spacing_us
                member.is_leader = (
                    False  # the answer tells: who led and does not any more minds no metadata
                )
                self._send_join()
        self._watch_application(now)
        consumer.positions.serve()
        self.plan()

    def plan(self) -> None:
        """When something is due next."""
        consumer, beats = self.consumer, self.consumer.heartbeat
        timers, member = beats.timers, self.member
        if not consumer.is_alive or consumer.is_closing or self.error:
            return
        now = self.engine.now
        at = NEVER
        if member.state is MemberState.STABLE and not self.is_pending:
            at = beats.session_ends_us()
        if consumer.coordinator is None:
            at = min(at, self.looks_not_before_us) if not consumer.is_looking_up else at
        elif member.state is MemberState.STABLE and not self.is_pending:
            if not self.is_unassigning:
                at = min(at, timers.due_us + beats.late_us, self.beat_again_us)
                if consumer.commits.is_auto:
                    at = min(at, consumer.commits.due_us)
        elif self._wants_to_join():
            at = min(at, self.joins_not_before_us)
        if (
            consumer.habits.has_poll_limit
            and not self.is_overdue
            and member.generation != NO_GENERATION
            and self._is_away()
        ):
            at = min(at, self._checked_at(timers.poll_ends_us()))
        if consumer.blocked_until_us > now:
            at = consumer.blocked_until_us
        if at < NEVER:
            beats.bell.set(max(at, now))
        else:
            beats.bell.off()

    def _checked_at(self, at_us: int) -> int:
        """The first look at the poll timer at or after this instant: the looks count from the
        life's first poll().
        """
        every = self.consumer.habits.poll_check_us
        behind = at_us - self.consumer.began_us
        return at_us if not every else int(self.consumer.began_us - (-behind // every) * every)

    def _is_away(self) -> bool:
        """The application is anywhere but in poll(), or sits in it with a callback that it has
        not come to.
        """
        return not self.consumer.is_polling or self.consumer.busy_until_us > self.engine.now

    # ------------------------------------------------------------------------------ the coordinator

    def _look_for_coordinator(self, now: int) -> None:
        consumer = self.consumer
        if consumer.is_looking_up:
            return
        if now < self.looks_not_before_us:
            return
        config = consumer.config
        self.looks_not_before_us = now + backoff_us(
            self.attempts, config.retry_backoff_us, config.retry_backoff_max_us, consumer.jitter()
        )
        self.attempts += 1
        consumer.look_up_coordinator()

    def coordinator_came(self) -> None:
        """It is known where the group is led."""
        self.attempts = self.looks_not_before_us = 0

    # -------------------------------------------------------------------------------------- joining

    def _wants_to_join(self) -> bool:
        return (
            self.member.needs_rejoin
            and not self.is_pending
            and not self.errands
            and not self.is_unassigning
            and not self.is_overdue
        )

    def _joined(self, call: Call, response: Any) -> None:
        try:
            super()._joined(call, response)
        except PollFailed as e:  # the leader's assignor failed
            self.fail(e.name)

    def _assign(self, response: Any) -> dict[str, Any]:
        self._follow_group()
        return super()._assign(response)

    def _follow_group(self) -> None:
        """A client that is what the group is: cooperative where the assignor chosen is."""
        member = self.member
        if not self.consumer.habits.follows_group:
            return
        was_cooperative = member.is_cooperative
        member.is_cooperative = any(
            a.name == member.protocol and "cooperative" in a.protocols for a in self.assignors
        )
        self.is_eager_now = self.is_eager_now or (was_cooperative and not member.is_cooperative)

    def _take_result(self, now: int) -> None:
        """The attempt to join has come to an end."""
        assert self.result is not None
        consumer, member = self.consumer, self.member
        after, error = self.result
        self.is_pending, self.result = False, None
        if after is After.GO_ON:
            self.joins_not_before_us = 0
            self._given(now)
            return
        if error is Error.MEMBER_ID_REQUIRED:
            self.joins_not_before_us = 0
            return
        member.on_failed_join(error)
        if after is After.FATAL:
            self.fail(exception_name(error))
        elif error is Error.ILLEGAL_GENERATION or error is Error.UNKNOWN_MEMBER_ID:
            if member.owned:
                self._lose(error.name)
        elif not consumer.habits.join_spacing_us:
            self.joins_not_before_us = now + consumer.config.retry_backoff_us

    def _given(self, now: int) -> None:
        """The SyncGroup answer's assignment: told to the application, or taken at once."""
        consumer, member, given = self.consumer, self.member, self.given
        habits = consumer.habits
        self._follow_group()
        if not member.is_leader:
            member.snapshot = None
        for assignor in self.assignors:
            if assignor.name == member.protocol:
                member.remembered[assignor.name] = assignor.remember(given, member.generation)
        if consumer.commits.is_auto:
            consumer.commits.due_us = now + consumer.commits.interval_us
        self.beat_again_us = (
            now + habits.beats_after_join_us
            if habits.beats_after_join_us and member.is_cooperative
            else NEVER
        )
        consumer.heartbeat.timers.answered(now)
        self.has_assignment = True
        added, revoked = member.changes(given)
        if self.is_eager_now and member.owned:
            self._send_on(
                Errand(Callback.REVOKED, member.owned)
            )  # the group has become eager: everything is given up, and taken anew
            added = given
        self.is_eager_now = False
        if revoked:
            self._send_on(Errand(Callback.REVOKED, revoked))
        self._send_on(Errand(Callback.ASSIGNED, added, given, rejoins=bool(revoked)))

    # -------------------------------------------------------------------- a member in good standing

    def _watch_group(self, now: int) -> None:
        consumer = self.consumer
        timers = consumer.heartbeat.timers
        if self.is_unassigning:
            return
        if (
            not self.errands and self.must_join()
        ):  # it was told to, topics look different, or others are wanted
            self._rebalance()
            if not self.errands:
                return  # it joins in this very turn
        if now >= timers.due_us + consumer.heartbeat.late_us or now >= self.beat_again_us:
            self._beat(now)
        if consumer.commits.is_auto and now >= consumer.commits.due_us:
            consumer.commits.maybe_auto()

    def _end_session(self, now: int) -> None:
        """The client itself minds that the coordinator has not answered for so long."""
        self.member.reset(
            keeps_id=False, reason="session timed out without an answer of the coordinator"
        )
        self.consumer.tell(MemberReset(now, self.consumer.name, self.member.rejoin_reason))
        self._lose("session timed out")

    def _beat(self, now: int) -> None:
        consumer, member = self.consumer, self.member
        consumer.heartbeat.sent(now)
        self.beat_again_us = NEVER
        call = consumer.call(
            KafkaApi.HEARTBEAT,
            HeartbeatRequest(member.member_id, member.instance_id, member.generation),
            self.beaten,
        )
        call.is_quiet = True
        consumer.send(call)

    def beaten(self, call: Call, response: Any) -> None:
        """The answer to a heartbeat."""
        consumer, member = self.consumer, self.member
        now = self.engine.now
        timers, error = consumer.heartbeat.timers, response.error
        if error is Error.NONE:
            timers.answered(now)
            return
        if error is Error.REBALANCE_IN_PROGRESS and (self.errands or self.is_unassigning):
            timers.answered(now)  # it is at it already
            return
        is_known = member.needs_rejoin
        after = member.on_heartbeat(error, call.sent_generation, call.sent_member_id)
        if after is After.GO_ON or after is After.RETRY:
            timers.answered(now)
            if after is After.RETRY and not is_known:
                consumer.tell(RebalanceNoticed(now, consumer.name, NoticedBy.HEARTBEAT))
                consumer.tell(RejoinRequested(now, consumer.name, member.rejoin_reason))
            return
        if after is After.IGNORE:
            return
        if error is Error.FENCED_INSTANCE_ID:
            consumer.tell(Fenced(now, consumer.name, KafkaApi.HEARTBEAT, error.name))
        if after is After.FATAL:
            self.fail(exception_name(error))
        elif (
            error is Error.COORDINATOR_NOT_AVAILABLE
            or error is Error.NOT_COORDINATOR
            or error is Error.NETWORK_EXCEPTION
        ):
            consumer.lose_coordinator(
                f"error response {error.name}" if response is not None else "disconnected"
            )
        else:
            if not member.has_joined():
                consumer.tell(MemberReset(now, consumer.name, member.rejoin_reason))
            self._lose(error.name)

    def _rebalance(self) -> None:
        """Eager: everything is given up first. Cooperative: joined at once, and nothing is."""
        member = self.member
        self.joins_not_before_us = 0
        if not member.is_cooperative and self.has_assignment:
            self._send_on(Errand(Callback.REVOKED, member.owned, rejoins=True))
        elif not member.needs_rejoin:
            member.request_rejoin("rebalance")

    def _lose(self, reason: str) -> None:
        """The group holds this member for gone: what it had belongs to others."""
        self.joins_not_before_us = 0
        running = [
            errand
            for errand in self.errands[:1]
            if errand.has_begun and errand.kind == Callback.ASSIGNED
        ]
        self.errands[:] = running  # what the application is just being given is lost after that
        owned = running[0].given if running else self.member.owned
        if running or (self.has_assignment and (owned or not self.member.is_cooperative)):
            self._send_on(Errand(Callback.LOST, owned, rejoins=True))
        elif not self.member.needs_rejoin:
            self._ask(reason)

    # ------------------------------------------------------------------ the application's callbacks

    def _awaits_poll(self) -> bool:
        return bool(self.consumer.spec.awaits_poll)

    def _send_on(self, errand: Errand) -> None:
        """To the application, where its callback waits for a poll; else it runs here."""
        consumer = self.consumer
        self.errands.append(errand)
        if not self._awaits_poll():
            if not self.is_calling:
                self.is_calling = True
                self.engine.begin(self.callbacks_thread(consumer.life))
            return
        if consumer.habits.pauses_meanwhile:
            consumer.pause()
        consumer.wake_application()

    def callbacks_thread(self, life: int) -> Generator[Any, Any, None]:
        """The callbacks, one after another, in a thread of the client's: while one takes its
        time, the application goes on.
        """
        consumer = self.consumer
        while self.errands and consumer.life == life and consumer.is_alive:
            errand = self.errands[0]
            errand.has_begun = True
            try:
                yield from call_listener(
                    consumer, errand.kind, errand.partitions, sleeps=self._sleep
                )
            except ListenerFailed:
                self.fail("KafkaException")
                return
            if consumer.life != life or not consumer.is_alive:
                return
            if self.errands and self.errands[0] is errand:
                self.errands.pop(0)
                self._done(errand)
                consumer.wake_application()
        self.is_calling = False
        self.serve()

    def _sleep(self, until_us: int) -> Generator[Any, Any, None]:
        nudge = Signal(self.engine)
        self.engine.at(until_us, self.consumer.rank + BEAT, lambda _: nudge.give())
        yield nudge

    def begin_turn(self) -> bool:
        """There is no short way: see `poll`."""
        return False

    def poll(self) -> Generator[Any, Any, bool]:
        """What poll() does for the group: the callbacks that wait for it."""
        consumer = self.consumer
        now = self.engine.now
        consumer.heartbeat.timers.polled_us = now
        if self.error:
            raise PollFailed(self.error, True)
        is_back, self.is_overdue = self.is_overdue, False
        while self.errands and self._awaits_poll():
            errand = self.errands[0]
            errand.has_begun = True
            try:
                yield from call_listener(consumer, errand.kind, errand.partitions)
            except ListenerFailed:
                self.fail("KafkaException")
                raise PollFailed("KafkaException", True) from None
            if self.errands and self.errands[0] is errand:
                self.errands.pop(0)
                self._done(errand)
            consumer.heartbeat.timers.polled_us = self.engine.now
            is_back = consumer.is_in_poll = True
        if is_back:
            self.serve()
        return True

    def _done(self, errand: Errand) -> None:
        """The callback has run: what it was about takes effect."""
        consumer, member, feed = self.consumer, self.member, self.consumer.feed
        was_paused = feed.is_suspended
        if errand.kind == Callback.ASSIGNED:
            member.owned = errand.given
            self.has_assignment = True
            feed.assign(errand.given)
            consumer.world.stores.restore(consumer, errand.partitions)
            feed.resume(was_paused)
        else:
            gone = dict.fromkeys(errand.partitions)
            offsets = {p: offset for p, offset in feed.consumed().items() if p in gone}
            member.drop(errand.partitions)
            feed.assign(member.owned)
            feed.resume(was_paused)
            if errand.kind == Callback.LOST or not member.is_cooperative:
                self.has_assignment = False
            if (
                errand.kind == Callback.REVOKED
                and consumer.commits.is_auto
                and offsets
                and consumer.coordinator is not None
            ):
                self.is_unassigning = (
                    consumer.commits.request(offsets, self._committed, is_before_rebalance=True)
                    is not None
                )
        if errand.rejoins and not member.needs_rejoin:
            self._ask("what was given up is for others")

    def _committed(self, call: Call, response: Any) -> None:
        """The commit that ends an assignment; nothing waits for another try."""
        self.is_unassigning = False
        self.consumer.commits.outcome(call, response)

    def commit_disowned(self, error: Error) -> None:
        """Who is at a rebalance already hears of it from the answer to its JoinGroup, or to its
        next beat.
        """
        member = self.member
        habit = self.consumer.habits.at_refused_commit
        if (
            habit == "nothing"
            or member.state is not MemberState.STABLE
            or self.is_pending
            or self.errands
        ):
            return
        if habit == "rejoins":
            if not member.needs_rejoin:
                self._ask(f"offset commit error: {error.name}")
        else:
            super().commit_disowned(error)
            self._lose(error.name)
        self.consumer.heartbeat.bell.set(self.engine.now)  # its next turn

    def commit_fenced(self, error: Error) -> None:
        """Another has taken this one's place: fatal."""
        self.fail(exception_name(error))

    # ---------------------------------------------------------------------- the application's polls

    def _watch_application(self, now: int) -> None:
        consumer, member = self.consumer, self.member
        if (
            not consumer.habits.has_poll_limit
            or self.is_overdue
            or member.generation == NO_GENERATION
            or not self._is_away()
        ):
            return
        ends = consumer.heartbeat.timers.poll_ends_us()
        if now < self._checked_at(ends):
            return
        self.is_overdue = True
        consumer.tell(PollExpired(now, consumer.name, consumer.heartbeat.timers.polled_us))
        self.drop_attempt()
        self.leave("max.poll.interval.ms exceeded")
        self._lose("max.poll.interval.ms exceeded")

    def drop_attempt(self) -> None:
        """Whatever is under way to join the group counts no more."""
        self.is_pending, self.result = False, None
        self.consumer.drop_calls(KafkaApi.JOIN, KafkaApi.SYNC, KafkaApi.HEARTBEAT)

    def fail(self, name: str) -> None:
        """The next poll() throws this, and the consumer is beyond use."""
        self.error = name
        self.consumer.heartbeat.stop()
        self.consumer.wake_application()

    # ------------------------------------------------------------------------ as the poll loop asks

    def has_to_try_again(self) -> bool:
        """The application has nothing to try: all is done here."""
        return False

    def is_rested(self) -> bool:
        """Is nothing left to do but to beat and to commit?"""
        member = self.member
        return (
            member.state is MemberState.STABLE
            and not member.needs_rejoin
            and not self.is_pending
            and not self.errands
            and not self.is_unassigning
            and not self.is_calling
            and not self.is_overdue
            and not self.error
            and self.beat_again_us == NEVER
            and not self.must_join()
        )
