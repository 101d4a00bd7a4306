"""Rack-aware assignment goes by client.rack alone: of where a process runs the leader hears nothing
else.
"""

from __future__ import annotations

from rebalsim.scenario.load import story_of
from rebalsim.simulation.world import play
from rebalsim.trace.events import AssignmentReceived

STORY = """
cluster: {brokers: [{id: 0, rack: a}, {id: 1, rack: b}]}
topics: {t: {partitions: 2, rate: 10/s, replicas: [[1], [0]]}}
group:
  members: {anna: {rack: a}, ben: {rack: b}}
  config: {partition.assignment.strategy: [range]%s}
replay: [as-written]
horizon: 30s
"""


def given(more: str) -> dict[str, list[str]]:
    trace = play(story_of((STORY % more).encode(), "racks").check().scenario())
    return {
        e.consumer: [str(p) for p in e.partitions]
        for e in trace.events
        if isinstance(e, AssignmentReceived)
    }


def test_without_client_rack_partitions_are_dealt_out_as_if_there_were_no_racks() -> None:
    assert given("") == {"anna": ["t-0"], "ben": ["t-1"]}


def test_with_it_each_gets_the_partition_that_is_nearby() -> None:
    assert given(', client.rack: "{rack}"') == {"anna": ["t-1"], "ben": ["t-0"]}


def test_what_the_client_says_counts_wherever_it_runs() -> None:
    said = ', client.rack: "{rack}"'
    both = STORY % said
    wrong = both.replace("anna: {rack: a}", "anna: {rack: a, config: {client.rack: b}}")
    trace = play(story_of(wrong.encode(), "racks").check().scenario())
    first = next(e for e in trace.events if isinstance(e, AssignmentReceived))
    assert [str(p) for p in first.partitions] != ["t-1"]
