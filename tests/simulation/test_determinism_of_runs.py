"""The same scenario and seed give the same trace: with quiet times slept through or not, and
under any hash seed.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from random_worlds import random_world

from rebalsim.simulation.world import play

HASHED = """
import sys; sys.path.insert(0, {folder!r})
from random_worlds import random_world
from rebalsim.simulation.world import play
import hashlib
digest = hashlib.sha256()
for seed in range(12):
    for event in play(random_world(seed)).events:
        digest.update(repr(event).encode())
print(digest.hexdigest())
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_sleeping_through_quiet_times_changes_nothing(seed: int) -> None:
    scenario = random_world(seed)
    slept, awake = play(scenario).events, play(scenario, plain=True).events
    first = next(
        (i for i, (a, b) in enumerate(zip(slept, awake)) if a != b), min(len(slept), len(awake))
    )
    assert slept[first : first + 1] == awake[first : first + 1] and len(slept) == len(awake), (
        f"random_world({seed}), event {first}"
    )


@pytest.mark.slow
def test_the_hash_seed_changes_nothing() -> None:
    told = set()
    for hash_seed in ("0", "1", "4711"):
        ran = subprocess.run(
            [sys.executable, "-c", HASHED.format(folder=str(Path(__file__).parent))],
            capture_output=True,
            text=True,
            check=True,
            env={
                **os.environ,
                "PYTHONHASHSEED": hash_seed,
                "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
            },
        )
        told.add(ran.stdout)
    assert len(told) == 1


def test_another_seed_is_another_run() -> None:
    scenario = random_world(3)
    one, other = play(scenario, seed=1).events, play(scenario, seed=2).events
    assert (
        hashlib.sha256(repr(one).encode()).digest() != hashlib.sha256(repr(other).encode()).digest()
    )
