"""An assignor of one's own, named as module:function, in every command that plays; found from the
current directory, and never run unasked.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import rebalsim
from rebalsim.cli.main import code_of
from rebalsim.domain.errors import ProblemsError

CODE = """
from pathlib import Path
Path("was-run").touch()

def dealt(topics, members):
    ids = sorted(member.member_id for member in members)
    everything = [(topic, n) for topic in sorted(topics) for n in range(topics[topic])]
    return {one: everything[i :: len(ids)] for i, one in enumerate(ids)}

dealt.protocols = ("eager",)

def gives_up(topics, members):
    raise ValueError("nobody knows")
"""
STORY = """
topics: {orders: {partitions: 6, rate: 10/s}}
group:
  members: 2
  config: {partition.assignment.strategy: ["%s"]}
  handler: 1ms
script: [{at: 30s, scale: 3}]
replay: [eager]
horizon: 1m
budgets: {longest_pause: "<= 1s"}
"""
PLAN = "scenario: story.yaml\naxes: {group.members: [2, 3]}\n"
Ask = Callable[..., tuple[int, str]]
NAME = "dealt_out_by_me"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"{NAME}.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "story.yaml").write_text(STORY % f"{NAME}:dealt", encoding="utf-8")
    (tmp_path / "plan.yaml").write_text(PLAN, encoding="utf-8")
    yield tmp_path
    sys.modules.pop(NAME, None)


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    def asked(*args: str) -> tuple[int, str]:
        code = code_of(list(args))
        said = capsys.readouterr()
        return code, " ".join((said.out + said.err).split())

    return asked


ALLOWED = ("--allow-code",)
COMMANDS = (
    ("run", "story.yaml"),
    ("check", "story.yaml"),
    ("trace", "story.yaml"),
    ("describe", "story.yaml"),
    ("show", "story.yaml"),
    ("lint", "story.yaml"),
    ("sweep", "plan.yaml", "--dry-run"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=[c[0] for c in COMMANDS])
def test_it_is_played_where_it_is_allowed_and_else_refused(
    command: tuple[str, ...], here: Path, ask: Ask
) -> None:
    code, said = ask(*command)
    assert code == 2 and "--allow-code" in said and not (here / "was-run").exists()
    code, said = ask(*command, "--allow-code")
    assert code == 0, said
    assert (here / "was-run").exists()


def test_it_decides_who_gets_what(ask: Ask) -> None:
    _, said = ask("trace", "story.yaml", "--event", "AssignmentReceived", "--to", "25s", *ALLOWED)
    assert "c0 AssignmentReceived is assigned orders-0, 2, 4" in said  # range: orders-0, 1, 2
    assert "c1 AssignmentReceived is assigned orders-1, 3, 5" in said


def test_check_plays_it_in_other_processes_too(here: Path, ask: Ask) -> None:
    (here / "two.yaml").write_text((here / "story.yaml").read_text(), encoding="utf-8")
    code, said = ask("check", ".", "--jobs", "2", *ALLOWED)
    assert code == 0 and "2 scenarios: 2 budgets kept" in said, said


def test_from_python() -> None:
    with pytest.raises(ProblemsError, match="--allow-code"):
        rebalsim.replay("story.yaml")
    assert rebalsim.replay("story.yaml", allow_code=True).variant().pauses.longest < 1_000_000


def test_one_that_raises_ends_the_leader_and_the_report_says_what_it_raised(
    here: Path, ask: Ask
) -> None:
    (here / "story.yaml").write_text(STORY % f"{NAME}:gives_up", encoding="utf-8")
    _, said = ask("run", "story.yaml", *ALLOWED)
    assert "raised ValueError: nobody knows" in said


def test_a_trace_that_names_it_is_told_without_running_it(here: Path, ask: Ask) -> None:
    ask("run", "story.yaml", *ALLOWED, "--trace", "t.jsonl")
    (here / "was-run").unlink()
    sys.modules.pop(NAME, None)
    assert ask("report", "t.jsonl")[0] == 0
    assert not (here / "was-run").exists()
