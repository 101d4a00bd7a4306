"""Rates that change, as an application's tasks see them."""

from __future__ import annotations

from rebalsim.one_run import run_once
from rebalsim.scenario.load import story_of
from rebalsim.simulation.streams.arrivals import arrivals_of, stepped

MINUTE = 60_000_000


def test_what_came_is_counted_step_by_step() -> None:
    arrivals = arrivals_of([((0, 10.0), (MINUTE, 20.0))])
    assert arrivals.rate(0) == 10 and arrivals.rate(MINUTE) == 20
    assert arrivals.come(MINUTE) == 600 and arrivals.come(2 * MINUTE) == 1800


def test_several_topics_add_up() -> None:
    both = arrivals_of([((0, 10.0), (MINUTE, 0.0)), ((0, 1.0),)])
    assert both.come(2 * MINUTE) == 600 + 120


def test_a_ramp_brings_as_much_as_its_middle_does() -> None:
    steps = stepped([(0, 0.0, False), (MINUTE, 100.0, True)], 1.0)
    arrivals = arrivals_of([steps])
    assert abs(arrivals.come(MINUTE) - 3000) < 1 and arrivals.rate(2 * MINUTE) == 100


def test_a_store_that_grew_faster_takes_longer_to_restore() -> None:
    def restored(rate: str) -> float:
        text = f"""
topics: {{orders: {{partitions: 6, rate: {rate}}}}}
group:
  members: {{"app-{{n}}": {{count: 3}}}}
  config: {{session.timeout.ms: 10s}}
  streams: {{topology: [{{source: orders, store: 100MB}}]}}
script: [{{at: 10m, crash: app-0}}]
horizon: 20m
"""
        done = run_once(story_of(text.encode(), "story.yaml").check().scenario())
        return float(done.analysis.measure("restored_bytes"))

    steady, grows = restored("600/s"), restored("[{at: 0s, rate: 600/s}, {at: 5m, rate: 60000/s}]")
    assert grows > 3 * steady
