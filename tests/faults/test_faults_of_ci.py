"""Faults that were found where rebalsim meets a CI: each a test named by it."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from rebalsim.check.find import is_surely_scenario
from rebalsim.cli.main import code_of

ROOT = Path(__file__).parents[2]
STORY = """\
title: {title}
topics: {{orders: {{partitions: 2, rate: 10/s}}}}
group: {{members: 2}}
replay: [as-written]
horizon: 1m
budgets: {{longest_pause: "{limit}"}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two", "my three", "-four"):
        path = tmp_path / name / "deploy.yaml"
        path.parent.mkdir()
        path.write_text(STORY.format(title=name, limit="<= 10s"), encoding="utf-8")
    return tmp_path


def checked(folder: Path, paths: str, args: str = "") -> subprocess.CompletedProcess[str]:
    """The action's last step with these inputs."""
    step = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"][-1]
    bin_folder = str(Path(sys.executable).parent)
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env={
            "PATH": f"{bin_folder}:{os.environ['PATH']}",
            "REBALSIM_PATHS": paths,
            "REBALSIM_ARGS": args,
            **dict.fromkeys(
                (
                    "REBALSIM_BASELINE",
                    "REBALSIM_MAX_REGRESSION",
                    "REBALSIM_JUNIT",
                    "REBALSIM_HTML",
                ),
                "",
            ),
        },
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("paths", "scenarios"),
    [
        ("one\ntwo", 2),
        ("one two", 2),
        ("one\nmy three\n", 2),
        ("one\n'my three/*.yaml'\n", 2),
        ("-four", 1),
        ("*/deploy.yaml", 4),
    ],
)
def test_the_action_read_one_line_of_its_paths_and_never_checked_the_second(
    folder: Path, paths: str, scenarios: int
) -> None:
    done = checked(folder, paths)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{scenarios} scenario{'s' * (scenarios > 1)}: " in done.stdout


def test_the_action_read_one_line_of_its_args(folder: Path) -> None:
    done = checked(folder, "one", "--only\nlongest_pause\n--width 60")
    assert done.returncode == 0, done.stderr
    done = checked(folder, "one", "--only longest_pause\n--set 'group.members=0'")
    assert done.returncode == 1, done.stdout


def test_the_actions_ran_python_files_of_the_checkout(folder: Path) -> None:
    """`python -c` and `python -m` look for modules where they run: in what was checked out."""
    for name in ("shlex", "os", "pip", "json"):
        (folder / f"{name}.py").write_text("raise SystemExit('a stranger ran')\n", "utf-8")
    done = checked(folder, "one two")
    assert "a stranger ran" not in done.stdout + done.stderr and done.returncode == 0
    for path in ("action.yml", "preview/action.yml", ".ci/gitlab-template.yml"):
        calls = re.findall(r"\bpython +(-\S*)", (ROOT / path).read_text("utf-8"))
        assert calls and set(calls) == {"-I"}, path


def test_the_action_with_empty_paths_checked_nothing_and_was_green(folder: Path) -> None:
    assert checked(folder, "\n  \n").returncode == 2


@pytest.mark.parametrize(
    "source", ["rebalsim", "", "rebalsim==0.1", "git+https://example.com/x/rebalsim"]
)
def test_the_gitlab_template_installed_a_bare_name_that_somebody_could_own(source: str) -> None:
    job = yaml.safe_load((ROOT / ".ci" / "gitlab-template.yml").read_text("utf-8"))[".rebalsim"]
    done = subprocess.run(
        ["bash", "-c", job["script"][0]],
        env={"REBALSIM_SOURCE": source, "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2 and "pinned place" in done.stdout


ORDERS = ("::stop-commands::word", "a ##[group]b", "a\r::ERROR::b")


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("command", ["check", "run", "lint", "init"])
def test_text_in_the_log_was_an_order_to_githubs_runner(
    folder: Path, command: str, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    (folder / "s.yaml").write_text(
        STORY.format(title=f"'{order}'", limit="<= 10s"), encoding="utf-8"
    )
    words = {"init": ["init", f"{order}/x"], "run": ["run", "s.yaml"], "show": ["show", "s.yaml"]}
    log = io.StringIO()
    with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
        for args in (words.get(command, [command, "s.yaml"]), [command, f"{order}\n{order}.yaml"]):
            code_of(args)
    for line in log.getvalue().splitlines():
        is_own = line.startswith("::error file=") and "title=scenario::There is no file" in line
        assert "##[" not in line or is_own, line
        assert not line.lstrip().startswith("::") or is_own, line


@pytest.mark.parametrize("order", ORDERS)
def test_some_commands_told_orders_to_githubs_runner(
    order: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command there is, with an order for its file's name, and for an option."""
    from rebalsim.cli.main import COMMANDS

    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    log = io.StringIO()
    with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
        # init would write a story of that name, which the others then play
        for command in [n for group in COMMANDS.values() for n in group if n != "init"]:
            for words in ([f"{order}.yaml"], [f"x\n{order}"], [f"--{order}"], [f"--x\n{order}"]):
                assert code_of([command, *words]) in (0, 1, 2, 3), (command, words)
    for line in log.getvalue().splitlines():
        is_own = line.startswith("::error file=") and "title=scenario::" in line
        assert is_own or ("##[" not in line and not line.lstrip().startswith("::")), line


HOSTILE_NAMES = (
    "a ##[group]b",
    "a\n::error::b",
    "a\r##[error]b",
    "a\x1b]0;owned\x07\u202e\x9b31m",
    "a::warning::b",
)


@pytest.mark.slow
@pytest.mark.parametrize("asked", [["-q"], ["-vv"], ["-q", "-rA", "--tb=line"]])
def test_pytest_printed_hostile_names_raw(
    asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files, folders, what is broken, what holds and what is no scenario: whatever is told of them."""
    for name in HOSTILE_NAMES:
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.yaml").write_text(
            STORY.format(title="x", limit=">= 10s"), "utf-8"
        )
        for kind, limit in (("holds", "<= 10s"), ("is_none", "<= ")):
            text = STORY.format(title="x", limit=limit)
            (tmp_path / f"{name}{kind}.yaml").write_text(text, "utf-8")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *asked, "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "10 failed, 5 passed" in done.stdout, done.stdout
    told = done.stdout + done.stderr
    assert not set("\r\x1b\x07\u202e\x9b") & set(told)
    for line in told.splitlines():
        assert "##[" not in line and not line.lstrip().startswith("::"), line


def test_checks_own_annotations_still_reach_the_runner(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    (folder / "s.yaml").write_text(STORY.format(title="x", limit=">= 10s"), encoding="utf-8")
    assert code_of(["check", "s.yaml"]) == 1
    assert "\n::error file=s.yaml,line=6" in capfd.readouterr().out


FOREIGN = {
    "helm.yaml": "topics: {orders: {replicas: 3}}\ncluster: main\nreplicas: 2\n",
    "book.yaml": "title: A book\ngroup: fiction\n",
    "rules.yaml": "groups:\n  - name: x\n    rules: []\ntitle: alerts\n",
    "list.yaml": "topics:\n  - orders\ngroup: g\ntitle: x\n",
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_foreign_yaml_stopped_its_projects_pytest(name: str, tmp_path: Path) -> None:
    assert not is_surely_scenario(tmp_path / name, FOREIGN[name].encode())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", STORY),
        ("a.rebalsim.yaml", "title: nothing yet\n"),
        ("a.yaml", "# yaml-language-server: $schema=rebalsim.schema.json\n[broken"),
        ("a.yaml", "topics:\n  orders:\n    partitions: 3\ngroups:\n  a: {members: 1}\n"),
        ("a.yaml", "topics: {orders: 4}\ngroup: {members: 1}\nbudgets: {longest_pause: '<= 1s'}\n"),
    ],
)
def test_what_is_clearly_a_scenario_is_collected(name: str, text: str, tmp_path: Path) -> None:
    assert is_surely_scenario(tmp_path / name, text.encode())


def test_a_folder_that_the_configuration_names_holds_scenarios(tmp_path: Path) -> None:
    text = FOREIGN["book.yaml"].encode()
    assert is_surely_scenario(tmp_path / "s" / "book.yaml", text, [tmp_path / "s"])


@pytest.mark.parametrize(
    ("command", "limit", "code"),
    [
        ("check", "<= 10s", 0),
        ("check", ">= 10s", 1),
        ("check", "<= ", 2),
        ("run", ">= 10s", 1),
        ("lint", "<= 10s", 0),
        ("recommend", "<= 10s", 0),
    ],
)
def test_where_stderr_could_not_be_written_the_exit_code_lied(
    folder: Path, command: str, limit: str, code: int
) -> None:
    (folder / "s.yaml").write_text(STORY.format(title="x", limit=limit), encoding="utf-8")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "rebalsim", command, "s.yaml"],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=full,
            check=False,
        )
    assert done.returncode == code


@pytest.mark.parametrize("command", ["observe", "incident", "calibrate", "report"])
@pytest.mark.parametrize("text", ["", "Started application in 3 s\n", "\x00\x01\x02" * 99])
def test_logs_without_a_line_of_a_group_ended_as_a_quiet_night_does(
    command: str, text: str, folder: Path
) -> None:
    (folder / "app.log").write_text(text, "utf-8")
    assert code_of([command, "app.log"]) == 2
