"""How far apart two stretches of a real worker's heartbeats are."""

from __future__ import annotations

from typing import Any

import pytest

from rebalsim.verify.connect_beats import drifts, say


def recording(*beats_ms: float, interval: int = 1_000, late: float = 0) -> dict[str, Any]:
    """A worker that joined at 0, and what it sent when."""
    wire = {"worker": "w0", "life": 1}
    events = [{**wire, "t": late, "ev": "got", "api": "JoinGroup", "error": 0}]
    events += [{**wire, "t": t, "ev": "sent", "api": "Heartbeat"} for t in beats_ms]
    return {"conf": {"heartbeat.interval.ms": interval}, "events": events}


def test_a_stretch_is_so_many_beats_from_the_joins_answer_on() -> None:
    assert drifts(recording(1_003, 2_005, 3_020, 4_020), beats=3) == [20]
    assert drifts(recording(1_003, 2_005), beats=3) == []


def test_a_new_join_begins_anew_and_a_frozen_process_is_left_out() -> None:
    again = recording(1_001, 2_002)
    join = {"worker": "w0", "life": 1, "t": 2_500, "ev": "sent", "api": "JoinGroup"}
    again["events"] += [join, *recording(3_600, 4_610, 5_640, late=2_600)["events"]]
    assert drifts(again, beats=3) == [40]
    assert drifts(recording(1_000, 9_000, 10_000), beats=3) == []


def test_a_sinks_beats_are_not_a_workers() -> None:
    sink = recording(1_000, 2_000, 3_000)
    for event in sink["events"]:
        event["task"] = "snk-0"
    assert drifts(sink, beats=3) == []


@pytest.mark.parametrize("found", [[], [5.0]])
def test_of_less_than_two_nothing_is_said(found: list[float]) -> None:
    assert say(found) == ""


def test_how_far_two_are_apart_is_said_of_the_middle_and_of_nine_in_ten() -> None:
    said = say([0, 10, 100])
    assert "two of 3 stretches" in said and "90 ms apart in the middle, 100 at nine of ten" in said
    assert "33 % of them within 20" in said
