"""Quiet time is skipped in a room of its own: without it everything still runs, and comes to the
same event by event.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

import rebalsim
from rebalsim.proof.random_stories import random_story
from rebalsim.proof.seeds import difference
from rebalsim.scenario.load import load_scenario, story_of
from rebalsim.simulation.world import play
from rebalsim.trace.jsonl import lines_for

MINUTE = 60_000_000
SCENARIOS = Path(__file__).parent.parent.parent / "scenarios"
SIMULATION = Path(rebalsim.__file__).parent / "simulation"
SHORT = [
    (path.stem, variant)
    for path in sorted(SCENARIOS.glob("*.yaml"))
    for story in [load_scenario(path)]
    for variant in story.variants
    if (scenario := story.scenario(variant)).horizon_us <= 3 * MINUTE
    and len(scenario.groups[0].consumers) <= 12
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "variant"), SHORT)
def test_a_stock_story_comes_to_the_same_whether_quiet_time_is_skipped_or_not(
    name: str, variant: str
) -> None:
    scenario = load_scenario(SCENARIOS / f"{name}.yaml").scenario(variant)
    scenario = replace(scenario, start="cold")  # an hour before it would be played in full
    assert difference(play(scenario), play(scenario, plain=True)) == ""


@pytest.mark.parametrize(
    ("name", "variant"),
    [("scale-out", "cooperative"), ("crash", "eager"), ("stuck-handler", "eager")],
)
def test_without_the_quiet_room_a_story_is_played_all_the_same(
    name: str, variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = replace(load_scenario(name).scenario(variant), start="cold")
    with_it = list(lines_for(play(scenario)))
    for module in [module for module in sys.modules if module.startswith("rebalsim.quiet")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "rebalsim.quiet", None)
    assert list(lines_for(play(scenario))) == with_it


def test_a_skipped_run_has_far_fewer_entries_in_its_queue() -> None:
    from rebalsim.quiet import Quiet
    from rebalsim.simulation.world import World

    scenario = replace(load_scenario("scale-out").scenario("eager"), start="cold")
    worlds = [World(scenario, 1, is_wire=False, drive=None, quiet=q) for q in (None, Quiet())]
    for world in worlds:
        world.play()
    assert worlds[0].engine.entries > 20 * worlds[1].engine.entries


def test_no_client_knows_how_quiet_time_is_skipped() -> None:
    knowing = [
        path.name
        for path in SIMULATION.rglob("*.py")
        if "rebalsim.quiet" in path.read_text("utf-8") and path.name != "world.py"
    ]
    assert knowing == ["standing.py"] or knowing == []


@pytest.mark.plain
@pytest.mark.parametrize("seed", range(7_000_000, 7_000_050))
def test_a_random_story_comes_to_the_same(seed: int) -> None:
    story = story_of(random_story(seed).encode(), f"story {seed}").check()
    scenario = story.scenario()
    assert difference(play(scenario), play(scenario, plain=True)) == ""


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["eager", "cooperative", "consumer"])
@pytest.mark.parametrize("seed", [1, 2])
def test_who_has_not_heard_of_a_round_rests_up_to_its_next_beat_commits_and_all(
    variant: str, seed: int
) -> None:
    """A classic group takes the commits of those it waits for, a consumer group those of a member's
    own epoch; in between members leave, die, come back and join.
    """
    text = f"""
topics: {{orders: {{partitions: 8, rate: 160/s}}}}
group: {{members: 4, handler: {{per_record: 1ms, commit: sync-batch}}}}
script:
  - {{at: 10s, rolling_bounce: {{max_unavailable: 1}}}}
  - {{at: 31s, crash: {{members: c1, restart_after: 4s}}}}
  - {{at: 33s, join: 2}}
  - {{at: 36s, leave: c3}}
replay: [{variant}]
horizon: 70s
"""
    scenario = story_of(text.encode(), "story.yaml").check().scenario(variant)
    quiet, plain = play(scenario, seed=seed), play(scenario, seed=seed, plain=True)
    assert [repr(event) for event in plain.events] == [repr(event) for event in quiet.events]
    assert quiet.work < plain.work / 2


@pytest.mark.slow
@pytest.mark.parametrize("rate", [40, 10])  # a record every 100 ms, or every fourth poll()
def test_records_as_often_as_poll_is_over_are_skipped_as_any(rate: int) -> None:
    text = f"""
topics: {{orders: {{partitions: 4, rate: {rate}/s}}}}
group: {{members: 2, handler: {{per_record: 1ms, commit: sync-batch}}}}
script: [{{at: 60s, join: 1}}]
replay: [consumer]
horizon: 2m
"""
    scenario = story_of(text.encode(), "story.yaml").check().scenario("consumer")
    quiet, plain = play(scenario), play(scenario, plain=True)
    assert [repr(event) for event in plain.events] == [repr(event) for event in quiet.events]
    assert quiet.work < plain.work / 20


@pytest.mark.parametrize("seed", [485, 488, 489])
def test_an_answer_keeps_the_pace_that_its_line_had_when_it_left(seed: int) -> None:
    """It is under way when one of two delays ends, and its client comes to rest before it lands."""
    text = b"""title: two delays
cluster: {brokers: 1, latency: 100us}
topics: {x: {partitions: 7, rate: 0/s}}
group:
  members: 2
  config: {group.protocol: consumer, fetch.max.wait.ms: 100}
  handler: {per_record: 1ms, commit: sync-record}
  life: {start: 3s, stop: 1s}
script:
  - {at: 40s, add_latency: {members: all, extra: 10ms..200ms, for: 8s}}
  - {at: 43s, join: 1}
  - {at: 46s, add_latency: {members: all, extra: 10ms..200ms, for: 8s}}
horizon: 60s
"""
    scenario = story_of(text, "two").check().scenario("as-written")
    assert difference(play(scenario, seed=seed), play(scenario, seed=seed, plain=True)) == ""
