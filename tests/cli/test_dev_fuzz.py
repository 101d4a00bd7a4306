"""The fuzz command in short: broken files end in a load or in problems; a worker that hangs or
dies is found out.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from rebalsim.cli.dev import fuzz
from rebalsim.cli.main import code_of
from rebalsim.proof.mutations import mutated
from rebalsim.proof.readers import good_scenarios

FILES = Path(__file__).parents[1] / "scenario" / "files"


def all_goods() -> list[bytes]:
    return [*good_scenarios(), *(p.read_bytes() for p in sorted(FILES.glob("*.good.yaml")))]


@pytest.mark.slow
def test_two_thousand_broken_files_end_well() -> None:
    goods = all_goods()
    verdicts = [fuzz.judge(mutated(goods, 2024, number)) for number in range(2000)]
    assert verdicts.count(0) > 200 and sum(v > 0 for v in verdicts) > 1000


def test_a_broken_file_is_a_function_of_its_number() -> None:
    goods = all_goods()
    assert mutated(goods, 1, 77) == mutated(goods, 1, 77)
    assert len({mutated(goods, 1, n) for n in range(200)}) > 190


def test_the_command_says_how_it_went(capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of(["fuzz", "--count", "200"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("200 broken files from ") and "0 fail" in out


def test_a_file_of_a_number_can_be_seen(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert code_of(["fuzz", "--print", "5"]) == 0
    assert capsysbinary.readouterr().out == mutated(good_scenarios(), 1, 5)


class Hanging:
    """A worker's end of the pipe that says nothing any more."""

    def __init__(self, said: list[object]) -> None:
        self.said = said

    def poll(self, seconds: float) -> bool:
        return bool(self.said)

    def recv(self) -> object:
        found = self.said.pop(0)
        if isinstance(found, Exception):
            raise found
        return found


class Worker:
    exitcode = -9

    def join(self, seconds: float = 0) -> None:
        pass


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ([("at", 3, None)], "hangs"),
        ([("at", 3, None), EOFError()], "the worker died (exit code -9)"),
    ],
)
def test_a_worker_that_hangs_or_dies_is_a_failure_of_its_file(
    said: list[object], what: str
) -> None:
    tally = fuzz.Tally()
    assert fuzz._listen(Hanging(said), Worker(), tally, 0, 10) == 4  # type: ignore[arg-type]
    assert tally.failures[0][0] == 3 and what in tally.failures[0][1]


def test_a_problem_outside_the_file_or_without_a_way_out_is_a_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from rebalsim.domain.errors import Problem, ProblemsError
    from rebalsim.scenario import load

    for problem in (
        Problem("x", 99, 1, "bad — mend it"),
        Problem("x", 1, 1, "bad"),
        Problem("x", 1, 1, "b\x07d — mend it"),
    ):

        def refuse(*_: object, problem: Problem = problem) -> None:
            raise ProblemsError((problem,))

        monkeypatch.setattr(load, "story_of", refuse)
        with pytest.raises(AssertionError):
            fuzz.judge(b"a: 1\n")


def test_loading_a_small_story_takes_less_than_ten_milliseconds() -> None:
    from rebalsim.scenario.load import load_scenario

    load_scenario("scale-out")
    times = []
    for _ in range(20):
        started = time.process_time()
        load_scenario("scale-out")
        times.append(time.process_time() - started)
    assert min(times) < 0.010
