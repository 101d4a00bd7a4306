"""What an older rebalsim wrote: read, or refused by its version in one sentence. The files here are
of an early state of 0.1.0; they are never written anew.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from rebalsim import __version__
from rebalsim.cli.main import code_of

HERE = Path(__file__).parent
TRACE, BASELINE = HERE / "trace.jsonl.gz", HERE / "baseline.json"


def asked(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str]:
    code = code_of(list(args))
    said = capsys.readouterr()
    return code, " ".join((said.out + said.err).split())


def lines() -> list[str]:
    return gzip.decompress(TRACE.read_bytes()).decode().splitlines(keepends=True)


@pytest.mark.parametrize("command", ["report", "describe", "trace"])
def test_an_older_trace_is_read(capsys: pytest.CaptureFixture[str], command: str) -> None:
    code, said = asked(capsys, command, str(TRACE))
    assert code == 0 and "orders" in said


def test_an_older_baseline_is_read_and_does_not_say_that_the_story_changed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(HERE.parents[1])
    code, said = asked(capsys, "check", "scenarios/scale-out.yaml", "--baseline", str(BASELINE))
    assert code == 0 and f"Against {BASELINE}" in said
    assert "because the story changed" not in said


def _tampered(tmp_path: Path, change: tuple[str, str], line: int) -> str:
    told = lines()
    assert change[0] in told[line]
    told[line] = told[line].replace(*change)
    told[0] = told[0].replace('"rebalsim":"0.1.0"', '"rebalsim":"0.0.7"')
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(told), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (('"schema":1', '"schema":7'), 0),
        (('"heading"', '"headline"'), 0),
        (('"event":"ConsumerStarted"', '"event":"ConsumerHatched"'), 1),
        (('"consumer":"c0"', '"who":"c0"'), 1),
    ],
)
def test_a_trace_that_does_not_fit_is_refused_by_its_version(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, change: tuple[str, str], line: int
) -> None:
    code, said = asked(capsys, "report", _tampered(tmp_path, change, line))
    assert code == 2 and "written by rebalsim 0.0.7" in said and __version__ in said
    assert said.count(". ") == 0  # one sentence


def test_a_baseline_of_a_form_to_come_is_refused_by_its_version(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    document = json.loads(BASELINE.read_text(encoding="utf-8"))
    path = tmp_path / "baseline.json"
    path.write_text(json.dumps({**document, "baseline": 9, "rebalsim": "7.0"}), encoding="utf-8")
    code, said = asked(capsys, "check", "scale-out", "--baseline", str(path))
    assert code == 2 and "was written by rebalsim 7.0" in said and __version__ in said
