"""Recordings against their replays, phase by phase: the pauses that real callbacks and records show, and those that the simulation predicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rebalsim.analysis import analyse
from rebalsim.analysis.truth import Truth, compare
from rebalsim.domain.errors import InputError
from rebalsim.simulation.world import play
from rebalsim.trace.gzipped import text_of
from rebalsim.trace.recording import trace_of_recording
from rebalsim.verify.replay import scenario_of
from rebalsim.verify.traces import PLAYED


def _load(path: Path) -> dict[str, Any]:
    try:
        document: dict[str, Any] = json.loads(text_of(path))
    except (ValueError, RecursionError) as e:
        raise InputError(f"{path}: is not a whole JSON document ({e}) — a recording is one document; was the file cut?") from None
    return document


def is_played(path: Path) -> bool:
    """Whether the simulation has the recording's kind of client."""
    document = _load(path)
    conf = document.get("conf") if isinstance(document, dict) else None
    return not isinstance(conf, dict) or conf.get("group.protocol", "classic") in PLAYED


def truth_of(path: Path) -> Truth:
    """One recording, replayed without jitter, phase by phase."""
    document = _load(path)
    recorded = analyse(trace_of_recording(document, str(path)))
    scenario, drive = scenario_of(document)
    return compare(recorded, analyse(play(scenario, drive=drive, wire=True)))
