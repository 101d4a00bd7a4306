"""A group's rebalances out of its coordinator's lines: classic generations and group epochs."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rebalsim.worlds.logs.facts import Fact, FactKind
from rebalsim.worlds.logs.triggers import Trigger, TriggerKind, trigger_of

CAUSE_LASTS_US = 1_500_000  # a bump's cause is printed at most so long before it
_CAUSES = {
    FactKind.ADDED: TriggerKind.JOIN,
    FactKind.REPLACED: TriggerKind.STATIC_REJOIN,
    FactKind.LEFT: TriggerKind.LEAVE,
    FactKind.FAILED: TriggerKind.SESSION_TIMEOUT,
    FactKind.STUCK: TriggerKind.REBALANCE_TIMEOUT,
    FactKind.RESUBSCRIBED: TriggerKind.SUBSCRIPTION,
    FactKind.CONVERTED: TriggerKind.CONVERT,
}


@dataclass(slots=True)
class Round:
    """One rebalance; times are the reference's, −1 where no line tells."""

    group: str
    generation: int
    begin_us: int
    trigger: Trigger
    joined_us: int = -1
    end_us: int = -1
    over_us: int = -1  # where it was overtaken by the next
    members: int = -1
    leader: str = ""
    reason: str = ""
    is_epoch: bool = False
    is_empty: bool = False
    late_member: str = ""
    late_us: int = -1
    late_how: str = ""  # joined | left | failed | removed | gave-up
    root: Trigger | None = None
    removed: list[str] = field(default_factory=list)
    is_guessed: bool = False  # from clients alone


def rounds_of(group: str, facts: Iterable[Fact]) -> list[Round]:
    """The group's rebalances, in order of their beginnings."""
    book = _Book(group)
    for fact in facts:
        handler = getattr(book, f"on_{fact.what.replace('-', '_')}", None)
        if handler is not None:
            handler(fact)
        if fact.what in _CAUSES:
            book.cause = fact
    return finished(book.rounds)


def finished(rounds: list[Round]) -> list[Round]:
    """Overtaken ones ended, follow-ups given their roots."""
    for this, following in itertools.pairwise(rounds):
        if this.end_us < 0:
            joined = this.joined_us
            this.over_us = (
                following.begin_us if joined < 0 else min(following.begin_us, joined + 500_000)
            )
    return rounds


def give_roots(rounds: Sequence[Round]) -> None:
    """Follow-ups begin in what began their chain."""
    former: Round | None = None
    for this in rounds:
        if this.trigger.kind == TriggerKind.FOLLOW_UP and former is not None:
            this.root = former.root or former.trigger
        former = this


class _Book:
    """The rebalances of one group as its lines come."""

    def __init__(self, group: str) -> None:
        self.group = group
        self.rounds: list[Round] = []
        self.left: list[Fact] = []
        self.cause: Fact | None = None
        self.replaced: dict[str, str] = {}  # a static member's new id, by its instance

    @property
    def now(self) -> Round | None:
        return self.rounds[-1] if self.rounds else None

    def on_left(self, f: Fact) -> None:
        self.left.append(f)
        now = self.now
        mine = now is not None and not now.is_epoch and now.trigger.member == f.member
        if (
            now is not None
            and mine
            and "poll timeout" in f.why
            and f.at_us < now.begin_us + 200_000
        ):
            now.trigger.kind = (
                TriggerKind.POLL_TIMEOUT
            )  # 3.x prints the leave behind the rebalance it caused

    def on_preparing(self, f: Fact) -> None:
        trigger = trigger_of(f.why, [x for x in self.left if f.at_us - x.at_us < 200_000])
        self.rounds.append(Round(self.group, f.generation + 1, f.at_us, trigger, reason=f.why))
        self.left = []

    def on_stabilized(self, f: Fact) -> None:
        now = self.now
        if now is None or now.is_epoch or (now.joined_us >= 0 and now.generation != f.generation):
            now = Round(self.group, f.generation, f.at_us, Trigger(TriggerKind.UNKNOWN))
            self.rounds.append(now)
        now.joined_us, now.members, now.generation = f.at_us, f.amount, f.generation

    def on_distributed(self, f: Fact) -> None:
        now = self.now
        if now is not None and now.generation == f.generation:
            now.end_us, now.leader = f.at_us, f.member

    def on_empty(self, f: Fact) -> None:
        now = self.now
        if now is not None and now.end_us < 0 and not now.is_epoch:
            now.end_us, now.is_empty, now.generation = f.at_us, True, f.generation
            return
        last = self.left[-1] if self.left else None
        poll = last is not None and "poll timeout" in last.why
        trigger = Trigger(
            TriggerKind.POLL_TIMEOUT if poll else TriggerKind.LEAVE, last.member if last else ""
        )
        self.left = []
        self.rounds.append(
            Round(self.group, f.generation, f.at_us, trigger, end_us=f.at_us, is_empty=True)
        )

    def on_removed(self, f: Fact) -> None:
        if self.now is not None:
            self.now.removed.append(f.member)

    def on_bumped(self, f: Fact) -> None:
        cause, self.cause = self.cause, None
        if cause is not None and f.at_us - cause.at_us <= CAUSE_LASTS_US:
            trigger = Trigger(_CAUSES[cause.what], cause.member)
            if cause.what == FactKind.LEFT and "poll timeout" in cause.why:
                trigger.kind = TriggerKind.POLL_TIMEOUT
        else:
            trigger = Trigger(TriggerKind.TOPIC_CHANGE)
        self.rounds.append(Round(self.group, f.generation, f.at_us, trigger, is_epoch=True))
