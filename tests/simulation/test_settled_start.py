"""`start: settled`: the story begins with a group that has run for an hour, or for minutes where that
hour would have to be played, as the same seed plays it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest

from rebalsim.analysis import analyse
from rebalsim.domain.metrics import Selection
from rebalsim.one_run import run_once
from rebalsim.scenario.load import story_of
from rebalsim.simulation import settled
from rebalsim.simulation.world import play
from rebalsim.trace import events as ev
from rebalsim.trace.codec import EVENT_CLASSES
from rebalsim.trace.jsonl import lines_for, parse_trace
from rebalsim.trace.trace import Trace

HOUR = 3_600_000_000
STORY = """
topics: {orders: {partitions: 6, rate: 120/s}}
group: {members: 3, handler: 1ms, config: {%s}}
script: [{at: %s, scale: 4}, {after: scale, delay: 40s, crash: c1}]
replay: as-written
horizon: %s
start: %s
""".replace("scale: 4}", "id: scale, scale: 4}")
WAYS = {
    "eager": "partition.assignment.strategy: [range]",
    "cooperative": "partition.assignment.strategy: [cooperative-sticky]",
    "consumer": "group.protocol: consumer",
}


# each periodic commit of the consumer protocol hangs on chance, so fewer of them are gone through
LEAD_US = {"eager": HOUR, "cooperative": HOUR, "consumer": HOUR // 12}


def told(way: str, start: str, seed: int = 1, *, wire: bool = False) -> Trace:
    lead = LEAD_US[way] // 60_000_000
    at, horizon = ("1m", "4m") if start == "settled" else (f"{lead + 1}m", f"{lead + 4}m")
    text = STORY % (WAYS[way], at, horizon, start)
    return play(story_of(text.encode(), "story").check().scenario(), seed=seed, wire=wire)


def after(trace: Trace, from_us: int, zero_us: int = 0) -> Iterator[tuple[Any, ...]]:
    """Everything from this instant on, as the clock of the story has it."""
    for event in trace.events:
        if event.at_us >= from_us:
            facts = {f.name: getattr(event, f.name) for f in fields(event)}
            for name in ("at_us", "sent_at_us", "last_heard_us", "last_poll_us", "until_us"):
                if facts.get(name, -1) >= 0:
                    facts[name] = max(0, facts[name] - zero_us)
            yield type(event).__name__, *facts.items()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", [1, 2, 7, 20])
def test_nothing_in_the_story_is_otherwise_than_after_a_start_that_was_played(
    way: str, seed: int
) -> None:
    began, played = told(way, "settled", seed), told(way, "cold", seed)
    assert list(after(began, 1)) == list(after(played, LEAD_US[way] + 1, LEAD_US[way]))
    assert len(list(after(began, 1))) > 30


@pytest.mark.parametrize("way", WAYS)
def test_at_its_beginning_everybody_is_there_and_nothing_stands_still(way: str) -> None:
    trace = told(way, "settled")
    analysis = analyse(trace)
    assert analysis.violations == []
    assert {str(p) for _, p in analysis.holdings} == {f"orders-{n}" for n in range(6)}
    assert all(held[0].started_us == 0 for held in analysis.holdings.values())
    assert analysis.measure("longest_pause", Selection(until_us=59_000_000)) == 0


def test_heartbeats_have_come_apart_and_offsets_go_on() -> None:
    beats = [
        e.at_us
        for e in told("eager", "settled", wire=True).events
        if type(e) is ev.RequestSent and e.api == "Heartbeat"
    ]
    first = sorted(beats)[:3]
    assert first[0] > 0 and first[-1] - first[0] > 50_000  # cold they begin within milliseconds
    found = [
        e
        for e in told("eager", "settled").events
        if type(e) is ev.PositionFound and e.at_us > 60_000_000
    ]
    assert found and all(e.offset > 60_000 for e in found)  # 20 a second for an hour


def test_the_same_seed_is_the_same_and_another_is_another() -> None:
    one, again, other = (list(lines_for(told("eager", "settled", s))) for s in (1, 1, 2))
    assert one == again != other


def test_the_trace_can_be_kept_and_told() -> None:
    trace = told("cooperative", "settled")
    again = parse_trace(lines_for(trace), "t.jsonl")
    assert again.header == trace.header and again.header.lead_us == HOUR
    figures = [analyse(t).measure("partition_seconds") for t in (trace, again)]
    assert figures[0] == figures[1]


def test_lag_is_that_of_the_story_and_not_of_the_hour_before() -> None:
    peak = run_once(
        story_of((STORY % (WAYS["eager"], "1m", "4m", "settled")).encode(), "s").scenario()
    ).analysis.measure("lag_peak")
    assert peak is not None and peak < 120 * 60  # a minute's records, of one crash


def test_who_is_started_later_cannot_have_settled() -> None:
    text = STORY % (WAYS["eager"], "1m", "4m", "settled")
    late = text.replace("members: 3,", "members: 3, stagger: 5s,")
    (problem,) = story_of(late.encode(), "s").problems()
    assert "c1 is started later than the others" in problem.message
    assert "start: cold" in problem.message


def test_an_application_of_kafka_streams_cannot_begin_so_yet() -> None:
    text = (
        "topics: {orders: 4}\ngroup: {members: 2, streams: {topology: [{source: orders}]}}\n"
        "replay: as-written\nhorizon: 2m\nstart: settled\n"
    )
    assert any("start: cold" in p.message for p in story_of(text.encode(), "s").problems())


def test_every_instant_of_an_event_is_counted_from_the_storys_zero() -> None:
    """Events say instants and lengths; which is which nobody can see from their names alone."""
    lengths = {"delay_us", "every_us"}
    for kind in EVENT_CLASSES.values():
        said = {f.name for f in fields(kind) if f.name.endswith("_us")} - {"at_us"} - lengths
        assert said <= {*settled._INSTANTS.get(kind, ())}, kind


@pytest.mark.parametrize("drawn", ["handler: 1ms..2ms", "handler: {commit: sync-batch}"])
def test_where_no_batch_is_like_the_last_the_group_has_run_for_five_minutes(drawn: str) -> None:
    text = (
        f"topics: {{orders: 4}}\ngroup: {{members: 2, {drawn}}}\nscript: [{{at: 1m, scale: 3}}]\n"
    )
    trace = play(story_of(text.encode(), "s").check().scenario())
    assert trace.header.lead_us == HOUR // 12
    assert analyse(trace).violations == []


@pytest.mark.parametrize("way", WAYS)
def test_on_the_wire_the_story_is_told_whole_and_the_hour_before_is_not(way: str) -> None:
    before, handed = 0, dict[Any, int]()
    for event in told(way, "settled", wire=True).events:
        if type(event) is ev.RequestSent and event.api in ("Heartbeat", "OffsetCommit"):
            before += event.at_us == 0
        if type(event) is ev.RecordsDelivered and event.at_us < 59_000_000:
            for partition, (first, last, _) in event.batch.items():
                assert event.at_us == 0 or handed.setdefault(partition, first) == first
                if event.at_us:
                    handed[partition] = last + 1
    assert len(handed) == 6 and before == 0


def test_a_partition_that_its_owner_lost_and_was_given_again_is_consumed_from_the_start() -> None:
    """Members that start apart are a rebalance before the story: the same owner fetches again."""
    text = (STORY % (WAYS["eager"], "1m", "2m", "settled")).replace(
        "handler: 1ms", "handler: 1ms, life: {start: 15s ± 12s}"
    )
    scenario = story_of(text.encode(), "story").check().scenario()
    for seed in range(1, 5):
        analysis = analyse(play(scenario, seed=seed))
        early = Selection(from_us=0, until_us=59_000_000)
        assert analysis.measure("longest_pause", early) == 0, f"seed {seed}"


def test_a_task_that_stays_with_its_worker_runs_from_the_start_of_the_story() -> None:
    """Under eager the worker that joins last stops everybody's tasks, and they start again."""
    text = """title: an eager cluster
start: settled
connect:
  workers: 3
  life: {start: 15s ± 12s}
  config: {connect.protocol: eager}
  connectors: {db: {tasks.max: 8}}
script: [{at: 1m, crash: w0}]
replay: [as-written]
horizon: 2m
"""
    scenario = story_of(text.encode(), "story").check().scenario()
    for seed in range(1, 5):
        analysis = analyse(play(scenario, seed=seed))
        early = Selection(from_us=0, until_us=59_000_000)
        assert analysis.measure("longest_task_pause", early) == 0, f"seed {seed}"
