"""Recordings against their replays, phase by phase: the pauses that real callbacks and records
show, and those that the simulation predicts.
"""

from __future__ import annotations

from pathlib import Path

from rebalsim.analysis import analyse
from rebalsim.simulation.world import play
from rebalsim.trace.recording import trace_of_recording
from rebalsim.verify.replay import scenario_of
from rebalsim.verify.replay_accuracy import Accuracy, compare
from rebalsim.verify.traces import PLAYED, as_recording, load


def is_played(path: Path) -> bool:
    """Whether the simulation has the recording's kind of client."""
    return load(path)["conf"].get("group.protocol", "classic") in PLAYED


def accuracy_of(path: Path) -> Accuracy:
    """One recording, replayed without jitter, phase by phase."""
    document = load(path)
    with as_recording(path):
        recorded = analyse(trace_of_recording(document, str(path)))
        scenario, drive = scenario_of(document)
    return compare(recorded, analyse(play(scenario, drive=drive, wire=True)))
