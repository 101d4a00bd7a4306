"""The question of the cooperative assignor, asked of stories in which the protocol changes on
the way.
"""

from __future__ import annotations

from rebalsim.analysis import analyse
from rebalsim.analysis.values import Answer
from rebalsim.domain.instants import SECOND
from rebalsim.scenario.load import load_scenario
from rebalsim.simulation.world import play


def in_use(name: str) -> Answer:
    """How the story's first variant answers it."""
    story = load_scenario(name)
    found = analyse(play(story.scenario(story.variants[0]))).answers
    return next(a for a in found if a.question == "cooperative-in-use")


def test_a_group_that_ends_under_the_consumer_protocol_has_no_assignor_to_ask_about() -> None:
    there = in_use("migration-whole-road")
    assert (
        there.is_yes is None
        and there.figures["consumer_protocol"] == 1
        and there.figures["since_us"] > 60 * SECOND
    )


def test_a_group_that_went_to_the_consumer_protocol_and_back_has_one_again() -> None:
    assert in_use("migration-to-consumer").is_yes is True
