"""Waiting for a sweep in another process."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

PATIENCE_S = 300


def until_a_chunk_is_done(out: Path, process: subprocess.Popen[str]) -> None:
    """Until the sweep into this folder has its first rows, counted, while it goes on."""
    deadline = time.monotonic() + PATIENCE_S
    while not any(_rows_counted(path) for path in out.glob("runs/chunk=*/_COUNTED")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "no chunk was done in time"
        time.sleep(0.1)


def _rows_counted(count: Path) -> int:
    """How many rows the chunk is said to hold: none while that is being written down."""
    text = count.read_text("utf-8")
    return int(json.loads(text)["rows"]) if text.endswith("}") else 0
