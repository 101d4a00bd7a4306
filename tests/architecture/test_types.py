"""The type checker and the linter have nothing to say, so that `pytest` is the one command."""

from __future__ import annotations

import ast
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from code_of_rebalsim import PACKAGE, ROOT, Module, in_rooms


def told_by(tool: str, *args: str) -> str:
    """What the tool complains of; skipped where it is not installed, except in CI, where it has
    to be.
    """
    if importlib.util.find_spec(tool) is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{tool} is not installed, and in CI it has to be: pip install -e '.[dev]'")
        pytest.skip(f"{tool} IS NOT INSTALLED, so its check is left out: pip install -e '.[dev]'")
    done = subprocess.run(
        [sys.executable, "-m", tool, *args], capture_output=True, text=True, cwd=ROOT, check=False
    )
    return "" if done.returncode == 0 else (done.stdout + done.stderr).strip()


@pytest.mark.slow
def test_types_are_strict_and_right() -> None:
    """mypy as configured in pyproject.toml: strict, over the whole package."""
    assert told_by("mypy", "--no-error-summary", "--no-pretty") == ""


def test_style_is_that_of_the_house() -> None:
    """ruff as configured in pyproject.toml, over the package and its tests."""
    assert told_by("ruff", "check", "--quiet", "--output-format", "concise", ".") == ""


def test_lines_are_broken_as_the_formatter_breaks_them() -> None:
    """ruff format as configured in pyproject.toml: 100 columns, over the package and its tests."""
    assert told_by("ruff", "format", "--check", "--quiet", ".") == ""


# The rooms that read traces, and the facts of events whose codes are types of `domain`.
_READERS = ("analysis", "reports", "check", "incident", "advice", "preview", "verify", "one_run")
_FACTS = frozenset(
    ("after", "api", "before", "by", "callback", "error", "how", "kind", "state", "trigger", "why")
)
# (file, literal) → why it is compared as it stands
_CHECKED = "the type checker holds it: the fact is one of a few literals"
_WRITTEN = "a word of the scenario language, as the story has it"
_LOGGED = "what a client of Kafka logs or throws, known by its text"
_PLAIN: dict[tuple[str, str], str] = {
    ("analysis/alarms.py", "request timed out"): _LOGGED,
    ("analysis/diagnosis.py", "FENCED_INSTANCE_ID"): _LOGGED,
    ("analysis/diagnosis.py", "UNRELEASED_INSTANCE_ID"): _LOGGED,
    ("reports/alarms_told.py", "FencedInstanceIdException"): _LOGGED,
    ("reports/check_report.py", "regressed"): _CHECKED,
    ("reports/check_to_markdown.py", "improved"): _CHECKED,
    ("reports/check_to_markdown.py", "regressed"): _CHECKED,
    ("reports/recommendation.py", "freeze"): _WRITTEN,
    ("reports/sweep_words.py", "duration"): _CHECKED,
    ("verify/streams_prediction.py", "killed"): "what its own stretches are called",
}


def _plain_comparisons(module: Module) -> Iterator[tuple[int, str]]:
    """Where a fact of an event is compared to a word in quotes."""
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Compare):
            continue
        sides = [node.left, *node.comparators]
        if any(isinstance(side, ast.Attribute) and side.attr in _FACTS for side in sides):
            for part in (part for side in sides for part in (side, *getattr(side, "elts", ()))):
                if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value:
                    yield node.lineno, part.value


def test_facts_of_events_are_compared_as_types() -> None:
    """What one room wrote into a trace is no word in quotes in the room that reads it: who renames
    it there would not hear of it here.
    """
    found = {
        (module.path.relative_to(PACKAGE).as_posix(), word): line
        for room in _READERS
        for module in in_rooms(room)
        for line, word in _plain_comparisons(module)
    }
    wrong = [
        f"{file}:{line}: {w!r}" for (file, w), line in found.items() if (file, w) not in _PLAIN
    ]
    assert wrong == [], "give it a type in rebalsim/domain, and use it on both sides"
    assert set(_PLAIN) - set(found) == set(), "not there any more: take it out of the list"
