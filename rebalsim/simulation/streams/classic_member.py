"""A stream thread's consumer in a classic group: joins, syncs, beats, and leads where it must.

What comes over the network while the thread sits in poll() is acted on at once; while it
processes, at the next poll.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from rebalsim.assignors.streams.leader import AT_ONCE, LeaderAnswer, ThreadShare
from rebalsim.assignors.streams.process import ThreadClaim
from rebalsim.assignors.streams.versions import Spoken, next_version
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.protocol.classic_member import exception_name
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinedMember,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeavingMember,
    OffsetCommitRequest,
    SyncGroupRequest,
    SyncGroupResponse,
)
from rebalsim.simulation.streams.application import ThreadSettings
from rebalsim.simulation.streams.caller import REQUEST_TIMEOUT_US, Caller
from rebalsim.simulation.streams.hosts import RETRY_BACKOFF_US, WITHOUT_COORDINATOR, ClassicHost
from rebalsim.simulation.streams.metadata import Metadata
from rebalsim.simulation.streams.port import NEVER, Port, Steps
from rebalsim.simulation.streams.resting import Beats

if TYPE_CHECKING:
    from rebalsim.simulation.streams.stream_thread import StreamThread

PROTOCOL = "stream"
JOIN_SLACK_US = 5_000_000  # so much longer than the barrier may last is a JoinGroup waited for
COOPERATIVE, EAGER = "stream (cooperative)", "stream (eager)"  # what people are told of it
Lead = Callable[[list[ThreadClaim], Mapping[str, Spoken], "ClassicMember"], LeaderAnswer | None]


class ClassicMember:
    """`lead(claims, spoken, leader)` is what the leader's assignor decides."""

    def __init__(
        self,
        port: Port,
        host: ClassicHost,
        thread: StreamThread,
        client_id: str,
        settings: ThreadSettings,
        instance_id: str | None,
        lead: Lead,
    ) -> None:
        self._port, self._host, self._thread = port, host, thread
        self._client_id, self._settings, self._instance_id = client_id, settings, instance_id
        self._lead = lead
        self.spoken = Spoken(settings.metadata_version, settings.metadata_version)
        self.member_id = ""
        self.generation = -1
        self.is_rebalancing = False
        self.is_ready = True
        self._wants_join = True
        self._lost = False
        self._shares: list[ThreadShare | None] = []  # an answer of SyncGroup to be taken over
        self._attempt = 0  # answers to older attempts are void
        self._beats = False
        self._beat_due = NEVER
        self._rest: Beats | None = None  # beats that are left out
        self._frozen = False
        self._gone = False
        self._counter = 0
        self._polled_us = 0
        self._held: list[tuple[Callable[..., None], tuple[object, ...]]] = []
        self._why = "first join"
        self._caller = Caller(port, host, thread, self._found_coordinator)
        self._leads = False
        self.metadata = Metadata(port, settings.metadata_age_us)

    # ------------------------------------------------------------------------ what the thread asks

    @property
    def acts_at_once(self) -> bool:
        """Clients of 2.3 see only when a poll begins that the group rebalances."""
        return not self._settings.restores_inside or self._lost or bool(self._shares)

    @property
    def process(self) -> str:
        return self._thread.process

    @property
    def is_old(self) -> bool:
        return self._settings.restores_inside

    def begin(self) -> None:
        self._wants_join = True

    def polled(self) -> None:
        """poll() was entered: the poll timer begins anew."""
        self._polled_us = self._port.now

    def has_work(self) -> bool:
        may_join = (
            self._wants_join and not self.is_rebalancing and self._caller.coordinator is not None
        )
        return (self._lost or bool(self._shares) or may_join) and not self._gone

    def pass_of_poll(self) -> Steps:
        """Under EAGER everything is given up before each join; later clients than 2.3 call the
        listener only if they were in the group.
        """
        if self._lost:
            self._lost = False
            yield from self._thread.lose()
        if self._shares:
            yield from self._take_over(self._shares.pop())
        may_join = not self.is_rebalancing and self._caller.coordinator is not None
        if self._wants_join and may_join and not self._gone:
            if self._why.startswith("group is already"):
                self._thread.heard("RebalanceNoticed", by="heartbeat")
            self._thread.heard("RejoinRequested", reason=self._why)
            if self._settings.eager and (self.is_old or self.generation >= 0):
                yield from self._thread.revoke(self._thread.owned_tasks())
            if not self._thread.is_closing:
                self._join()

    def request_rejoin(self, why: str) -> None:
        """Join again in the next poll."""
        if not self.is_rebalancing and not self._wants_join:
            self.end_rest()
            self._wants_join, self._why = True, why
            self._thread.wake()

    def close(self, leave: bool) -> None:
        """The consumer is closed. KafkaStreams.close() does not leave, unless it is told to."""
        if leave and self.member_id:
            self._leave("the consumer is being closed")
        self.vanish()

    def commit(self) -> None:
        """Offsets go to the coordinator, which takes it for a sign of life."""
        if self.generation >= 0 and self.member_id and not self._gone:
            request = OffsetCommitRequest(self.member_id, self._instance_id, self.generation)
            self._caller.tell(request)

    def healed(self) -> None:
        self._caller.healed()

    def vanish(self) -> None:
        self.end_rest()
        self._gone = True
        self._beats = False
        self._attempt += 1

    def freeze(self) -> None:
        self.end_rest()
        self._frozen = True

    def thaw(self) -> None:
        """Whatever came meanwhile is read now; a beat that was due goes out."""
        self._frozen = False
        held, self._held = self._held, []
        for then, arguments in held:
            then(*arguments)
        if self._beats and self._beat_due <= self._port.now:
            self._beat(self._beat_due)

    # ----------------------------------------------------------------------------- joining, syncing

    def _join(self) -> None:
        self.is_rebalancing = True
        self._wants_join = False
        self._beats = False
        self._attempt += 1
        self._counter += 1
        self._thread.told_rebalance(self._why)
        claim = self._thread.claim(self.member_id)
        self._send_join(claim, self._attempt)

    def _send_join(self, claim: ThreadClaim, attempt: int) -> None:
        self._thread.heard("RequestSent", api=KafkaApi.JOIN, number=self._counter)
        request = JoinGroupRequest(
            self.member_id,
            self._instance_id,
            self._client_id,
            self._settings.session_us,
            self._settings.max_poll_us,
            ((PROTOCOL, (self._counter, claim, self.spoken)),),
        )
        patience_us = self._settings.max_poll_us + JOIN_SLACK_US
        self._caller.ask(
            request,
            lambda answer: self._unless_frozen(self._joined, attempt, answer),
            max(REQUEST_TIMEOUT_US, patience_us),
        )

    def _unless_frozen(self, then: Callable[..., None], *arguments: object) -> None:
        if self._frozen:
            self._held.append((then, arguments))
        elif not self._gone:
            then(*arguments)

    def _joined(self, attempt: int, answer: JoinGroupResponse) -> None:
        if attempt != self._attempt:
            return
        if answer.error is Error.MEMBER_ID_REQUIRED:
            self.member_id = answer.member_id
            claim = self._thread.claim(self.member_id)
            self._send_join(claim, attempt)
        elif answer.error is Error.NONE:
            self.member_id, self.generation = answer.member_id, answer.generation
            self._thread.heard(
                "GenerationJoined",
                generation=self.generation,
                member_id=self.member_id,
                assignor=EAGER if self._settings.eager else COOPERATIVE,
                is_leader=answer.leader == self.member_id,
                skips_assignment=answer.skip_assignment,
            )
            self._beats = True
            self._leads = answer.leader == self.member_id
            self._plan_beat(self._port.now + self._settings.heartbeat_us)
            if answer.leader == self.member_id and not answer.skip_assignment:
                self._port.call(
                    self._port.now + self._thread.timing.assign_us,
                    lambda _: self._unless_frozen(self._led, attempt, answer.members),
                )
            else:
                self._sync(attempt, {})
        else:
            self._failed(answer.error)

    def _led(self, attempt: int, members: tuple[JoinedMember, ...]) -> None:
        if attempt != self._attempt:
            return
        claims, spoken = [], {}
        for member in members:
            _, claim, spoken[member.member_id] = member.metadata
            claims.append(_named(claim, member.member_id))
        answer = self._lead(claims, spoken, self)
        if answer is None:
            return
        self._thread.heard(
            "AssignmentComputed",
            group=self._host.group.group_id,
            generation=self.generation,
            assignor=EAGER if self._settings.eager else COOPERATIVE,
        )
        self._sync(attempt, dict(answer.shares))

    def _sync(self, attempt: int, shares: dict[str, ThreadShare]) -> None:
        self._thread.heard(
            "RequestSent", api=KafkaApi.SYNC, number=self._counter, generation=self.generation
        )
        request = SyncGroupRequest(
            self.member_id, self._instance_id, self.generation, "consumer", PROTOCOL, shares
        )
        self._caller.ask(request, lambda answer: self._unless_frozen(self._synced, attempt, answer))

    def _synced(self, attempt: int, answer: SyncGroupResponse) -> None:
        if attempt != self._attempt:
            return
        if answer.error is Error.NONE:
            self._shares = [answer.assignment]
            self._thread.heard(
                "AssignmentReceived",
                generation=self.generation,
                partitions=answer.assignment.partitions if answer.assignment else (),
            )
            self._thread.wake()
        else:
            self._failed(answer.error)

    def _failed(self, error: Error) -> None:
        """A join or sync was refused: what it had is lost unless only the round failed."""
        self.is_rebalancing = False
        if error in WITHOUT_COORDINATOR and self._caller.coordinator is not None:
            self._caller.turned_away(error)
        if error is Error.INCONSISTENT_GROUP_PROTOCOL:
            self._thread.refused("the group speaks another protocol", exception_name(error))
            return
        if error in (Error.UNKNOWN_MEMBER_ID, Error.ILLEGAL_GENERATION, Error.FENCED_INSTANCE_ID):
            self._reset(f"encountered {error.name} from join or sync")
        self._wants_join, self._why = True, f"rebalance failed with {error.name}"
        self._thread.wake()

    def _found_coordinator(self) -> None:
        """What was under way when it was lost begins anew."""
        if self.is_rebalancing and not self._shares:
            self._failed(Error.COORDINATOR_NOT_AVAILABLE)
        elif self._beats and not self._frozen:
            self._plan_beat(self._port.now)
        self._thread.wake()

    # -------------------------------------------------------------------------------- metadata

    def topics_changed(self, *, is_gone: bool) -> None:
        """It sees that when its metadata are due; what it reads and is gone, at the next fetch."""
        due_us = self.metadata.due_us
        if is_gone and self._thread.tasks:
            due_us = self._port.now + RETRY_BACKOFF_US
        self._port.call(due_us, self._topics_seen)

    def _topics_seen(self, _: object) -> None:
        """The leader minds the topics, and nobody else."""
        self.metadata.refreshed()
        if self._leads and self.generation >= 0 and not self._gone and not self._frozen:
            self.request_rejoin("cached metadata has changed")

    def fail(self, why: str, error: str) -> None:
        """Leading the group ends its thread, and its client with it."""
        self._attempt += 1
        self._thread.refused(why, error)

    def _take_over(self, share: ThreadShare | None) -> Steps:
        """Revoke, assign, and what the assignment says of another rebalance."""
        if share is None:
            share = ThreadShare((), (), (), None)
        if share.error:
            self.is_rebalancing = False
            self._thread.refused("the leader found a source topic missing", share.error)
            return
        keeps = set(share.tasks)
        owned = self._thread.owned_tasks()
        revoked = [task for task in owned if task not in keeps and not self._settings.eager]
        if revoked:
            yield from self._thread.revoke(revoked)
        used = next_version(self.spoken.version, share.spoken)
        if used is not None:
            self.spoken = replace(self.spoken, version=used)
        ask = share.next_rebalance_ms if used is None else AT_ONCE
        self._thread.follow_up(None if ask is None else ask * 1000)
        yield from self._thread.assign(self.generation, share.active, share.standby)
        self.is_rebalancing = False
        if revoked:
            self._wants_join, self._why = True, "need to revoke partitions and re-join"

    # ------------------------------------------------------------------------------------ heartbeats

    def _plan_beat(self, at_us: int) -> None:
        self._beat_due = at_us
        self._port.call(at_us, self._beat, at_us, self._thread.beat_rank)

    def _beat(self, due_us: int) -> None:
        if not self._beats or self._gone or due_us != self._beat_due or self._frozen:
            return
        if self._caller.coordinator is None:
            return  # it beats as soon as it knows whom to
        if self._is_overdue:
            self._expire()
            return
        self._send_beat()
        self._plan_beat(self._port.now + self._every_us)

    @property
    def _is_overdue(self) -> bool:
        too_long = self._port.now - self._polled_us > self._settings.max_poll_us
        return too_long and self._thread.is_stuck

    def held_up(self) -> None:
        """The thread comes to no poll() for a while: the heartbeat thread watches its timer."""
        due_us = self._polled_us + self._settings.max_poll_us + 1
        self._port.call(max(due_us, self._port.now), self._look_at_poll)

    def _look_at_poll(self, _: object) -> None:
        may_beat = self._beats and self._caller.coordinator is not None
        if may_beat and self._is_overdue and not (self._gone or self._frozen):
            self._expire()

    def _expire(self) -> None:
        """Out of the group until the thread polls again; a static member says nothing, and is missed
        when its session is over.
        """
        why = "consumer poll timeout has expired."
        self._thread.heard("PollExpired", last_poll_us=self._polled_us)
        if self._instance_id is None:
            self._leave(why)
        self._reset(why)
        self._wants_join, self._why = True, "poll timeout"

    def _send_beat(self, left_us: int | None = None) -> None:
        generation = self.generation
        request = HeartbeatRequest(self.member_id, self._instance_id, generation)
        self._caller.ask(
            request,
            lambda answer: self._unless_frozen(self._answered, generation, answer),
            min(REQUEST_TIMEOUT_US, self._settings.session_us),
            left_us,
        )

    def _answered(self, generation: int, answer: HeartbeatResponse) -> None:
        if generation != self.generation or not self._beats:
            return
        if answer.error is Error.REBALANCE_IN_PROGRESS:
            self.request_rejoin("group is already rebalancing")
        elif answer.error in WITHOUT_COORDINATOR:
            self._caller.turned_away(answer.error)
        elif answer.error is not Error.NONE:
            self._reset(f"encountered {answer.error.name} from heartbeat")
            self._wants_join, self._why = True, f"heartbeat failed with {answer.error.name}"
            self._thread.wake()
        else:
            self.come_to_rest()

    def come_to_rest(self) -> None:
        """Where none of its beats can change anything they are left out, until something comes up."""
        busy = self.is_rebalancing or self._wants_join or bool(self._shares)
        if busy or self._gone or self._frozen or self._thread.is_stuck or self._rest is not None:
            return
        if not self._beats or self._caller.coordinator is None or self._caller.is_cut_off:
            return
        if self._host.rest(self.member_id, self._thread.beat_rank, self.end_rest):
            self._rest = Beats(self._beat_due, self._every_us)
            self._beat_due = NEVER

    def end_rest(self) -> None:
        """Something came up: its beats are played again."""
        if self._rest is not None:
            beats, self._rest = self._rest, None
            committed_us = self._thread.make_up_commits()
            made_up = self._host.heard(self.member_id, beats, committed_us)
            if made_up.under_way_us is not None:
                self._send_beat(made_up.under_way_us)
            self._plan_beat(made_up.next_us)

    @property
    def rests(self) -> bool:
        return self._rest is not None

    @property
    def _every_us(self) -> int:
        return self._settings.heartbeat_us + self._thread.timing.beat_late_us

    def _reset(self, why: str) -> None:
        self.generation = -1
        self.member_id = ""
        self._beats = False
        self._shares = []  # what it was given meanwhile was given to another member
        self._lost = True
        self._attempt += 1
        self.is_rebalancing = False
        self._thread.heard("MemberReset", reason=why)
        self._thread.told_rebalance(why)

    def _leave(self, reason: str) -> None:
        self.end_rest()
        self._thread.heard("LeaveSent", reason=reason)
        request = LeaveGroupRequest([LeavingMember(self.member_id, self._instance_id, reason)])
        self._caller.tell(request)


def _named(claim: ThreadClaim, member_id: str) -> ThreadClaim:
    return claim if claim.member_id == member_id else replace(claim, member_id=member_id)
