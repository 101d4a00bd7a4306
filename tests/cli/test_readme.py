"""CI runs the README's own test command. (What else it shows is played by tests/docs.)"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_ci_finds_the_test_command_in_the_readme() -> None:
    pattern = re.search(r"sed -n '(.+?)'", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    assert pattern and "python3 -m venv" in pattern.group(1)
    commands = re.findall(r"^ +(python3 -m venv .*pytest.*)$", README, re.MULTILINE)
    assert len(commands) == 1 and ".ci/constraints.txt" in commands[0]
    assert (ROOT / ".ci" / "constraints.txt").is_file()
