"""What a periodic commit of a client of the consumer protocol comes to, so that not each has to be
played.

About a commit there happen the rounds of the last records before it, perhaps a beat, and the commit
itself. Where each of these is over before the next begins, it does not matter how far they are
apart: what happens follows from their order, and from chance. So whoever plays them notes what was
asked of chance on the way, and what came of it in the end. Where chance says the same again in the
same order of events, the same comes of it.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

RECORDS, BEAT, COMMIT = "records", "beat", "commit"
CLEAR_US = 2_000  # what waits for less than a millisecond passes without waiting
CLEAR = -1  # in place of a gap that is wide enough, whatever it is
MOST_KINDS = 64  # so many are remembered of one order
Order = tuple[str, ...]  # which of these happens after which
Gaps = tuple[int, ...]  # how far each of them is from the next
Asked = tuple[str, float, int, bool]  # what, with which odds, at which instant, and the answer


class Question(NamedTuple):
    """What is asked of chance, and how long after which of the events."""

    what: str
    odds: float
    event: int
    after_us: int


class Outcome(NamedTuple):
    """What came of it in the end."""

    settled_us: tuple[int, ...]  # so long after it began each of the events was over
    next_us: int  # from when this commit was due until when the next one is


class Beats(NamedTuple):
    """Of the thread that sends them whatever the application does."""

    due_us: int
    period_us: int

    def next_from(self, at_us: int) -> int:
        """The first that is not before this instant."""
        return self.due_us + max(0, -((self.due_us - at_us) // self.period_us)) * self.period_us


class Commit(NamedTuple):
    """One that need not be played."""

    arrived_us: int  # the last record before it
    made_us: int
    next_us: int  # when the next one is due


@dataclass(slots=True)
class Fork:
    """Where chance decides, or the end of it all."""

    question: Question | None = None
    ways: dict[bool, Fork] = field(default_factory=dict)
    outcome: Outcome | None = None
    gaps: tuple[set[int], ...] = ()  # seen between one event and the next

    def learn(self, outcome: Outcome, gaps: Gaps) -> None:
        """This came of it, with the events so far apart."""
        if outcome != self.outcome:  # one may have met the next, which hid it
            self.outcome, self.gaps = outcome, tuple([{gap} for gap in gaps])
            return
        for seen, gap in zip(self.gaps, gaps, strict=True):
            seen.add(gap)

    def holds_for(self, gaps: Gaps) -> bool:
        """Is each event over before the next? Seen as far apart, or at different distances."""
        outcome = self.outcome
        return outcome is not None and all(
            gap in seen or (len(seen) > 1 and settled + CLEAR_US < gap)
            for settled, gap, seen in zip(outcome.settled_us, gaps, self.gaps, strict=False)
        )


@dataclass(slots=True)
class Note:
    """What happens about one commit, as it is played."""

    arrivals: list[int]
    due_us: int
    beat_us: int  # when the next beat leaves
    passed: list[int] = field(default_factory=list)  # instants at which anything happened
    asked: list[Asked] = field(default_factory=list)

    def events_up_to(self, at_us: int) -> list[tuple[int, str]]:
        """In their order."""
        events = [(arrival, RECORDS) for arrival in self.arrivals]
        events += [(self.due_us, COMMIT), (self.beat_us, BEAT)]
        return sorted([event for event in events if event[0] <= at_us])


class Foretold:
    """What is known of the commits of all clients that stand on the same ground."""

    __slots__ = ("_first", "ground", "note")

    def __init__(self, ground: tuple[Any, ...]) -> None:
        self.ground = ground
        self.note: Note | None = None  # of what is played just now
        # by the gaps at which one event is not clear of the next: what is known holds for these alone
        self._first: dict[Order, dict[Gaps, Fork]] = {}

    def begin(self, flow: Any, began_us: int, due_us: int, beat_us: int) -> Note:
        """From now on it is noted."""
        numbers = range(flow.count(began_us - 1), flow.count(due_us - 1))
        self.note = Note([flow.when(number) for number in numbers], due_us, beat_us)
        return self.note

    def end(self, flow: Any, now_us: int, next_us: int) -> None:
        """The commit leaves now."""
        note, self.note = self.note, None
        if note is None or flow.next_after(note.due_us - 1) <= now_us:
            return
        events = note.events_up_to(now_us)
        begins = [at_us for at_us, _ in events]
        if len(set(begins)) < len(begins):
            return
        settled = [0] * len(events)
        for at_us in note.passed:
            event = bisect_right(begins, at_us) - 1
            settled[event] = at_us - begins[event]
        settled[-1] = now_us - begins[-1]
        gaps = gaps_of(begins)
        fixed = tuple(
            [
                CLEAR if after + CLEAR_US < gap else gap
                for after, gap in zip(settled, gaps, strict=False)
            ]
        )
        known = self._first.setdefault(tuple([what for _, what in events]), {})
        if fixed not in known and len(known) == MOST_KINDS:
            return
        fork = known.setdefault(fixed, Fork())
        last = begins.index(note.arrivals[-1])  # a round begins anew, whatever was before
        for what, odds, at_us, answer in note.asked:
            event = bisect_right(begins, at_us) - 1
            if event < last or at_us == now_us:
                continue
            fork.question = Question(what, odds, event, at_us - begins[event])
            fork = fork.ways.setdefault(answer, Fork())
        fork.learn(Outcome(tuple(settled), next_us - note.due_us), gaps)

    def of(
        self, client: Any, flow: Any, rested_us: int, due_us: int, beats: Beats
    ) -> Commit | None:
        """The one that is due at this instant, where all is known of it."""
        last = flow.count(due_us - 1) - 1
        arrived, comes = flow.when(last), flow.when(last + 1)
        for order, known in self._first.items():
            began = flow.when(last + 1 - order.count(RECORDS))
            if began <= rested_us:
                continue
            numbers = range(last + 1 - order.count(RECORDS), last + 1)
            events = [(flow.when(number), RECORDS) for number in numbers]
            events.append((due_us, COMMIT))
            beat = beats.next_from(began)
            if BEAT in order:
                events.append((beat, BEAT))
                beat += beats.period_us
            events.sort()
            if tuple([what for _, what in events]) != order:
                continue
            begins = [at_us for at_us, _ in events]
            outcome = _outcome(client, known, begins)
            if outcome is not None:
                made = begins[-1] + outcome.settled_us[-1]
                if made < comes and made < beat:
                    return Commit(arrived, made, due_us + outcome.next_us)
        return None


def gaps_of(begins: list[int]) -> Gaps:
    """How far each event is from the next."""
    return tuple([after - before for before, after in pairwise(begins)])


def _outcome(client: Any, known: dict[Gaps, Fork], begins: list[int]) -> Outcome | None:
    """What comes of events that begin at these instants; None where nobody has been."""
    gaps = gaps_of(begins)
    for fixed, first in known.items():
        if all(want in (CLEAR, gap) for want, gap in zip(fixed, gaps, strict=True)):
            fork = _end_of(client, first, begins)
            if fork is not None and fork.holds_for(gaps):
                return fork.outcome
    return None


def _end_of(client: Any, fork: Fork, begins: list[int]) -> Fork | None:
    """Where chance leads."""
    while fork.question is not None:
        what, odds, event, after_us = fork.question
        found = fork.ways.get(client.stream(what).unit_at(begins[event] + after_us) < odds)
        if found is None:
            return None
        fork = found
    return fork


__all__ = ["Asked", "Beats", "Commit", "Foretold"]
