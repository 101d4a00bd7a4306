"""Six shapes that teams deploy, each from its files to a scenario and to the verdict on a restart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rebalsim.preview.preview import preview, side_of
from rebalsim.worlds.explained import explained
from rebalsim.worlds.to_scenario import playable, to_scenario
from rebalsim.worlds.understand import understand

STORIES = Path(__file__).parent / "stories"
NAMES = sorted(p.name for p in STORIES.iterdir() if p.is_dir())


def sources(name: str) -> list[tuple[str, str]]:
    return [
        (path.name, path.read_text(encoding="utf-8")) for path in sorted((STORIES / name).iterdir())
    ]


def test_there_are_six_shapes() -> None:
    assert len(NAMES) == 6


@pytest.mark.parametrize("name", NAMES)
def test_files_become_this_scenario(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"worlds/{name}/scenario.yaml", playable(to_scenario(understand(sources(name)))))


@pytest.mark.parametrize("name", NAMES)
def test_this_is_what_was_understood(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"worlds/{name}/explained.txt", explained(understand(sources(name))) + "\n")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_this_is_what_a_restart_does(name: str, golden: Callable[[str, str], None]) -> None:
    told = preview(None, side_of(name, sources(name)), advise=0)
    lines = [told.title, told.verdict, *told.rollouts, *told.hurts]
    lines += [f"{c.outcome}: {c.name}" for c in told.checked]
    golden(f"worlds/{name}/verdict.txt", "\n".join(lines) + "\n")


@pytest.mark.parametrize("name", NAMES)
def test_no_credential_is_copied(name: str) -> None:
    made = understand(sources(name))
    assert "do-not-copy-me" not in to_scenario(made) + explained(made)
