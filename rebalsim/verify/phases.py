"""Recordings against their replays, phase by phase: the pauses that real callbacks and records show, and those that the simulation predicts."""

from __future__ import annotations

import json
from pathlib import Path

from rebalsim.analysis import analyse
from rebalsim.analysis.truth import Truth, compare
from rebalsim.domain.errors import InputError
from rebalsim.simulation.world import play
from rebalsim.trace.gzipped import text_of
from rebalsim.trace.recording import trace_of_recording
from rebalsim.verify.replay import scenario_of


def truth_of(path: Path) -> Truth:
    """One recording, replayed without jitter, phase by phase."""
    try:
        document = json.loads(text_of(path))
    except (ValueError, RecursionError) as e:
        raise InputError(f"{path}: is not a whole JSON document ({e}) — a recording is one document; was the file cut?") from None
    recorded = analyse(trace_of_recording(document, str(path)))
    scenario, drive = scenario_of(document)
    return compare(recorded, analyse(play(scenario, drive=drive, wire=True)))
