"""A client that skips quiet time and plays the last of it by itself: what repeats is left out, and
it goes on from an instant at which nothing hangs on what was before.
"""

from __future__ import annotations

from typing import Any


class Playing:
    """Quiet time of one client since it began."""

    __slots__ = ("client", "engine", "since_us")

    beats = True

    def __init__(self, client: Any) -> None:
        self.client = client
        self.engine = client.engine
        self.since_us = client.engine.now

    def is_possible(self) -> bool:
        """Will nothing but repetitions happen, as far as one can see?"""
        raise NotImplementedError

    def is_worth_it(self) -> bool:
        """Is there enough to leave out?"""
        raise NotImplementedError

    def go_on(self) -> None:
        """The client goes on, as late before the instant that is asked for as it can."""
        raise NotImplementedError

    def end(self) -> None:
        """All up to now, for somebody wants something of it."""
        client, engine = self.client, self.engine
        playing: Playing | None = self
        with engine.apart(self.since_us):
            while playing is not None:
                client.skipped = None
                playing.go_on()
                playing = None
                while engine.step_apart():
                    if client.skipped is not None:
                        playing = client.skipped
                        break
