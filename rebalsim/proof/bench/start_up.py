"""How long the door takes to open, against `import click` alone: interpreters started one after
the other in one run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rebalsim.proof.bench.figure import Figure

SMALL = "topics: {orders: 4}\ngroup: {members: 2}\n"
BUDGETED = (
    SMALL + "script: [{at: 30s, scale: 3}]\nreplay: [cooperative]\nhorizon: 1m\nbudgets: "
    '{longest_pause: "<= 4s"}\n'
)


def measure(quick: bool = False) -> list[Figure]:
    """--help, lint, check and run beside the import."""
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.yaml"
        small.write_text(SMALL, encoding="utf-8")
        budgeted = Path(folder) / "budgeted.yaml"
        budgeted.write_text(BUDGETED, encoding="utf-8")
        commands = {
            "click": [sys.executable, "-c", "import click"],
            "help": [sys.executable, "-m", "rebalsim", "--help"],
            "lint": [sys.executable, "-m", "rebalsim", "lint", str(small)],
            "check": [sys.executable, "-m", "rebalsim", "check", str(budgeted)],
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
        Figure(
            "rebalsim lint of a small file, against import click",
            best["lint"] / click,
            "×",
            8.0,
            note=f"{best['lint'] * 1e3:.0f} ms",
        ),
        Figure(
            "rebalsim check of a small file, against import click",
            best["check"] / click,
            "×",
            10.0,
            note=f"{best['check'] * 1e3:.0f} ms",
        ),
        Figure(
            "rebalsim run scale-out, against import click",
            best["run"] / click,
            "×",
            note=f"{best['run'] * 1e3:.0f} ms",
        ),
    ]


# Python keeps what it compiled, unless it is told not to; then every start would be a first one,
# which no user's is.
_ENVIRONMENT = {
    name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
}


def _seconds(command: list[str]) -> float:
    """Processor time of the child, which waits for nobody; by the clock where there is no such
    count (Windows).
    """
    before, began = _spent_by_children(), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=_ENVIRONMENT)
    return _spent_by_children() - before or time.perf_counter() - began


def _spent_by_children() -> float:
    try:
        import resource  # to the microsecond; os.times counts hundredths of a second
    except ImportError:
        return 0.0
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
