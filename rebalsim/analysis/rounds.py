"""The rounds of a classic group: join, assign, sync. Told by the coordinator's events where the
trace has them; else put together from what the members sent and heard, with the trigger that
fits earliest (a join, a leave, a session that must have run out, a member's own wish).
"""

from __future__ import annotations

from itertools import pairwise

from rebalsim.analysis.connect_phases import workers_of
from rebalsim.analysis.index import Index
from rebalsim.analysis.values import Rebalance
from rebalsim.domain.callback import Callback
from rebalsim.domain.completion import Completion
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.kafka_states import KafkaGroupState
from rebalsim.domain.membership import Arrival, Removal
from rebalsim.domain.noticed_by import NoticedBy
from rebalsim.domain.trigger import Trigger
from rebalsim.trace import events as ev
from rebalsim.trace.connect_events import WorkAssigned
from rebalsim.trace.ledger import events_at
from rebalsim.trace.trace import TraceHeader

HEARD_FROM = frozenset(
    (
        KafkaApi.HEARTBEAT,
        KafkaApi.JOIN,
        KafkaApi.SYNC,
        KafkaApi.OFFSET_COMMIT,
        KafkaApi.CONSUMER_HEARTBEAT,
    )
)
FOLLOWERS = (
    "group is already rebalancing",
    "offset commit failed since group is already rebalancing",
)
NEVER = 1 << 62
# a coordinator that tells of epochs tells of barriers, too, if there are any
TELLING = frozenset((ev.BarrierCompleted, ev.EpochBumped))
REMEMBERED = 16  # generations of which it is kept who was in them
EAGER = ("range", "roundrobin", "sticky")


class _Member:
    """A consumer as its own requests and log show it."""

    __slots__ = (
        "first_join_us",
        "heard",
        "join",
        "joined_us",
        "member_id",
        "name",
        "noticed",
        "reason",
        "reason_at",
        "round",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.member_id = ""
        self.join = (-1, -1)  # the last JoinGroup's leaving
        # the first since the last success: Kafka's clock for rebalance-latency
        self.first_join_us = -1
        self.joined_us = -1
        self.noticed = (-1, -1)
        self.heard = (-1, -1)
        self.reason = ""
        self.reason_at = (-1, -1)
        self.round: Rebalance | None = None


class _Candidate:
    """Something that may have set off a round."""

    __slots__ = ("at_us", "consumer", "event", "reason", "trigger")

    def __init__(self, at_us: int, trigger: str, consumer: str, reason: str, event: int) -> None:
        self.at_us, self.trigger, self.consumer, self.reason, self.event = (
            at_us,
            trigger,
            consumer,
            reason,
            event,
        )


class RoundFinder:
    """One pass over a group's events."""

    def __init__(self, index: Index, header: TraceHeader, group: str) -> None:
        self.index = index
        self.header = header
        self.group = group
        self.rounds: list[Rebalance] = []
        # rounds that nobody was left to complete: no rebalances, but somebody may have waited in
        # them
        self.emptied: list[Rebalance] = []
        self.members: dict[str, _Member] = {}
        self.by_generation: dict[int, Rebalance] = {}
        self.preparing: Rebalance | None = None
        self.current: Rebalance | None = None
        self.candidates: list[_Candidate] = []  # since the last barrier, where no coordinator tells
        # consumer → when its session must run out, evidence, why
        self.vanished: dict[str, tuple[int, int, str]] = {}
        # generation → who must have run out before it, when
        self.expired: dict[int, list[tuple[int, str]]] = {}
        self.workers = workers_of(header)
        self.is_told = any(type(index.events[n]) in TELLING for n in index.by_group.get(group, ()))
        self.removed: dict[str, tuple[int, int, str]] = {}  # since the last barrier
        self.overran: dict[str, None] = {}  # who left last because max.poll.interval.ms ran out
        self.roster: dict[int, dict[str, str]] = {}  # generation → consumer → member id

    def run(self) -> list[Rebalance]:
        """All rounds in order of their barriers; those that never became stable too."""
        handlers = {kind: getattr(self, name) for kind, name in _HANDLERS.items()}
        numbers = self.index.of_group(self.group)
        for number, event in zip(numbers, events_at(self.index.events, numbers), strict=True):
            if (handler := handlers.get(type(event))) is not None:
                handler(number, event)
        self._unfinished()
        for before, r in pairwise([None, *self.rounds]):
            assert r is not None
            if r.barrier_us >= 0 and not r.completed_by:
                self._finish_barrier(r)
            # who gave something up joined again at once
            if not r.trigger and before is not None and before.is_cooperative and r.joins:
                r.trigger = Trigger.LEADER_REJOINED
                r.trigger_consumer = min(r.joins, key=lambda c: (r.joins[c][0], c))
        return self.rounds

    def _finish_barrier(self, r: Rebalance) -> None:
        """A broker's log does not say who completed a barrier: the last to join, or the last to
        be removed.
        """
        joined = max(
            ((at, c) for c, (at, _) in r.joins.items() if at <= r.barrier_us), default=(-1, "")
        )
        gone = max(
            ((at, c) for c, (at, _, _) in r.removed.items() if r.prepared_us < at <= r.barrier_us),
            default=(-1, ""),
        )
        r.completed_by, r.last = (
            (Completion.REMOVAL, gone[1])
            if gone[0] > joined[0]
            else (Completion.ALL_JOINED, joined[1])
        )

    def _unfinished(self) -> None:
        """A round that had not reached its barrier at the horizon."""
        waiting = {m.name: m.join for m in self.members.values() if m.join[0] > m.joined_us}
        r = self.preparing
        if r is None and not self.is_told and waiting:
            at, event, name = min((at, event, name) for name, (at, event) in waiting.items())
            r = self._new_round(at, "", name, self.members[name].reason, event)
        if r is not None:
            r.removed = self.removed
            r.joins = waiting
            r.notices = {
                m.name: m.noticed for m in self.members.values() if m.noticed[0] > m.joined_us
            }
            self.rounds.append(r)

    def _member(self, name: str) -> _Member:
        found = self.members.get(name)
        if found is None:
            found = self.members[name] = _Member(name)
        return found

    def _new_round(
        self, at: int, trigger: str, consumer: str, reason: str, number: int
    ) -> Rebalance:
        return Rebalance(self.group, -1, Trigger(trigger), consumer, reason, at, evidence=(number,))

    # ---------------------------------------------------------------------- told by the coordinator

    def _state(self, number: int, e: ev.GroupStateChanged) -> None:
        if e.after == KafkaGroupState.PREPARING_REBALANCE and e.before != e.after:
            self.preparing = self._new_round(
                e.at_us, _trigger_in(e.trigger, e.reason), e.consumer, e.reason, number
            )
        elif (
            e.after == KafkaGroupState.STABLE
            and self.current is not None
            and self.current.stable_us < 0
            and e.before == KafkaGroupState.COMPLETING_REBALANCE
        ):
            self._stable(self.current, number, e.at_us)
        elif (
            e.before == KafkaGroupState.DEAD
        ):  # another coordinator knows nothing of a round that had only begun
            self.preparing = None

    def _barrier(self, number: int, e: ev.BarrierCompleted) -> None:
        r = self.preparing or self._new_round(e.at_us, "", "", "", number)
        self.preparing = None
        r.removed, self.removed = self.removed, {}
        r.generation, r.barrier_us = e.generation, e.at_us
        r.completed_by, r.last, r.kicked = Completion(e.by), e.last, e.kicked
        r.evidence += (number,)
        if e.members == 0:
            self.current = None
            self.emptied.append(r)
            return
        r.members, r.leader, r.assignor = e.members, e.leader, e.assignor
        r.parked = tuple(
            [
                m.name
                for m in self.members.values()
                if m.join[0] > m.joined_us and m.name not in r.removed
            ]
        )
        self.rounds.append(r)
        self.by_generation[e.generation] = self.current = r

    def _parked(self, number: int, e: ev.MemberRejoined | ev.MemberAdded) -> None:
        """A JoinGroup reached the coordinator; when it left is better, where it is told."""
        if not self.is_told:  # under the consumer protocol nobody joins a round
            return
        m = self._member(e.consumer)
        if m.join[0] <= m.joined_us and not (
            type(e) is ev.MemberAdded and e.how in (Arrival.PENDING, Arrival.LOADED)
        ):
            m.join = (e.at_us, number)

    def _removed(self, number: int, e: ev.MemberRemoved) -> None:
        if e.why != Removal.REPLACED:
            why = (
                Trigger.POLL_EXPIRED
                if e.why == Removal.LEFT and e.consumer in self.overran
                else e.why
            )
            self.removed[e.consumer] = (e.at_us, number, why)

    def _stable(self, r: Rebalance, number: int, at: int) -> None:
        r.stable_us, r.is_complete = at, True
        r.evidence += (number,)

    def _stored(self, number: int, e: ev.AssignmentStored) -> None:
        r = self.by_generation.get(e.generation)
        if r is not None and r.stable_us < 0:
            self._stable(r, number, e.at_us)

    def _computed(self, number: int, e: ev.AssignmentComputed) -> None:
        r = self.by_generation.get(e.generation)
        if r is not None:
            r.moved, r.least = e.moved, e.least
            r.evidence += (number,)

    # -------------------------------------------------------------------------- told by the members

    def _sent(self, number: int, e: ev.RequestSent) -> None:
        if e.api not in HEARD_FROM:
            return
        m = self._member(e.consumer)
        m.heard = (e.at_us, number)
        if e.api == KafkaApi.JOIN:
            m.join = (e.at_us, number)
            if m.first_join_us < 0:
                m.first_join_us = e.at_us
            if e.reason:
                m.reason, m.reason_at = e.reason, (e.at_us, number)
        elif e.api == KafkaApi.HEARTBEAT:
            self.vanished.pop(e.consumer, None)

    def _noticed(self, number: int, e: ev.RebalanceNoticed) -> None:
        m = self._member(e.consumer)
        if m.noticed[0] <= m.joined_us or e.by == NoticedBy.SYNC:
            m.noticed = (e.at_us, number)

    def _rejoin(self, number: int, e: ev.RejoinRequested) -> None:
        m = self._member(e.consumer)
        m.reason, m.reason_at = e.reason, (e.at_us, number)
        if m.noticed[0] <= m.joined_us:
            m.noticed = (e.at_us, number)

    def _joined(self, number: int, e: ev.GenerationJoined) -> None:
        m = self._member(e.consumer)
        r = self.by_generation.get(e.generation)
        self.vanished.pop(e.consumer, None)
        if r is None and self.is_told:  # from before the trace began
            m.round, m.joined_us, m.member_id = None, e.at_us, e.member_id
            return
        if r is None:
            r = self._inferred(number, e)
        roster = self.roster.get(e.generation)
        if roster is None:
            roster = self.roster[e.generation] = {}
            self.roster.pop(e.generation - REMEMBERED, None)
        # a static member is back in its own place: no round of the group
        if r.stable_us >= 0 and e.consumer in roster:
            m.round, m.joined_us, m.member_id, m.first_join_us = None, e.at_us, e.member_id, -1
            roster[e.consumer] = e.member_id
            return
        if not self.is_told:
            self._enter(r, m, e)
        r.joins[e.consumer] = m.join
        if m.noticed[0] > m.joined_us:
            r.notices[e.consumer] = m.noticed
        roster[e.consumer] = e.member_id
        if not r.assignor:
            r.assignor = e.assignor
        if e.is_leader:
            r.leader = e.consumer
        m.round, m.joined_us, m.member_id = r, e.at_us, e.member_id

    def _received(self, number: int, e: ev.AssignmentReceived) -> None:
        m = self._member(e.consumer)
        r = m.round
        if r is None or r.generation != e.generation:
            return
        if m.first_join_us >= 0:
            r.latency_us[e.consumer] = e.at_us - m.first_join_us
            m.first_join_us = -1
        if not self.is_told and r.stable_us < 0:
            self._stable(r, number, e.at_us)

    def _callback(self, number: int, e: ev.CallbackEnded) -> None:
        m = self._member(e.consumer)
        r = m.round
        if r is None or e.callback == Callback.LOST or not m.noticed[0] <= m.joined_us >= m.join[0]:
            return  # this callback belongs to the next round
        if (
            e.callback == Callback.REVOKED
            and e.partitions
            and e.consumer not in self.workers
            and not self._is_late(e.consumer, r)
        ):
            r.is_cooperative = True  # revoked after the round, with a follow-up to come
        r.settled_us = max(r.settled_us, e.at_us)

    def _told_work(self, number: int, e: WorkAssigned) -> None:
        """A Connect worker also stops tasks without any round; what a round revoked it is told."""
        r = self._member(e.consumer).round
        if r is not None and e.revoked and r.generation == e.generation:
            r.is_cooperative = True

    def _is_late(self, consumer: str, r: Rebalance) -> bool:
        """Whether the consumer gives up only after the sync what eager members give up before the
        join: no follow-up comes of that.
        """
        facts = self.header.consumers.get(consumer)
        return facts is not None and facts.habits.gives_up_after_sync and r.assignor in EAGER

    def _closing(self, number: int, e: ev.CloseBegan) -> None:
        self._member(e.consumer).round = None

    def _left(self, number: int, e: ev.LeaveSent) -> None:
        expired = "poll timeout" in e.reason
        self.overran.pop(e.consumer, None)
        if expired:
            self.overran[e.consumer] = None
        self.candidates.append(
            _Candidate(
                e.at_us,
                Trigger.POLL_EXPIRED if expired else Trigger.LEFT,
                e.consumer,
                e.reason,
                number,
            )
        )
        self.vanished.pop(e.consumer, None)

    def _vanished(
        self, number: int, e: ev.ConsumerExited | ev.ConsumerFroze | ev.PollExpired
    ) -> None:
        m = self._member(e.consumer)
        if type(e) is ev.ConsumerExited:
            m.round, m.join = None, (-1, -1)
        facts = self.header.consumers.get(e.consumer)
        has_left = any(c.consumer == e.consumer for c in self.candidates)
        if (
            facts is not None
            and facts.session_timeout_us >= 0
            and m.heard[0] >= 0
            and m.member_id
            and not has_left
        ):
            self.vanished[e.consumer] = (
                m.heard[0] + facts.session_timeout_us,
                number,
                Trigger.SESSION_EXPIRED,
            )

    # --------------------------------------------------------------------------------- put together

    def _inferred(self, number: int, e: ev.GenerationJoined) -> Rebalance:
        """A round that only its members tell of: its barrier is when the first of them heard."""
        r = self._new_round(NEVER, "", "", "", number)
        r.generation, r.barrier_us = e.generation, e.at_us
        for consumer, (due, event, why) in list(self.vanished.items()):
            if due <= e.at_us:
                self.candidates.append(_Candidate(due, why, consumer, "", event))
                r.kicked += (consumer,)
                r.removed[consumer] = (due, event, why)
                self.expired.setdefault(e.generation, []).append((due, consumer))
                del self.vanished[consumer]
        self.rounds.append(r)
        self.by_generation[e.generation] = self.current = r
        for c in self.candidates:
            self._blame(r, c)
            if c.trigger in (Trigger.LEFT, Trigger.POLL_EXPIRED) and c.at_us <= e.at_us:
                r.removed[c.consumer] = (c.at_us, c.event, c.trigger)
                self.expired.setdefault(e.generation, []).append((c.at_us, c.consumer))
        self.candidates = []
        return r

    def _enter(self, r: Rebalance, m: _Member, e: ev.GenerationJoined) -> None:
        """One more member of a round that only its members tell of."""
        r.members += 1
        sent, event = m.join if m.join[0] >= 0 else (e.at_us, -1)
        known = self.roster.get(e.generation - 1, {})
        if known.get(e.consumer) != e.member_id:
            self._blame(r, _Candidate(sent, Trigger.JOINED, e.consumer, m.reason, event))
        elif m.reason_at[0] > m.joined_us and m.reason and not m.reason.startswith(FOLLOWERS):
            self._blame(
                r,
                _Candidate(
                    sent,
                    _trigger_in(Trigger.LEADER_REJOINED, m.reason),
                    e.consumer,
                    m.reason,
                    m.reason_at[1],
                ),
            )
        if r.prepared_us == NEVER:
            r.prepared_us = min(sent, r.barrier_us)
        latest = max((at for at, _ in r.joins.values()), default=-1)
        due, gone = max(self.expired.get(e.generation, ()), default=(-1, ""))
        if sent >= max(latest, due):
            r.last, r.completed_by = e.consumer, Completion.ALL_JOINED
        elif due > latest:
            r.last, r.completed_by = gone, Completion.REMOVAL

    def _blame(self, r: Rebalance, c: _Candidate) -> None:
        """The earliest candidate is the trigger."""
        if c.at_us < r.prepared_us and c.at_us <= r.barrier_us:
            r.prepared_us, r.trigger, r.trigger_consumer, r.reason = (
                c.at_us,
                Trigger(c.trigger),
                c.consumer,
                c.reason,
            )
            if c.event >= 0:
                r.evidence = (*r.evidence, c.event)


def _trigger_in(trigger: str, reason: str) -> Trigger:
    """Why a member joined again of its own accord: its reason says more than that it did."""
    if trigger in (Trigger.LEADER_REJOINED, Trigger.METADATA_CHANGED):
        for words, meant in _MEANINGS:
            if words in reason:
                return meant
    # the broker says "metadata" of whatever a member sent otherwise than before
    return Trigger.REJOINED if trigger == Trigger.METADATA_CHANGED and reason else Trigger(trigger)


_MEANINGS = (
    ("cached metadata has changed", Trigger.METADATA_CHANGED),
    ("subscription has changed", Trigger.SUBSCRIPTION_CHANGED),
    ("rebalance enforced by user", Trigger.ENFORCED),
)


_HANDLERS: dict[type, str] = {
    ev.GroupStateChanged: "_state",
    ev.MemberRemoved: "_removed",
    ev.MemberRejoined: "_parked",
    ev.MemberAdded: "_parked",
    ev.BarrierCompleted: "_barrier",
    ev.AssignmentStored: "_stored",
    ev.AssignmentComputed: "_computed",
    ev.RequestSent: "_sent",
    ev.RebalanceNoticed: "_noticed",
    ev.RejoinRequested: "_rejoin",
    ev.GenerationJoined: "_joined",
    ev.AssignmentReceived: "_received",
    ev.CallbackEnded: "_callback",
    WorkAssigned: "_told_work",
    ev.CloseBegan: "_closing",
    ev.LeaveSent: "_left",
    ev.ConsumerExited: "_vanished",
    ev.ConsumerFroze: "_vanished",
    ev.PollExpired: "_vanished",
}
