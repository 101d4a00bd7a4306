"""A repartition topic gets what its writers handle: it stands still where they do, and what had piled
up there comes once they go on.
"""

from __future__ import annotations

from itertools import pairwise

import pytest

from rebalsim.analysis.arrivals import Arrivals
from rebalsim.domain.ids import Partition
from rebalsim.one_run import Run, run_once
from rebalsim.scenario.load import story_of
from rebalsim.simulation.streams.hosts import Host
from rebalsim.simulation.world import play

STORY = """
topics: {{orders: {{partitions: {partitions}, rate: 600/s}}}}
group:
  members: {{"app-{{n}}": {{count: {members}}}}}
  config: {{session.timeout.ms: 10s}}
  streams:
    topology:
      - {{source: orders, writes_to: by-user, per_record: {up}}}
      - {{source: by-user, per_record: {down}}}
    config: {{{config}}}
script: [{script}]
horizon: 10m
"""
CRASH = "{at: 4m, crash: app-0}"
SECOND = 1_000_000


def scenario(
    up: str = "0s",
    down: str = "0s",
    members: int = 3,
    partitions: int = 6,
    config: str = "",
    script: str = CRASH,
):
    text = STORY.format(**locals())
    return story_of(text.encode(), "repartition.yaml").check().scenario()


def rate_at(done: Run, seconds: float) -> float:
    """Records a second into the whole repartition topic, then."""
    rates = done.trace.header.topics["by-user"].rates or ()
    return next(rate for at, rate, _ in reversed(rates) if at <= seconds * SECOND)


def came(done: Run, topic: str, seconds: float) -> float:
    facts = done.trace.header.topics[topic]
    return sum(Arrivals(facts, Partition(topic, n)).count(seconds * SECOND) for n in range(6))


def lag(done: Run, topic: str, seconds: float) -> float:
    book, group = done.analysis.lag_book, done.trace.header.consumers["app-0"].group
    found = [book.at(group, Partition(topic, n), int(seconds * SECOND)) for n in range(6)]
    return sum(each or 0.0 for each in found)


def test_it_dips_while_a_writer_stands_still() -> None:
    done = run_once(scenario())
    assert rate_at(done, 239) == pytest.approx(600)
    assert rate_at(done, 245) == pytest.approx(400)  # two of six tasks are the dead instance's
    assert rate_at(done, 300) == pytest.approx(600)


def test_what_had_piled_up_comes_afterwards_with_what_is_handled_twice() -> None:
    done = run_once(scenario())
    twice = sum(
        e.handled - e.offset
        for e in done.trace.events
        if type(e).__name__ == "PositionFound" and e.partition.topic == "orders"
    )
    assert twice > 0 and lag(done, "orders", 300) == 0
    assert came(done, "by-user", 300) == pytest.approx(came(done, "orders", 300) + twice, abs=6)


@pytest.mark.parametrize("up", ["0s", "500us"])
def test_under_exactly_once_nothing_comes_twice(up: str) -> None:
    done = run_once(scenario(up, config="processing.guarantee: exactly_once_v2"))
    assert lag(done, "orders", 300) == 0
    assert came(done, "by-user", 300) == pytest.approx(came(done, "orders", 300), abs=1)


def test_its_reader_has_no_more_lag_than_what_came() -> None:
    """The writers stand still together, their readers do not: nothing comes, so nothing waits."""
    done = run_once(
        scenario(up="1ms", down="1ms", script="{at: 4m, freeze: {members: all, for: 5s}}")
    )
    assert rate_at(done, 242) == 0
    assert lag(done, "by-user", 244) == pytest.approx(lag(done, "by-user", 241), abs=1)
    assert lag(done, "orders", 244) == pytest.approx(lag(done, "orders", 241) + 1800, abs=2)


@pytest.mark.parametrize(("up", "down"), [(1, 1), (1, 3), (3, 1), (4, 3)])
def test_a_thread_that_reads_what_it_writes_comes_to_where_both_go_together(
    up: int, down: int
) -> None:
    """One thread does all, and has a backlog: what it writes it reads in the same time."""
    shape = {"members": 1, "partitions": 1, "script": "{at: 4m, freeze: {member: app-0, for: 5s}}"}
    done = run_once(scenario(up=f"{up * 500}us", down=f"{down * 500}us", **shape))
    assert rate_at(done, 246) == pytest.approx(2_000 / (up + down), rel=1e-6)


def test_it_is_written_on_from_one_to_the_next() -> None:
    text = STORY.format(up="0s", down="0s", members=3, partitions=6, config="", script=CRASH)
    text = text.replace(
        "- {source: by-user, per_record: 0s}",
        "- {source: by-user, writes_to: by-shop}\n      - {source: by-shop}",
    )
    done = run_once(story_of(text.encode(), "repartition.yaml").check().scenario())
    moments = [at / SECOND for at, _, _ in done.trace.header.topics["by-shop"].rates or ()]
    assert moments == sorted(moments)
    assert min(later - sooner for sooner, later in pairwise(moments)) > 0
    assert came(done, "by-shop", 600) == pytest.approx(came(done, "by-user", 600), rel=0.1)


def test_what_others_produce_into_it_comes_beside() -> None:
    rates = "script: [{at: 2m, set_rate: {topic: by-user, rate: 60/s}}, "
    text = STORY.format(up="0s", down="0s", members=3, partitions=6, config="", script=CRASH)
    text = text.replace("rate: 600/s}", "rate: 600/s}, by-user: {partitions: 6, rate: 90/s}")
    text = text.replace("script: [", rates)
    done = run_once(story_of(text.encode(), "repartition.yaml").check().scenario())
    assert [round(rate_at(done, at)) for at in (1, 119, 121, 245, 300)] == [90, 690, 660, 460, 660]


def test_resting_and_playing_every_beat_come_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    story = scenario(
        "300us", "400us", script=f"{CRASH}, {{at: 6m, set_rate: {{topic: orders, rate: 900/s}}}}"
    )

    def told() -> list[str]:
        trace = play(story, seed=3)
        assert trace.header.topics["by-user"].rates
        events = [repr(e) for e in trace.events if type(e).__name__ != "CommitsMade"]
        return [*events, repr(trace.header)]

    rested = told()
    monkeypatch.setattr(Host, "rest", lambda *_: False)
    assert told() == rested
