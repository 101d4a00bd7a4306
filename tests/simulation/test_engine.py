"""The clock: it goes on, and says so where it cannot."""

from __future__ import annotations

import pytest

from rebalsim.domain.errors import BugError
from rebalsim.simulation.engine import SCRIPT, Engine


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
