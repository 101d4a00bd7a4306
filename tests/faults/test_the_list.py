"""The list of faults beside this file names tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent


def named() -> list[tuple[str, str]]:
    """Each file with each name that the list gives for it."""
    found, file = [], ""
    for line in (HERE / "README.md").read_text("utf-8").splitlines():
        for word in re.findall(r"`([^`]+)`", line):
            if word.endswith(".py"):
                file = word
            elif re.fullmatch(r"\w+", word) and file:
                found.append((file, word))
    return found


def test_each_fault_of_the_list_has_its_test() -> None:
    missing = []
    for file, name in named():
        text = (HERE / file).read_text("utf-8")
        is_there = f"def {name}(" in text or f'"{name}"' in text
        missing += [] if is_there else [f"{file}: {name}"]
    assert len(named()) > 70 and not missing
