"""The benchmark measures, holds answers against each other, and says so when there is no Java."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rebalsim.proof.bench import assignors as bench
from rebalsim.proof.bench.assignors import Measurement, measure, render


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        bench,
        "CASES",
        [("range", 3, 2, 4, "equal", 3.0), ("cooperative-sticky", 4, 3, 5, "unequal", 5.0)],
    )


def test_without_java_only_our_own_times_are_there(
    small: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(bench, "client_classpath", lambda jars: None)
    measured = measure(tmp_path, quick=True)
    assert [(m.assignor, m.members, m.partitions, m.what) for m in measured] == [
        ("range", 3, 8, "first"),
        ("range", 3, 8, "one joins"),
        ("cooperative-sticky", 4, 15, "first"),
        ("cooperative-sticky", 4, 15, "one joins"),
    ]
    assert all(
        m.ours_ms > 0 and m.anew_ms > 0 and m.java_ms is None and m.ratio is None and m.ok
        for m in measured
    )
    assert render(measured)[-1].startswith("No Java")


def test_java_is_asked_for_the_same_groups_and_its_answers_are_held_against_ours(
    small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, sums = bench._ours(bench.client_assignor("range"), 3, 2, 4, False, 0.0, anew=False)
    monkeypatch.setattr(bench, "client_classpath", lambda jars: "somewhere")
    monkeypatch.setattr(
        bench,
        "_java",
        lambda classpath, budget_s: {"range:3:2:4:equal": ([1e6, 1e-9], [sums[0], sums[1] + 1])},
    )
    first, joins, other, _ = measure(None, quick=True)
    assert first.ok and first.same_answer and first.ratio is not None and first.ratio < 1
    assert not joins.ok and joins.same_answer is False
    assert other.java_ms is None and other.same_answer is None
    lines = render([first, joins, other])
    assert "≤ 3" in lines[1] and "MISSED" not in lines[1]
    assert "MISSED  ANOTHER ANSWER" in lines[2] and not lines[-1].startswith("No Java")


def test_a_goal_is_missed_by_being_slower_than_it_allows() -> None:
    m = Measurement("range", 1, 1, "equal", "first", 3.1, 3.5, 1.0, True, 3.0)
    assert not m.ok and replace(m, ours_ms=3.0).ok and replace(m, goal=None).ok
