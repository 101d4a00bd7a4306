"""How a client of the consumer protocol skips that is busy most of the time, so that its rounds hang
on each other: what follows a state is learnt once, for each outcome of the chances that are asked.

A state is how the client stands at the beginning of a poll(): positions told from what has come,
instants from now. Its past is played by itself; each poll() that is played tells what follows the
state before it. From a state that is known the client is led on, poll by poll, by what was learnt,
by when records come and by the chances of each instant, and goes on from the last state that is
known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from rebalsim.quiet.being_at_rest import (
    asks_for_nothing,
    has_settled,
    is_heard,
    is_left_alone,
    next_told_us,
)
from rebalsim.quiet.recurrence import Recurring
from rebalsim.quiet.states import Places, State
from rebalsim.simulation.shares import FETCHING

OFTEN_US = 50_000  # records that come less often are waited for
WORTH_US = 300_000  # less is played
NEAR_US = 1_000  # so near to a beat the application's waits are cut short
MOST_STATES = 4_000

Ask = tuple[str, float, int, bool]  # of which chance, its odds, when after the beginning, what came


class Step(NamedTuple):
    """What followed a state once: under which chances and arrivals, and where that led."""

    asked: tuple[Ask, ...]
    comes: tuple[tuple[int, ...], ...]  # of each kind: when its records came, and the next one
    then: int
    takes_us: int
    polled_us: int | None  # when it was told last that it polls
    handed_us: int | None
    busy_until_us: int | None


class Mark(NamedTuple):
    """The beginning of a poll(), and how things stood then."""

    state: int
    at_us: int
    counts: tuple[int, ...]
    told: int
    polled_us: int
    handed_us: int
    busy_until_us: int


class Lessons:
    """What was learnt on one ground, by whichever client."""

    __slots__ = ("met", "places", "states", "steps")

    def __init__(self) -> None:
        self.states: list[State] = []
        self.places: dict[State, int] = {}
        self.steps: list[list[Step]] = []
        self.met = 0

    def place(self, state: State) -> int:
        """Its number; −1 where there are too many."""
        found = self.places.get(state, -1)
        if found < 0 and len(self.states) < MOST_STATES:
            found = self.places[state] = len(self.states)
            self.states.append(state)
            self.steps.append([])
        self.met += 1
        return found

    @property
    def is_hopeless(self) -> bool:
        """Are most of the states that are met new ones?"""
        return len(self.states) >= MOST_STATES and self.met < 2 * MOST_STATES

    def add(self, state: int, step: Step) -> None:
        known = self.steps[state]
        if step in known:
            return
        for place, other in enumerate(known):
            merged = _whatever_comes(step, other)
            if merged is not None:
                known[place] = merged
                return
        known.append(step)


class Learning(Recurring):
    """Quiet time of a client whose states are learnt."""

    __slots__ = ("_chances", "_comes", "_ground", "_last", "_lessons", "_places")

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        self._places = Places(client, self._kind_of)
        self._ground: tuple[Any, ...] = ()
        self._lessons = Lessons()
        self._comes: list[dict[int, int]] = []
        self._chances: dict[str, Callable[[int], float]] = {}  # whether each comes true, by instant
        self._last: Mark | None = None

    @property
    def is_hopeless(self) -> bool:
        return self._lessons.is_hopeless

    def _look_at_the_ground(self) -> None:
        """Rates change while a story runs: what was learnt before does not hold then."""
        ground = self._places.ground(self._kinds)
        if ground != self._ground:
            self._ground, self._last = ground, None
            self._lessons = self.client.quiet.lessons_on(ground)
        self._comes = [self.client.quiet.instants_of(flow) for flow in self._kinds]

    # ------------------------------------------------------------------------------ may it skip now?

    def is_thinkable(self) -> bool:
        """Is all that it does told by its state and by chances that are asked?"""
        client, now = self.client, self.engine.now
        return (
            not self.commits_each
            and client.slowness == 1.0
            and client.config.fetch_min_bytes <= 1  # so that no answer hangs on records far ahead
            and all(flow.next_after(now) - now < OFTEN_US for flow in self._kinds)
            and super().is_thinkable()
        )

    def is_possible(self) -> bool:
        client, feed = self.client, self.client.feed
        return bool(
            has_settled(client)
            and asks_for_nothing(client)
            and is_left_alone(client)
            and is_heard(client)
            and not feed.is_suspended
            and all(self._is_being_read(share) for share in self._kind_of)
            and self._reads_undisturbed()
            and self._asks_for_its_own()
        )

    def _is_being_read(self, share: Any) -> bool:
        return bool(
            share.state == FETCHING
            and share.broker >= 0
            and share.leased_us < 0
            and not (share.is_going or share.is_coming or share.is_new)
        )

    def is_worth_it(self) -> bool:
        return bool(next_told_us(self.client) - self.engine.now > WORTH_US)

    def may_be_writing(self) -> bool:
        return False

    def is_of(self, shares: Iterable[Any]) -> bool:
        """Their records come alike, too, as they did, and from the same brokers."""
        kinds, places = self._kinds, self._places
        return (
            set(self._kind_of) == set(shares)
            and all(share.flow.is_like(kinds[kind]) for share, kind in self._kind_of.items())
            and places.are_where_they_were
        )

    # -------------------------------------------------------------------------------------- going on

    def begin(self) -> None:
        self.since_us, self._rank = self.engine.now, self.engine.rank
        self.wakes_us = next_told_us(self.client) - 1
        self._last = None
        super().begin()

    def end(self) -> None:
        client = self.client
        client.quiet.plays_until(client, self.engine.now)  # so far nothing else is left out
        super().end()
        client.asked = self._last = None

    # -------------------------------------------------------------------------------------- learning

    def passes(self) -> None:
        self._look_at_the_ground()
        if self.is_hopeless:
            self.client.asked = self._last = None
            return
        counts = tuple([flow.count(self.engine.now) for flow in self._kinds])
        state = self._state(counts)
        here = self._mark(state, counts)
        if self._last is not None and state >= 0:
            self._learn(self._last, here)
        self._last = None
        if state >= 0:
            self._last, self.client.asked = self._lead_on(here), []

    def _state(self, counts: tuple[int, ...]) -> int:
        """Its number; −1 where something is under way that is no part of it."""
        client = self.client
        if client.calls or not self._asks_for_its_own() or not asks_for_nothing(client):
            return -1
        return self._lessons.place(self._places.state(self._kinds, counts))

    def _mark(self, state: int, counts: tuple[int, ...]) -> Mark:
        client = self.client
        return Mark(
            state,
            self.engine.now,
            counts,
            len(client.world.events),
            client.heartbeat.timers.polled_us,
            client.feed.handed_us,
            client.busy_until_us,
        )

    def _learn(self, last: Mark, here: Mark) -> None:
        if here.told != last.told:
            return

        def since(us: int, before_us: int) -> int | None:
            return us - last.at_us if us != before_us else None

        step = Step(
            tuple([(w, odds, at - last.at_us, found) for w, odds, at, found in self.client.asked]),
            tuple(
                [
                    tuple([flow.when(n) - last.at_us for n in range(first, then + 1)])
                    for flow, first, then in zip(self._kinds, last.counts, here.counts, strict=True)
                ]
            ),
            here.state,
            here.at_us - last.at_us,
            since(here.polled_us, last.polled_us),
            since(here.handed_us, last.handed_us),
            since(here.busy_until_us, last.busy_until_us),
        )
        self._lessons.add(last.state, step)

    # --------------------------------------------------------------------------------------- leading

    def _lead_on(self, here: Mark) -> Mark:
        """To the last state that is known before something else happens."""
        ends = min(self.engine.until_us - 1, next_told_us(self.client) - NEAR_US)
        state, at, counts = here.state, here.at_us, list(here.counts)
        polled, handed, busy = here.polled_us, here.handed_us, here.busy_until_us
        while (step := self._step_from(state, at, counts)) is not None:
            if at + step.takes_us > ends:
                break
            if step.polled_us is not None:
                polled = at + step.polled_us
            if step.handed_us is not None:
                handed = at + step.handed_us
            if step.busy_until_us is not None:
                busy = at + step.busy_until_us
            for kind, came in enumerate(step.comes):
                counts[kind] += len(came) - 1
            state, at = step.then, at + step.takes_us
        if at == here.at_us:
            return here
        there = Mark(state, at, tuple(counts), here.told, polled, handed, busy)
        self._leap_to(there)
        return there

    def _step_from(self, state: int, at_us: int, counts: list[int]) -> Step | None:
        for step in self._lessons.steps[state]:
            if self._is_so(step, at_us, counts):
                return step
        return None

    def _is_so(self, step: Step, at_us: int, counts: list[int]) -> bool:
        """Do records come at these instants, and do the chances have these outcomes? When the first
        record comes is told by the state.
        """
        for kind, came in enumerate(step.comes):
            if len(came) > 1:
                instants, number = self._comes[kind], counts[kind]
                for after_us in came[1:]:
                    number += 1
                    comes_us = instants.get(number)
                    if comes_us is None:
                        comes_us = instants[number] = self._kinds[kind].when(number)
                    if comes_us != at_us + after_us:
                        return False
        chance = self._chance
        return not step.asked or all(
            (chance(what)(at_us + after_us) < odds) is found
            for what, odds, after_us, found in step.asked
        )

    def _chance(self, what: str) -> Callable[[int], float]:
        found = self._chances.get(what)
        if found is None:
            found = self._chances[what] = self.client.stream(what).unit_at
        return found

    def _leap_to(self, there: Mark) -> None:
        client, state = self.client, self._lessons.states[there.state]
        self.engine.leap(there.at_us, client.rank + state.rank)
        self._places.put(state, there.counts)
        client.heartbeat.timers.polled_us = there.polled_us
        client.feed.handed_us, client.busy_until_us = there.handed_us, there.busy_until_us


def _whatever_comes(one: Step, other: Step) -> Step | None:
    """Both in one, where they differ in the outcome of one chance alone: nothing hangs on that."""
    if one._replace(asked=()) != other._replace(asked=()) or len(one.asked) != len(other.asked):
        return None
    apart = [n for n, ask in enumerate(one.asked) if ask != other.asked[n]]
    if len(apart) != 1 or one.asked[apart[0]][:3] != other.asked[apart[0]][:3]:
        return None
    return one._replace(asked=one.asked[: apart[0]] + one.asked[apart[0] + 1 :])
