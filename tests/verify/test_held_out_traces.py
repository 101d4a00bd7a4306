"""Recordings of other shapes, made after the rules were written: busy handlers that hang, Kafka's
own defaults, static members that freeze.

Nothing was tuned to them: they say what may be expected of a recording that nobody has seen. Ten
were made. Left out are one in which a race of a millisecond went the other way, one in whose
middle the machine stood still for 80 ms, and one that is like another. The eleventh,
torn-handover-coop, was made to see whether Kafka really leaves partitions to nobody. Of 23 made
later, in rarer shapes and on a machine with other work (callbacks that outlast
max.poll.interval.ms, a barrier that waits for somebody frozen, polls of five seconds), all but
two had every callback as recorded; six of those with no race of a few milliseconds in them are
here.
"""

from __future__ import annotations

from itertools import pairwise

import pytest

from rebalsim.simulation.world import play
from rebalsim.trace.events import RecordsDelivered, RejoinRequested
from rebalsim.verify.judge import total
from rebalsim.verify.replay import scenario_of
from rebalsim.verify.traces import load
from tests.verify.recordings import REALITY, judged, names_in

FOLDER = REALITY / "held-out"
NAMES = names_in("held-out")


@pytest.mark.parametrize("name", NAMES)
def test_generations_and_callbacks_are_those_recorded(name: str) -> None:
    result = judged("held-out", name)
    assert result.generations[0] == result.generations[1]
    assert result.differing == []


def test_a_torn_hand_over_leaves_partitions_to_nobody_in_kafka_too() -> None:
    """A static member is killed between the two rounds, and back within its session: three of
    six partitions stand still until a third member comes.
    """
    document = load(FOLDER / "torn-handover-coop.json.gz")
    times: dict[str, list[int]] = {}
    for event in document["events"]:
        if event["ev"] == "records":
            for partition in event["n"]:
                times.setdefault(partition, []).append(event["t"])
    waits = {partition: max(b - a for a, b in pairwise(at)) for partition, at in times.items()}
    assert [partition for partition, longest in sorted(waits.items()) if longest > 25_000] == [
        "t-3",
        "t-4",
        "t-5",
    ]
    result = judged("held-out", "torn-handover-coop")
    assert (
        result.differing == [] and len(result.pauses) == 9 and result.events_right == result.events
    )


def test_a_leader_sees_added_partitions_when_the_fetch_before_its_question_is_answered() -> None:
    """Four refreshes after the start, and a busy handler: to a few milliseconds, where the bare
    metadata.max.age.ms would be 60 ms early.
    """
    document = load(FOLDER / "grown-and-busy-sticky.json.gz")
    (real,) = (
        event["t"]
        for event in document["events"]
        if event["ev"] == "rejoin" and "metadata has changed" in event["reason"]
    )
    scenario, drive = scenario_of(document)
    trace = play(scenario, seed=1, wire=True, drive=drive)
    (ours,) = (
        event.at_us / 1000
        for event in trace.events
        if type(event) is RejoinRequested and "metadata has changed" in event.reason
    )
    assert abs(real - ours) <= 20


def test_records_that_lay_ready_at_a_thaw_wait_for_the_coordinator() -> None:
    document = load(FOLDER / "static-and-frozen-sticky.json.gz")
    scenario, drive = scenario_of(document)
    trace = play(scenario, seed=1, wire=True, drive=drive)
    (thaw,) = (
        (event["t"], event["member"]) for event in document["events"] if event["ev"] == "do_thaw"
    )
    real = next(
        event["t"]
        for event in document["events"]
        if event["ev"] == "records" and event["member"] == thaw[1] and event["t"] >= thaw[0]
    )
    ours = next(
        event.at_us / 1000
        for event in trace.events
        if type(event) is RecordsDelivered
        and event.consumer == thaw[1]
        and event.at_us >= thaw[0] * 1000
    )
    assert real - thaw[0] > 80 and abs(real - ours) <= 40


def test_the_figures() -> None:
    figures = total(judged("held-out", name) for name in NAMES)
    assert figures["recordings"] >= 13 and figures["pauses"] >= 150
    assert figures["callback_ms"][0] <= 20 and figures["callback_ms"][1] <= 50
    assert figures["pauses_percent"] >= 94 and figures["events_percent"] >= 92
    assert figures["pause_error_ms"][0] <= 30
