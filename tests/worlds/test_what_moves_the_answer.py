"""The numbers that are asked for first: tried over their range, within a number of events."""

from __future__ import annotations

import pytest
from reading import deployment, read

from rebalsim.preview import calibrate
from rebalsim.worlds.to_scenario import to_scenario

PODS = deployment(
    spec="replicas: 6", env="- {name: KAFKA_TOPIC, value: orders}\n", kind="StatefulSet"
)


def told(monkeypatch: pytest.MonkeyPatch, events: int) -> dict[str, calibrate.Moved]:
    monkeypatch.setattr(calibrate, "EVENTS", events)
    made = read(a_yaml=PODS)
    return {moved.word: moved for moved in calibrate.calibrated(made, to_scenario(made))}


@pytest.mark.slow
def test_a_value_that_is_too_dear_to_be_played_is_not_said_to_be_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = told(monkeypatch, 200_000)
    assert (whole["rate"].low, whole["rate"].high) == ("10/s", "2,000/s")
    short = told(monkeypatch, 3_000)
    assert (short["rate"].low, short["rate"].high) == ("10/s", calibrate.AS_ASSUMED)
    assert short["shutdown"].told == whole["shutdown"].told


def test_a_story_that_is_too_dear_itself_asks_for_nothing_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not told(monkeypatch, 10)
