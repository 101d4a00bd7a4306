"""Quiet time costs nothing: a day of it takes no more events than ten minutes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rebalsim.domain.client import ClientConfig
from rebalsim.domain.consumer import Consumer, Handler
from rebalsim.domain.draws import constantly
from rebalsim.domain.instants import HOUR, MINUTE, SECOND
from rebalsim.domain.scenario import Group, RateStep, Scenario, Topic
from rebalsim.domain.script import Action, Scale
from rebalsim.quiet import Quiet
from rebalsim.simulation.world import World


def story(strategy: str, handler: Handler) -> Scenario:
    config = ClientConfig(partition_assignment_strategy=(strategy,))
    consumers = [
        Consumer(f"c{i}", "g", config=config, topics=("t",), handler=handler) for i in range(3)
    ]
    return Scenario(
        topics=(Topic("t", 4, (RateStep(0, 100.0),)),),
        groups=(Group("g", tuple(consumers[:2])),),
        script=(Action(Scale("g", 3, (consumers[2],)), at_us=60 * SECOND),),
    )


def events_of(scenario: Scenario) -> int:
    world = World(scenario, 1, is_wire=False, drive=None, quiet=Quiet())
    world.play()
    return world.engine.entries  # how many entries the queue ever had


@pytest.mark.parametrize("strategy", ["range", "cooperative-sticky"])
@pytest.mark.parametrize(
    "handler",
    [Handler(), Handler(constantly(300.0))],  # who waits for its own commits is played in full
)
def test_a_day_costs_no_more_events_than_ten_minutes(strategy: str, handler: Handler) -> None:
    short = replace(story(strategy, handler), horizon_us=10 * MINUTE)
    long = replace(short, horizon_us=24 * HOUR)
    assert events_of(long) == events_of(short) < 400


def test_the_tenfold_group_costs_no_more_than_twenty_times_as_much() -> None:
    config = ClientConfig(partition_assignment_strategy=("cooperative-sticky",))

    def crowd(size: int) -> Scenario:
        consumers = tuple(
            Consumer(f"c{i:03}", "g", config=config, topics=("t",)) for i in range(size + 1)
        )
        return Scenario(
            topics=(Topic("t", 200, (RateStep(0, 100.0),)),),
            groups=(Group("g", consumers[:-1]),),
            script=(Action(Scale("g", size + 1, consumers[-1:]), at_us=60 * SECOND),),
            horizon_us=5 * MINUTE,
        )

    assert events_of(crowd(100)) < 20 * events_of(crowd(10))
