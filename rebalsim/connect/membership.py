"""A worker's part in its group: find the coordinator, prepare, join, assign if it leads, take over
what was given (WorkerCoordinator on AbstractCoordinator).

Everything here runs in the herder's thread; only answers to heartbeats come from elsewhere.
"""

from __future__ import annotations

from typing import Any

from rebalsim.assignors.connect.memory import NOTHING_REMEMBERED, Memory
from rebalsim.assignors.connect.round import WorkerClaim
from rebalsim.assignors.connect.work import NO_WORK, Work, as_transmitted
from rebalsim.connect.beats import Beats
from rebalsim.connect.claims import Assigned, Given, Metadata
from rebalsim.connect.config_state import UNREAD, ConfigState
from rebalsim.connect.leading import DEFAULT, Leader, answer_of, assignor_of
from rebalsim.connect.membership_listener import Ears
from rebalsim.connect.port import NEVER, Port, Steps, Thread
from rebalsim.connect.told_in_trace import as_partitions
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.protocol.classic_member import After, ClassicMember, MemberState, exception_name
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.member_timers import backoff_us
from rebalsim.protocol.messages import (
    JoinGroupRequest,
    LeaveGroupRequest,
    LeavingMember,
    SyncGroupRequest,
)
from rebalsim.trace.events import (
    AssignmentComputed,
    AssignmentReceived,
    GenerationJoined,
    LeaveSent,
    MemberReset,
    RejoinRequested,
)

JOIN_GRACE_US = 5_000_000  # a JoinGroup is given so much longer than the rebalance timeout


class Membership:
    """WorkerCoordinator."""

    def __init__(self, port: Port, thread: Thread, ears: Ears) -> None:
        self.port = port
        self.thread = thread
        self.ears = ears
        self.member = ClassicMember(None, True)
        self.beats = Beats(port, self)
        self.protocol = port.settings.offers[0]  # of the last completed round
        self.assignment: Assigned | None = None
        self.rejoin_wanted = False
        self.last_completed = -1
        self.memory: Memory = NOTHING_REMEMBERED
        self.taken: ConfigState = UNREAD  # the config when this worker joined
        self.is_woken = False
        self.result: tuple[After, Error, Given | None] | None = None
        self.is_pending = False
        self.is_abandoned = False  # whatever the coordinator still answers
        self.is_gone = False
        self.attempts = 0

    # --------------------------------------------------------------------------------------- wishes

    def request_rejoin(self) -> None:
        self.rejoin_wanted = True
        self._wanted("connect worker requested rejoin")

    def _wanted(self, reason: str) -> None:
        self.member.rejoin_reason = reason
        self.port.record(RejoinRequested(self.port.now, self.port.name, reason))

    def wake(self) -> None:
        """Another thread has something for the herder."""
        self.is_woken = True
        self.thread.wake()

    @property
    def is_eager(self) -> bool:
        return self.protocol == DEFAULT

    @property
    def is_leader(self) -> bool:
        return self.assignment is not None and self.assignment.leader == self.member.member_id != ""

    def must_join(self) -> bool:
        held = self.assignment
        return (
            self.member.needs_rejoin
            or self.is_pending
            or self.rejoin_wanted
            or held is None
            or held.is_failed
        )

    # -------------------------------------------------------------------------- the herder's network

    def ensure_active(self) -> Steps:
        """One look at the group: a rejoin that is needed is gone through with here."""
        yield from self.poll(self.port.now)

    def poll(self, until_us: int) -> Steps:
        """Mind the group until then, or until somebody wakes the herder."""
        self.beats.enters_poll()
        while not self.is_gone:
            if not self.port.has_coordinator():
                yield from self._find(self.port.now + self.port.settings.heartbeat_interval_us)
            if self.port.has_coordinator() and self.must_join():
                yield from self._join()
            self.beats.enters_poll()
            if self.is_woken or self.port.now >= until_us or self.is_gone:
                break
            if self.port.has_coordinator():
                yield from self.thread.wait(until_us)
        self.is_woken = False
        self.beats.leaves_poll()

    def _find(self, until_us: int) -> Steps:
        """Look for the coordinator. A worker that does not find it in time stops all its work, so
        as not to run what others may be given.
        """
        attempt = 0
        while not self.port.has_coordinator() and not self.is_gone:
            found: list[bool] = []

            def answered(is_found: bool, found: list[bool] = found) -> None:
                found.append(is_found)
                self.thread.wake()

            self.port.look_up_coordinator(answered)
            while not found and self.port.now < until_us:
                yield from self.thread.wait(until_us)
            if self.port.has_coordinator():
                self.beats.coordinator_found()
                return
            if self.port.now >= until_us:
                break
            yield from self._sleep(min(until_us, self.port.now + self._backoff(attempt)))
            attempt += 1
        if self.assignment is not None and not self.assignment.is_failed and not self.is_gone:
            held, self.assignment = self.assignment, None
            yield from self.ears.revoked(held.work)

    def _backoff(self, attempt: int) -> int:
        settings = self.port.settings
        return backoff_us(
            attempt, settings.retry_backoff_us, settings.retry_backoff_max_us, self.port.jitter()
        )

    def _sleep(self, until_us: int) -> Steps:
        while self.port.now < until_us and not self.is_gone:
            yield from self.thread.wait(until_us)

    # -------------------------------------------------------------------------------------- joining

    def _join(self) -> Steps:
        """joinGroupIfNeeded: blocks until the round is over, or until the process shall end: then
        it goes with its JoinGroup under way, and nobody reads the answer.
        """
        member = self.member
        while self.must_join() and not self.is_gone:
            if not self.port.has_coordinator():
                return
            if member.needs_prepare:
                member.needs_prepare = False
                yield from self._prepare()
            if not self.is_pending:
                self._send_join()
            while self.result is None and self.port.has_coordinator():
                if self.ears.is_stopping:
                    self.is_abandoned = True
                    return
                yield from self.thread.wait(NEVER)
            if self.result is None:
                self.result = After.LATER, Error.NETWORK_EXCEPTION, None
            (after, error, given), self.result, self.is_pending = self.result, None, False
            if after is After.GO_ON and member.state is MemberState.STABLE and given is not None:
                self.attempts = 0
                yield from self._complete(given)
                member.needs_prepare = True
            elif after is After.GO_ON:
                self._wanted("rebalance failed since the generation/state was modified")
                member.needs_rejoin = member.needs_prepare = True
            else:
                yield from self._failed(after, error)

    def _failed(self, after: After, error: Error) -> Steps:
        if error is not Error.MEMBER_ID_REQUIRED:
            self.member.on_failed_join(error)
        if after is After.FATAL:
            self.is_gone = True
            self.port.fail(exception_name(error))
        elif after is After.LATER:
            yield from self._sleep(self.port.now + self._backoff(self.attempts))
            self.attempts += 1

    def _prepare(self) -> Steps:
        """onJoinPrepare: under eager everything stops first."""
        if self.is_eager and self.assignment is not None and not self.assignment.is_failed:
            yield from self.ears.revoked(self.assignment.work)

    def _send_join(self) -> None:
        member, settings = self.member, self.port.settings
        member.state = MemberState.PREPARING
        self.beats.stop()
        self.is_pending = True
        self.taken = self.port.config_state()
        request = JoinGroupRequest(
            member.member_id,
            None,
            self.port.name,
            settings.session_timeout_us,
            settings.rebalance_timeout_us,
            tuple([(name, self._metadata(name)) for name in settings.offers]),
            "connect",
            member.rejoin_reason or None,
        )
        call = self.port.send(KafkaApi.JOIN, request, self._joined, member.rejoin_reason)
        if call is not None:
            call.expires_us = self.port.now + max(
                settings.request_timeout_us, settings.rebalance_timeout_us + JOIN_GRACE_US
            )

    def _metadata(self, protocol: str) -> Metadata:
        held = self.assignment
        if protocol == DEFAULT or held is None:
            return Metadata(self.taken.offset)
        work = as_transmitted(held.work)
        claimed = Assigned(
            held.is_failed, held.leader, held.offset, work, held.revoked, held.delay_us
        )
        return Metadata(self.taken.offset, claimed)

    def _joined(self, call: Any, response: Any) -> None:
        member, port = self.member, self.port
        if self.is_abandoned:
            return
        before = member.member_id, member.generation
        after = member.on_join(response, call.sent_generation, call.sent_member_id)
        if after is After.LEAD or after is After.SYNC:
            self.beats.start()
            port.record(
                GenerationJoined(
                    port.now,
                    port.name,
                    response.generation,
                    response.member_id,
                    response.protocol,
                    after is After.LEAD,
                )
            )
            self._send_sync(self._assign(response) if after is After.LEAD else {})
            return
        self._note_loss(response.error, before)
        self._over(after if after is not After.IGNORE else After.LATER, response.error)

    def _note_loss(self, error: Error, before: tuple[str, int]) -> None:
        member, port = self.member, self.port
        if error in (
            Error.COORDINATOR_NOT_AVAILABLE,
            Error.NOT_COORDINATOR,
            Error.NETWORK_EXCEPTION,
        ):
            port.lose_coordinator(f"error response {error.name}")
        elif (
            before != (member.member_id, member.generation)
            and member.generation < 0
            and error is not Error.MEMBER_ID_REQUIRED
        ):
            port.record(MemberReset(port.now, port.name, member.rejoin_reason))

    def _over(self, after: After, error: Error, given: Any = None) -> None:
        self.result = after, error, given
        self.thread.wake()

    def _assign(self, response: Any) -> dict[str, Given]:
        """onLeaderElected: the assignor runs here, and everybody waits for it."""
        port, member = self.port, self.member
        claims = [
            WorkerClaim(
                member_id, said.offset, said.claimed.work if said.claimed is not None else NO_WORK
            )
            for member_id, _, said in response.members
        ]
        fresh = port.config_state()
        answer, self.memory = answer_of(
            Leader(
                self.taken,
                fresh,
                member.generation,
                self.last_completed,
                port.now // 1000,
                port.settings.scheduled_rebalance_max_delay_us // 1000,
            ),
            response.protocol,
            claims,
            self.memory,
        )
        if not answer.is_config_mismatch and answer.offset > self.taken.offset:
            self.taken = fresh
        port.record(
            AssignmentComputed(
                port.now, port.name, "", response.generation, assignor_of(response.protocol)
            )
        )
        return {
            worker: Given(
                member.member_id,
                answer.offset,
                answer.is_config_mismatch,
                as_transmitted(share.given),
                share.revoked,
                answer.delay_ms * 1000,
            )
            for worker, share in answer.shares.items()
        }

    def _send_sync(self, shares: dict[str, Given]) -> None:
        member = self.member
        request = SyncGroupRequest(
            member.member_id, None, member.generation, "connect", member.protocol, shares
        )
        self.port.send(KafkaApi.SYNC, request, self._synced, "")

    def _synced(self, call: Any, response: Any) -> None:
        member, port = self.member, self.port
        if self.is_abandoned:
            return
        before = member.member_id, member.generation
        error = response.error
        after = member.on_sync(error, call.sent_generation, call.sent_member_id)
        if error is not Error.NONE:
            self._note_loss(error, before)
        elif after is not After.GO_ON:
            error = Error.ILLEGAL_GENERATION
        else:
            given: Given = response.assignment
            work = self._after(given) if member.protocol != DEFAULT else given.given
            port.record(
                AssignmentReceived(
                    port.now, port.name, member.generation, as_partitions(work.tasks)
                )
            )
        self._over(after, error, response.assignment if error is Error.NONE else None)

    # -------------------------------------------------------------------------- taking over the answer

    def _after(self, given: Given) -> Work:
        """What is new first, then what it had and was not told to stop."""
        if self.assignment is None:
            return given.given
        return given.given.then(self.assignment.work.without(given.revoked))

    def _complete(self, given: Given) -> Steps:
        """onJoinComplete: stop what is revoked, keep the rest, add what is new."""
        generation = self.member.generation
        self.protocol = self.member.protocol or self.protocol
        self.rejoin_wanted = False
        work = given.given
        if not self.is_eager:
            if given.revoked:
                self.beats.leaves_poll()
                yield from self.ears.revoked(given.revoked)
                self.beats.enters_poll()
            work = self._after(given)
        self.assignment = Assigned(
            given.is_failed, given.leader, given.offset, work, given.revoked, given.delay_us
        )
        self.last_completed = generation
        self.ears.assigned(self.assignment, given, generation)

    def forget_revocation(self) -> None:
        held = self.assignment
        assert held is not None
        self.assignment = Assigned(
            held.is_failed, held.leader, held.offset, held.work, NO_WORK, held.delay_us
        )

    # -------------------------------------------------------------------------------------- leaving

    def leave(self, reason: str) -> None:
        """maybeLeaveGroup: a LeaveGroup, and no member any more."""
        member, port = self.member, self.port
        if member.member_id and member.state is not MemberState.UNJOINED and port.has_coordinator():
            port.record(LeaveSent(port.now, port.name, reason))
            request = LeaveGroupRequest([LeavingMember(member.member_id, None, reason)])
            port.send(KafkaApi.LEAVE, request, _ignore, "")
        self.beats.stop()
        member.reset(keeps_id=False, reason="consumer pro-actively leaving the group")
        self.is_pending, self.result = False, None

    def left_for_poll(self) -> None:
        """The herder was away for longer than the rebalance timeout: the heartbeat thread leaves."""
        self.leave("worker poll timeout has expired.")


def _ignore(call: Any, response: Any) -> None:
    """Nobody waits for this answer."""
