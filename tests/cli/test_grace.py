"""A process that does not exit in its grace is killed, and the story says what had kept it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from rebalsim.cli.main import door

STORY = """
topics: {orders: {partitions: 4, rate: 12/s}}
group:
  members: 3
  handler: 1ms
  life: {grace: 20s}
script:
%s
replay: [%s]
horizon: 10m
"""
HANG = """
  - {at: 1m, hang: {members: c0, for: 6m}}
  - {at: 80s, rolling_bounce: {members: c0, down: 10s}}
"""


def told(tmp_path: Path, command: str, script: str, replay: str = "eager", *more: str) -> str:
    path = tmp_path / "story.yaml"
    path.write_text(STORY % (script, replay), encoding="utf-8")
    off = ("--advise", "off") if command in ("run", "check") else ()
    said = CliRunner().invoke(door, [command, str(path), *off, *more], standalone_mode=False)
    assert said.exception is None
    return " ".join(said.output.split())


@pytest.mark.slow
@pytest.mark.parametrize("replay", ["eager", "cooperative", "consumer"])
def test_a_stuck_handler_ends_with_its_process_and_the_report_says_so(
    tmp_path: Path, replay: str
) -> None:
    said = told(tmp_path, "run", HANG, replay)
    assert (
        "! c0 was killed at 1:40.000, when its grace of 20.0 s was over: its handler, stuck since "
        "1:00.0" in said
    )
    assert "kept it from closing, and ended with it." in said


def test_the_exchange_says_it_too(tmp_path: Path) -> None:
    said = told(tmp_path, "trace", HANG, "eager", "--event", "ConsumerExited")
    assert "process was killed: its grace was over" in said


def test_lint_foresees_it(tmp_path: Path) -> None:
    said = told(tmp_path, "lint", HANG)
    assert "killed at 1 m 40 s" in said and "[hang-outlasts-grace]" in said


@pytest.mark.parametrize(
    ("script", "kept"),
    [
        (
            "  - {at: 1m, freeze: {members: c0, for: 2m}}\n  - {at: 70s, leave: c0}\n",
            "it was frozen since 1:00.000",
        ),
        (
            "  - {at: 1m, cut: {members: c0, for: 2m, from: brokers}}\n"
            "  - {at: 62s, leave: c0}\n  - {at: 3m, join: 1}\n",
            "had not returned",
        ),
    ],
)
def test_whatever_else_kept_it(tmp_path: Path, script: str, kept: str) -> None:
    said = told(tmp_path, "run", script)
    assert "when its grace of 20.0 s was over" in said and kept in said


def test_who_crashes_or_leaves_in_time_was_not_killed_for_that(tmp_path: Path) -> None:
    script = (
        "  - {at: 1m, hang: {members: c0, for: 10s}}\n  - {at: 65s, leave: c0}\n"
        "  - {at: 2m, crash: c1}\n"
    )
    assert "grace" not in told(tmp_path, "run", script)


def test_many_that_were_killed_alike_are_one_sentence(tmp_path: Path) -> None:
    script = "  - {at: 1m, hang: {members: all, for: 6m}}\n  - {at: 80s, leave: all}\n"
    text = STORY.replace("members: 3", "members: 5")
    path = tmp_path / "story.yaml"
    path.write_text(text % (script, "eager"), encoding="utf-8")
    said = CliRunner().invoke(door, ["run", str(path)], standalone_mode=False).output
    assert "5 times in all, when their grace was over: stuck handlers kept them" in " ".join(
        said.split()
    )
