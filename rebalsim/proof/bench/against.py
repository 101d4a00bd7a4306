"""This tree against another one, in turns within one run: what a change costs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from rebalsim.domain.errors import RebalsimError
from rebalsim.proof.bench.figure import Figure

# Played in either tree, by what both are sure to have.
_PROGRAM = """
import json, resource, sys, time
began = time.process_time()
from rebalsim.analysis import analyse
from rebalsim.scenario.load import load_scenario, story_of
from rebalsim.simulation.world import play
started = time.process_time() - began

def seconds(work, times):
    best = float("inf")
    for _ in range(times):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best

def runs(scenarios, seeds):
    for seed in range(seeds):
        for scenario in scenarios:
            analyse(play(scenario, seed=seed)).summary

def stock(horizon):
    text = open("scenarios/scale-out.yaml", "rb").read().replace(b"horizon: 2m", horizon)
    story = story_of(text, "scale-out.yaml").check()
    return [story.scenario(variant) for variant in ("eager", "cooperative")]

seeds, times, many = json.loads(sys.argv[1])
short, day = stock(b"horizon: 10m"), stock(b"horizon: 24h")
plain = stock(b"horizon: 2m")
runs(plain, 3)
told = {"a start": started}
told["a scale-out, both variants"] = seconds(lambda: runs(plain, seeds), times) / seeds
told["a day of it"] = seconds(lambda: runs(day, seeds), times) / seeds
told["ten minutes of it"] = seconds(lambda: runs(short, seeds), times) / seeds
group = story_of(many.encode(), "many").check().scenario()
told["a crash in a large group"] = seconds(lambda: analyse(play(group)).summary, 1)
told["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps(told))
"""
_MANY = """\
topics: {{orders: {{partitions: {partitions}, rate: {partitions}/s}}}}
group: {{members: {members}, handler: 1ms, config: {{partition.assignment.strategy: cooperative-sticky}}}}
replay: as-written
script: [{{at: 1m, crash: c7}}, {{at: 3m, scale: {more}}}]
horizon: 5m
"""
PATIENCE_S = 1_800
DEARER = 1.05  # so much more a change may cost without saying why


def measure(tree: str, quick: bool = False) -> list[Figure]:
    """What each thing costs here, as a share of what it costs there."""
    here = Path(__file__).resolve().parents[3]
    there = Path(tree)
    if not (there / "rebalsim" / "__init__.py").is_file():
        raise RebalsimError(f"{tree} is no tree of rebalsim: it has no rebalsim/__init__.py.")
    best: dict[Path, dict[str, float]] = {here: {}, there.resolve(): {}}
    for _ in range(2 if quick else 5):
        for root, known in best.items():
            for what, much in _told_by(root, quick).items():
                known[what] = min(known.get(what, much), much)
    ours, theirs = best.values() if len(best) == 2 else (best[here], best[here])
    figures = []
    for what, much in ours.items():
        unit = "MB" if what == "memory" else "ms"
        scale = 1 if what == "memory" else 1e3
        note = f"{much * scale:,.3g} {unit}, was {theirs[what] * scale:,.3g}"
        figures.append(Figure(what, much / theirs[what], "×", DEARER, note=note))
    return figures


def _told_by(root: Path, quick: bool) -> dict[str, float]:
    members = 50 if quick else 200
    many = _MANY.format(members=members, partitions=10 * members, more=members + 10)
    arguments = json.dumps([5 if quick else 20, 2 if quick else 4, many])
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, arguments],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise RebalsimError(f"{root} could not be measured: {last}")
    told: dict[str, float] = json.loads(done.stdout)
    return told
