"""How a pause under the consumer protocol is cut: no barrier, but partition by partition revoke,
release, (interval,) pickup, assignment, restore, fetch.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from rebalsim.analysis.group_kinds import GroupTold
from rebalsim.analysis.holder_stage import STARTS, HolderStage
from rebalsim.analysis.index import NOTHING, Index, starting
from rebalsim.analysis.phases_classic import REMOVALS, Cut
from rebalsim.analysis.values import Pause, Rebalance
from rebalsim.domain.callback import Callback
from rebalsim.domain.doing import Doing
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.kafka_states import KafkaClientState, KafkaMemberState
from rebalsim.domain.life_end import LifeEnd
from rebalsim.domain.membership import Removal
from rebalsim.domain.phase import PhaseKind
from rebalsim.trace import events as ev
from rebalsim.trace.streams_events import ProcessingWentOn
from rebalsim.trace.trace import TraceHeader

WENT_ON = (ev.HandlerReturned, ProcessingWentOn)

LATE_US = (
    1_000_000  # a heartbeat of the consumer protocol is that late at most, by polls and messages
)


class ConsumerWalk:
    """One pause, from its holder to its next one and so on; each milestone begins the next
    phase.
    """

    def __init__(
        self,
        index: Index,
        header: TraceHeader,
        targets: list[Rebalance],
        pause: Pause,
        told: GroupTold,
        speaks_new: Callable[[str, int], bool],
    ) -> None:
        self.index, self.header, self.targets, self.pause = index, header, targets, pause
        self.told = told
        self.speaks_new = (
            speaks_new  # a group of this kind may have members of the classic protocol, too
        )
        self.cuts: list[Cut] = []

    def walk(self) -> list[Cut]:
        """The cuts, ascending; the first is at the pause's beginning."""
        p, events = self.pause, self.index.events
        at = self._held(p.owner_before, p.started_us, p.start_event, STARTS[p.why])
        path = list(p.path)
        while path:
            number = path.pop(0)
            e = events[number]
            if type(e) is not ev.CallbackBegan or e.callback != Callback.ASSIGNED:
                continue
            self._brought(e.consumer, at, number)
            after = next((n for n in path if events[n].consumer == e.consumer), -1)
            ended = self._next(e.consumer, number, (ev.CallbackEnded,))
            if ended >= 0 and (after < 0 or ended < after):
                self._cut(events[ended].at_us, PhaseKind.FETCH, e.consumer, ended)
            if after >= 0:
                taken = events[after]
                stage = STARTS.get(
                    getattr(taken, "callback", ""), HolderStage.GONE
                )  # an exit has none
                at = self._held(e.consumer, taken.at_us, after, stage)
        self._explain_long_pickups()
        self._leave_out_the_deserted()
        return self.cuts

    def _leave_out_the_deserted(self) -> None:
        """While a group has no members, nobody's heartbeat is waited for; nor is it where its
        last ones are dead, and only their sessions still run.
        """
        cuts, self.cuts = self.cuts, []
        for place, cut in enumerate(cuts):
            ended = cuts[place + 1].at_us if place + 1 < len(cuts) else self.pause.ended_us
            self.cuts.append(cut)
            for from_us, until_us in (
                self.told.empty_within(cut.at_us, ended) if cut.kind is PhaseKind.PICKUP else ()
            ):
                last, number = self._expired(from_us)
                if last and from_us > self.cuts[-1].at_us:
                    self.cuts[-1] = Cut(
                        self.cuts[-1].at_us,
                        PhaseKind.DETECTION,
                        last,
                        None,
                        (*self.cuts[-1].evidence, number),
                    )
                elif from_us == self.cuts[-1].at_us:
                    self.cuts.pop()
                self.cuts.append(
                    Cut(from_us, PhaseKind.AWAY, self._newcomer(from_us), None, cut.evidence)
                )
                if until_us < ended:
                    self.cuts.append(
                        Cut(until_us, PhaseKind.PICKUP, cut.consumer, cut.round, cut.evidence)
                    )

    def _expired(self, at_us: int) -> tuple[str, int]:
        """Whose session ended at that instant, and left the group empty; the event that tells."""
        events = self.index.events
        for n in self.index.since(self.index.by_group.get(self.pause.group, NOTHING), at_us):
            if events[n].at_us > at_us:
                break
            if type(events[n]) is ev.MemberRemoved and events[n].why == Removal.SESSION_EXPIRED:
                return events[n].consumer, n
        return "", -1

    def _newcomer(self, at_us: int) -> str:
        """Who was the first to come to a group that was empty from then on; else who went on
        with the partition as if it had never been removed.
        """
        events = self.index.events
        for n in self.index.since(self.index.by_group.get(self.pause.group, NOTHING), at_us):
            if events[n].at_us >= self.pause.ended_us:
                break
            if type(events[n]) is ev.MemberAdded:
                return str(events[n].consumer)
        return self.pause.owner_after

    def _explain_long_pickups(self) -> None:
        """A heartbeat is never that long: somebody else was told first and did not take it up.
        However long: the next owner may have been no member yet.
        """
        cuts, self.cuts = self.cuts, []
        for place, cut in enumerate(cuts):
            ended = cuts[place + 1].at_us if place + 1 < len(cuts) else self.pause.ended_us
            self.cuts.append(cut)
            if cut.kind is not PhaseKind.PICKUP:
                continue
            facts = self.header.consumers.get(cut.consumer)
            limit = max(0, facts.heartbeat_interval_us) if facts is not None else 0
            told, number = "", -1
            if ended - cut.at_us > limit + LATE_US:
                told, number = self._told_another(cut.at_us, ended, cut.consumer)
            if number >= 0:
                self._went_to_another(cut, ended, told, number)
            else:
                self._was_no_member(cut, ended)

    def _went_to_another(self, cut: Cut, ended: int, told: str, number: int) -> None:
        """Another member was told to take the partition first, and left before it did."""
        ends = (ev.PollExpired, ev.LeaveSent, ev.ConsumerExited, ev.MemberRemoved, ev.MemberReset)
        left = self._next(told, number, ends, ended)
        events = self.index.events
        self.cuts[-1] = Cut(cut.at_us, PhaseKind.PICKUP, told, cut.round, cut.evidence)
        self.cuts.append(Cut(events[number].at_us, PhaseKind.ASSIGNMENT, told, None, (number,)))
        if left >= 0 and events[left].at_us < ended:
            self.cuts.append(Cut(events[left].at_us, PhaseKind.PICKUP, cut.consumer, None, (left,)))

    def _was_no_member(self, cut: Cut, ended: int) -> None:
        """If the owner became a member only within this cut, it was away until then."""
        added = self.index.last_of(cut.consumer, ended, ev.MemberAdded)
        at_us = self.index.events[added].at_us if added >= 0 else -1
        if at_us <= cut.at_us:
            return
        evidence = (*cut.evidence, added)
        self.cuts[-1] = Cut(cut.at_us, PhaseKind.AWAY, cut.consumer, cut.round, evidence)
        if at_us < ended:
            self.cuts.append(Cut(at_us, PhaseKind.PICKUP, cut.consumer, None, (added,), cut.doing))

    def _told_another(self, from_us: int, until_us: int, owner: str) -> tuple[str, int]:
        """Who was told in between that the partition is its own, and by which event; the
        first one.
        """
        found = ("", -1)
        for consumer in self.index.members_of(self.pause.group):
            numbers = (
                self.index.by_consumer.get(consumer, NOTHING) if consumer != owner else NOTHING
            )
            for n in self.index.since(numbers, from_us):
                e = self.index.events[n]
                if e.at_us >= until_us or (found[1] >= 0 and n > found[1]):
                    break
                if type(e) is ev.AssignmentReceived and self.pause.partition in e.partitions:
                    found = (consumer, n)
        return found

    def _cut(
        self,
        at: int,
        kind: PhaseKind,
        consumer: str,
        number: int,
        target: Rebalance | None = None,
        doing: Doing = Doing.NOTHING,
    ) -> None:
        p = self.pause
        at = max(at, self.cuts[-1].at_us if self.cuts else p.started_us)
        if at >= p.ended_us:
            return
        if self.cuts and self.cuts[-1].at_us == at:
            self.cuts.pop()
        self.cuts.append(Cut(at, kind, consumer, target, (number,) if number >= 0 else (), doing))

    def _next(
        self, consumer: str, number: int, kinds: tuple[type, ...], until_us: int | None = None
    ) -> int:
        """The consumer's next event of one of these kinds, within the pause; −1 if none."""
        numbers = self.index.by_consumer.get(consumer, NOTHING)
        limit = self.pause.ended_us if until_us is None else until_us
        for n in starting(numbers, bisect_right(numbers, number)):
            if self.index.events[n].at_us > limit:
                return -1
            if type(self.index.events[n]) in kinds:
                return n
        return -1

    # ------------------------------------------------------------------------ until nobody holds it

    def _held(self, holder: str, at: int, number: int, stage: HolderStage) -> int:
        """From the beginning until the partition is free; returns that instant."""
        events = self.index.events
        if stage == HolderStage.STUCK:
            self._cut(at, PhaseKind.STUCK, holder, number)
            came = (
                number
                if type(events[number]) is ev.PollExpired
                else self._next(
                    holder,
                    number,
                    (*WENT_ON, ev.PollExpired, ev.CallbackBegan, ev.ConsumerExited),
                )
            )
            if came < 0:
                return (
                    self._removed(holder, at, number)
                    if self._removal(holder, at) is not None
                    else self.pause.ended_us
                )
            e = events[came]
            if type(e) in WENT_ON:
                self._cut(e.at_us, PhaseKind.FETCH, holder, came)
                lost = self._next(holder, came, (ev.CallbackBegan,))
                return (
                    e.at_us
                    if lost < 0 or events[lost].callback == Callback.ASSIGNED
                    else self._held(holder, events[lost].at_us, lost, HolderStage.REVOKING)
                )
            if type(e) is ev.CallbackBegan:
                return self._held(holder, e.at_us, came, HolderStage.REVOKING)
            facts = self.header.consumers.get(holder)
            if type(e) is ev.PollExpired and not (
                facts is not None and facts.instance_id is not None
            ):
                return self._free(holder, e.at_us, came)
            return self._removed(holder, e.at_us, came)
        if stage in (HolderStage.REVOKING, HolderStage.CLOSING):
            return self._given(holder, at, number, stage)
        return self._removed(holder, at, number)

    def _given(self, holder: str, at: int, number: int, stage: HolderStage) -> int:
        """It gives the partition up properly; free once the coordinator has its word."""
        events = self.index.events
        self._cut(at, PhaseKind.REVOKE, holder, number)
        if stage == HolderStage.CLOSING:
            gone = self._next(holder, number, (ev.LeaveSent, ev.ConsumerExited))
            left = self._leave_beat(holder, number)
            if left >= 0 and (gone < 0 or left < gone):
                gone = left
            if gone < 0:
                return self.pause.ended_us
            if self._was_killed(gone):
                return self._removed(holder, events[gone].at_us, gone)
            facts = self.header.consumers.get(holder)
            is_static = facts is not None and facts.instance_id is not None
            return (
                self._removed(holder, events[gone].at_us, gone)
                if is_static
                else self._free(holder, events[gone].at_us, gone)
            )
        ended = self._given_up(holder, number)
        if ended < 0:
            return self.pause.ended_us
        e = events[ended]
        if self._was_killed(ended):  # it never came to the end of it
            return self._removed(holder, e.at_us, ended)
        # who is out already has nothing left to acknowledge
        if type(e) is not ev.CallbackEnded or e.callback == Callback.LOST:
            return self._free(holder, e.at_us, ended)
        if self._next_owner(e.at_us) == holder and not self.speaks_new(holder, number):
            return self._taken_back(holder, ended)
        self._cut(e.at_us, PhaseKind.RELEASE, holder, ended)
        told = self._acknowledged(holder, ended)
        if told >= 0 and self._was_killed(told):
            return self._removed(holder, events[told].at_us, told)
        return self._free(holder, events[told].at_us, told) if told >= 0 else self.pause.ended_us

    def _given_up(self, holder: str, number: int) -> int:
        """Which event ended a member's giving up: the end of its callback, else its own end, or
        that the coordinator lost patience with it.
        """
        n = number
        while (
            n := self._next(holder, n, (ev.CallbackEnded, ev.ConsumerExited, ev.MemberRemoved))
        ) >= 0:
            e = self.index.events[n]
            if type(e) is ev.MemberRemoved:
                if e.why in REMOVALS and self._is_its_own(holder, number, e.member_id):
                    return n
            elif type(e) is ev.ConsumerExited or e.callback != Callback.ASSIGNED:
                return n
        return -1

    def _is_its_own(self, holder: str, number: int, member_id: str) -> bool:
        """Whether the holder was that member at that event, and not before a restart."""
        added = self.index.last_of(holder, self.index.events[number].at_us, ev.MemberAdded)
        return added < 0 or self.index.events[added].member_id == member_id

    def _was_killed(self, number: int) -> bool:
        e = self.index.events[number]
        return type(e) is ev.ConsumerExited and e.how != LifeEnd.CLOSED

    def _taken_back(self, holder: str, ended: int) -> int:
        """An eager member of the classic protocol gives up everything before it joins, and is
        given back what it may keep, at once or in a second round trip, of which another
        heartbeat tells it.
        """
        events = self.index.events
        self._cut(events[ended].at_us, PhaseKind.ASSIGNMENT, holder, ended)
        told = self._next(holder, ended, (ev.AssignmentReceived,))
        if told < 0 or self.pause.partition in events[told].partitions:
            return int(events[ended].at_us)
        return self._free(holder, events[told].at_us, told)

    def _leave_beat(self, holder: str, number: int) -> int:
        n = number
        while (n := self._next(holder, n, (ev.RequestSent,))) >= 0:
            e = self.index.events[n]
            if e.api == KafkaApi.CONSUMER_HEARTBEAT and e.generation < 0:
                return n
        return -1

    def _acknowledged(self, holder: str, number: int) -> int:
        """The event that tells that the coordinator knows: its own word, else the answer to the
        member's next heartbeat, else the client's state.
        """
        events, n = self.index.events, number
        group = self.index.by_group.get(self.pause.group, NOTHING)
        for m in group[bisect_right(group, number) :]:
            e = events[m]
            if e.at_us > self.pause.ended_us:
                break
            if (
                type(e) is ev.PartitionsReleased
                and e.consumer == holder
                and self.pause.partition in e.partitions
            ):
                return m
        while (
            n := self._next(
                holder,
                n,
                (ev.ResponseReceived, ev.MemberStateChanged, ev.ConsumerExited, ev.LeaveSent),
            )
        ) >= 0:
            e = events[n]
            if type(e) is ev.ResponseReceived:
                if e.api == KafkaApi.CONSUMER_HEARTBEAT and e.sent_at_us >= events[number].at_us:
                    return n
            elif (
                type(e) is ev.MemberStateChanged and not e.is_of_client
            ):  # an eager member of the classic protocol joins with nothing
                if e.after != KafkaMemberState.UNREVOKED_PARTITIONS:
                    return n
            elif type(e) is not ev.MemberStateChanged or (
                e.is_of_client and e.after == KafkaClientState.STABLE and not self._has_wire(holder)
            ):
                return n
        return -1

    def _has_wire(self, holder: str) -> bool:
        return self._next(holder, -1, (ev.RequestSent,)) >= 0

    def _removal(self, holder: str, at: int) -> tuple[int, int] | None:
        """When the coordinator removed a holder that said nothing; the instant and the event.
        Its own word, else what follows from the targets.
        """
        added = self.index.last_of(holder, at, ev.MemberAdded)
        member_id = self.index.events[added].member_id if added >= 0 else ""
        for n in self.index.since(self.index.by_consumer.get(holder, NOTHING), at):
            e = self.index.events[n]
            if e.at_us > self.pause.ended_us:
                break
            # and not one that it was in a life before
            if type(e) is ev.MemberRemoved and e.why in REMOVALS and member_id in ("", e.member_id):
                return e.at_us, n
        place = bisect_right(self.targets, at, key=lambda r: r.barrier_us)
        for r in self.targets[place:]:
            if r.prepared_us >= self.pause.ended_us:
                break
            gone = r.removed.get(holder)
            if gone is not None and gone[0] >= at:
                return gone[0], gone[1]
        return None

    def _removed(self, holder: str, at: int, number: int) -> int:
        p = self.pause
        if not holder:  # a new partition: nobody knew until the epoch grew
            self._cut(at, PhaseKind.DETECTION, "", number)
            target = next((r for r in self.targets if r.barrier_us >= at), None)
            return self._free("", target.prepared_us, -1) if target is not None else p.ended_us
        found = self._removal(holder, at)
        if found is not None:
            self._cut(at, PhaseKind.DETECTION, holder, number)
            return self._free(holder, found[0], found[1])
        back = self._next(holder, number, (ev.ConsumerThawed, ev.LinkHealed))
        if back >= 0:
            self._cut(at, PhaseKind.DETECTION, holder, number)
            self._cut(self.index.events[back].at_us, PhaseKind.FETCH, holder, back)
            lost = self._next(holder, back, (ev.CallbackBegan,))
            if lost >= 0 and self.index.events[lost].callback != Callback.ASSIGNED:
                return self._held(holder, self.index.events[lost].at_us, lost, HolderStage.REVOKING)
            return int(self.index.events[back].at_us)
        self._cut(
            at,
            PhaseKind.AWAY
            if p.owner_after == holder and p.assigned_event >= 0
            else PhaseKind.DETECTION,
            holder,
            number,
        )
        returned = self._next(holder, number, (ev.MemberAdded,))
        return int(self.index.events[returned].at_us) if returned >= 0 else p.ended_us

    # ---------------------------------------------------------------------- until somebody takes it

    def _free(self, holder: str, at: int, number: int) -> int:
        """Nobody holds it; the broker may have to wait before it computes, then somebody's
        heartbeat must come.
        """
        group = self.index.by_group.get(self.pause.group, NOTHING)
        for n in self.index.since(group, at):
            e = self.index.events[n]
            if e.at_us >= self.pause.ended_us or type(e) is ev.AssignmentComputed:
                break
            if type(e) is ev.IntervalWaited and e.until_us > e.at_us:
                if not self._is_computed(at):
                    self._cut(at, PhaseKind.INTERVAL, holder, n)
                    at = min(max(at, e.until_us), self.pause.ended_us)
                break
        self._cut(at, PhaseKind.PICKUP, self._next_owner(at), number)
        return at

    def _is_computed(self, at: int) -> bool:
        """Whether the target that gives the partition to its next owner is there already: no
        interval is waited for then.
        """
        owner = self._next_owner(at)
        awaited = self.index.last_of(owner, at, ev.ReleaseAwaited)
        if awaited >= 0 and self.pause.partition in self.index.events[awaited].partitions:
            return True
        given = next(
            (
                e
                for n in self.index.since(self.index.by_consumer.get(owner, NOTHING), at)
                if type(e := self.index.events[n]) is ev.AssignmentReceived
                and self.pause.partition in e.partitions
            ),
            None,
        )
        group = self.index.by_group.get(self.pause.group, NOTHING)
        for place in range(self.index.first_at(group, at + 1) - 1, -1, -1):
            e = self.index.events[group[place]]
            if type(e) is ev.AssignmentComputed:
                return (
                    given is not None
                    and given.at_us <= self.pause.ended_us
                    and given.generation <= e.generation
                )
        return False

    def _next_owner(self, at: int) -> str:
        for number in self.pause.path:
            e = self.index.events[number]
            if e.at_us >= at and type(e) is ev.CallbackBegan and e.callback == Callback.ASSIGNED:
                return str(e.consumer)
        return self.pause.owner_after

    def _brought(self, owner: str, at: int, number: int) -> None:
        """The owner heard of it at a heartbeat, and then reconciled until its callback was
        entered. One of the classic protocol hears that it is to join again, and has the
        assignment from what it then asks for.
        """
        events, numbers = self.index.events, self.index.by_consumer.get(owner, NOTHING)
        place, told = bisect_right(numbers, number) - 2, -1
        while place >= 0 and events[numbers[place]].at_us >= at:
            e = events[numbers[place]]
            if type(e) is ev.AssignmentReceived or (
                type(e) is ev.MemberStateChanged
                and e.is_of_client
                and e.after == KafkaClientState.RECONCILING
            ):
                if told >= 0:
                    break
                told = numbers[place]
            elif type(e) is ev.RebalanceNoticed and told >= 0:
                told = numbers[place]
                self._wait_for_target(owner, at, e.at_us)
                break
            place -= 1
        if told >= 0 and not (
            self.cuts
            and self.cuts[-1].kind is PhaseKind.ASSIGNMENT
            and self.cuts[-1].consumer == owner
        ):
            self._cut(events[told].at_us, PhaseKind.ASSIGNMENT, owner, told)
        self._cut(events[number].at_us, PhaseKind.RESTORE, owner, number)

    def _wait_for_target(self, owner: str, at: int, heard_us: int) -> None:
        """A classic member's heartbeat has nothing computed: it hears only after somebody's of
        the new protocol has had the broker do so.
        """
        events = self.index.events
        for n in self.index.since(self.index.by_group.get(self.pause.group, NOTHING), at):
            e = events[n]
            if e.at_us > heard_us:
                return
            if type(e) is ev.AssignmentComputed and not e.consumer:
                whose = self._beat_that_computed(n)
                if (
                    whose
                    and whose != owner
                    and self.cuts
                    and self.cuts[-1].kind is PhaseKind.PICKUP
                    and e.at_us > self.cuts[-1].at_us
                ):
                    last = self.cuts[-1]
                    self.cuts[-1] = Cut(
                        last.at_us, PhaseKind.PICKUP, whose, None, last.evidence, Doing.COMPUTING
                    )
                    self._cut(e.at_us, PhaseKind.PICKUP, owner, n)
                return

    def _beat_that_computed(self, number: int) -> str:
        """Whose request it was: the first member whose place the coordinator tells right
        after it.
        """
        events = self.index.events
        for n in range(number + 1, len(events)):
            if events[n].at_us > events[number].at_us:
                break
            if type(events[n]) is ev.MemberStateChanged and not events[n].is_of_client:
                return str(events[n].consumer)
        return ""
