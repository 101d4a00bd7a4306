"""Runs in several processes: results in order, a process that dies is one story's bug, and
nothing is said on stderr at the end.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLAY = """
import json, os, sys
import rebalsim.one_run as one_run
from rebalsim.check.many import Wanted, check_files

play = one_run.play

def dying(scenario, **rest):
    if scenario.title == sys.argv[1]:
        os._exit(9)
    return play(scenario, **rest)

one_run.play = dying
steps = []
outcome = check_files(sys.argv[2:], Wanted(jobs=2), lambda done, total: steps.append((done, total)))
print(json.dumps({"stories": [(s.file, s.ending, s.bug, len(s.checked)) for s in outcome.stories], "steps": steps}))
"""


def played(dies: str, *stories: str) -> dict[str, list[list[object]]]:
    done = subprocess.run(
        [sys.executable, "-c", PLAY, dies, *stories],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    found: dict[str, list[list[object]]] = json.loads(done.stdout)
    return found


def test_stories_come_in_the_order_in_which_they_were_asked_for() -> None:
    found = played("none", "scenarios/scale-out.yaml", "scenarios/crash.yaml")
    assert [(file, ending, bug) for file, ending, bug, _ in found["stories"]] == [
        ("scenarios/scale-out.yaml", "pass", ""),
        ("scenarios/crash.yaml", "pass", ""),
    ]
    assert found["steps"] == [[n, 5] for n in range(1, 6)]


def test_a_process_that_dies_is_a_bug_that_is_told() -> None:
    found = played("A consumer is killed", "scenarios/crash.yaml")
    ((file, ending, bug, checked),) = found["stories"]
    assert (file, ending, checked) == ("scenarios/crash.yaml", "bug", 0)
    assert (
        bug == "eager: the process that played it died (out of memory?) — try again with --jobs 1"
    )
