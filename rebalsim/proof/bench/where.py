"""What the time of a piece of work goes to: its innermost place in the code, looked up at every
millisecond of processor time.
"""

from __future__ import annotations

import signal
import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

EVERY_S = 0.001
CAN_LOOK = hasattr(signal, "setitimer") and sys.implementation.name == "cpython"
# the first whose text stands in a file's name has it; the rest of the simulation are the clients
LAYERS = (
    ("analysis", ("/analysis/",)),
    (
        "coordinator",
        (
            "/protocol/classic/",
            "/protocol/classic_group",
            "/protocol/effects",
            "/simulation/coordinator",
            "/simulation/brokers",
        ),
    ),
    ("queue and network", ("/simulation/engine", "/simulation/network", "/simpy/")),
    (
        "arrivals and batches",
        (
            "/simulation/flow",
            "/simulation/steady",
            "/simulation/arrivals",
            "/simulation/feed",
            "/simulation/fetching",
            "/simulation/lag",
        ),
    ),
    ("assignors", ("/assignors/", "/java_hash")),
    ("chance", ("/simulation/randomness",)),
    ("clients", ("/simulation/", "/protocol/")),
)


def where(work: Callable[[], Any]) -> dict[str, float]:
    """The share of each layer, largest first; the standard library's counts for who called it.

    Nothing where the system has no such timer, or a compiler moves work about.
    """
    if not CAN_LOOK:
        return {}
    found: Counter[str] = Counter()

    def look(_: int, frame: FrameType | None) -> None:
        while frame is not None:
            name = frame.f_code.co_filename
            layer = next(
                (layer for layer, marks in LAYERS if any(mark in name for mark in marks)), ""
            )
            if layer:
                found[layer] += 1
                return
            frame = frame.f_back

    before = signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, EVERY_S, EVERY_S)
    try:
        work()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return {layer: count / max(1, found.total()) for layer, count in found.most_common()}
