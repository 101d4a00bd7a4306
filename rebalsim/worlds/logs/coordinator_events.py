"""What a group's coordinator said, as events; for groups of which only clients speak, nothing."""

from __future__ import annotations

from collections.abc import Callable

from rebalsim.domain.kafka_states import KafkaGroupState, KafkaMemberState
from rebalsim.domain.membership import Arrival, Removal
from rebalsim.trace import events as ev
from rebalsim.trace.events import TraceEvent
from rebalsim.worlds.logs.adoption import stem_of
from rebalsim.worlds.logs.facts import Fact, FactKind
from rebalsim.worlds.logs.observation import GroupStory
from rebalsim.worlds.logs.rounds import Round
from rebalsim.worlds.logs.triggers import TriggerKind

# our kinds → the words of trace events
TRIGGERS = {
    TriggerKind.JOIN: "joined",
    TriggerKind.LEAVE: "left",
    TriggerKind.SESSION_TIMEOUT: "session-expired",
    TriggerKind.POLL_TIMEOUT: "poll-expired",
    TriggerKind.REBALANCE_TIMEOUT: "rebalance-timeout",
    TriggerKind.SUBSCRIPTION: "subscription-changed",
    TriggerKind.STATIC_REJOIN: "static-protocol-changed",
    TriggerKind.SYNC_TIMEOUT: "sync-expired",
    TriggerKind.COORDINATOR_LOAD: "coordinator-moved",
    TriggerKind.TOPIC_CHANGE: "metadata-changed",
    TriggerKind.FOLLOW_UP: "metadata-changed",
    TriggerKind.REJOIN: "metadata-changed",
}
REMOVED = {
    FactKind.LEFT: Removal.LEFT,
    FactKind.FAILED: Removal.SESSION_EXPIRED,
    FactKind.REMOVED: Removal.NOT_REJOINED,
    FactKind.STUCK: Removal.REBALANCE_TIMEOUT,
    FactKind.UNBORN: Removal.PENDING_EXPIRED,
}
Name = Callable[[str], str]


def coordinator_events(story: GroupStory) -> list[TraceEvent]:
    """Everything that the coordinator's lines tell of the group."""
    names = {i: v.name for v in story.voices for i in v.ids}
    by_instance = {v.instance: v.name for v in story.voices if v.instance}

    def name(member: str) -> str:
        if member in names:
            return names[member]
        stem = stem_of(member)
        return by_instance.get(stem, stem or member)

    told = _Told(story.name, name, {(r.generation, r.begin_us): r for r in story.rounds})
    for fact in story.coordinator:
        told.take(fact)
    if not story.coordinator:
        told.guessed(story.rounds)
    return told.out


class _Told:
    def __init__(self, group: str, name: Name, rounds: dict[tuple[int, int], Round]) -> None:
        self.group, self.name, self.rounds = group, name, rounds
        self.out: list[TraceEvent] = []
        self.state: str = KafkaGroupState.EMPTY

    def take(self, f: Fact) -> None:
        handler = getattr(self, f"on_{f.what}", None)
        if handler is not None:
            handler(f)
        elif f.what in REMOVED:
            who = self.name(f.member)
            self.out.append(ev.MemberRemoved(f.at_us, self.group, who, f.member, REMOVED[f.what]))

    def _goes(
        self, f: Fact, after: str, trigger: str = "", who: str = "", reason: str = ""
    ) -> None:
        self.out.append(
            ev.GroupStateChanged(
                f.at_us, self.group, self.state, after, f.generation, trigger, who, reason
            )
        )
        self.state = after

    def on_preparing(self, f: Fact) -> None:
        found = self.rounds.get((f.generation + 1, f.at_us))
        trigger, who = "", ""
        if found is not None:
            trigger = TRIGGERS.get(found.trigger.kind, "")
            who = self.name(found.trigger.member) if found.trigger.member else ""
            if "eader" in f.why and trigger == "metadata-changed":
                trigger = "leader-rejoined"
        self._goes(f, KafkaGroupState.PREPARING_REBALANCE, trigger, who, f.why)

    def on_stabilized(self, f: Fact) -> None:
        found = next((r for r in self.rounds.values() if r.joined_us == f.at_us), None)
        last = self.name(found.late_member) if found is not None and found.late_member else ""
        how = {"left": "removal", "failed": "removal", "removed": "timer"}
        by = how.get(found.late_how, "all-joined") if found is not None else "all-joined"
        kicked = tuple(self.name(m) for m in found.removed) if found is not None else ()
        self.out.append(
            ev.BarrierCompleted(f.at_us, self.group, f.generation, f.amount, by, last, kicked)
        )
        self._goes(f, KafkaGroupState.COMPLETING_REBALANCE)

    def on_distributed(self, f: Fact) -> None:
        self.out.append(ev.AssignmentStored(f.at_us, self.group, f.generation))
        self._goes(f, KafkaGroupState.STABLE)

    def on_empty(self, f: Fact) -> None:
        self._goes(f, KafkaGroupState.EMPTY)

    def on_born(self, f: Fact) -> None:
        self._added(f, Arrival.PENDING)

    def on_added(self, f: Fact) -> None:
        self._added(f, Arrival.STATIC if f.instance else Arrival.NEW)

    def on_replaced(self, f: Fact) -> None:
        if f.member:
            self._added(f, Arrival.REPLACEMENT)

    def _added(self, f: Fact, how: str) -> None:
        self.out.append(ev.MemberAdded(f.at_us, self.group, self.name(f.member), f.member, how))

    def on_bumped(self, f: Fact) -> None:
        found = self.rounds.get((f.generation, f.at_us))
        trigger = TRIGGERS.get(found.trigger.kind, "") if found is not None else ""
        who = found.trigger.member if found is not None else ""
        self.out.append(
            ev.EpochBumped(
                f.at_us, self.group, f.generation, trigger, self.name(who) if who else ""
            )
        )

    def on_computed(self, f: Fact) -> None:
        self.out.append(ev.AssignmentComputed(f.at_us, "", self.group, f.generation, f.why))

    def on_loaded(self, f: Fact) -> None:
        self.out.append(ev.CoordinatorMoved(f.at_us, self.group, int(f.client or -1), True))

    def on_reconciled(self, f: Fact) -> None:
        state = {
            "STABLE": KafkaMemberState.STABLE,
            "UNREVOKED_PARTITIONS": KafkaMemberState.UNREVOKED_PARTITIONS,
        }
        after = state.get(f.why, KafkaMemberState.UNRELEASED_PARTITIONS)
        self.out.append(
            ev.MemberStateChanged(f.at_us, self.group, self.name(f.member), "", after, f.generation)
        )

    def guessed(self, rounds: list[Round]) -> None:
        """Without a coordinator's log: its rebalances as the members lived through them."""
        for r in rounds:
            trigger = TRIGGERS.get(r.trigger.kind, "")
            who = self.name(r.trigger.member) if r.trigger.member else ""
            if r.is_epoch:
                bumped = ev.EpochBumped(r.begin_us, self.group, r.generation, trigger, who)
                self.out.append(bumped)
                continue
            begin = Fact(r.begin_us, FactKind.PREPARING, generation=r.generation - 1)
            self._goes(begin, KafkaGroupState.PREPARING_REBALANCE, trigger, who)
            if r.joined_us >= 0:
                self.on_stabilized(
                    Fact(
                        r.joined_us, FactKind.STABILIZED, generation=r.generation, amount=r.members
                    )
                )
            if r.end_us >= 0:
                end = Fact(
                    max(r.end_us, r.joined_us), FactKind.DISTRIBUTED, generation=r.generation
                )
                self.on_empty(end) if r.is_empty else self.on_distributed(end)
