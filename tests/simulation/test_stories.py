"""Every story that ships: its lint is clean of errors, its invariants hold, and what it comes to
is held by a golden file.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rebalsim.analysis.analysis import Analysis
from rebalsim.one_run import run_once
from rebalsim.scenario.load import load_scenario

SCENARIOS = Path(__file__).parent.parent.parent / "scenarios"
STORIES = sorted([*SCENARIOS.glob("*.yaml"), *SCENARIOS.glob("world/*.yaml")])


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_a_story_comes_to_what_it_came_to(path: Path, golden: Callable[[str, str], None]) -> None:
    story = load_scenario(path)
    assert story.title and story.description, "a stock story says what it is about"
    lines = [story.title, ""]
    for variant in story.variants:
        analysis = run_once(story.scenario(variant)).analysis
        assert analysis.violations == []
        lines.append(f"{story.heading(variant)}: {summary(analysis)}")
    golden(f"stories/{path.stem}.txt", "\n".join(lines) + "\n")


def summary(a: Analysis) -> str:
    """The figures that a change of rules would move, no finer than a tenth of a second."""
    longest = (a.measure("longest_pause") or 0) / 1e6
    generations = a.measure("generations")
    parts = [
        "epochs" if generations is None else f"generation {generations}",
        f"{a.measure('rebalances')} rebalances",
        f"{a.measure('disturbances')} disturbances",
        f"longest pause {longest:.1f} s",
        f"{a.measure('partitions_touched')} partitions touched",
    ]
    if a.worker_groups:
        parts += [
            f"longest task pause {(a.measure('longest_task_pause') or 0) / 1e6:.1f} s",
            f"{(a.measure('task_seconds') or 0) / 1e6:.0f} task-seconds",
            f"{a.measure('worker_rebalances')} rounds of workers",
        ]
    for metric, words in (
        ("poll_expirations", "poll expirations"),
        ("fenced_members", "fenced"),
        ("open_pauses", "open"),
        ("unsettled", "unsettled"),
    ):
        value = a.measure(metric)
        if value:
            parts.append(f"{value} {words}")
    died = sum(
        1 for e in a.trace.events if type(e).__name__ == "ConsumerExited" and e.how == "fatal"
    )
    return ", ".join(parts + ([f"{died} died of an exception"] if died else []))
