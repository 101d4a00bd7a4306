"""Little languages for tests of log reading: lines in, facts or a whole observation out."""

from __future__ import annotations

import io
from pathlib import Path

from rebalsim.worlds.logs.facts import Fact
from rebalsim.worlds.logs.observation import Observation, observe
from rebalsim.worlds.logs.sources import Source
from rebalsim.worlds.logs.streams import Census, Reader, Stream

REALITY = Path(__file__).parents[2] / "reality"
AT = 1_763_480_407_559_000  # 2025-11-18 15:40:07,559 UTC, µs


def facts_of(*lines: str, file: str = "app.log") -> list[Fact]:
    """What these lines of one file prove."""
    streams: dict[str, Stream] = {}
    Reader(file, file, streams, Census()).read(lines)
    return [f for s in streams.values() for _, f in s.told if f.what != "spoke"]


def source(name: str, lines: list[str]) -> Source:
    """A log that was never on a disk."""
    return Source(name, name, stream=io.BytesIO("\n".join(lines).encode()))


def observed(**logs: list[str]) -> Observation:
    """These logs together: `broker`, `c1`, … → lines."""
    return observe([source(f"{name}.log", lines) for name, lines in logs.items()])
