"""The doctor finds what is there, says what to do about what is not, and fails only where the
core does.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from rebalsim.cli import doctor, exits
from rebalsim.cli.main import code_of

ROOT = Path(__file__).parents[2]


def test_all_is_told_and_the_core_is_fine(capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of(["doctor"]) == exits.WITHIN
    text = capsys.readouterr().out
    for name in (
        "rebalsim",
        "Python",
        *doctor.CORE,
        *doctor.SPARK,
        *doctor.DEV,
        "Java",
        "Chromium",
        "stories",
    ):
        assert re.search(rf"^  \S+ +{re.escape(name)} ", text, re.MULTILINE), name


def test_the_lists_are_those_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    def names(requirements: list[str]) -> list[str]:
        return sorted(re.split(r"[<>=!\[ ]", r)[0].lower() for r in requirements)

    assert names(project["dependencies"]) == sorted(n.lower() for n in doctor.CORE)
    assert names(project["optional-dependencies"]["spark"]) == sorted(
        n.lower() for n in doctor.SPARK
    )
    stubs = [
        n for n in names(project["optional-dependencies"]["dev"]) if not n.startswith("types-")
    ]
    assert [n for n in stubs if n not in {d.lower() for d in doctor.DEV}] == []


def test_something_the_core_needs_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(doctor.CORE, "simpy", ("no_such_module", "the simulation"))
    assert code_of(["doctor"]) == exits.INVALID
    text = capsys.readouterr().out
    assert (
        "MISSING simpy" in text
        and "rebalsim cannot work without simpy." in text
        and "pip install" in text
    )


def test_something_optional_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(doctor.SPARK, "pyspark", ("no_such_module", "sweeps"))
    assert code_of(["doctor"]) == exits.WITHIN
    text = capsys.readouterr().out
    assert "none    pyspark" in text and "rebalsim[spark]" in text and "The core is fine." in text
    assert "cannot start without what is missing above" in text


def test_java_is_not_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert code_of(["doctor"]) == exits.WITHIN
    text = capsys.readouterr().out
    assert f"JAVA_HOME is {tmp_path}" in text and "openjdk-17" in text


def test_java_is_too_old(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert code_of(["doctor"]) == exits.WITHIN
    assert "is Java 11, and Spark needs Java 17 or newer" in capsys.readouterr().out


def test_no_browser(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(doctor, "BROWSERS", ())
    monkeypatch.setattr(doctor, "MAC_BROWSERS", ())
    assert code_of(["doctor"]) == exits.WITHIN
    assert "none    Chromium" in capsys.readouterr().out


def test_json_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of(["doctor", "--json"]) == exits.WITHIN
    document = json.loads(capsys.readouterr().out)
    assert document["schema_version"] == 1 and document["ok"] is True
    by_name = {check["name"]: check for check in document["checks"]}
    assert by_name["simpy"]["needed"] is True and by_name["pyspark"]["needed"] is False
    assert by_name["start"]["ok"] in (None, False)  # not tried is not found


def test_it_imports_nothing_that_it_only_looks_for() -> None:
    """And is quick by that: half a second of the processor's time is the limit."""
    script = (
        "import sys\n"
        "from rebalsim.cli.main import code_of\n"
        "code_of(['doctor'])\n"
        "print([m for m in ('simpy', 'rich', 'pydantic', 'pyspark', 'pyarrow', 'pytest', 'yaml') "
        "if m in sys.modules])\n"
    )
    best = 9.0
    for _ in range(3):
        before = os.times()
        told = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True
        )
        after = os.times()
        took = after.children_user + after.children_system
        best = min(best, took - before.children_user - before.children_system)
        assert told.stdout.rstrip().endswith("[]")
        if best < 0.5:
            break
    assert best < 0.5


@pytest.mark.spark
def test_spark_is_really_started() -> None:
    """In a process of its own: it stops its session, and this one's may be somebody else's."""
    told = subprocess.run(
        [sys.executable, "-m", "rebalsim", "doctor", "--spark"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert told.returncode == exits.WITHIN
    assert "counted to 10" in told.stdout and told.stderr == ""
