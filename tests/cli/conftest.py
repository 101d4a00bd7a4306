"""A repository to check things in, away from the environment of whatever runs the tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from checking import DEPLOY, Repository


@pytest.fixture
def repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Repository:
    """A folder with one scenario whose budgets are kept."""
    for name in (
        "GITHUB_ACTIONS",
        "GITHUB_STEP_SUMMARY",
        "GITHUB_WORKSPACE",
        "CI_PROJECT_DIR",
        "FORCE_COLOR",
        "CLICOLOR_FORCE",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)
    made = Repository(tmp_path, capsys)
    made.write("scenarios/deploy.yaml", DEPLOY)
    return made
