"""The targets of a group under the consumer protocol: what calls for one, and from when on it is
under way.
"""

from functools import cache

from rebalsim.analysis import analyse
from rebalsim.domain.trigger import Trigger
from rebalsim.scenario.load import story_of
from rebalsim.simulation.world import play
from rebalsim.trace.trace import Trace

ALL_LEAVE_AND_OTHERS_COME = """\
topics: {orders: {partitions: 6, rate: 20/s}}
group:
  members: 2
  config: {group.protocol: consumer}
start: cold
script:
  - {at: 30s, leave: {members: all}}
  - {at: 300s, join: {count: 2}}
horizon: 6m
replay: as-written
"""


@cache
def all_leave_and_others_come() -> Trace:
    return play(story_of(ALL_LEAVE_AND_OTHERS_COME.encode(), "s").check().scenario("as-written"))


def test_a_target_is_under_way_from_when_it_is_called_for() -> None:
    """The second member's waits for the assignment interval, five seconds."""
    last = analyse(all_leave_and_others_come(), 3_000_000).disturbances[-1]
    assert last.is_open
    assert last.started_us < 1_000_000


def test_a_group_that_everybody_leaves_has_no_target_under_way() -> None:
    assert not any(
        d.is_open for d in analyse(all_leave_and_others_come(), 100_000_000).disturbances
    )


def test_who_comes_to_an_empty_group_calls_for_its_target_not_who_left_long_before() -> None:
    later = [d for d in analyse(all_leave_and_others_come()).disturbances if d.started_us > 20e6]
    assert {d.trigger for d in later} == {Trigger.JOINED}
    assert max(d.ended_us - d.started_us for d in later) < 15_000_000
