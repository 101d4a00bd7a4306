"""Somebody adds a rule by writing one file: `lint` finds what it looks for, `explain` knows it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
RULE = """
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

RULE = Rule(
    id="too-quiet",
    heading="The story itself",
    title="Nothing ever happens",
    what="A story without a script.",
    why="Nobody learns anything of a group that is left alone.",
    fix="Do something to it.",
    example="script: []",
    source="The test that wrote this file.",
)


def find(scenario):
    if not scenario.script:
        yield Finding("nothing ever happens in this story", Place("story"))
"""
RUN = """
import sys
import rebalsim.lint.rules
rebalsim.lint.rules.__path__.append(sys.argv.pop(1))
from rebalsim.cli.main import run
run()
"""


def rebalsim(folder: Path, *args: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(folder), *args],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    return done.stdout + done.stderr


def test_a_rule_is_one_file(tmp_path: Path) -> None:
    (tmp_path / "too_quiet.py").write_text(RULE, encoding="utf-8")
    story = "title: Quiet\ntopics: {orders: {partitions: 2, rate: 1/s}}\ngroup: {members: 1}\n"
    (tmp_path / "quiet.yaml").write_text(story + "horizon: 1m\n", encoding="utf-8")
    assert "nothing ever happens in this story" in rebalsim(tmp_path, "lint", "quiet.yaml")
    assert "Nobody learns anything" in " ".join(rebalsim(tmp_path, "explain", "too-quiet").split())
