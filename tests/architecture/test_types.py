"""The type checker and the linter have nothing to say, so that `pytest` is the one command."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest
from code_of_rebalsim import ROOT


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
