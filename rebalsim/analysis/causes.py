"""From a pause back to what set it off: the holder's own trouble, or the trigger of the round
that took the partition away; and from there to the action of the script, if one is to blame.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from rebalsim.analysis.connect_causes import (
    OF_ALL_WORKERS,
    OF_CLUSTERS,
    OF_CONNECTORS,
    OF_TASKS,
    ClusterCauses,
)
from rebalsim.analysis.consumer_doings import Doings
from rebalsim.analysis.index import NOTHING, Index
from rebalsim.analysis.rounds import NEVER
from rebalsim.analysis.values import Cause, Disturbance, Pause, Phase, Rebalance
from rebalsim.domain.callback import Callback
from rebalsim.domain.cause import CauseKind
from rebalsim.domain.doing import Doing
from rebalsim.domain.life_end import LifeEnd
from rebalsim.domain.pause_start import PauseStart
from rebalsim.domain.phase import PhaseKind
from rebalsim.domain.script import Poison
from rebalsim.domain.stuck_by import StuckBy
from rebalsim.domain.trigger import Trigger
from rebalsim.trace import events as ev
from rebalsim.trace.ledger import kind_at
from rebalsim.trace.streams_events import ProcessingHeld
from rebalsim.trace.trace import TraceHeader

OF_OWNER = {  # by why its holder's pause began
    PauseStart.KILLED: CauseKind.CRASHED,
    PauseStart.FATAL: CauseKind.FATAL,
    PauseStart.FROZE: CauseKind.FROZE,
    PauseStart.STUCK: CauseKind.STUCK,
    PauseStart.POLL_EXPIRED: CauseKind.POLL_INTERVAL_EXCEEDED,
    PauseStart.CUT: CauseKind.CUT_OFF,
    PauseStart.CALLBACK: CauseKind.CALLBACK,
    PauseStart.GROWN: CauseKind.TOPIC_CHANGED,
}
OF_TRIGGER = {
    Trigger.LEFT: CauseKind.LEFT,
    Trigger.POLL_EXPIRED: CauseKind.POLL_INTERVAL_EXCEEDED,
    Trigger.METADATA_CHANGED: CauseKind.TOPIC_CHANGED,
    Trigger.SUBSCRIPTION_CHANGED: CauseKind.SUBSCRIPTION_CHANGED,
    Trigger.COORDINATOR_MOVED: CauseKind.COORDINATOR_MOVED,
    Trigger.SESSION_EXPIRED: CauseKind.SESSION_EXPIRED,
    Trigger.ENFORCED: CauseKind.ENFORCED,
    Trigger.REJOINED: CauseKind.REJOINED,
    Trigger.LEADER_REJOINED: CauseKind.REJOINED,
}
_STUCK_BY: dict[str, CauseKind] = {
    StuckBy.COMMIT: CauseKind.COMMIT_UNANSWERED,
    StuckBy.PUNCTUATOR: CauseKind.PUNCTUATOR,
}
_DEEDS_OF = {
    CauseKind.STUCK: ("Hang", "Slow"),
    CauseKind.FROZE: ("Freeze",),
    CauseKind.CUT_OFF: ("Cut",),
    CauseKind.PUNCTUATOR: (),
}  # what can have come to that; of other causes, anything
OF_DOING = {
    Doing.DEAD: CauseKind.CRASHED,
    Doing.FROZEN: CauseKind.FROZE,
    Doing.CUT_OFF: CauseKind.CUT_OFF,
    Doing.STUCK: CauseKind.STUCK,
    Doing.AWAY: CauseKind.LEFT,
    Doing.CLOSING: CauseKind.LEFT,
}


class Causes:
    """Attributes pauses and disturbances."""

    def __init__(
        self, index: Index, header: TraceHeader, doings: Doings, disturbances: Sequence[Disturbance]
    ) -> None:
        self.index = index
        self.header = header
        self.doings = doings
        self.disturbances = disturbances
        self.actions: dict[str, list[int]] = {}  # by target, "" for those that have none
        for n in index.world:
            e = index.events[n]
            if type(e) is ev.ScriptActed:
                for target in dict.fromkeys(e.targets or ("",)):
                    self.actions.setdefault(target, []).append(n)
        self.topics_changed = [n for n in index.world if type(index.events[n]) is ev.TopicChanged]
        self.lives: dict[str, list[tuple[int, int, int]]] = {}
        self.clusters = ClusterCauses(index, header)

    def of(self, p: Pause, phases: tuple[Phase, ...], rounds: list[Rebalance]) -> Cause:
        """The cause of a pause."""
        first = rounds[0] if rounds else None
        kind, consumer, at = self._kind(p, phases, first)
        if kind is CauseKind.STUCK and self._was_not_ready(p):
            kind = CauseKind.NOT_READY
        disturbance = first.disturbance if first is not None else -1
        if p.why is PauseStart.CALLBACK and first is not None:
            _, blamed, since = self._of_disturbance(first)
            action = self.action_for(blamed, since, p.partition.topic)
        else:
            action = self._action_behind(p, kind, consumer, at)
        chain = [action] if action >= 0 else []
        if first is not None and p.why in (PauseStart.REVOKED, PauseStart.LOST):
            chain += first.evidence
        chain.append(p.start_event)
        chain += [n for phase in phases for n in phase.evidence]
        acted = self.index.events[action] if action >= 0 else None
        name = (acted.action or acted.text) if acted is not None else ""
        return Cause(
            kind,
            "" if kind in OF_ALL_WORKERS else consumer,  # the same story for whoever's
            name,
            disturbance,
            tuple(sorted(n for n in dict.fromkeys(chain) if n >= 0)),
        )

    def _action_behind(self, p: Pause, kind: CauseKind, consumer: str, at: int) -> int:
        """The number of the script's action that led to it; −1 if none did."""
        topic = p.partition.topic
        if kind == CauseKind.TOPIC_CHANGED:
            # who revokes before it joins does so before there is a round
            at = min(at, p.started_us)
            if p.why is not PauseStart.GROWN:
                topic = self.topic_changed_before(at) or topic
        poison = self._poison_of(p) if kind is CauseKind.STUCK else -1
        return poison if poison >= 0 else self.action_for(consumer, at, topic, kind)

    def _was_not_ready(self, p: Pause) -> bool:
        began = self.index.events[p.start_event] if p.start_event >= 0 else None
        return type(began) is ProcessingHeld

    def _poison_of(self, p: Pause) -> int:
        """The number of the action that put the record there on which the owner got stuck; −1 if
        it was no such record.
        """
        began = self.index.events[p.start_event] if p.start_event >= 0 else None
        if type(began) is not ev.HandlerStuck or began.why != StuckBy.POISON:
            return -1
        numbers = [
            n
            for partition in began.partitions
            for n in self.actions.get(str(partition), [])
            if self.index.events[n].kind == Poison.__name__
        ]
        return max((n for n in numbers if n <= p.start_event), default=-1)

    def _kind(
        self, p: Pause, phases: tuple[Phase, ...], first: Rebalance | None
    ) -> tuple[CauseKind, str, int]:
        """What it was, whose, and when it began."""
        told = self.clusters.of_task(p)
        if told is not None:
            return told
        if self._is_static_restart(p, phases):
            return CauseKind.STATIC_RESTART, p.owner_before, p.started_us
        if p.why is PauseStart.CLOSED and self._died_of_error(p):
            return CauseKind.FATAL, p.owner_before, p.started_us
        if p.why is PauseStart.CLOSED:
            has_left = not self._is_static(p.owner_before) and not any(
                phase.kind is PhaseKind.DETECTION for phase in phases
            )
            kind = CauseKind.LEFT if has_left else CauseKind.STOPPED
            return self.clusters.behind(kind, p.owner_before, p.started_us)
        began = self.index.events[p.start_event] if p.start_event >= 0 else None
        if p.why is PauseStart.STUCK and type(began) is ev.HandlerStuck and began.why in _STUCK_BY:
            return _STUCK_BY[began.why], p.owner_before, p.started_us
        if p.why in OF_OWNER:
            return OF_OWNER[p.why], p.owner_before, p.started_us
        if first is None:
            return CauseKind.REBALANCE, p.owner_before, p.started_us
        if first.is_formation:
            return CauseKind.START, "", -1
        return self._of_disturbance(first)

    def _is_static_restart(self, p: Pause, phases: tuple[Phase, ...]) -> bool:
        """A static member went, and came back to what it had."""
        return (
            p.why in (PauseStart.CLOSED, PauseStart.KILLED, PauseStart.FATAL)
            and any(phase.kind is PhaseKind.AWAY for phase in phases)
            and p.owner_after == p.owner_before
            and self._is_static(p.owner_before)
        )

    def _died_of_error(self, p: Pause) -> bool:
        """An application that an exception ends still closes its consumer."""
        numbers = self.index.by_consumer.get(p.owner_before, NOTHING)
        for n in self.index.since(numbers, p.started_us):
            if type(self.index.events[n]) is ev.ConsumerExited:
                return bool(self.index.events[n].how == LifeEnd.FATAL)
        return False

    def _of_disturbance(self, first: Rebalance) -> tuple[CauseKind, str, int]:
        if 0 <= first.disturbance < len(self.disturbances):
            d = self.disturbances[first.disturbance]
            return self.of_trigger(d.trigger, d.consumer, d.started_us)
        return self.of_trigger(first.trigger, first.trigger_consumer, first.prepared_us)

    def of_trigger(self, trigger: Trigger, consumer: str, at: int) -> tuple[CauseKind, str, int]:
        """What really set a disturbance off, who did it, and when: the cause behind a rebalance's
        trigger.
        """
        if OF_TRIGGER.get(trigger) is CauseKind.TOPIC_CHANGED:
            return (
                CauseKind.TOPIC_CHANGED,
                "",
                at,
            )  # whoever saw it first and joined again has nothing to do with it
        if trigger is Trigger.SESSION_EXPIRED and consumer:
            doing, since, _ = self.doings.at(consumer, at)
            kind = OF_DOING.get(doing, CauseKind.SESSION_EXPIRED)
            return (
                CauseKind.STOPPED if kind is CauseKind.LEFT and self._is_static(consumer) else kind,
                consumer,
                since if since >= 0 else at,
            )
        if trigger is Trigger.JOINED:
            life, was_member = self._life(consumer, at)
            kind = (
                CauseKind.RESTART
                if life > 1
                else CauseKind.REJOINED
                if was_member
                else CauseKind.SCALE_OUT
            )
            return self.clusters.behind(kind, consumer, at)
        kind = OF_TRIGGER.get(trigger, CauseKind.REBALANCE)
        return self.clusters.behind(kind, consumer, at)

    def _is_static(self, consumer: str) -> bool:
        facts = self.header.consumers.get(consumer)
        return facts is not None and facts.instance_id is not None

    def _life(self, consumer: str, at: int) -> tuple[int, bool]:
        """Which life of its process that was, and whether it had been a member in it before."""
        lives = self.lives.get(consumer)
        if lives is None:
            lives = self.lives[consumer] = self._lives(consumer)
        _, life, member_us = lives[max(0, bisect_left(lives, at, key=lambda life: life[0]) - 1)]
        return life, member_us < at

    def _lives(self, consumer: str) -> list[tuple[int, int, int]]:
        """When each began, its number, and when it first was given an assignment. The first may
        have begun before the trace.
        """
        events = self.index.events
        lives = [(-1, 1, NEVER)]
        for number in self.index.by_consumer.get(consumer, NOTHING):
            kind = kind_at(events, number)
            if kind is ev.ConsumerStarted:
                lives.append((events[number].at_us, events[number].life, NEVER))
            elif (
                kind is ev.CallbackBegan
                and lives[-1][2] == NEVER
                and events[number].callback == Callback.ASSIGNED
            ):
                lives[-1] = (lives[-1][0], lives[-1][1], events[number].at_us)
        return lives

    def topic_changed_before(self, at: int) -> str:
        """The topic that changed last up to that instant; empty if none did."""
        place = self.index.first_at(self.topics_changed, at + 1)
        return str(self.index.events[self.topics_changed[place - 1]].topic) if place else ""

    def action_for(self, consumer: str, at: int, topic: str, kind: CauseKind | None = None) -> int:
        """The number of the last action of the script, up to that instant, that targets the
        consumer (or its process, or the topic); −1 if none. Only of the deeds that can have come
        to that, where the kind of cause tells.
        """
        if kind in OF_CONNECTORS:
            return self.clusters.deed_on(consumer, at)
        if kind is CauseKind.TASK_FAILED:
            return self.clusters.deed_on(topic, at)
        if kind is CauseKind.COORDINATOR_LOST:
            return self.clusters.deed_on_the_way(consumer, at)
        if kind in OF_TASKS:
            return self._action_behind_task(consumer, at)
        deeds = _DEEDS_OF.get(kind) if kind is not None else None
        facts = self.header.consumers.get(consumer)
        process = facts.process if facts is not None else ""
        targets = [t for t in (consumer, process) if t] if consumer else [topic, ""]
        last, events = -1, self.index.events
        for target in targets:
            numbers = self.actions.get(target, [])
            until = self.index.first_at(numbers, at + 1)
            fitting = (
                n for n in reversed(numbers[:until]) if deeds is None or events[n].kind in deeds
            )
            last = max(last, next(fitting, -1))
        return last

    def action_of(self, d: Disturbance) -> int:
        """The number of the script's action that set a disturbance off; −1 if none did."""
        kind, consumer, at = self.of_trigger(d.trigger, d.consumer, d.started_us)
        if kind is CauseKind.REJOINED:
            behind = self._action_behind_delay(consumer, d.started_us)
            if behind >= 0:
                return behind
        topic = self.topic_changed_before(at) if kind is CauseKind.TOPIC_CHANGED else ""
        return self.action_for(consumer, at, topic, kind if kind in OF_CLUSTERS else None)

    def _action_behind_task(self, worker: str, at: int) -> int:
        """What set off what the sink's workers went through; −1 if that was no action."""
        behind, connector, _ = self.clusters.behind(CauseKind.REJOINED, worker, at)
        if behind is CauseKind.CONNECTOR_CHANGED:
            return self.clusters.deed_on(connector, at)
        d = self.clusters.round_before(worker, at, self.disturbances)
        if d is None:
            return -1
        kind, consumer, since = self.of_trigger(d.trigger, d.consumer, d.started_us)
        if kind is CauseKind.REJOINED:
            return self._action_behind_delay(worker, d.started_us)
        return self.action_for(consumer, since, "", kind)

    def _action_behind_delay(self, worker: str, at: int) -> int:
        """What had begun the delay that was over then; −1 if none was."""
        began = self.clusters.delay_that_ended(worker, at)
        return self._action_behind_task(worker, began) if began >= 0 else -1
