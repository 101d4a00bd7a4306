"""Where between two heartbeats a script strikes: written times are round, and a heartbeat's are
too, so that it would always be the same place.

How long a rebalance waits until members hear of it is a matter of this place (uniform over the
heartbeat interval), and so another seed strikes at another one: it plays the whole script later
by its own share of the interval. The distances within the script stay as written, and nothing
moves that waits for a condition, since that has no written time.

What budgets and facts ask about goes with the script, so a seed that strikes later also plays on
until that has taken place.
"""

from __future__ import annotations

from dataclasses import replace

from rebalsim.domain.budget import Budget, Expectation
from rebalsim.domain.scenario import Scenario, everybody_in

_WHOLE = 1 << 64
# the golden ratio's fractional part in 64 bits: its multiples are spread evenly, however many are
# taken
_GOLDEN = 11_400_714_819_323_198_485


def shift_of(seed: int, within_us: int) -> int:
    """How much later than written this seed plays the script: seed 1 not at all, any run of
    seeds evenly spread over [0, within).
    """
    return ((seed - 1) * _GOLDEN % _WHOLE) * within_us >> 64


def longest_heartbeat(story: Scenario) -> int:
    """The longest interval at which anybody in the story sends heartbeats."""
    brokers_us = story.cluster.config.group_consumer_heartbeat_interval_us
    every = (
        brokers_us if one.config.uses_consumer_protocol else one.config.heartbeat_interval_us
        for one in everybody_in(story)
    )
    return max(every, default=0)


def room_of(story: Scenario) -> int:
    """How much later the script may begin with all of it still before the horizon; 0 where
    nothing in it has a time.
    """
    last = max(
        (a.at_us + (a.every_us or 0) * (a.times - 1) for a in story.script if a.has_moment),
        default=None,
    )
    return 0 if last is None else max(0, story.horizon_us - last)


def long_enough(story: Scenario, seed: int) -> Scenario:
    """The story as this seed plays it: so much longer that the last moment at which its file asks
    something, which goes with the script, still lies within it.
    """
    shift_us = shift_of(seed, story.shift_within_us)
    all_asked: tuple[Budget | Expectation, ...] = (*story.budgets, *story.expectations)
    moments = (at for one in all_asked for at in (one.from_us, one.until_us))
    end_us = max((at for at in moments if at and at <= story.horizon_us), default=0) + shift_us
    return replace(story, horizon_us=end_us) if shift_us and end_us > story.horizon_us else story
