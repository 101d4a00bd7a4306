"""Records that take longer than max.poll.interval.ms: the thread is thrown out before it is through,
and whoever gets its tasks meets the same records.
"""

from __future__ import annotations

from typing import Any

import pytest

from rebalsim.domain.scenario import Scenario
from rebalsim.one_run import run_once
from rebalsim.scenario.load import story_of
from rebalsim.simulation.streams.hosts import Host
from rebalsim.simulation.world import play
from rebalsim.trace import events as ev

STORY = """
topics: {{orders: {{partitions: 6, rate: {rate}}}}}
group:
  members: {{"app-{{n}}": {{count: {members}}}}}
  handler: {cost}
  config: {{max.poll.interval.ms: 2m{config}}}
  streams: {{topology: [orders]{streams}}}
script: [{script}]
horizon: 40m
"""
MINUTE = 60_000_000


def scenario(
    cost: str,
    rate: str = "60/h",
    members: int = 3,
    config: str = "",
    streams: str = "",
    script: str = "",
) -> Scenario:
    return story_of(STORY.format(**locals()).encode(), "slow.yaml").check().scenario()


def found(events: Any, kind: type) -> list[Any]:
    return [e for e in events if type(e) is kind]


def lag(done: Any, minute: int) -> float:
    book, group = done.analysis.lag_book, done.trace.header.consumers["app-0"].group
    return sum(book.at(group, p, minute * MINUTE) or 0.0 for _, p in book.corners)


def test_whoever_gets_the_record_is_thrown_out_in_turn() -> None:
    done = run_once(scenario("150s"))
    stuck = found(done.trace.events, ev.HandlerStuck)
    expired = found(done.trace.events, ev.PollExpired)
    assert {e.why for e in stuck} == {"slow"} and len({e.consumer for e in expired}) == 3
    assert all(e.at_us - e.last_poll_us == 2 * MINUTE + 1 for e in expired)
    # nothing is ever through: ten records an hour pile up in each of six partitions
    assert lag(done, 20) == pytest.approx(20, abs=6) and lag(done, 39) == pytest.approx(39, abs=6)


def test_what_comes_before_a_long_record_is_handled() -> None:
    """The first whole record comes after six minutes: until then nobody is stuck."""
    first = found(play(scenario("150s")).events, ev.HandlerStuck)[0]
    assert 6 * MINUTE <= first.at_us < 6 * MINUTE + 1_000_000


@pytest.mark.parametrize(("members", "is_thrown_out"), [(3, True), (6, False)])
def test_a_round_of_several_tasks_may_outlast_where_no_record_does(
    members: int, is_thrown_out: bool
) -> None:
    """A thread looks at the clock when a record of each of its tasks is through."""
    freeze = "{at: 10m, freeze: {members: all, for: 10s}}"
    done = run_once(scenario("70s", "600/h", members, script=freeze))
    assert bool(found(done.trace.events, ev.PollExpired)) is is_thrown_out


def test_a_static_member_says_nothing_and_is_missed_when_its_session_is_over() -> None:
    events = play(scenario("150s", config=', group.instance.id: "{name}"')).events
    expired, removed = found(events, ev.PollExpired), found(events, ev.MemberRemoved)
    assert expired and not found(events, ev.LeaveSent)
    # back within its session it takes its own place, and nobody is told that it left
    assert {e.why for e in removed} == {"session-expired", "replaced"}


@pytest.mark.parametrize("streams", ["", ", config: {group.protocol: streams}"])
def test_resting_and_playing_every_beat_come_to_the_same(
    streams: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = scenario("150s", streams=streams)
    rested = play(story, seed=2).events
    assert found(rested, ev.PollExpired)
    monkeypatch.setattr(Host, "rest", lambda *_: False)
    plain = play(story, seed=2).events
    both = [[repr(e) for e in es if type(e).__name__ != "CommitsMade"] for es in (rested, plain)]
    assert both[0] == both[1]
