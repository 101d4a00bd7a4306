"""A trace carries what its brokers and clients do otherwise, so that whoever tells of it need not
know versions.
"""

from __future__ import annotations

from rebalsim.domain.habits import JAVA, NEWEST
from rebalsim.scenario.load import story_of
from rebalsim.scenario.profiles import FRANZ_GO, broker_habits, java_habits
from rebalsim.simulation.world import play
from rebalsim.trace.jsonl import lines_for, parse_trace

STORY = """
kafka: "3.1"
topics: {orders: 4}
group:
  members: {a: {client: franz-go}, b: {client: java}}
  config: {partition.assignment.strategy: [range]}
script: [{at: 20s, deploy: {members: a, client: java, client_version: "4.3"}}]
replay: as-written
horizon: 40s
"""


def test_they_are_written_and_read_again() -> None:
    trace = play(story_of(STORY.encode(), "story").check().scenario())
    again = parse_trace(lines_for(trace), "t.jsonl")
    assert again.header == trace.header
    assert again.header.habits == broker_habits("3.1") != NEWEST
    assert again.header.consumers["b"].habits == java_habits("3.1") != JAVA


def test_a_deploy_of_another_client_changes_them() -> None:
    facts = play(story_of(STORY.encode(), "story").check().scenario()).header.consumers["a"]
    assert facts.at(1_000_000).habits == FRANZ_GO
    assert facts.at(39_000_000).habits == JAVA


def test_the_newest_ones_take_no_room() -> None:
    newest = STORY.replace('"3.1"', '"4.3"').replace("{client: franz-go}", "{}")
    trace = play(story_of(newest.encode(), "story").check().scenario())
    assert "habits" not in next(iter(lines_for(trace)))
