"""The rebalances of a group under the consumer protocol: its changed targets. Told by the
coordinator's events where the trace has them; else by the first sight of a higher epoch in any
member's answers, with the trigger that fits (a join, a leave, a session that must have run out,
growth).
"""

from __future__ import annotations

from rebalsim.analysis.index import Index
from rebalsim.analysis.values import Rebalance
from rebalsim.domain.callback import Callback
from rebalsim.domain.completion import Completion
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.kafka_states import ON_THEIR_WAY, KafkaClientState, KafkaGroupState
from rebalsim.domain.membership import Removal
from rebalsim.domain.trigger import Trigger
from rebalsim.trace import events as ev
from rebalsim.trace.trace import TraceHeader

# a commit does not, here
RENEWS_SESSION = frozenset(
    (KafkaApi.CONSUMER_HEARTBEAT, KafkaApi.HEARTBEAT, KafkaApi.JOIN, KafkaApi.SYNC)
)


class EpochFinder:
    """One pass over a group's events."""

    def __init__(self, index: Index, header: TraceHeader, group: str) -> None:
        self.index = index
        self.header = header
        self.group = group
        self.targets: list[Rebalance] = []
        # a simulation tells every bump; that it told none yet is no reason to guess
        self.is_told = header.is_simulated or any(
            type(index.events[n]) is ev.EpochBumped for n in index.by_group.get(group, ())
        )
        # at, trigger, consumer, event; not yet in a target
        self.bumps: list[tuple[int, str, str, int]] = []
        self.called_for = -1  # the epoch of the last of them
        self.removed: dict[str, tuple[int, int, str]] = {}
        self.heard: dict[str, int] = {}
        self.vanished: dict[str, tuple[int, int]] = {}
        # whose max.poll.interval.ms ran out, until it comes back
        self.overran: dict[str, None] = {}
        self.epoch = -1
        self.member_epoch: dict[str, int] = {}
        # members the coordinator knows, those that are away included
        self.registered: dict[str, None] = {}
        self.added_us: dict[str, int] = {}  # when each was last taken in
        self.busy: dict[str, None] = {}  # members that are reconciling, or not at the epoch

    def run(self) -> list[Rebalance]:
        """All changed targets, in order."""
        events = self.index.events
        handlers = {kind: getattr(self, name) for kind, name in _HANDLERS.items()}
        for number in sorted((*self.index.of_group(self.group), *self.index.world)):
            event = events[number]
            if (handler := handlers.get(type(event))) is not None:
                handler(number, event)
        self._unfinished()
        return self.targets

    def _unfinished(self) -> None:
        """A target that had been called for and was not computed yet at the horizon: the group is
        disturbed from the call on, whatever puts the computation off.
        """
        if self.is_told and self.bumps:
            at, trigger, who, _ = min(self.bumps)
            evidence = tuple(dict.fromkeys(b[3] for b in self.bumps))
            self.targets.append(
                Rebalance(
                    self.group,
                    self.called_for,
                    Trigger(trigger),
                    who,
                    prepared_us=at,
                    completed_by=Completion.COMPUTED,
                    is_cooperative=True,
                    evidence=evidence,
                    removed=self.removed,
                )
            )

    def _target(self, at: int, epoch: int, number: int) -> Rebalance:
        """A new target: everything that called for one since the last is its trigger, the first
        above all.
        """
        for consumer, (due, event) in list(self.vanished.items()):
            if due <= at:
                self.bumps.append((due, Trigger.SESSION_EXPIRED, consumer, event))
                self.registered.pop(consumer, None)
                del self.vanished[consumer]
        self.bumps.sort()
        prepared, trigger, who, event = self.bumps[0] if self.bumps else (at, "", "", number)
        if trigger == Trigger.METADATA_CHANGED and not self.is_told:
            prepared = at  # a heartbeat makes the broker look; the change itself wakes nobody
        kicked = tuple(c for _, t, c, _ in self.bumps if t == Trigger.SESSION_EXPIRED)
        evidence = tuple(dict.fromkeys((*(b[3] for b in self.bumps), number)))
        removed = {
            c: (at, n, t)
            for at, t, c, n in self.bumps
            if t in (Trigger.SESSION_EXPIRED, Trigger.LEFT, Trigger.POLL_EXPIRED)
        } | self.removed
        self.bumps, self.removed = [], {}
        self.epoch = epoch
        r = Rebalance(
            self.group,
            epoch,
            Trigger(trigger),
            who,
            prepared_us=prepared,
            barrier_us=at,
            completed_by=Completion.COMPUTED,
            last=who,
            kicked=kicked,
            is_cooperative=True,
            evidence=evidence,
            removed=removed,
            is_complete=True,
        )
        self.targets.append(r)
        return r

    # ---------------------------------------------------------------------- told by the coordinator

    def _bumped(self, number: int, e: ev.EpochBumped) -> None:
        self.bumps.append((e.at_us, e.trigger, e.consumer, number))
        self.called_for = e.epoch

    def _removed(self, number: int, e: ev.MemberRemoved) -> None:
        if e.why != Removal.REPLACED:
            self.removed[e.consumer] = (e.at_us, number, e.why)

    def _computed(self, number: int, e: ev.AssignmentComputed) -> None:
        if e.consumer:  # a classic group's leader computed it
            return
        r = self._target(e.at_us, e.generation, number)
        r.assignor, r.moved, r.least = e.assignor, e.moved, e.least

    def _barrier(self, number: int, e: ev.BarrierCompleted) -> None:
        """Still a classic group: whoever joined has been taken in, and calls for no target
        later.
        """
        self.bumps = []

    # -------------------------------------------------------------------------- told by the members

    def _sent(self, number: int, e: ev.RequestSent) -> None:
        if e.api in RENEWS_SESSION:
            if e.generation > 0:  # a leave with −2 does not renew the session
                self.heard[e.consumer] = e.at_us
                self.vanished.pop(e.consumer, None)
            if e.api == KafkaApi.CONSUMER_HEARTBEAT and e.generation in (-1, -2):
                self._left(number, e.at_us, e.consumer, is_for_good=e.generation == -1)

    def _received(self, number: int, e: ev.ResponseReceived) -> None:
        if e.api == KafkaApi.CONSUMER_HEARTBEAT and not e.error and e.generation > 0:
            self._seen(number, e.at_us, e.consumer, e.generation)

    def _seen(self, number: int, at: int, consumer: str, epoch: int) -> None:
        self.member_epoch[consumer] = epoch
        self.registered[consumer] = None
        if not self.is_told and epoch > self.epoch:
            self._target(at, epoch, number)
        self._note_reached(at)

    def _poll_expired(self, number: int, e: ev.PollExpired) -> None:
        self.overran[e.consumer] = None

    def _added(self, number: int, e: ev.MemberAdded) -> None:
        self.overran.pop(e.consumer, None)
        is_return = e.consumer in self.vanished and self._is_static(e.consumer)
        self.vanished.pop(e.consumer, None)
        if not self.is_told and not is_return:
            self.bumps.append((e.at_us, "joined", e.consumer, number))
        self.busy[e.consumer] = None
        self.added_us[e.consumer] = e.at_us

    def _left(self, number: int, at: int, consumer: str, is_for_good: bool) -> None:
        self.member_epoch.pop(consumer, None)
        self.busy.pop(consumer, None)
        if is_for_good and consumer in self.registered:
            del self.registered[consumer]
            if not self.is_told:
                self.bumps.append(
                    (
                        at,
                        Trigger.POLL_EXPIRED if consumer in self.overran else Trigger.LEFT,
                        consumer,
                        number,
                    )
                )
        elif not is_for_good and consumer not in self.vanished:
            self._vanish(number, at, consumer)

    def _vanish(self, number: int, at: int, consumer: str) -> None:
        facts = self.header.consumers.get(consumer)
        if (
            not self.is_told
            and facts is not None
            and facts.session_timeout_us >= 0
            and consumer in self.registered
        ):
            self.vanished[consumer] = (
                self.heard.get(consumer, at) + facts.session_timeout_us,
                number,
            )

    def _gone(self, number: int, e: ev.ConsumerExited | ev.ConsumerFroze) -> None:
        self._vanish(number, e.at_us, e.consumer)
        self.member_epoch.pop(e.consumer, None)
        self.busy.pop(e.consumer, None)

    def _state(self, number: int, e: ev.MemberStateChanged) -> None:
        if not e.is_of_client:
            return
        if e.after in ON_THEIR_WAY:
            self.busy[e.consumer] = None
            if e.after == KafkaClientState.RECONCILING and self.targets:
                self.targets[-1].notices.setdefault(e.consumer, (e.at_us, number))
        elif e.after == KafkaClientState.STABLE:
            self.busy.pop(e.consumer, None)
        elif e.after in (
            KafkaClientState.LEAVING,
            KafkaClientState.UNSUBSCRIBED,
            KafkaClientState.STALE,
            KafkaClientState.FENCED,
            KafkaClientState.FATAL,
        ):
            if e.after == KafkaClientState.LEAVING:
                self._left(number, e.at_us, e.consumer, is_for_good=not self._is_static(e.consumer))
            self.member_epoch.pop(e.consumer, None)
            self.busy.pop(e.consumer, None)
        if not self.is_told and e.epoch > self.epoch and e.after == KafkaClientState.RECONCILING:
            self._target(e.at_us, e.epoch, number)
        if e.after in (KafkaClientState.RECONCILING, KafkaClientState.STABLE) and e.epoch > 0:
            self.member_epoch[e.consumer] = max(e.epoch, self.member_epoch.get(e.consumer, 0))
        self._note_reached(e.at_us)

    def _group_state(self, number: int, e: ev.GroupStateChanged) -> None:
        if e.after == KafkaGroupState.EMPTY:  # nobody is left for whom a target would be computed
            self.bumps = []
        if e.after == KafkaGroupState.STABLE and self.targets and self.targets[-1].stable_us < 0:
            self.targets[-1].stable_us, self.targets[-1].members = e.at_us, len(self.member_epoch)

    def _is_static(self, consumer: str) -> bool:
        facts = self.header.consumers.get(consumer)
        return facts is not None and facts.instance_id is not None

    def _topic(self, number: int, e: ev.TopicChanged) -> None:
        if not self.is_told and self.registered:
            self.bumps.append((e.at_us, "metadata-changed", "", number))

    def _callback(self, number: int, e: ev.CallbackEnded) -> None:
        if not self.targets or e.callback != Callback.ASSIGNED:
            return
        r = self.targets[-1]
        # a member that came after the group was stable takes back what it had
        if r.stable_us < 0 or self.added_us.get(e.consumer, -1) <= r.stable_us:
            r.settled_us = max(r.settled_us, e.at_us)

    def _note_reached(self, at: int) -> None:
        """The target is reached once every member is at its epoch and reconciles nothing."""
        if self.targets and self.targets[-1].stable_us < 0 and not self.busy and self.member_epoch:
            r = self.targets[-1]
            if all(epoch >= r.generation for epoch in self.member_epoch.values()):
                r.stable_us, r.members = at, len(self.member_epoch)


_HANDLERS: dict[type, str] = {
    ev.BarrierCompleted: "_barrier",
    ev.EpochBumped: "_bumped",
    ev.AssignmentComputed: "_computed",
    ev.RequestSent: "_sent",
    ev.ResponseReceived: "_received",
    ev.MemberAdded: "_added",
    ev.ConsumerExited: "_gone",
    ev.ConsumerFroze: "_gone",
    ev.MemberStateChanged: "_state",
    ev.CallbackEnded: "_callback",
    ev.TopicChanged: "_topic",
    ev.GroupStateChanged: "_group_state",
    ev.PollExpired: "_poll_expired",
    ev.MemberRemoved: "_removed",
}
