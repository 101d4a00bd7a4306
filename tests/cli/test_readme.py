"""The README shows the main job's real output, and CI runs the README's own test command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from rebalsim.cli.main import door

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_shows_what_the_main_job_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    printed = (
        CliRunner().invoke(door, ["run", "scenarios/scale-out.yaml"], standalone_mode=False).stdout
    )
    blocks = re.findall(r"^```\n(.*?)\n```$", README, re.DOTALL | re.MULTILINE)
    assert printed.strip() in [block.strip() for block in blocks]


def test_ci_finds_the_test_command_in_the_readme() -> None:
    pattern = re.search(r"sed -n '(.+?)'", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    assert pattern and "python3 -m venv" in pattern.group(1)
    commands = re.findall(r"^ +(python3 -m venv .*pytest.*)$", README, re.MULTILINE)
    assert len(commands) == 1 and ".ci/constraints.txt" in commands[0]
    assert (ROOT / ".ci" / "constraints.txt").is_file()
