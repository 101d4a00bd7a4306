"""What CONTRIBUTING promises: a new thing of each kind is a file, which needs no other to be told
about it. Each test puts one beside the others and asks the command line. (Rules of lint have a test
of their own, beside the rules.)
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STORY = ROOT / "scenarios" / "crash.yaml"


def rebalsim_with(room: str, folder: Path, *arguments: str) -> str:
    """What the command prints where `room` has the files of `folder`, too."""
    script = (
        f"import sys, {room} as room; room.__path__.append(sys.argv.pop(1)); "
        "from rebalsim.__main__ import run; run()"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", script, str(folder), *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
    )
    assert "Traceback" not in done.stderr and done.returncode in (0, 1), done.stderr
    return done.stdout


FORM = """
from rebalsim.reports.forms.form import Form, Subject, Telling

def render(value, view):
    return f"<{type(value).__name__}>\\n"

FORM = Form(
    "angle-brackets",
    {
        Subject.RUNS: Telling("In angle brackets.", render),
        Subject.CHECK: Telling("A check in angle brackets.", render),
        Subject.SWEEP: Telling("A sweep in angle brackets.", render),
    },
)
"""


def test_a_form_of_output(tmp_path: Path) -> None:
    (tmp_path / "form_angle_brackets.py").write_text(FORM, "utf-8")
    forms = "rebalsim.reports.forms"

    for command in ("run", "report", "compare", "replay", "observe"):
        told = rebalsim_with(forms, tmp_path, command, "--help")
        assert "--angle-brackets" in told and "In angle brackets." in told, command
    assert "A sweep in angle brackets." in rebalsim_with(forms, tmp_path, "sweep", "--help")
    played = ("--advise", "off", "--angle-brackets", str(STORY))
    assert rebalsim_with(forms, tmp_path, "run", *played) == "<Report>\n"
    assert rebalsim_with(forms, tmp_path, "check", *played) == "<CheckReport>\n"
