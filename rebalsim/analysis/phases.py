"""From a pause to its story: consecutive phases that add up to it exactly, each with its facts
and evidence, and the cause. Worked out when asked for; partitions that stood still together
(same beginning, same way, same end) share one story.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from rebalsim.analysis.causes import Causes
from rebalsim.analysis.connect_phases import delays_of, facts_of, recut, worker_groups
from rebalsim.analysis.consumer_doings import QUICK_US, TIMERS, Doings
from rebalsim.analysis.group_kinds import GroupTold
from rebalsim.analysis.index import NOTHING, Index, starting
from rebalsim.analysis.phases_classic import ClassicWalk, Cut, notice_of
from rebalsim.analysis.phases_consumer import ConsumerWalk
from rebalsim.analysis.values import Disturbance, Facts, Pause, Phase, Rebalance, Story
from rebalsim.domain.callback import Callback
from rebalsim.domain.doing import Doing
from rebalsim.domain.errors import BugError
from rebalsim.domain.ids import Partition
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.membership import Removal
from rebalsim.domain.pause_start import PauseStart
from rebalsim.domain.phase import PhaseKind
from rebalsim.domain.restored_from import RestoredFrom
from rebalsim.domain.stuck_by import StuckBy
from rebalsim.domain.timer import Timer
from rebalsim.domain.trigger import Trigger
from rebalsim.trace import events as ev
from rebalsim.trace.streams_events import ProcessingHeld, StoreRestored
from rebalsim.trace.trace import TraceHeader

# Looking up the position, connecting, and waiting for a Fetch that is under way take less than this.
# Where the first records took longer, the owner did not poll.
SLOW_FETCH_US = 1_000_000


STUCK_FOR: dict[str, Doing] = {
    StuckBy.COMMIT: Doing.COMMITTING,
    StuckBy.PUNCTUATOR: Doing.PUNCTUATING,
}
RESTORED: dict[str, Doing] = {  # where a store's restoration began
    RestoredFrom.SCRATCH: Doing.FROM_SCRATCH,
    RestoredFrom.CHECKPOINT: Doing.FROM_CHECKPOINT,
    RestoredFrom.STANDBY: Doing.FROM_STANDBY,
    RestoredFrom.GIVEN_UP: Doing.IN_VAIN,
}
Told = tuple[Facts, tuple[int, ...]]  # what is known of a phase, and which events tell it


class Storyteller:
    """Tells the stories of one trace's pauses."""

    def __init__(
        self,
        index: Index,
        header: TraceHeader,
        rounds: dict[str, list[Rebalance]],
        emptied: dict[str, list[Rebalance]],
        disturbances: Sequence[Disturbance],
    ) -> None:
        self.index = index
        self.header = header
        self.rounds = {g: sorted(found, key=lambda r: r.prepared_us) for g, found in rounds.items()}
        self.barriered = {
            g: sorted(
                (r for r in (*found, *emptied.get(g, ())) if not r.is_of_epochs),
                key=lambda r: r.prepared_us,
            )
            for g, found in self.rounds.items()
        }
        self.prepared = {g: [r.prepared_us for r in found] for g, found in self.barriered.items()}
        self.targets = {g: [r for r in found if r.is_of_epochs] for g, found in self.rounds.items()}
        self.doings = Doings(index)
        self.causes = Causes(index, header, self.doings, disturbances)
        self.groups: dict[str, GroupTold] = {}
        self.of_workers = worker_groups(header)
        self.delays = delays_of(index, self.of_workers)
        self.received: dict[tuple[str, int], dict[Partition, list[tuple[int, str]]]] | None = None
        self.known: dict[tuple[object, ...], Story] = {}
        self.barriers: dict[tuple[int, int], Told] = {}
        self.late: dict[int, str] = {}  # round → who was late in it; `barriered` keeps them alive

    def story_of(self, p: Pause) -> Story:
        """The story of a pause, shared with those that have the same."""
        key = (
            p.group,
            p.started_us,
            p.start_event,
            p.why,
            p.owner_before,
            p.owner_after,
            p.path,
            p.ended_us,
            p.is_open,
            p.end_event,
        )
        story = self.known.get(key)
        if story is None:
            story = self.known[key] = self._story(p)
        return story

    def _story(self, p: Pause) -> Story:
        is_ahead = False
        if p.why is PauseStart.CALLBACK:
            began = self.index.events[p.start_event]
            kind = PhaseKind.RESTORE if began.callback == Callback.ASSIGNED else PhaseKind.REVOKE
            cuts = [Cut(p.started_us, kind, p.owner_before, None, (p.start_event,))]
        else:
            cuts, is_ahead = self._walked(p)
            if p.group in self.of_workers:
                cuts = recut(self.index, p, cuts, self.delays[p.group])
            cuts = self._with_stores(p, cuts)
        phases = self._phases(p, cuts)
        return Story(phases, self.causes.of(p, phases, self._rounds_of(p, cuts, is_ahead)))

    def _with_stores(self, p: Pause, cuts: list[Cut]) -> list[Cut]:
        """A task of Kafka Streams is read from when its stores are restored: the wait for that is
        none for records.
        """
        found: list[Cut] = []
        for cut, ends_us in zip(cuts, [*(cut.at_us for cut in cuts[1:]), p.ended_us]):
            told = self._told_restored(p, cut, ends_us)
            found += self._restorations(cut, ends_us, told) if told else [cut]
        return found

    def _restorations(self, cut: Cut, ends_us: int, told: Sequence[int]) -> list[Cut]:
        """One after another, as long as they are given up; then the first records are fetched."""
        found: list[Cut] = []
        at_us = cut.at_us
        for number in told:
            restored = self.index.events[number]
            evidence = (*cut.evidence, number)
            doing = RESTORED.get(restored.how, Doing.RESTORING)
            found.append(Cut(at_us, PhaseKind.RESTORE, cut.consumer, cut.round, evidence, doing))
            if at_us <= restored.held_us < restored.at_us:
                doing = Doing.UNCOMMITTED
                held = Cut(restored.held_us, PhaseKind.RESTORE, cut.consumer, cut.round, evidence)
                found.append(replace(held, doing=doing))
            at_us = restored.at_us
            if restored.how != RestoredFrom.GIVEN_UP or at_us >= ends_us:
                break
        if at_us < ends_us:
            evidence = (found[-1].evidence[-1],)
            found.append(Cut(at_us, PhaseKind.FETCH, cut.consumer, cut.round, evidence))
        return found

    def _told_restored(self, p: Pause, cut: Cut, ends_us: int) -> list[int]:
        """Where its owner told that it was restored, or given up, in a wait for records."""
        if cut.kind is not PhaseKind.FETCH or not cut.consumer:
            return []
        return [
            n
            for n in self._between(cut.consumer, cut.at_us, p.ended_us, StoreRestored)
            if p.partition in self.index.events[n].partitions
            and self.index.events[n].began_us < ends_us
        ]

    def _walked(self, p: Pause) -> tuple[list[Cut], bool]:
        """Each instant belongs to what the group was then: barriers and a leader in a classic
        one, heartbeats in one of the consumer protocol.
        """
        kinds = self._told(p.group).within(p.started_us, p.ended_us) or [
            (p.started_us, self._spoke_new(p))
        ]
        walked: dict[bool, list[Cut]] = {}
        is_ahead = False
        for _, is_consumer in kinds:
            if is_consumer in walked:
                continue
            if is_consumer:
                walked[True] = ConsumerWalk(
                    self.index,
                    self.header,
                    self.targets.get(p.group, []),
                    p,
                    self._told(p.group),
                    self._speaks_new,
                ).walk()
            else:
                walk = ClassicWalk(
                    self.index,
                    self.header,
                    self.barriered.get(p.group, []),
                    self.prepared.get(p.group, []),
                    p,
                    self._assignee,
                    self._is_empty,
                    self._is_so_until,
                    self._who_is_late,
                )
                walked[False] = walk.walk()
                is_ahead = walk.is_ahead and not kinds[0][1]
        return (
            next(iter(walked.values())) if len(kinds) == 1 else spliced(kinds, walked)
        ), is_ahead

    def _told(self, group: str) -> GroupTold:
        found = self.groups.get(group)
        if found is None:
            found = self.groups[group] = GroupTold(self.index, group)
        return found

    def _is_empty(
        self, group: str, r: Rebalance | None, following: Rebalance | None, at: int
    ) -> bool:
        """As the coordinator told; else all who had joined the round were gone before the
        next one.
        """
        told = self._told(group)
        if told.states:
            return told.is_empty(at)
        return (
            r is not None and following is not None and all(c in following.removed for c in r.joins)
        )

    def _who_is_late(self, r: Rebalance) -> str:
        """Who was in this round and had not synced by the end of what is told."""
        late = self.late.get(id(r))
        if late is None:
            joined = (*r.joins, *r.parked)
            late = self.late[id(r)] = min((c for c in joined if c not in r.latency_us), default="")
        return late

    def _is_so_until(self, group: str, at_us: int) -> int:
        """Until when the coordinator's word on whether it has members stands."""
        return self._told(group).stands_until(at_us)

    def _assignee(self, r: Rebalance, partition: Partition) -> str:
        """Who was told in this round that the partition is its own; empty if nobody. A group
        that was emptied or converted counts anew.
        """
        key = (r.group, r.generation)
        if self.received is None:
            self.received = {}
            for consumer, numbers in self.index.by_consumer.items():
                for n in numbers:
                    e = self.index.events[n]
                    if type(e) is ev.AssignmentReceived:
                        owners = self.received.setdefault(
                            (self.index.group_of[consumer], e.generation), {}
                        )
                        for p in e.partitions:
                            owners.setdefault(p, []).append((e.at_us, consumer))
        told = self.received.get(key, {}).get(partition, ())
        return next((consumer for at, consumer in reversed(told) if at >= r.barrier_us), "")

    def _spoke_new(self, p: Pause) -> bool:
        """Where no coordinator tells what the group was: by how the holder and the next one
        spoke to it last. While a group goes from one protocol to the other they may differ; then
        the coordinator is that of the consumer protocol.
        """
        return self._speaks_new(p.owner_before or p.owner_after, p.start_event) or (
            p.owner_after != "" and self._speaks_new(p.owner_after, p.end_event)
        )

    def _speaks_new(self, who: str, event: int) -> bool:
        if who not in self.index.new_protocol:
            facts = self.header.consumers.get(who)
            return facts is not None and facts.uses_consumer_protocol
        numbers = self.index.by_consumer.get(who, NOTHING)
        for place in range(bisect_right(numbers, event) - 1, -1, -1):
            e = self.index.events[numbers[place]]
            if type(e) is ev.GenerationJoined:
                return False
            if type(e) is ev.MemberStateChanged and e.is_of_client:
                return True
        return True

    def _event_at(self, who: str, at_us: int) -> int:
        """The number of the consumer's last event before that instant."""
        numbers = self.index.by_consumer.get(who, NOTHING)
        place = self.index.first_at(numbers, at_us)
        return numbers[place - 1] if place else -1

    def _rounds_of(self, p: Pause, cuts: list[Cut], is_ahead: bool) -> list[Rebalance]:
        """The rounds that a pause lived through, the one that set it off first; `is_ahead` where
        the partition was given up before that one began.
        """
        found = {id(c.round): c.round for c in cuts if c.round is not None}
        rounds = self.rounds.get(p.group, [])
        place = bisect_right(rounds, p.started_us, key=lambda r: r.prepared_us)
        if (
            p.why in (PauseStart.REVOKED, PauseStart.LOST, PauseStart.CALLBACK)
            and place > 0
            and not is_ahead
        ):
            found = {id(rounds[place - 1]): rounds[place - 1], **found}
        if not found and p.why is not PauseStart.CALLBACK:
            for r in starting(rounds, place):
                if r.prepared_us >= p.ended_us:
                    break
                found[id(r)] = r
        return list(found.values())

    def _phases(self, p: Pause, cuts: list[Cut]) -> tuple[Phase, ...]:
        phases = []
        for place, cut in enumerate(cuts):
            ended = cuts[place + 1].at_us if place + 1 < len(cuts) else p.ended_us
            if ended > cut.at_us:
                evidence = cut.evidence
                if place + 1 < len(cuts):
                    evidence = tuple(dict.fromkeys((*evidence, *cuts[place + 1].evidence)))
                elif p.end_event >= 0:
                    evidence = tuple(dict.fromkeys((*evidence, p.end_event)))
                facts, more = self._facts(p, cut, ended)
                # what ended the wait in the end did not end this part of it
                if facts.until_us > ended:
                    facts = replace(facts, until_us=-1)
                phases.append(
                    Phase(
                        cut.kind, cut.at_us, ended, facts, tuple(dict.fromkeys((*evidence, *more)))
                    )
                )
        if not phases or phases[0].started_us != p.started_us or phases[-1].ended_us != p.ended_us:
            raise BugError(
                f"The phases of the pause of {p.partition} from {p.started_us} to {p.ended_us} "
                "µs do not cover it"
            )
        return tuple(phases)

    # ---------------------------------------------------------------------------------------- facts

    def _facts(self, p: Pause, cut: Cut, ended: int) -> Told:
        kind, who, r = cut.kind, cut.consumer, cut.round
        if (
            p.group in self.of_workers
            and (own := facts_of(p, cut, ended, self.delays[p.group])) is not None
        ):
            return own, ()
        if kind in OF_ROUNDS and r is not None:
            return self._of_round(p, kind, r, cut.at_us, ended)
        finder = _FINDERS.get(kind)
        return (
            (Facts(who, Doing.UNKNOWN, cut.at_us, ended), ())
            if finder is None
            else finder(self, p, cut, ended)
        )

    def _of_follow_up(self, p: Pause, cut: Cut, ended: int) -> Told:
        """A second round that never came."""
        doing = Doing.TORN if cut.consumer else Doing.UNKNOWN
        return Facts(cut.consumer, doing, cut.at_us, ended), ()

    def _of_stuck(self, p: Pause, cut: Cut, ended: int) -> Told:
        who = cut.consumer
        expired = self._between(who, cut.at_us, ended, ev.PollExpired)
        stuck = [
            self.index.events[n] for n in self._between(who, cut.at_us, ended, ev.HandlerStuck)
        ]
        doing = STUCK_FOR.get(stuck[0].why if stuck else "", Doing.STUCK)
        if not stuck and self._between(who, cut.at_us, ended, ProcessingHeld):
            doing = Doing.NOT_READY
        elif (
            not stuck
            and expired
            and self.doings.at(who, self.index.events[expired[0]].at_us - 1)[0] is Doing.IN_CALLBACK
        ):
            doing = Doing.IN_CALLBACK
        return Facts(who, doing, cut.at_us, ended, Timer.POLL if expired else Timer.NONE), expired

    def _of_revocation(self, p: Pause, cut: Cut, ended: int) -> Told:
        who = cut.consumer
        how = self.doings.between(who, cut.at_us, ended)
        if (
            p.why is PauseStart.CLOSED
            and cut.at_us == p.started_us
            and how is not Doing.NO_COORDINATOR
        ):
            how = Doing.CLOSING
        commits = [
            n
            for n in self._between(who, cut.at_us, ended, ev.RequestSent)
            if self.index.events[n].api == KafkaApi.OFFSET_COMMIT
        ]
        is_committing = how in (Doing.BUSY, Doing.JOINING, Doing.COMMITTING)
        refused = Trigger.REFUSED if is_committing and len(commits) > 1 else Trigger.NONE
        doing = Doing.COMMITTING if is_committing else how
        return Facts(who, doing, cut.at_us, ended, Timer.NONE, refused), ()

    def _of_heartbeat(self, p: Pause, cut: Cut, ended: int) -> Told:
        """The consumer protocol's waits for somebody's heartbeat: the new owner's, or the old
        one's that has let go.
        """
        who = cut.consumer
        if (
            ended - cut.at_us > QUICK_US
            and (alone := self._uncoordinated(p.group, who, cut.at_us, ended)) is not None
        ):
            return alone, ()
        is_brokers = not who or self._speaks_new(who, self._event_at(who, ended))
        beat = Timer.BROKERS_HEARTBEAT if is_brokers else Timer.HEARTBEAT
        usual = Doing.UNAWARE if cut.kind is PhaseKind.PICKUP else Doing.UNACKNOWLEDGED
        return Facts(who, cut.doing or usual, cut.at_us, ended, beat), ()

    def _of_interval(self, p: Pause, cut: Cut, ended: int) -> Told:
        return Facts("", Doing.UNKNOWN, cut.at_us, ended, Timer.ASSIGNMENT_INTERVAL), ()

    def _of_restore(self, p: Pause, cut: Cut, ended: int) -> Told:
        return Facts(cut.consumer, cut.doing or Doing.RESTORING, cut.at_us, ended), ()

    def _of_fetch(self, p: Pause, cut: Cut, ended: int) -> Told:
        who = cut.consumer
        return Facts(who, self._fetching(who, cut.at_us, ended), cut.at_us, ended), ()

    def _fetching(self, who: str, at: int, ended: int) -> Doing:
        """Why the first records took so long, if they did."""
        if (
            ended - at <= SLOW_FETCH_US
            or self._between(who, at, ended, ev.CoordinatorLost)
            or self.doings.at(who, at)[0] not in (Doing.NOTHING, Doing.STUCK, Doing.IN_CALLBACK)
        ):
            return Doing.FETCHING
        if self._between(who, at - QUICK_US, at, ev.LinkHealed):
            return Doing.RECONNECTING
        doing = self.doings.between(who, at, ended)
        return doing if doing in (Doing.STUCK, Doing.IN_CALLBACK) else Doing.BUSY

    def _uncoordinated(self, group: str, who: str, began: int, ended: int) -> Facts | None:
        """Where the group had no coordinator for most of that time, nothing else matters."""
        spans = (
            self.doings.out_of_reach(who, began, ended)
            if who
            else self.doings.uncoordinated_within(group, began, ended)
        )
        if sum(until - at for at, until in spans) * 2 <= ended - began:
            return None
        return Facts(who, Doing.NO_COORDINATOR, spans[0][0], spans[-1][1])

    def _of_away(self, who: str, at: int, ended: int) -> Told:
        """Who was waited for, and whether it was away at all: one that left because its batch
        outlasted the limit is there, and busy.
        """
        doing, since, event = self.doings.at(who, at) if who else (Doing.AWAY, -1, -1)
        if doing is Doing.NOTHING and (
            expired := self.index.last_of(who, at, ev.PollExpired)
        ) > self.index.last_of(who, at, ev.PollingBegan):
            return Facts(who, Doing.BUSY, self.index.events[expired].at_us, ended), (expired,)
        # that did not pass: its process ended, and another came
        if doing and doing is not Doing.DEAD and self._between(who, at, ended, ev.ConsumerExited):
            doing = Doing.AWAY
        back = (
            self.doings.until(who, at)
            if doing in (Doing.FROZEN, Doing.STUCK, Doing.CUT_OFF, Doing.BUSY, Doing.IN_CALLBACK)
            else -1
        )
        if 0 <= back < ended - QUICK_US:
            return Facts(who, doing, since, ended, Timer.NONE, Trigger.REJOINED), (
                event,
            ) if event >= 0 else ()
        is_new = bool(who) and not self.index.first_at(self.index.by_consumer.get(who, NOTHING), at)
        return Facts(
            who,
            Doing.NEW if is_new else Doing.AWAY if doing in (Doing.NOTHING, Doing.DEAD) else doing,
            since,
            ended,
        ), (event,) if event >= 0 else ()

    def _of_assignment(
        self, p: Pause, assignee: str, r: Rebalance | None, began: int, ended: int
    ) -> Told:
        """What most of the time went to: until the leader read that it leads, until the
        assignment was stored, until the new owner took it up.
        """
        if r is not None and ended - began > QUICK_US:
            if (alone := self._uncoordinated(p.group, "", began, ended)) is not None:
                return alone, ()
            if (dead := self._dead_in(r, p, began, ended)) is not None:
                return dead
        if r is None and assignee and ended - began > SLOW_FETCH_US:
            return self._until_polled(assignee, began, ended)
        return self._longest_of_assignment(assignee, r, began, ended)

    def _until_polled(self, assignee: str, began: int, ended: int) -> Told:
        """Consumer protocol: the owner has been told, and its poll thread must come to it."""
        doing, since, event = self.doings.at(assignee, began)
        if doing and doing is not Doing.IN_CALLBACK:
            return Facts(assignee, doing, since, ended), (event,)
        return Facts(assignee, self.doings.between(assignee, began, ended), began, ended), ()

    def _longest_of_assignment(
        self, assignee: str, r: Rebalance | None, began: int, ended: int
    ) -> Told:
        """Of the three waits between barrier and owner, the longest, and what kept its consumer."""
        leader = r.leader if r is not None else ""
        led = self._read_by(leader, r, ended) if r is not None and leader else (-1, -1)
        leads = led[0] if led[0] >= 0 else ended
        stored = r.stable_us if r is not None and r.stable_us >= 0 else leads
        waits = (
            (leads - began, leader, began, leads),
            (stored - leads, "", leads, stored),
            (ended - stored, assignee, stored, ended),
        )
        longest, who, from_us, until = max(waits, key=lambda w: w[0])
        if assignee:
            doing, since, event = self.doings.at(assignee, ended - 1)
            if doing in (Doing.STUCK, Doing.FROZEN):
                return Facts(assignee, doing, since, ended), (event,)
        if not who or longest <= QUICK_US:
            return Facts(assignee, Doing.ASSIGNING, -1, ended), ()
        evidence = (led[1],) if led[1] >= 0 and until == leads else ()
        return self._kept_assignment(who, max(from_us, began), until, evidence)

    def _kept_assignment(
        self, who: str, from_us: int, until: int, evidence: tuple[int, ...]
    ) -> Told:
        """What the consumer whose turn it was did all that while."""
        doing, since, event = self.doings.at(who, from_us)
        if doing and doing is not Doing.IN_CALLBACK:
            return Facts(who, doing, since, until), (event, *evidence)
        if self._between(who, from_us, until, ev.ConsumerExited):
            return Facts(who, Doing.AWAY, from_us, until), evidence
        return Facts(who, self.doings.between(who, from_us, until), from_us, until), evidence

    def _dead_in(self, r: Rebalance, p: Pause, began: int, ended: int) -> Told | None:
        """A process that had ended was to assign, or was given this partition: nobody will ever
        take it up from there.
        """
        if r.barrier_us < 0:
            return None
        dead = [
            place
            for place in self.doings.memberships_of(p.group).dead_at(max(began, ended - 1))
            if place.from_us <= r.barrier_us
        ]
        leader = next((place for place in dead if place.consumer == r.leader), None)
        if (
            leader is not None
            and (r.stable_us < 0 or r.stable_us > ended)
            and leader.exited_us <= r.barrier_us
        ):
            return Facts(leader.consumer, Doing.DEAD_LEADER, leader.exited_us, -1), (
                leader.exit_event,
            )
        if (
            dead
            and 0 <= r.stable_us < ended
            and not self._assignee(r, p.partition)
            and len(r.latency_us) + len(dead) >= r.members
        ):
            whose = dead[0].consumer if len({place.consumer for place in dead}) == 1 else ""
            return Facts(whose, Doing.DEAD_OWNER, dead[0].exited_us, -1), tuple(
                place.exit_event for place in dead
            )
        return None

    def _read_by(self, leader: str, r: Rebalance, until: int) -> tuple[int, int]:
        """When the leader read the answer to its JoinGroup, and the event; it does so within
        poll() only.
        """
        numbers = self.index.by_consumer.get(leader, NOTHING)
        for n in self.index.since(numbers, r.barrier_us):
            e = self.index.events[n]
            if e.at_us > until:
                break
            if type(e) is ev.GenerationJoined and e.generation == r.generation:
                return e.at_us, n
        return -1, -1

    def _of_round(self, p: Pause, kind: PhaseKind, r: Rebalance, began: int, ended: int) -> Told:
        if kind is not PhaseKind.BARRIER:
            at, who, event = notice_of(r)
            told = (event,) if event >= 0 else ()
            if (alone := self._uncoordinated(p.group, who, began, ended)) is not None:
                return alone, told
            # an answer told it, which only its next poll() could ask for
            if who and not self.doings.is_by_heartbeat(event):
                return Facts(
                    who,
                    self.doings.between(who, r.prepared_us, at),
                    r.prepared_us,
                    at,
                    Timer.NONE,
                    r.trigger,
                ), told
            return Facts(
                who,
                Doing.UNAWARE if who else Doing.UNKNOWN,
                r.prepared_us,
                at if who else ended,
                Timer.HEARTBEAT,
                r.trigger,
            ), told
        key = (id(r), began)
        found = self.barriers.get(key)
        if found is None:
            facts, events = self.doings.last_of(r, began, self.index.horizon_us)
            if p.group in self.of_workers and facts.doing is Doing.IN_CALLBACK:
                facts = replace(facts, doing=Doing.STOPPING)  # what a worker does there
            found = self.barriers[key] = facts, events
        return found

    def _of_detection(self, p: Pause, who: str, at: int, ended: int) -> Told:
        if not who:
            return self._of_nobodys_detection(p, at, ended)
        doing, since, event = self.doings.at(who, at)
        if doing in (Doing.NOTHING, Doing.CLOSING):
            doing, since, event = self.doings.at(who, ended - 1)
        removed = self._between(who, at, ended, ev.MemberRemoved)
        whys = [self.index.events[n].why for n in removed]
        whys += [
            gone[2]
            for r in self._rounds_around(p.group, at, ended)
            if (gone := r.removed.get(who)) is not None and at < gone[0] <= ended
        ]
        # else it came back, or was replaced, before any timer fired
        timer = next((TIMERS[why] for why in whys if why in TIMERS), Timer.NONE)
        trigger = Trigger.REPLACED if not timer and Removal.REPLACED in whys else Trigger.NONE
        heard = -1
        if timer is Timer.SESSION and removed:
            heard = self.index.events[removed[-1]].last_heard_us
        return Facts(
            who, doing or Doing.UNKNOWN, since, ended, timer, trigger, heard if heard > at else -1
        ), tuple(n for n in (event, *removed) if n >= 0)

    def _of_nobodys_detection(self, p: Pause, at: int, ended: int) -> Told:
        """A partition that was new: until a heartbeat, a refresh of the topics, or a leader that
        knows that it leads, brought it in.
        """
        by_client = any(  # it matches the pattern itself
            r.trigger is Trigger.SUBSCRIPTION_CHANGED
            for r in self._rounds_around(p.group, at, ended)
        )
        if not by_client and (back := self._unled_since(p.group, ended)) >= 0:
            return Facts(Doing.NOTHING, Doing.UNLED, at, ended), (back,)
        kinds = self._told(p.group).within(at, ended)
        is_consumer = kinds[0][1] if kinds else self._spoke_new(p)
        timer = Timer.HEARTBEAT if is_consumer and not by_client else Timer.METADATA
        return Facts("", Doing.UNKNOWN, at, ended, timer), ()

    def _unled_since(self, group: str, at_us: int) -> int:
        """The event with which the last round's leader came back in its old place and was not
        told that it leads; −1 if it still knows.
        """
        rounds = self.rounds.get(group, [])
        place = bisect_left(rounds, at_us, key=lambda r: r.prepared_us)
        if not place or not rounds[place - 1].leader:
            return -1
        last = rounds[place - 1]
        numbers = self.index.by_consumer.get(last.leader, NOTHING)
        joins = [
            n
            for n in numbers
            if type(self.index.events[n]) is ev.GenerationJoined
            and self.index.events[n].at_us < at_us
        ]
        joined = self.index.events[joins[-1]] if joins else None
        return (
            joins[-1]
            if type(joined) is ev.GenerationJoined
            and joined.generation == last.generation
            and not joined.is_leader
            else -1
        )

    def _rounds_around(self, group: str, from_us: int, until_us: int) -> list[Rebalance]:
        """The rounds that were under way or began then, and the first one after."""
        rounds = self.rounds.get(group, [])
        found = []
        for r in starting(
            rounds, max(0, bisect_right(rounds, from_us, key=lambda r: r.prepared_us) - 1)
        ):
            found.append(r)
            if r.prepared_us > until_us:
                break
        return found

    def _between(self, consumer: str, from_us: int, until_us: int, kind: type) -> tuple[int, ...]:
        numbers = self.index.by_consumer.get(consumer, NOTHING)
        found = []
        for n in self.index.since(numbers, from_us):
            if self.index.events[n].at_us > until_us:
                break
            if type(self.index.events[n]) is kind:
                found.append(n)
        return tuple(found)


def spliced(kinds: Sequence[tuple[int, bool]], walked: Mapping[bool, Sequence[Cut]]) -> list[Cut]:
    """The cuts of each kind of group for as long as the group was of that kind; where it
    changed, what the other kind makes of that instant.
    """
    cuts: list[Cut] = []
    for place, (from_us, is_consumer) in enumerate(kinds):
        until = kinds[place + 1][0] if place + 1 < len(kinds) else None
        mine = walked[is_consumer]
        here = max(0, bisect_right(mine, from_us, key=lambda c: c.at_us) - 1)
        for cut in mine[here:]:
            if until is not None and cut.at_us >= until:
                break
            last = cuts[-1] if cuts else None
            if (
                last is not None
                and last.kind is cut.kind
                and last.consumer == cut.consumer
                and last.round is cut.round
            ):
                last.evidence = tuple(dict.fromkeys((*last.evidence, *cut.evidence)))
            else:
                cuts.append(replace(cut, at_us=max(cut.at_us, from_us)))
    return cuts


OF_ROUNDS = (PhaseKind.BARRIER, PhaseKind.FOLLOW_UP, PhaseKind.NOTICE)
_FINDERS: dict[PhaseKind, Callable[[Storyteller, Pause, Cut, int], Told]] = {
    PhaseKind.FOLLOW_UP: Storyteller._of_follow_up,
    PhaseKind.DETECTION: lambda s, p, cut, ended: s._of_detection(
        p, cut.consumer, cut.at_us, ended
    ),
    PhaseKind.STUCK: Storyteller._of_stuck,
    PhaseKind.AWAY: lambda s, p, cut, ended: s._of_away(cut.consumer, cut.at_us, ended),
    PhaseKind.REVOKE: Storyteller._of_revocation,
    PhaseKind.PICKUP: Storyteller._of_heartbeat,
    PhaseKind.RELEASE: Storyteller._of_heartbeat,
    PhaseKind.INTERVAL: Storyteller._of_interval,
    PhaseKind.ASSIGNMENT: lambda s, p, cut, ended: s._of_assignment(
        p, cut.consumer, cut.round, cut.at_us, ended
    ),
    PhaseKind.FETCH: Storyteller._of_fetch,
    PhaseKind.RESTORE: Storyteller._of_restore,
}
