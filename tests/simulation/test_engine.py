"""The clock: it goes on, and says so where it cannot."""

from __future__ import annotations

import pytest

from rebalsim.domain.errors import BugError
from rebalsim.simulation.engine import SCRIPT, Engine
from rebalsim.simulation.work_limit import TooMuchWork, at_most


def test_a_run_that_does_not_get_past_an_instant_is_ended_and_told_instead_of_going_on_for_ever() -> (
    None
):
    engine = Engine()

    def again(_: None) -> None:
        engine.at(engine.now, SCRIPT, again)

    engine.at(7, SCRIPT, again)
    with pytest.raises(BugError, match="time is still at 7 µs"):
        engine.run_to(1_000, most_at_once=100)


def test_many_events_in_little_time_are_no_such_run() -> None:
    engine = Engine()
    seen: list[int] = []
    for at_us in range(500):
        engine.at(at_us, SCRIPT, seen.append, at_us)
    engine.run_to(1_000, most_at_once=100)
    assert seen == list(range(500)) and engine.now == 1_000


def test_work_that_is_not_allowed_is_given_up() -> None:
    def ticks(_: object = None) -> None:
        engine.at(engine.now + 1, SCRIPT, ticks)

    engine = Engine()
    engine.at(0, SCRIPT, ticks)
    with pytest.raises(TooMuchWork), at_most(50_000):
        engine.run_to(10_000_000)
    assert 50_000 <= engine.now <= 60_000
    engine.run_to(engine.now + 10)  # nothing is forbidden any more
