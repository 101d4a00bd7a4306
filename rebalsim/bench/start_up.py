"""How long the door takes to open, against `import click` alone: interpreters started one after the other in one run."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rebalsim.bench.figure import Figure

SMALL = "topics: {orders: 4}\ngroup: {members: 2}\n"


def measure(quick: bool = False) -> list[Figure]:
    """--help, lint and run beside the import."""
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.yaml"
        small.write_text(SMALL, encoding="utf-8")
        commands = {
            "click": [sys.executable, "-c", "import click"],
            "help": [sys.executable, "-m", "rebalsim", "--help"],
            "lint": [sys.executable, "-m", "rebalsim", "lint", str(small)],
            "run": [sys.executable, "-m", "rebalsim", "run", "scale-out"],
        }
        best = dict.fromkeys(commands, float("inf"))
        for _ in range(5 if quick else 15):
            for name, command in commands.items():
                best[name] = min(best[name], _seconds(command))
    click = best["click"]
    note = f"import click: {click * 1e3:.0f} ms"
    return [
        Figure("rebalsim --help, against import click", best["help"] / click, "×", 3.0, note=note),
        Figure("rebalsim lint of a small file, against import click", best["lint"] / click, "×", 8.0, note=f"{best['lint'] * 1e3:.0f} ms"),
        Figure("rebalsim run scale-out, against import click", best["run"] / click, "×", note=f"{best['run'] * 1e3:.0f} ms"),
    ]


def _seconds(command: list[str]) -> float:
    """Processor time of the child, which waits for nobody."""
    before = os.times()
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    took = time.perf_counter() - began
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return spent or took
