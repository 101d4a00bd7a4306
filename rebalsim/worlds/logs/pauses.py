"""Each partition's pauses: from the moment its owner could no longer deliver to the moment a listener
has been given it again, with the rebalance that took it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rebalsim.worlds.logs.facts import CALLS, FactKind
from rebalsim.worlds.logs.rounds import Round
from rebalsim.worlds.logs.stops import Stop, StopKind
from rebalsim.worlds.logs.triggers import TriggerKind
from rebalsim.worlds.logs.voices import OF_JAVA, Voice

MOST_BEFORE_US = 30_000_000
MOST_LATE_US = 250_000
TIMEOUTS = (TriggerKind.SESSION_TIMEOUT, TriggerKind.POLL_TIMEOUT, TriggerKind.REBALANCE_TIMEOUT)
VoiceOf = Callable[[str], "Voice | None"]


@dataclass(slots=True)
class Pause:
    """`how` is what its listener was called for, or a stop; `end_us` is −1 while it lasts."""

    partition: str
    start_us: int
    how: str
    owner: Voice
    noticed_us: int = -1
    end_us: int = -1
    to: Voice | None = None
    kind: str = ""
    member: str = ""
    generations: tuple[int, ...] = ()


@dataclass(slots=True)
class _Change:
    at_us: int
    order: int
    what: str
    voice: Voice
    partitions: tuple[str, ...] = ()
    stop: Stop | None = None


def pauses_of(
    voices: Sequence[Voice], stops: Sequence[Stop], rounds: Sequence[Round], voice_of: VoiceOf
) -> list[Pause]:
    """All of a group's, ordered by their beginnings."""
    changes = _changes(voices, stops) + _strangers(voices, rounds)
    changes.sort(key=lambda c: (c.at_us, c.order))
    found = _Book().play(changes)
    in_order = sorted(rounds, key=_begin)
    for pause in found:
        _attribute(pause, in_order, voice_of)
    return sorted(found, key=lambda p: (p.start_us, p.partition))


def _changes(voices: Sequence[Voice], stops: Sequence[Stop]) -> list[_Change]:
    changes = [_Change(s.at_us, 0, "stop", s.voice, stop=s) for s in stops]
    for voice in voices:
        changes += [
            _Change(_entered(voice, n), 1, f.what, voice, f.partitions)
            for n, f in enumerate(voice.facts)
            if f.what in CALLS
        ]
    return changes


def _strangers(voices: Sequence[Voice], rounds: Sequence[Round]) -> list[_Change]:
    """What the leader's plans give to members of whom no log is at hand: theirs from then on."""
    known = {i for v in voices for i in v.ids}
    ends = {r.generation: r.end_us for r in rounds if r.end_us >= 0}
    return [
        _Change(max(f.at_us, ends.get(f.generation, 0)), 2, "given away", voice, partitions)
        for voice in voices
        for f in voice.facts
        if f.what == FactKind.PLANNED and f.plan
        for member, partitions in f.plan.items()
        if member not in known
    ]


def _entered(voice: Voice, place: int) -> int:
    """When a listener was entered: at its line, as Java's client does; of others between it and the next
    JoinGroup, where these are apart (an event loop that has other things to do).
    """
    facts = voice.facts
    f = facts[place]
    if voice.dialect in OF_JAVA:
        return f.at_us
    following = facts[place + 1] if place + 1 < len(facts) else None
    if f.what == FactKind.ASSIGNED or following is None or following.what != FactKind.ASKING:
        return f.at_us
    return f.at_us + min(following.at_us - f.at_us, MOST_LATE_US) // 2


class _Book:
    """Who holds what, and what stands still since when."""

    def __init__(self) -> None:
        self.held: dict[int, dict[str, int]] = {}
        self.had: set[tuple[int, str]] = set()  # and who ever held what
        self.open: dict[str, Pause] = {}
        self.done: list[Pause] = []

    def play(self, changes: Sequence[_Change]) -> list[Pause]:
        for change in changes:
            if change.what == "stop":
                self._stop(change)
            elif change.what == "given away":
                self._given_away(change)
            elif change.what == "assigned":
                self._assigned(change)
            else:
                self._given_up(change)
        return [*self.done, *self.open.values()]

    def _stop(self, change: _Change) -> None:
        stop = change.stop
        assert stop is not None
        mine = self.held.setdefault(id(change.voice), {})
        for partition in list(mine):
            self._begin(partition, change, stop.how, stop.noticed_us)
            if not stop.holds_on:
                del mine[partition]

    def _begin(self, partition: str, change: _Change, how: str, noticed_us: int) -> None:
        if partition not in self.open:
            pause = Pause(partition, change.at_us, how, change.voice, noticed_us)
            self.open[partition] = pause

    def _assigned(self, change: _Change) -> None:
        for partition in change.partitions:
            for held in self.held.values():
                held.pop(partition, None)
            self.held.setdefault(id(change.voice), {})[partition] = change.at_us
            self.had.add((id(change.voice), partition))
            pause = self.open.pop(partition, None)
            if pause is not None:
                pause.end_us, pause.to = change.at_us, change.voice
                self.done.append(pause)

    def _given_away(self, change: _Change) -> None:
        for partition in change.partitions:
            for held in self.held.values():
                held.pop(partition, None)
            if (pause := self.open.pop(partition, None)) is not None:
                pause.end_us = change.at_us
                self.done.append(pause)

    def _given_up(self, change: _Change) -> None:
        mine = self.held.setdefault(id(change.voice), {})
        for partition in change.partitions:
            if mine.pop(partition, None) is not None or self._had_it_unheard(partition, change):
                self._begin(partition, change, change.what, change.at_us)

    def _had_it_unheard(self, partition: str, change: _Change) -> bool:
        """It gives up what no line has given it: the first half of its log is missing. What another had
        given up before was its meanwhile, and stands still no longer than until now.
        """
        had = (id(change.voice), partition)
        if change.what != FactKind.REVOKED or had in self.had:
            return False
        if any(partition in held for held in self.held.values()):
            return False
        if (pause := self.open.pop(partition, None)) is not None:
            pause.end_us, pause.to = change.at_us, change.voice
            self.done.append(pause)
        self.had.add(had)
        return True


def _attribute(pause: Pause, rounds: Sequence[Round], voice_of: VoiceOf) -> None:
    """The rebalance that took it: the earliest that is not over when the pause begins."""
    end = pause.end_us if pause.end_us >= 0 else 1 << 62
    first = bisect_left(rounds, pause.start_us - MOST_BEFORE_US, key=_begin)
    until = bisect_right(rounds, end, first, key=_begin)
    fitting = [r for r in rounds[first:until] if _over(r) >= pause.start_us - 3_000]
    if not fitting:
        again = pause.to is pause.owner and pause.how in (
            FactKind.REVOKED,
            StopKind.KILLED,
            StopKind.DIED,
        )
        pause.kind = TriggerKind.STATIC_RESTART if again else TriggerKind.UNKNOWN
        pause.member = pause.owner.id_at(pause.start_us)
        return
    taken_by = fitting[0]
    trigger = taken_by.root or taken_by.trigger
    if isinstance(pause.how, StopKind):
        own = [
            r
            for r in fitting
            if r.trigger.kind in TIMEOUTS and voice_of(r.trigger.member) is pause.owner
        ]
        if own:
            taken_by, trigger = own[0], own[0].trigger
    pause.kind, pause.member = trigger.kind, trigger.member
    pause.generations = tuple(r.generation for r in fitting if r.begin_us >= taken_by.begin_us)


def _begin(r: Round) -> int:
    return r.begin_us


def _over(r: Round) -> int:
    if r.end_us >= 0:
        return r.end_us
    return r.over_us if r.over_us >= 0 else 1 << 62
