"""A client that skips quiet time and plays the last of it by itself: what repeats is left out, and
it goes on from an instant at which nothing hangs on what was before.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from rebalsim.simulation.engine import NEVER
from rebalsim.simulation.shares import Fetch


class Playing:
    """Quiet time of one client since it began."""

    __slots__ = ("client", "engine", "since_us", "wakes_us")
    makes_up_for_refreshes = False  # of metadata: each ends it

    def __init__(self, client: Any) -> None:
        self.client = client
        self.engine = client.engine
        self.since_us = client.engine.now
        self.wakes_us = NEVER  # it goes on then at the latest

    @property
    def beats(self) -> bool:
        """Does it beat in this quiet time?"""
        return self.wakes_us >= NEVER

    @property
    def wakes_in_time(self) -> bool:
        """Does it wake before anything of it reaches the coordinator but commits, which are taken
        as ever? Then that may be as busy as it likes meanwhile.
        """
        return self.wakes_us < NEVER

    def is_thinkable(self) -> bool:
        """Can such a client skip at all, as its settings and its records are?"""
        return True

    def is_possible(self) -> bool:
        """Will nothing but repetitions happen, as far as one can see?"""
        return True

    def is_worth_it(self) -> bool:
        """Is there enough to leave out?"""
        raise NotImplementedError

    def may_be_writing(self) -> bool:
        """May a commit of the application's own be under way at this instant?"""
        raise NotImplementedError

    @property
    def commits_each(self) -> bool:
        """Does the application commit with each batch?"""
        return bool(self.client.spec.handler.commit.is_of_the_application)

    def begin(self) -> None:
        """From now on the client is left alone."""
        client = self.client
        client.skipped = self
        client.fall_silent()
        if self.commits_each:
            client.host.silent_writers[client.rank] = client
        if self.wakes_us < NEVER:
            self.engine.at(self.wakes_us, client.rank, self._wake)

    def _wake(self, _: Any) -> None:
        if self.client.skipped is self:
            self.client.touch()

    def go_on(self) -> None:
        """The client goes on, as late before the instant that is asked for as it can."""
        raise NotImplementedError

    def end(self) -> None:
        """All up to now, for somebody wants something of it."""
        client, engine = self.client, self.engine
        playing: Playing | None = self
        told_before = len(client.world.events)
        with engine.apart(self.since_us):
            while playing is not None:
                client.skipped = None
                client.host.silent_writers.pop(client.rank, None)
                playing.go_on()
                playing = playing.play_on()
        client.quiet.compared.pop(client.rank, None)
        _put_in_order(client.world.events, told_before)

    def play_on(self) -> Playing | None:
        """It is played up to now, or until it may skip again: as that says then."""
        while self.engine.step_apart():
            if self.client.skipped is not None:
                again: Playing = self.client.skipped
                return again
        return None


def park_anew(client: Any, before: Any, at_us: int) -> None:
    """A Fetch like this one comes to its broker now, and waits there for records."""
    feed = client.feed
    shares = [share for share, _ in before.asked]
    fetch = Fetch(before.broker, client.life, feed.in_session(before.broker, shares))
    fetch.firsts = [share for share in shares if share.is_new]
    fetch.arrives_us = fetch.parked_us = at_us
    feed.flying[fetch.broker] = fetch
    feed.expect(fetch, at_us)
    client.link(fetch.broker).busy_us = fetch.leaves_us + client.machine.service_us
    feed.park(fetch)


def _put_in_order(events: list[Any], told_before: int) -> None:
    """What was told of the past belongs before what others have told since."""
    if not 0 < told_before < len(events):
        return
    first_us = events[told_before].at_us
    place = bisect_right(events, first_us, 0, told_before, key=_instant)
    events[place:] = sorted(events[place:], key=_instant)


def _instant(event: Any) -> int:
    return int(event.at_us)
