"""The action and the template that preview a deploy: what they run, and that nobody's text becomes
part of a script.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from rebalsim.reports.preview_to_markdown import MARK

ROOT = Path(__file__).resolve().parents[2]


def loaded(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_the_actions_inputs_reach_the_script_as_variables_only() -> None:
    action = loaded("preview/action.yml")
    scripts = [step["run"] for step in action["runs"]["steps"] if "run" in step]
    assert scripts and not any("${{" in script for script in scripts)
    assert any("rebalsim preview" in script and MARK in script for script in scripts)


def test_the_template_previews_and_finds_its_own_note() -> None:
    job = loaded(".ci/gitlab-template.yml")[".rebalsim-preview"]
    script = "\n".join(job["script"])
    assert "rebalsim preview" in script and MARK in script and "--junit" in script
