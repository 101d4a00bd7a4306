"""Outputs that cannot be written: a reader that has seen enough, a full disk, a stream that the
caller closed. None of it is a verdict, or a bug.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

REBALSIM = f"{sys.executable} -m rebalsim"


def shell(words: str, tmp_path: Path) -> tuple[int, str]:
    (tmp_path / "s.yaml").write_text(
        "topics: {orders: 4}\ngroup: {members: 3}\nhorizon: 20s\n", encoding="utf-8"
    )
    done = subprocess.run(
        ["sh", "-c", words], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("command", ["explain", "--help", "show s.yaml", "run s.yaml"])
def test_a_reader_that_went_away_is_no_broken_budget(command: str, tmp_path: Path) -> None:
    """The reader is gone before the first byte is written."""
    program = (
        "import subprocess, sys, os; r, w = os.pipe(); os.close(r); "
        f"p = subprocess.run([sys.executable, '-m', 'rebalsim', *{command.split()!r}], stdout=w, "
        "stderr=subprocess.PIPE, text=True); "
        "print(p.stderr, end=''); sys.exit(p.returncode)"
    )
    (tmp_path / "s.yaml").write_text(
        "topics: {orders: 4}\ngroup: {members: 3}\nhorizon: 20s\n", encoding="utf-8"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (130, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("command", ["run s.yaml", "show s.yaml", "run s.yaml --json", "schema"])
def test_a_full_disk_is_told_as_such(command: str, tmp_path: Path) -> None:
    assert shell(f"{REBALSIM} {command} > /dev/full", tmp_path) == (
        2,
        "The output cannot be written: No space left on device\n",
    )


@pytest.mark.slow
def test_what_the_caller_closed_goes_nowhere(tmp_path: Path) -> None:
    assert shell(f"{REBALSIM} run s.yaml >&-", tmp_path) == (0, "")
    assert shell(f"{REBALSIM} run nowhere.yaml 2>&-", tmp_path)[0] == 2


@pytest.mark.parametrize("encoding", ["cp1252", "koi8-r"])
@pytest.mark.parametrize(
    "command",
    [
        "show s.yaml",
        "explain",
        "schema",
        "lint s.yaml",
        "init new",
        "run s.yaml",
        "run s.yaml --json",
    ],
)
def test_a_terminal_of_another_encoding_gets_what_it_can_show(
    command: str, encoding: str, tmp_path: Path
) -> None:
    (tmp_path / "s.yaml").write_text(
        "title: Größe → 時間\ntopics: {orders: 4}\ngroup: {members: 9}\nhorizon: 20s\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [*REBALSIM.split(), *command.split()],
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )
    assert (done.returncode, b"contradicts" in done.stderr) == (0, False)
    done.stdout.decode(encoding)


@pytest.mark.parametrize(
    "command",
    [
        "run s.yaml --html ''",
        "run s.yaml --trace ''",
        "check s.yaml --junit ''",
        "sweep planner --html ''",
        "check s.yaml --baseline ''",
        "check s.yaml --save-baseline=",
        "check s.yaml --only ''",
        "run s.yaml --variant ''",
    ],
)
def test_an_option_without_a_value_is_not_left_out_in_silence(command: str, tmp_path: Path) -> None:
    code, said = shell(f"{REBALSIM} {command}", tmp_path)
    assert code == 2 and "is empty, as a shell variable is that is not set" in said
