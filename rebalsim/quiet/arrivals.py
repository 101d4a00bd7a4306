"""Where in quiet time nothing hangs on what was before, for a client whose rounds differ: other
records take other times, messages other ways, topics come at other rates.

Each arrival of records sets off a round. How long that keeps the client at most is known, so it is
known before which arrivals it certainly waits with nothing to do, however things went. From one of
these on it is played; where every broker has been heard meanwhile it stands as if all had been.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from rebalsim.domain.draws import Draw, mean_of
from rebalsim.simulation.record_costs import RecordCosts

LOOKED_AT = 8  # so many of the last rounds are looked at one by one, if these are enough


class Polls(NamedTuple):
    """How poll() goes on while a client waits: it is over each time without records, and looks away
    for a moment where it begins anew. What lands then is found later, by which the next poll()
    begins later, and so on from round to round.
    """

    period_us: int
    away_us: int  # so long it may not see what lands, and may begin later than reckoned
    soonest_us: int  # so long records are under way at least …
    lands_us: int  # … and at most, to who waits for them

    def may_miss(self, first_us: float, last_us: float, at_us: int) -> bool:
        """Does one begin where records land that come at this instant, if the first began between
        these two?
        """
        lands = at_us + self.lands_us
        times = int((lands - first_us) // self.period_us)
        return times > 0 and last_us + times * self.period_us + self.away_us >= at_us


@dataclass(frozen=True, slots=True)
class Kind:
    """Partitions whose records come at the very same instants."""

    flow: Any
    spacing_us: float
    brokers: frozenset[int]
    always_us: float  # so long a round keeps the client at most, …
    drawn: tuple[tuple[RecordCosts, Draw], ...]  # … and what is drawn for each record adds
    handled_us: float  # of what it always takes, so much is the application's own work
    polls: Polls | None = None  # None where a poll() that begins sees at once what is there

    @property
    def waits_most_us(self) -> float:
        """So long a client that rests before each round waits for the next at most."""
        return self.spacing_us + self.always_us - self.handled_us

    def handled(self, takes_us: float) -> float:
        """Of a round that takes so long at most, the application's own work."""
        return self.handled_us + takes_us - self.always_us

    @property
    def share(self) -> float:
        """Of the time, so much it keeps the client about."""
        means = sum([mean_of(draw) for _, draw in self.drawn])
        return (self.always_us + means) / self.spacing_us

    def takes_us(self, first: int, count: int = 1) -> list[float]:
        """So long the rounds from this record number on keep it at most."""
        always = self.always_us
        if not self.drawn:
            return [always] * count
        costs = [costs.each(draw, first, count) for costs, draw in self.drawn]
        return [always + sum(each) for each in zip(*costs, strict=True)]


@dataclass(slots=True)
class Arrival:
    """Records that come at one instant."""

    at_us: int
    kinds: tuple[int, ...]
    finds_rest: bool  # is all that came before certainly done with, and is this one seen at once?


def beginning_before(kinds: list[Kind], since_us: int, until_us: int) -> int | None:
    """The latest instant before the second one from which on everything can be played as if it
    had been played since the first one, at which the client rested; None if there is none.
    """
    late, owed = _owed(kinds, since_us, until_us)
    found = _beginning(kinds, arrivals_between(kinds, late, until_us, owed))
    if found is None and late > since_us:
        return _beginning(kinds, arrivals_between(kinds, since_us, until_us))
    return found


def _owed(kinds: list[Kind], since_us: int, until_us: int) -> tuple[int, float]:
    """An instant shortly before the end, and how much work may be left there at most."""
    late = until_us - int(LOOKED_AT * max([kind.spacing_us for kind in kinds]))
    if late <= since_us:
        return since_us, 0.0
    if not any(kind.drawn for kind in kinds):
        share = sum([kind.always_us / kind.spacing_us for kind in kinds])
        # of whatever comes evenly there is never more than a round of each kind ahead
        return (late, sum([kind.always_us for kind in kinds])) if share <= 1 else (since_us, 0.0)
    if len(kinds) > 1:
        return since_us, 0.0
    (kind,) = kinds
    first, last = kind.flow.count(since_us), kind.flow.count(late)
    owed, spacing = 0.0, int(kind.spacing_us)
    for takes in kind.takes_us(first, last - first):
        owed += takes - spacing
        if owed < 0.0:
            owed = 0.0
    return late, owed + spacing


def arrivals_between(
    kinds: list[Kind], since_us: int, until_us: int, owed_us: float = 0.0
) -> list[Arrival]:
    """All after the one instant and before the other. At the first of these so much work is left
    at most; since when the client polls there is not known.
    """
    found: list[Arrival] = []
    free = since_us + owed_us
    polled: float | None = None
    for at, came in _coming(kinds, since_us, until_us):
        polls = [known for place, _ in came if (known := kinds[place].polls) is not None]
        is_seen = not polls or (
            polled is not None and not any(each.may_miss(polled, free, at) for each in polls)
        )
        found.append(Arrival(at, tuple([place for place, _ in came]), free <= at and is_seen))
        free = max(free, at) + sum([takes for _, takes in came])
        soonest = min([each.soonest_us for each in polls], default=0)
        polled = at + soonest + sum([kinds[place].handled(takes) for place, takes in came])
    return found


def rests_at(kinds: list[Kind], since_us: int, at_us: int) -> bool:
    """Does the client certainly rest at this instant, if it did at the first one?"""
    late, owed = _owed(kinds, since_us, at_us)
    free = late + owed
    for at, came in _coming(kinds, late, at_us + 1):
        free = max(free, at) + sum([takes for _, takes in came])
    return free <= at_us


Came = tuple[tuple[int, float], ...]  # the kinds that came at one instant, and what each takes


def _coming(kinds: list[Kind], since_us: int, until_us: int) -> list[tuple[int, Came]]:
    coming: dict[int, Came] = {}
    for place, kind in enumerate(kinds):
        first, last = kind.flow.count(since_us), kind.flow.count(until_us - 1)
        for number, takes in enumerate(kind.takes_us(first, last - first), first):
            at = kind.flow.when(number)
            coming[at] = (*coming.get(at, ()), (place, takes))
    return sorted(coming.items())


def _beginning(kinds: list[Kind], arrivals: list[Arrival]) -> int | None:
    """The latest arrival at which the client rests, and again at a later one before which it heard
    from every broker, and, of any two kinds that one broker has, from just one of them.
    """
    last = len(arrivals) - 1
    while last >= 0 and not arrivals[last].finds_rest:
        last -= 1
    unheard = set[int]().union(*[kind.brokers for kind in kinds])
    pairs = [
        (one, other)
        for one in range(len(kinds))
        for other in range(one)
        if kinds[one].brokers & kinds[other].brokers
    ]
    for arrival in reversed(arrivals[: max(0, last)]):
        for place in arrival.kinds:
            unheard -= kinds[place].brokers
        if arrival.finds_rest:
            came = arrival.kinds
            pairs = [(one, other) for one, other in pairs if (one in came) == (other in came)]
            if not unheard and not pairs:
                return arrival.at_us
    return None
