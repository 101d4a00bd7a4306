"""How a pause of a classic group is cut: what the partition's holder did, and where the group's
round stood, decide at each change.

The walk merges the holder's own events, the callbacks that concerned the partition, and the
group's rounds, in order. Every change may begin another phase; so phases are consecutive and add
up to the pause by construction.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field

from rebalsim.analysis.holder_stage import STARTS, HolderStage
from rebalsim.analysis.index import NOTHING, Index, starting
from rebalsim.analysis.values import Pause, Rebalance
from rebalsim.domain.callback import Callback
from rebalsim.domain.doing import Doing
from rebalsim.domain.ids import Partition
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.membership import Arrival, Removal
from rebalsim.domain.pause_start import PauseStart
from rebalsim.domain.phase import PhaseKind
from rebalsim.trace import events as ev
from rebalsim.trace.streams_events import ProcessingHeld, ProcessingWentOn
from rebalsim.trace.trace import TraceHeader


@dataclass(slots=True)
class Cut:
    """From `at_us` on the partition was in this phase; `consumer` is whom it concerns, `round`
    the round it belongs to. `doing` where the walk alone can tell what was waited for.
    """

    at_us: int
    kind: PhaseKind
    consumer: str = ""
    round: Rebalance | None = None
    evidence: tuple[int, ...] = ()
    doing: Doing = Doing.NOTHING


REMOVALS = frozenset(
    (
        Removal.LEFT,
        Removal.SESSION_EXPIRED,
        Removal.NOT_REJOINED,
        Removal.NOT_SYNCED,
        Removal.GROUP_FULL,
        Removal.FENCED,
        Removal.REBALANCE_TIMEOUT,
    )
)  # why a member is removed for good


@dataclass(slots=True)
class ClassicWalk:
    """One pause, walked through. `stage` is what has become of the holder."""

    index: Index
    header: TraceHeader
    rounds: list[Rebalance]
    prepared: list[int]  # when each of them began
    pause: Pause
    # whom a round's result gave the partition, as far as anybody was told
    assignee: Callable[[Rebalance, Partition], str]
    # whether the group had no members, between these rounds
    is_empty: Callable[[str, Rebalance | None, Rebalance | None, int], bool]
    # until when that cannot change, as long as its rounds do not
    is_so_until: Callable[[str, int], int]
    # the first by name who was in this round and never got its result; empty if nobody
    who_is_late: Callable[[Rebalance], str]
    holder: str = ""
    stage: HolderStage = HolderStage.UNKNOWN
    is_handover: bool = False  # given up after a round, for the next one to hand on
    # … and its giver has started anew since, in its old place: no round follows from that
    is_torn: bool = False
    is_ahead: bool = (
        False  # given up before the round began that took it: its giver set that off itself
    )
    has_left: bool = False
    round: Rebalance | None = None
    cuts: list[Cut] = field(default_factory=list)

    def walk(self) -> list[Cut]:
        """The cuts, ascending; the first is at the pause's beginning."""
        p = self.pause
        self.holder, self.stage = p.owner_before, STARTS[p.why]
        self.round = self._round_at(p.started_us)
        if self.stage == HolderStage.REVOKING:
            self.is_handover = self._is_after_round(p.start_event)
            r = self.round
            is_over = not self.is_handover and r is not None and 0 <= r.barrier_us < p.started_us
            self.is_ahead = is_over and (
                p.why is PauseStart.REVOKED
                or (
                    p.why is PauseStart.LOST
                    and r is not None
                    and (self.holder not in r.removed or not r.members)
                )
            )
        self._mark(p.started_us, p.start_event)
        changes = self._changes()
        turns = {at for at, _, r in changes if r is not None}
        events = self.index.events
        stood, seen_us = self._stand(), -1
        for at, number, r in changes:
            if r is not None:
                self._group_changed(at, r)
            elif type(events[number]) in _MATTER:
                self._happened(number)
            elif at not in turns and (self.stage != HolderStage.LEFT or at < seen_us):
                continue
            before, stood = stood, self._stand()
            # what changes nothing of the holder can end a phase only where the group's own time
            # does: as a round turns, or as it empties or fills
            if stood != before or at in turns or (self.stage == HolderStage.LEFT and at >= seen_us):
                self._mark(max(at, p.started_us), number)
                seen_us = self.is_so_until(p.group, at)
        return self.cuts

    def _stand(self) -> tuple[object, ...]:
        """All that a phase hangs on but the instant and the round."""
        return self.holder, self.stage, self.is_handover, self.is_torn, self.has_left

    # ---------------------------------------------------------------------- what happens in between

    def _changes(self) -> list[tuple[int, int, Rebalance | None]]:
        """(instant, event, None) for consumers' events, (instant, −1, round) where a round
        began, was noticed or passed its barrier.
        """
        p, events = self.pause, self.index.events
        found: list[tuple[int, int, Rebalance | None]] = []
        concerned = dict.fromkeys((p.owner_before, *(events[n].consumer for n in p.path)))
        for consumer in concerned:
            numbers = self.index.own_of(consumer)
            for number in self.index.since(numbers, p.started_us):
                if events[number].at_us >= p.ended_us:
                    break
                if number > p.start_event:
                    found.append((events[number].at_us, number, None))
        for r in self._rounds_within():
            moments = {r.prepared_us: None, notice_of(r)[0]: None, r.barrier_us: None}
            moments.update((at, None) for c, (at, _, _) in r.removed.items() if c in concerned)
            found += [(at, -1, r) for at in moments if p.started_us <= at < p.ended_us]
        return sorted(found, key=lambda c: (c[0], c[1] < 0, c[1]))

    def _rounds_within(self) -> list[Rebalance]:
        first = bisect_right(self.prepared, self.pause.started_us)
        within = []
        for r in starting(self.rounds, max(0, first - 1)):
            if r.prepared_us >= self.pause.ended_us:
                break
            within.append(r)
        return within

    def _round_at(self, at_us: int) -> Rebalance | None:
        place = bisect_right(self.prepared, at_us)
        return self.rounds[place - 1] if place else None

    def _is_after_round(self, number: int) -> bool:
        """Whether a revocation came with a round's result (its next one hands on) and not before
        joining one.
        """
        numbers = self.index.by_consumer.get(self.holder, NOTHING)
        place = bisect_right(numbers, number) - 1
        while place >= 0:
            kind = type(self.index.events[numbers[place]])
            if kind is ev.GenerationJoined:
                return True
            if kind in (
                ev.RebalanceNoticed,
                ev.RejoinRequested,
                ev.CloseBegan,
                ev.ConsumerStarted,
                ev.MemberReset,
                ev.LeaveSent,
            ):
                return False
            place -= 1
        return False

    def _group_changed(self, at: int, r: Rebalance) -> None:
        if self.round is None or r.prepared_us >= self.round.prepared_us:
            self.round = r
        removed = r.removed.get(self.holder)
        if (
            removed is not None
            and removed[0] <= at
            and self.stage in (HolderStage.GONE, HolderStage.STUCK, HolderStage.CLOSING)
            and removed[0] >= self.pause.started_us
        ):
            self.stage = HolderStage.LEFT
        if self.stage == HolderStage.UNKNOWN and at >= r.prepared_us:
            self.stage = HolderStage.LEFT

    def _happened(self, number: int) -> None:
        e = self.index.events[number]
        kind = type(e)
        if (
            number in self.pause.path
            and kind is ev.CallbackBegan
            and e.callback == Callback.ASSIGNED
        ):
            self.holder, self.stage = e.consumer, HolderStage.ASSIGNED
            self.is_handover = self.is_torn = self.has_left = False
        elif e.consumer != self.holder:
            return
        elif (take := _TAKES.get(kind)) is not None:
            take(self, e, number)

    def _exited(self, e: ev.ConsumerExited, number: int) -> None:
        # it let go of it for somebody else: that it ends now changes nothing
        is_handed_on = self.stage == HolderStage.GIVEN and self.is_handover
        if self.stage != HolderStage.LEFT and not self.has_left and not is_handed_on:
            self.stage = HolderStage.GONE
        self.has_left = False

    def _call_began(self, e: ev.CallbackBegan, number: int) -> None:
        is_troubled = self.stage in (HolderStage.RESUMING, HolderStage.STUCK)
        is_on_path = number in self.pause.path and self.stage in (
            HolderStage.ASSIGNED,
            HolderStage.SERVING,
        )
        if e.callback != Callback.ASSIGNED and (is_troubled or is_on_path):
            self.stage, self.is_handover = HolderStage.REVOKING, self._is_after_round(number)

    def _call_ended(self, e: ev.CallbackEnded, number: int) -> None:
        if self.stage == HolderStage.REVOKING and e.callback != Callback.ASSIGNED:
            self.stage = HolderStage.GIVEN
        elif self.stage == HolderStage.ASSIGNED and e.callback == Callback.ASSIGNED:
            self.stage = HolderStage.SERVING

    def _was_assigned(self, e: ev.AssignmentReceived, number: int) -> None:
        waits = self.stage == HolderStage.RETURNING or (
            self.stage == HolderStage.GIVEN and self.is_handover
        )
        if waits and self._tears(e):
            self.stage, self.is_handover, self.is_torn = HolderStage.GIVEN, True, True

    def _leaves(self, e: ev.LeaveSent, number: int) -> None:
        if self.stage in (
            HolderStage.CLOSING,
            HolderStage.STUCK,
            HolderStage.REVOKING,
            HolderStage.GONE,
        ):
            self.stage, self.has_left = HolderStage.LEFT, True

    def _closes(self, e: ev.CloseBegan, number: int) -> None:
        if self.stage in (
            HolderStage.ASSIGNED,
            HolderStage.SERVING,
            HolderStage.RESUMING,
            HolderStage.STUCK,
        ):
            self.stage = HolderStage.CLOSING

    def _was_removed(self, e: ev.MemberRemoved, number: int) -> None:
        """The coordinator's own word, whether or not anybody is left for a round. Nobody waits for
        the callback of one that is out.
        """
        is_out = self.stage in (HolderStage.GONE, HolderStage.STUCK, HolderStage.CLOSING) or (
            self.stage == HolderStage.REVOKING and self._is_its_own(number)
        )
        if e.why in REMOVALS and is_out:
            self.stage, self.has_left = HolderStage.LEFT, True

    def _tears(self, e: ev.AssignmentReceived) -> bool:
        """It took its old place again, and in that round the partition had been kept back for
        the next one, which it would have set off.
        """
        r = self.round
        if (
            r is None
            or e.generation != r.generation
            or r.barrier_us > self.pause.started_us
            or self.assignee(r, self.pause.partition)
        ):
            return False
        return not self._next_owner(e.at_us, self._following_barrier(r))

    def _polls_no_more(self, e: ev.PollExpired, number: int) -> None:
        facts = self.header.consumers.get(self.holder)
        if self.stage == HolderStage.STUCK and facts is not None and facts.instance_id is not None:
            self.stage = HolderStage.GONE  # it stops its heartbeats and does not leave

    def _vanished(self, e: ev.ConsumerFroze | ev.LinkCut, number: int) -> None:
        is_gone = not isinstance(e, ev.LinkCut) or e.from_all_brokers
        if is_gone and self.stage in (
            HolderStage.ASSIGNED,
            HolderStage.SERVING,
            HolderStage.RESUMING,
        ):
            self.stage = HolderStage.GONE

    def _got_stuck(self, e: ev.TraceEvent, number: int) -> None:
        if self.stage in (HolderStage.SERVING, HolderStage.RESUMING):
            self.stage = HolderStage.STUCK

    def _came_back(self, e: ev.TraceEvent, number: int) -> None:
        if self.stage in (HolderStage.STUCK, HolderStage.GONE) or (
            self.stage == HolderStage.LEFT and self._goes_on()
        ):
            self.stage = HolderStage.RESUMING

    def _asked_to_join(self, e: ev.RequestSent, number: int) -> None:
        if self.stage == HolderStage.GONE and e.api == KafkaApi.JOIN:
            self.stage = HolderStage.RETURNING

    def _was_added(self, e: ev.MemberAdded, number: int) -> None:
        if self.stage == HolderStage.GONE and e.how in (Arrival.REPLACEMENT, Arrival.STATIC):
            self.stage = HolderStage.RETURNING

    def _is_its_own(self, removal: int) -> bool:
        """Whether it was removed as the member that it is, and not as one that it was before a
        restart.
        """
        joined = self.index.last_of(
            self.holder, self.index.events[removal].at_us, ev.GenerationJoined
        )
        return (
            joined < 0
            or self.index.events[joined].member_id == self.index.events[removal].member_id
        )

    def _goes_on(self) -> bool:
        """It took the partition up again without being given it anew: it had not heard yet that
        it was no member any more.
        """
        p = self.pause
        return self.holder == p.owner_before == p.owner_after and p.assigned_event < 0

    # -------------------------------------------------------------------------- which phase that is

    def _mark(self, at: int, number: int) -> None:
        kind, consumer, r = self._phase(at)
        last = self.cuts[-1] if self.cuts else None
        if last is not None and last.kind is kind and last.consumer == consumer and last.round is r:
            return
        evidence = (number,) if number >= 0 else ()
        # a phase without length is dropped; its evidence stays
        if last is not None and last.at_us == at:
            self.cuts.pop()
            evidence = tuple(dict.fromkeys((*last.evidence, *evidence)))
            before = self.cuts[-1] if self.cuts else None
            if (
                before is not None
                and before.kind is kind
                and before.consumer == consumer
                and before.round is r
            ):
                before.evidence = tuple(dict.fromkeys((*before.evidence, *evidence)))
                return
        self.cuts.append(Cut(at, kind, consumer, r, evidence))

    def _phase(self, at: int) -> tuple[PhaseKind, str, Rebalance | None]:
        stage, holder, r = self.stage, self.holder, self.round
        if stage == HolderStage.ASSIGNED:
            return PhaseKind.RESTORE, holder, None
        if stage == HolderStage.SERVING:
            return PhaseKind.FETCH, holder, None
        if stage == HolderStage.STUCK:
            return PhaseKind.STUCK, holder, None
        if stage in (HolderStage.REVOKING, HolderStage.CLOSING):
            return PhaseKind.REVOKE, holder, None
        if stage == HolderStage.RESUMING:
            is_called = (
                r is not None and r.prepared_us <= at and (r.barrier_us < 0 or at < r.barrier_us)
            )
            return (
                (PhaseKind.REVOKE if is_called and not self._goes_on() else PhaseKind.FETCH),
                holder,
                None,
            )
        if stage in (HolderStage.GONE, HolderStage.UNKNOWN):
            return (PhaseKind.AWAY if self._returns() else PhaseKind.DETECTION), holder, None
        return self._of_group(at, stage, r)

    def _of_group(
        self, at: int, stage: HolderStage, r: Rebalance | None
    ) -> tuple[PhaseKind, str, Rebalance | None]:
        """Nobody holds it: where the group stands decides."""
        if r is not None and r.prepared_us <= at and (r.barrier_us < 0 or at < r.barrier_us):
            return self._before_barrier(at, stage, r), r.last, r
        following = self._following(r.prepared_us if r is not None else at)
        if stage == HolderStage.LEFT and self.is_empty(self.pause.group, r, following, at):
            return PhaseKind.AWAY, self._who_came_back(following), following
        if r is not None and self._is_assigning(at, stage, r):
            return PhaseKind.ASSIGNMENT, self._assignee(r, at), r
        coming = following.last if following is not None else ""
        if self.is_torn and self.is_handover:
            return PhaseKind.FOLLOW_UP, self.holder, None
        if self.is_handover:
            return PhaseKind.FOLLOW_UP, coming, following
        if stage == HolderStage.LEFT:
            return PhaseKind.NOTICE, coming, following
        return PhaseKind.BARRIER, coming or self.holder, following

    def _who_came_back(self, following: Rebalance | None) -> str:
        """Whoever came first ended it that the group was empty."""
        first = following.trigger_consumer if following is not None else ""
        is_its_own = self.pause.owner_after == self.holder
        return first or (self.holder if is_its_own else "")

    def _is_assigning(self, at: int, stage: HolderStage, r: Rebalance) -> bool:
        """Everybody has joined this round, and it is the one that the pause waits for."""
        is_over = 0 <= r.barrier_us <= at
        return is_over and (r.barrier_us > self.pause.started_us or stage == HolderStage.RETURNING)

    def _before_barrier(self, at: int, stage: HolderStage, r: Rebalance) -> PhaseKind:
        """Whether the last to join has heard of the round by then."""
        is_unheard = at < notice_of(r)[0]
        if self.is_handover:
            return PhaseKind.FOLLOW_UP if is_unheard else PhaseKind.BARRIER
        return PhaseKind.NOTICE if stage == HolderStage.LEFT and is_unheard else PhaseKind.BARRIER

    def _assignee(self, r: Rebalance, at: int) -> str:
        """Who has to take the partition up after this round: who was told, or who has not even
        synced yet, or who took it in the end, if it was there.
        """
        told = self.assignee(r, self.pause.partition)
        if told:
            return told
        taken = self._next_owner(at, self._following_barrier(r))
        if taken:
            return taken
        late = self.who_is_late(r)
        if late:
            return late
        return self.pause.owner_after if self.pause.owner_after in r.joins or not r.parked else ""

    def _following(self, at: int) -> Rebalance | None:
        place = bisect_right(self.prepared, at)
        return self.rounds[place] if place < len(self.rounds) else None

    def _following_barrier(self, r: Rebalance) -> int:
        """The instant of the next round's result, or the pause's end."""
        following = self._following(r.prepared_us)
        return (
            following.barrier_us
            if following is not None and following.barrier_us >= 0
            else self.pause.ended_us
        )

    def _next_owner(self, at: int, until: int) -> str:
        for number in self.pause.path:
            e = self.index.events[number]
            if (
                at <= e.at_us < until
                and type(e) is ev.CallbackBegan
                and e.callback == Callback.ASSIGNED
            ):
                return str(e.consumer)
        return ""

    def _returns(self) -> bool:
        """The very consumer that vanished took the partition up again, and nobody had removed it
        meanwhile: it was simply away.
        """
        p = self.pause
        if not self.holder or p.owner_after != self.holder or p.assigned_event < 0:
            return False
        return not any(
            self.holder in r.removed and p.started_us <= r.removed[self.holder][0] < p.ended_us
            for r in self._rounds_within()
        )


def notice_of(r: Rebalance) -> tuple[int, str, int]:
    """When the last to join learnt of the round, who that was, and the event; where it never did
    (or needed no notice), the last of the others.
    """
    own, event = r.notices.get(r.last, (-1, -1))
    if own >= r.prepared_us and r.last not in r.removed:
        return own, r.last, event
    heard = [
        (at, c, n)
        for c, (at, n) in r.notices.items()
        if at >= r.prepared_us and (r.barrier_us < 0 or at <= r.barrier_us)
    ]
    return max(heard, default=(r.prepared_us, "", -1))


# typed loosely, as each takes its own kind of event
_TAKES: dict[type, Callable[..., None]] = {
    ev.ConsumerExited: ClassicWalk._exited,
    ev.CallbackBegan: ClassicWalk._call_began,
    ev.CallbackEnded: ClassicWalk._call_ended,
    ev.AssignmentReceived: ClassicWalk._was_assigned,
    ev.LeaveSent: ClassicWalk._leaves,
    ev.CloseBegan: ClassicWalk._closes,
    ev.MemberRemoved: ClassicWalk._was_removed,
    ev.PollExpired: ClassicWalk._polls_no_more,
    ev.ConsumerFroze: ClassicWalk._vanished,
    ev.LinkCut: ClassicWalk._vanished,
    ev.HandlerStuck: ClassicWalk._got_stuck,
    ProcessingHeld: ClassicWalk._got_stuck,
    **dict.fromkeys(
        (ev.HandlerReturned, ProcessingWentOn, ev.ConsumerThawed, ev.LinkHealed),
        ClassicWalk._came_back,
    ),
    ev.RequestSent: ClassicWalk._asked_to_join,
    ev.MemberAdded: ClassicWalk._was_added,
}
_MATTER = frozenset(_TAKES)  # all by which a holder's standing may change
