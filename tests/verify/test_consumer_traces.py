"""Recordings of real consumer groups (KIP-848), replayed: callbacks, pauses and heartbeats that
the rules must keep predicting.
"""

from __future__ import annotations

import gzip
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from rebalsim.simulation.world import play
from rebalsim.trace.events import RequestSent
from rebalsim.trace.trace import Trace
from rebalsim.verify import traces
from rebalsim.verify.judge import Judgement, judge, total
from rebalsim.verify.prediction import prediction_of
from rebalsim.verify.replay import scenario_of
from rebalsim.verify.wire import compared

FOLDER = Path(__file__).parents[1] / "reality" / "traces"
NAMES = ("callbacks-next", "crash-next", "rolling-next", "static-next", "storm-next")


@lru_cache(maxsize=8)
def recording(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(
        gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes())
    )
    return document


@lru_cache(maxsize=8)
def replayed(name: str) -> Trace:
    scenario, drive = scenario_of(recording(name))
    return play(scenario, seed=1, wire=True, drive=drive)


@lru_cache(maxsize=8)
def judged(name: str) -> Judgement:
    return judge(recording(name), prediction_of(replayed(name)))


@pytest.mark.parametrize("name", NAMES)
def test_every_member_has_the_callbacks_that_the_real_one_had(name: str) -> None:
    result = judged(name)
    assert result.members_same == result.members


def test_times_and_pauses_come_as_near_as_chance_lets_them() -> None:
    figures = total(judged(name) for name in NAMES)
    assert figures["callback_ms"][0] <= 5
    assert figures["pauses_percent"] >= 85
    assert figures["events_percent"] >= 75
    assert figures["pause_error_ms"][0] <= 45


@pytest.mark.parametrize("name", ["crash-next", "rolling-next", "static-next"])
def test_every_heartbeat_has_the_recorded_epoch_error_and_assignment(name: str) -> None:
    messages, same = compared(recording(name), replayed(name))
    assert messages > 100
    assert same == messages


@pytest.mark.parametrize("name", ["crash-next", "rolling-next", "static-next", "storm-next"])
def test_beats_after_the_first_acknowledgement_leave_when_the_recorded_ones_did(name: str) -> None:
    """The second beat of a life may drive a replay, the third must be predicted."""
    recorded: dict[str, list[int]] = {}
    for event in recording(name)["events"]:
        if (
            event["ev"] == "sent"
            and event["api"] == "ConsumerGroupHeartbeat"
            and event["life"] == 1
        ):
            recorded.setdefault(event["member"], []).append(event["t"])
    ours: dict[str, list[float]] = {}
    for sent in replayed(name).events:
        if type(sent) is RequestSent and sent.api == "ConsumerGroupHeartbeat":
            ours.setdefault(sent.consumer, []).append(sent.at_us / 1000)
    for member, beats in recorded.items():
        assert abs(ours[member][1] - beats[1]) <= 1
        assert abs(ours[member][2] - beats[2]) <= 3


@pytest.mark.slow
def test_a_replay_is_the_same_each_time() -> None:
    scenario, drive = scenario_of(recording("crash-next"))
    again = play(scenario, seed=1, wire=True, drive=drive)
    assert [repr(event) for event in again.events] == [
        repr(event) for event in replayed("crash-next").events
    ]


def test_seeds_of_jitter_let_races_go_either_way() -> None:
    seen = set()
    for seed in range(1, 7):
        scenario, drive = scenario_of(recording("crash-next"), is_jittered=True)
        prediction = prediction_of(play(scenario, seed=seed, wire=True, drive=drive))
        seen.add(
            tuple(
                round(pause["end"], -1)
                for pause in prediction["pauses"]
                if pause["end"] - pause["start"] > 250
            )
        )
    assert len(seen) > 1


@pytest.mark.slow
def test_the_command_tells_how_far_it_agrees() -> None:
    finding = traces.verify(FOLDER / "crash-next.json.gz", wire=True)
    assert finding.ok
    assert finding.document["members_same"] == 3
    assert any("messages as recorded" in line for line in finding.details)
