"""Faults that were found in what is written and shown: each a test named by it."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from rebalsim.cli.main import code_of
from rebalsim.domain.errors import InputError
from rebalsim.outside.text import escaped, inert, no_formula, no_orders
from rebalsim.outside.writing import write_new, write_text

NASTY = "\x1b]0;owned\x07\u202e\x9b2J"
STORY = f"""\
title: "a{NASTY.encode("unicode_escape").decode()}b"
topics: {{orders: {{partitions: 2, rate: 10/s}}}}
group: {{members: 2}}
replay: [as-written]
horizon: 1m
budgets: {{longest_pause: "<= 10s"}}
"""
PLAN = STORY.partition("\n")[0] + "\nscenario: s.yaml\naxes: {group.members: [1, 2]}\nseeds: 1\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(STORY, "utf-8")
    (tmp_path / "p.yaml").write_text(PLAN, "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ["run", "s.yaml"],
        ["run", "s.yaml", "--json"],
        ["run", "s.yaml", "--csv"],
        ["check", "s.yaml"],
        ["show", "s.yaml"],
        ["sweep", "p.yaml", "--dry-run"],
        ["run", f"no{NASTY}.yaml"],
        ["check", f"no{NASTY}.yaml"],
        ["report", f"no{NASTY}.jsonl"],
        [f"no{NASTY}"],
        ["run", "s.yaml", f"--no{NASTY}"],
        ["explain", NASTY],
        ["run", "s.yaml", "--variant", NASTY],
        ["run", "s.yaml", "--set", f"{NASTY}=1"],
    ],
    ids=lambda words: " ".join(words).encode("unicode_escape").decode()[:40],
)
def test_escapes_and_overrides_went_through_raw(words: list[str], folder: Path) -> None:
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
        code_of(words)
    assert not set("\x1b\x07\u202e\x9b") & set(shown.getvalue())


@pytest.mark.parametrize("form", ["html", "perfetto", "openmetrics", "csv", "markdown", "json"])
@pytest.mark.parametrize("command", ["run", "check", "compare"])
def test_escapes_and_overrides_went_into_files_raw(
    command: str, form: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whichever of these forms the command has: to a file, or to its output."""
    words = [command, "s.yaml", *(["s.yaml"] if command == "compare" else []), f"--{form}"]
    if code_of([*words, "o"]) == 2:  # it takes no file, or there is none such
        code_of(words)
    told = capsys.readouterr()
    written = (folder / "o").read_text("utf-8") if (folder / "o").exists() else ""
    assert not set("\x1b\x07\u202e\x9b") & set(written + told.out + told.err)


def test_a_carriage_return_in_a_name_hid_what_stood_before_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a\rhidden.yaml").write_text(STORY, "utf-8")
    for words in (
        ["run", "a\rhidden.yaml"],
        ["check", "a\rhidden.yaml"],
        ["import", "a\rhidden.yaml"],
    ):
        code_of(words)
        told = capsys.readouterr()
        assert "\r" not in told.out + told.err
    assert escaped("\r  12 of 20\r") == "\r  12 of 20\r"  # a line of progress


def test_the_progress_bar_showed_its_own_escapes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from rebalsim.cli.progress import progress
    from rebalsim.cli.streams import guard_streams, release_streams

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    guard_streams()
    try:
        with progress(30) as step:
            step()
    finally:
        release_streams()
    told = capsys.readouterr().err
    assert "30 runs" in told and "\\u001b" not in told


def test_json_still_means_what_it_held(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import json

    assert code_of(["run", "s.yaml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == f"a{NASTY}b"


def test_signs_are_shown_as_their_numbers() -> None:
    assert inert("a\x1b\u202eb\n") == "a\\x1b\\u202eb\n"
    assert escaped("\x1b[31mred\x1b[0m \x1b]0;t\x07 \U000e0041") == (
        "\x1b[31mred\x1b[0m \\u001b]0;t\\u0007 \\udb40\\udc41"
    )
    assert no_orders("::error::x\n a ##[b]") == ": :error::x\n a # #[b]"


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1+x", "@x", "\tx", "\rx"])
def test_a_csv_cell_was_a_formula(cell: str) -> None:
    assert no_formula(cell) == f"'{cell}"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_html_to_dev_full_replaced_the_device(folder: Path) -> None:
    before = Path("/dev/full").stat()
    with contextlib.redirect_stderr(io.StringIO()) as said:
        assert code_of(["run", "s.yaml", "--html", "/dev/full"]) == 2
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)
    assert Path("/dev/full").stat().st_ino == before.st_ino
    assert "is not replaced" in said.getvalue()


def test_a_pipe_was_replaced_by_a_file(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    with contextlib.redirect_stderr(io.StringIO()):
        assert code_of(["run", "s.yaml", "--html", "pipe"]) == 2
    assert stat.S_ISFIFO((folder / "pipe").stat().st_mode)


def test_a_link_was_replaced_and_its_target_left_as_it_was(folder: Path) -> None:
    (folder / "real").mkdir()
    (folder / "real" / "page.html").write_text("old", "utf-8")
    (folder / "link.html").symlink_to(folder / "real" / "page.html")
    write_text(folder / "link.html", "new")
    assert (folder / "link.html").is_symlink()
    assert (folder / "real" / "page.html").read_text("utf-8") == "new"


def test_permissions_stay_and_nothing_is_left_beside(folder: Path) -> None:
    (folder / "page.html").write_text("old", "utf-8")
    (folder / "page.html").chmod(0o640)
    write_text(folder / "page.html", "new")
    assert (folder / "page.html").stat().st_mode & 0o777 == 0o640
    assert sorted(p.name for p in folder.iterdir()) == ["p.yaml", "page.html", "s.yaml"]


def test_a_full_disk_is_one_sentence_and_leaves_what_was_there(folder: Path) -> None:
    (folder / "page.html").write_text("old", "utf-8")
    script = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000));"
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "from rebalsim.cli.main import code_of; sys.exit(code_of(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", script, "run", "s.yaml", "--html", "page.html"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2 and "cannot be written" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and (folder / "page.html").read_text("utf-8") == "old"


class FullFile(io.FileIO):
    """A new file on a full disk."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path), "xb")

    def write(self, data: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_left_an_empty_new_file_that_then_was_in_the_way(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "new.yaml"
    with monkeypatch.context() as patched:
        patched.setattr("rebalsim.outside.writing.Path.open", lambda *_: FullFile(path))
        with pytest.raises(InputError, match="No space left"):
            write_new(path, "x")
    assert not path.exists()
    write_new(path, "x")
    with pytest.raises(InputError, match="nothing is overwritten"):
        write_new(path, "y")
    assert path.read_text("utf-8") == "x"


@pytest.mark.parametrize("after_s", [0.06, 0.12, 0.25, 0.5])
def test_ctrl_c_while_importing_ended_with_a_traceback(after_s: float, folder: Path) -> None:
    """From the moment on at which rebalsim's own code runs: the child says when that is. Whoever runs
    these tests in the background may have had Ctrl-C ignored for all that they start.
    """
    script = (
        "import sys; sys.argv[0] = 'rebalsim'; from rebalsim.__main__ import run;"
        "sys.stderr.write('on\\n'); sys.stderr.flush(); run()"
    )
    long = STORY.replace("horizon: 1m", "horizon: 30d").replace(
        "replay:", "random_faults: [{kind: crash, about_every: 10m, for: 1s}]\nreplay:"
    )
    (folder / "long.yaml").write_text(long, "utf-8")
    child = subprocess.Popen(
        [sys.executable, "-c", script, "run", "long.yaml"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert child.stderr is not None and child.stderr.readline() == "on\n"
    time.sleep(after_s)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert child.returncode == 130, said
    assert "Traceback" not in said and said.endswith("Interrupted.\n")


def test_ctrl_c_struck_while_nothing_but_typing_had_been_imported() -> None:
    """What is imported before the first line that heeds Ctrl-C ends in Python's own traceback."""
    script = (
        "import sys, os; before = set(sys.modules); import rebalsim.__main__;"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["rebalsim", "rebalsim.__main__"]


@pytest.mark.parametrize("name", ["/usr/bin/rebalsim", "C:\\\\x\\\\rebalsim-script.pyw"])
def test_ctrl_c_struck_between_the_scripts_import_and_its_call(name: str) -> None:
    script = (
        f"import sys, os; sys.argv[0] = '{name}'; from rebalsim.__main__ import run;"
        "os.kill(os.getpid(), 2); print('went on')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Interrupted.\n")


def test_importing_the_entry_point_takes_ctrl_c_from_nobody() -> None:
    script = (
        "import signal; import rebalsim.__main__;"
        "print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert done.stdout == "True\n"


STRUCK = {
    "in_a_command": (
        "import sys\nimport rebalsim.cli.endings as e\n"
        "def struck(): exec('raise KeyboardInterrupt')\nsys.exit(e.ending_of(struck, []))\n"
    ),
    "in_an_import": (
        "import sys\nimport rebalsim.cli\nimport rebalsim.__main__ as m\nclass Struck:\n"
        "    def __getattr__(self, name): exec('raise KeyboardInterrupt')\n"
        "sys.modules['rebalsim.cli.main'] = Struck()\nm.run()\n"
    ),
}


@pytest.mark.parametrize("where", STRUCK)
def test_ctrl_c_while_a_dataclass_was_made_ended_by_the_signal_and_not_with_130(
    where: str, tmp_path: Path
) -> None:
    (tmp_path / "struck.py").write_text(STRUCK[where], "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "struck"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 130 and done.stderr.endswith("Interrupted.\n"), done.stderr
