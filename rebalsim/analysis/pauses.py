"""Which partition stood still, from when to when: one lean pass over the trace, since sweeps pay
for it millions of times.

A partition's pause begins when its last taker stopped taking its records (revocation began,
counting the commit before it; the process died, froze, left, was cut off; its handler got stuck;
max.poll.interval.ms ran out), or when the same happened to one that was to be its first; it ends
when an owner is handed records again. Where the records were young, the producer was late and not
the group: the pause then ended as soon as the owner was ready. Topics without records end it at
the position; logs, in which no line tells of a delivery, at the end of the assigned callback. A
new owner that knows where to read several partitions goes through their records batch by batch:
with the first batch all are served, since a batch's time is no pause; so does one that was held
up, and goes on.

A long callback also holds up the partitions that a consumer keeps; short ones (below NOTICEABLE)
are like a batch and count for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from rebalsim.analysis.arrivals import Arrivals
from rebalsim.analysis.pause_state import UNKNOWN_CONSUMER, ConsumerState, GroupState
from rebalsim.analysis.values import Pause
from rebalsim.domain.callback import Callback
from rebalsim.domain.ids import Partition
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.kafka_states import KafkaClientState
from rebalsim.domain.pause_start import PauseStart
from rebalsim.domain.script import Subscribe
from rebalsim.trace import events as ev
from rebalsim.trace import streams_events as se
from rebalsim.trace.connect_events import TasksConfigured
from rebalsim.trace.trace import Trace

NOTICEABLE_US = 100_000  # a callback that holds up kept partitions for less is no more than a batch
# a group that forms may hand a partition on before anybody has read it: it is starting up, and
# nobody misses what stands still
HANDED_ON = (PauseStart.REVOKED, PauseStart.LOST)
# somebody who is no member any more may still be handed a last batch: that does not end the pause
PUT_OUT = (PauseStart.LOST, PauseStart.POLL_EXPIRED)
PRODUCER_LATE_US = (
    200_000  # records younger than the wait by more than this: there was nothing to hand over
)


class PauseFinder:
    """The pass itself; `pauses` holds what it found, in order of their beginnings after
    `finish`.
    """

    def __init__(self, trace: Trace, horizon_us: int) -> None:
        self.trace = trace
        self.horizon_us = horizon_us
        self.pauses: list[Pause] = []
        self.consumers: dict[str, ConsumerState] = {}
        self.groups: dict[str, GroupState] = {}
        self.partitions = {name: facts.partitions for name, facts in trace.header.topics.items()}
        self.ends_at_callback = _ends_at_callback(trace)
        self.silent = {
            name
            for name, facts in trace.header.topics.items()
            if facts.rates is not None and not any(rate for _, rate, _ in facts.rates)
        }

    def run(self) -> list[Pause]:
        """Every pause, sorted by beginning and partition."""
        horizon = self.horizon_us
        handlers = {kind: getattr(self, name) for kind, name in _HANDLERS.items()}
        number = -1
        for event in self.trace.events:
            number += 1
            handler = handlers.get(type(event))
            if handler is not None:
                if event.at_us >= horizon:
                    break
                handler(number, event)
        self._finish()
        self.pauses.sort(key=_by_start)
        return self.pauses

    # ------------------------------------------------------------------------------------------ who

    def _consumer(self, name: str) -> ConsumerState:
        found = self.consumers.get(name)
        if found is None:
            facts = self.trace.header.consumers.get(name, UNKNOWN_CONSUMER)
            group = self.groups.get(facts.group)
            if group is None:
                group = self.groups[facts.group] = GroupState(facts.group)
            found = self.consumers[name] = ConsumerState(name, group, facts)
        return found

    # --------------------------------------------------------------------------------- pauses begin

    def _stop(
        self,
        c: ConsumerState,
        partitions: Iterable[Partition],
        at: int,
        why: PauseStart,
        number: int,
    ) -> None:
        """The consumer stopped taking these partitions' records."""
        group, name = c.group, c.name
        taker = group.taker
        for p in partitions:
            if not group.is_there(p):
                taker.pop(p, None)
            elif taker.get(p) == name:
                del taker[p]
                group.ready.pop(p, None)
                group.open[p] = Pause(p, group.name, at, -1, True, why, name, "", number, -1)
            elif (pause := group.open.get(p)) is not None:
                went = group.resumed.get(p)
                if went is None or why in PUT_OUT or went[0] >= at:
                    pause.path += (number,)
                    group.resumed.pop(p, None)
                else:  # it had been going on since then
                    self._close(pause, *went, name)
                    group.open[p] = Pause(p, group.name, at, -1, True, why, name, "", number, -1)
            elif (
                why not in HANDED_ON
                and p not in taker
                and group.owner.get(p) == name
                and self._is_fed(p)
            ):  # it was to be read, and never was
                group.open[p] = Pause(p, group.name, at, -1, True, why, name, "", number, -1)

    def _is_fed(self, p: Partition) -> bool:
        """Whether records are known to come to it: one that stays empty is read by nobody, and
        stands still for nobody.
        """
        facts = self.trace.header.topics.get(p.topic)
        if facts is None or not facts.rates or p.topic in self.silent:
            return False
        return p.number >= len(facts.weights) or facts.weights[p.number] > 0

    def _callback_began(self, number: int, e: ev.CallbackBegan) -> None:
        c = self._consumer(e.consumer)
        c.callback, c.callback_us, c.callback_event = e.callback, e.at_us, number
        group = c.group
        if e.callback == Callback.ASSIGNED:
            c.is_assigned = True
            for p in e.partitions:
                c.holds[p] = number
                group.owner[p] = e.consumer
                if (pause := group.open.get(p)) is not None:
                    pause.path += (number,)
            return
        start, why_number = e.at_us, number
        if (
            e.callback == Callback.REVOKED
            and c.is_auto_commit
            and c.committed_us >= c.noticed_us >= 0
            and c.noticed_us > c.joined_us
        ):
            # nothing is handed over from the commit before the callback on
            start, why_number = c.committed_us, c.committed_event
        self._stop(c, e.partitions, start, PauseStart(e.callback), why_number)
        for p in e.partitions:
            c.holds.pop(p, None)
            if group.owner.get(p) == e.consumer:
                group.owner[p] = ""

    def _exited(self, number: int, e: ev.ConsumerExited) -> None:
        c = self._consumer(e.consumer)
        self._stop(c, c.holds, e.at_us, PauseStart(e.how), number)
        for p in c.holds:
            if c.group.owner.get(p) == e.consumer:
                c.group.owner[p] = ""
        c.holds.clear()
        c.is_assigned = False
        c.halted = c.callback = ""
        c.committed_us = c.noticed_us = c.joined_us = c.returned_us = -1

    def _closing(self, number: int, e: ev.CloseBegan) -> None:
        c = self._consumer(e.consumer)
        self._stop(c, c.holds, e.at_us, PauseStart.CLOSED, number)

    def _froze(self, number: int, e: ev.ConsumerFroze) -> None:
        self._halt(number, e.at_us, e.consumer, PauseStart.FROZE)

    def _stuck(self, number: int, e: ev.HandlerStuck | se.ProcessingHeld) -> None:
        self._halt(number, e.at_us, e.consumer, PauseStart.STUCK)

    def _cut(self, number: int, e: ev.LinkCut) -> None:
        if e.from_all_brokers:
            self._halt(number, e.at_us, e.consumer, PauseStart.CUT)

    def _halt(self, number: int, at: int, consumer: str, why: PauseStart) -> None:
        c = self._consumer(consumer)
        c.halted = why
        c.returned_us = -1
        self._stop(c, c.holds, at, why, number)

    def _poll_expired(self, number: int, e: ev.PollExpired) -> None:
        c = self._consumer(e.consumer)
        due = (
            e.last_poll_us + c.max_poll_us
            if e.last_poll_us >= 0 and c.max_poll_us >= 0
            else e.at_us
        )
        self._stop(c, c.holds, min(due, e.at_us), PauseStart.POLL_EXPIRED, number)

    def _topic_changed(self, number: int, e: ev.TopicChanged) -> None:
        before = self.partitions.get(e.topic, 0)
        self.partitions[e.topic] = e.partitions
        for group in self.groups.values():
            is_read = any(p.topic == e.topic and owner for p, owner in group.owner.items())
            if e.partitions > before and (is_read or self._is_awaited(group, e.topic)):
                for p in (Partition(e.topic, n) for n in range(before, e.partitions)):
                    if p not in group.open and p not in group.taker:
                        group.open[p] = Pause(
                            p, group.name, e.at_us, -1, True, PauseStart.GROWN, "", "", number, -1
                        )
            for p in [
                p
                for p in (*group.open, *group.taker)
                if p.topic == e.topic and p.number >= e.partitions
            ]:
                # the partition is gone: nothing it should make progress on
                group.taker.pop(p, None)
                if (pause := group.open.pop(p, None)) is not None:
                    self._close(pause, e.at_us, number, "")

    def _tasks_configured(self, number: int, e: TasksConfigured) -> None:
        group = self.groups.get(e.group)
        if group is None:
            return
        group.configured[e.connector] = e.tasks
        for p in [p for p in group.open if not group.is_there(p)]:
            self._close(group.open.pop(p), e.at_us, number, "")

    def _is_awaited(self, group: GroupState, topic: str) -> bool:
        """Does a member subscribe to the topic, which was not there until now?"""
        return any(
            topic in c.awaits and c.is_assigned and c.group is group
            for c in self.consumers.values()
        )

    def _acted(self, number: int, e: ev.ScriptActed) -> None:
        if e.kind == Subscribe.__name__:  # what they ask for from now on, a trace does not tell
            for name in e.targets:
                self._consumer(name).awaits = ()

    # ----------------------------------------------------------------------------------- pauses end

    def _delivered(self, number: int, e: ev.RecordsDelivered) -> None:
        name = e.consumer
        c = self.consumers.get(name)
        if c is None:
            return
        group = c.group
        taker = group.taker
        is_served = False
        for p, (_, _, age) in e.batch.items():
            if taker.get(p) == name or group.owner.get(p) != name:
                continue
            pause = group.open.get(p)
            if pause is not None and c.halted == pause.why is PauseStart.FROZE:
                # a last batch slipped out while the signal travelled
                pause.started_us = max(pause.started_us, e.at_us)
                continue
            taker[p] = name
            is_served = True
            if pause is not None:
                self._close(pause, *self._end_of(pause, c, number, e, age), name)
        if is_served and group.open:
            self._resume(
                c, [p for p in c.holds if p in group.open and self._is_ready(c, p)], e.at_us, number
            )
            self._note_resumed(c, number, e.at_us)

    def _end_of(
        self, pause: Pause, c: ConsumerState, number: int, e: ev.RecordsDelivered, age: int
    ) -> tuple[int, int]:
        """When the pause that these records end was over, and by which event: earlier, where its
        partition was ready and only the next record was long in coming.
        """
        group, p = c.group, pause.partition
        del group.open[p]
        ready_us, ready_event = group.ready.get(p) or (c.returned_us, c.returned_event)
        was_ready = age >= 0 and ready_us > pause.started_us
        if was_ready and e.at_us - ready_us - age > PRODUCER_LATE_US:
            return ready_us, ready_event
        resumed = group.resumed.get(p)
        if resumed is not None and _is_kept(pause, e.consumer):
            return resumed
        return e.at_us, number

    def _note_resumed(self, c: ConsumerState, number: int, at_us: int) -> None:
        """Its other partitions that still wait for records go on from here, too."""
        group = c.group
        for p in c.holds:
            pause = group.open.get(p)
            if (
                pause is not None
                and c.returned_us > pause.started_us
                and _is_kept(pause, c.name)
                and p not in group.resumed
                and not c.halted
            ):
                group.resumed[p] = at_us, number

    def _is_ready(self, c: ConsumerState, p: Partition) -> bool:
        """The new owner knows where to read the partition."""
        ready = c.group.ready.get(p)
        return ready is not None and ready[0] > c.group.open[p].started_us

    def _position(self, number: int, e: ev.PositionFound) -> None:
        c = self._consumer(e.consumer)
        c.group.ready[e.partition] = e.at_us, number
        if e.partition.topic in self.silent:
            self._resume(c, (e.partition,), e.at_us, number)

    def _callback_ended(self, number: int, e: ev.CallbackEnded) -> None:
        c = self._consumer(e.consumer)
        began, c.callback = c.callback, ""
        if began != e.callback:
            return
        if e.at_us - c.callback_us >= NOTICEABLE_US and not c.is_worker:
            self._hold_up(c, e.at_us, number)
        if self.ends_at_callback and e.callback == Callback.ASSIGNED:
            self._resume(c, e.partitions, e.at_us, number)

    def _hold_up(self, c: ConsumerState, until: int, number: int) -> None:
        """Kept partitions stood still while the poll thread was in a long callback."""
        group = c.group
        for p in c.holds:
            if group.taker.get(p) == c.name:
                self.pauses.append(
                    Pause(
                        p,
                        group.name,
                        c.callback_us,
                        until,
                        False,
                        PauseStart.CALLBACK,
                        c.name,
                        c.name,
                        c.callback_event,
                        number,
                    )
                )

    def _returned(
        self,
        number: int,
        e: ev.HandlerReturned | se.ProcessingWentOn | ev.ConsumerThawed | ev.LinkHealed,
    ) -> None:
        c = self._consumer(e.consumer)
        c.halted = ""
        c.returned_us, c.returned_event = e.at_us, number
        self._resume(
            c,
            [p for p in c.holds if self.ends_at_callback or p.topic in self.silent],
            e.at_us,
            number,
        )

    def _resume(
        self, c: ConsumerState, partitions: Iterable[Partition], at: int, number: int
    ) -> None:
        """The consumer takes these again, as far as such a trace can tell."""
        group = c.group
        for p in partitions:
            if group.owner.get(p) == c.name and group.taker.get(p) != c.name:
                group.taker[p] = c.name
                if (pause := group.open.pop(p, None)) is not None:
                    self._close(pause, at, number, c.name)

    def _close(self, pause: Pause, at: int, number: int, owner: str) -> None:
        if resumed := self.groups[pause.group].resumed:
            resumed.pop(pause.partition, None)
        if at <= pause.started_us:
            return
        pause.ended_us, pause.end_event, pause.owner_after, pause.is_open = at, number, owner, False
        if owner:
            brought = self.consumers[owner].holds.get(pause.partition, -1)
            pause.assigned_event = brought if brought > pause.start_event else -1
        self.pauses.append(pause)

    def _finish(self) -> None:
        """What is still open at the horizon is open, unless its owner was ready and nothing had
        arrived to be handed over.
        """
        for c in self.consumers.values():
            if c.callback and not c.is_worker and self.horizon_us - c.callback_us >= NOTICEABLE_US:
                for p in c.holds:
                    if c.group.taker.get(p) == c.name:
                        c.group.open[p] = Pause(
                            p,
                            c.group.name,
                            c.callback_us,
                            -1,
                            True,
                            PauseStart.CALLBACK,
                            c.name,
                            "",
                            c.callback_event,
                            -1,
                        )
        for group in self.groups.values():
            for p, pause in group.open.items():
                owner = group.owner.get(p, "")
                ready = group.ready.get(p)
                went = group.resumed.get(p)
                if went is not None and _is_kept(pause, owner):
                    c = self.consumers[owner]
                    if self._was_late(p, c.returned_us):
                        went = c.returned_us, c.returned_event
                    self._close(pause, *went, owner)
                elif (
                    ready
                    and owner
                    and ready[0] > pause.started_us
                    and self._arrivals(p, ready[0]) < 1.0
                ):
                    self._close(pause, ready[0], ready[1], owner)
                elif pause.started_us < self.horizon_us:
                    pause.ended_us = self.horizon_us
                    self.pauses.append(pause)

    def _was_late(self, p: Partition, ready_us: int) -> bool:
        """Did no record come for so long after its owner was back that the next one, whenever it is
        handed over, shows the owner to have been ready?
        """
        until = min(self.horizon_us, ready_us + PRODUCER_LATE_US)
        return ready_us >= 0 and self._arrivals(p, ready_us, until) < 1.0

    def _arrivals(self, p: Partition, since: int, until: int = -1) -> float:
        """How many records arrived since then, up to the horizon or another instant; many where the
        rate is unknown.
        """
        facts = self.trace.header.topics.get(p.topic)
        if facts is None or facts.rates is None:
            return 1.0
        arrivals = Arrivals(facts, p)
        return arrivals.count(self.horizon_us if until < 0 else until) - arrivals.count(since)

    # what the client did before it was entered into a callback
    def _sent(self, number: int, e: ev.RequestSent) -> None:
        if e.api == KafkaApi.OFFSET_COMMIT:
            c = self._consumer(e.consumer)
            # the first one after the notice: later ones are retries
            if c.committed_us < c.noticed_us or c.committed_us < 0:
                c.committed_us, c.committed_event = e.at_us, number

    def _noticed(self, number: int, e: ev.RejoinRequested | ev.RebalanceNoticed) -> None:
        c = self._consumer(e.consumer)
        if c.noticed_us <= c.joined_us:
            c.noticed_us, c.committed_us = e.at_us, -1

    def _joined(self, number: int, e: ev.GenerationJoined) -> None:
        c = self._consumer(e.consumer)
        c.joined_us = e.at_us

    def _member_state(self, number: int, e: ev.MemberStateChanged) -> None:
        if e.is_of_client and e.after == KafkaClientState.RECONCILING:
            c = self._consumer(e.consumer)
            c.noticed_us, c.committed_us = e.at_us, -1


def _is_kept(pause: Pause, owner: str) -> bool:
    """Whether its owner from before has it all the time, and knows where to go on."""
    return pause.owner_before == owner and not pause.path


def _ends_at_callback(trace: Trace) -> bool:
    """Whether pauses end when a listener has been given partitions, for want of anything better."""
    is_log = trace.header.is_of_logs
    return is_log and not any(type(e) is ev.RecordsDelivered for e in trace.events)


def _by_start(pause: Pause) -> tuple[int, str, Partition]:
    return pause.started_us, pause.group, pause.partition


_HANDLERS: dict[type, str] = {
    ev.CallbackBegan: "_callback_began",
    ev.CallbackEnded: "_callback_ended",
    ev.RecordsDelivered: "_delivered",
    ev.PositionFound: "_position",
    ev.ConsumerExited: "_exited",
    ev.CloseBegan: "_closing",
    ev.ConsumerFroze: "_froze",
    ev.HandlerStuck: "_stuck",
    se.ProcessingHeld: "_stuck",
    ev.LinkCut: "_cut",
    ev.PollExpired: "_poll_expired",
    ev.TopicChanged: "_topic_changed",
    ev.HandlerReturned: "_returned",
    se.ProcessingWentOn: "_returned",
    ev.ConsumerThawed: "_returned",
    ev.LinkHealed: "_returned",
    ev.RequestSent: "_sent",
    ev.RejoinRequested: "_noticed",
    ev.RebalanceNoticed: "_noticed",
    ev.GenerationJoined: "_joined",
    ev.MemberStateChanged: "_member_state",
    ev.ScriptActed: "_acted",
    TasksConfigured: "_tasks_configured",
}


def find_pauses(trace: Trace, horizon_us: int) -> list[Pause]:
    """Every pause of the trace before the horizon, sorted by beginning and partition; open ones
    end at the horizon so far.
    """
    return PauseFinder(trace, horizon_us).run()
