"""`rebalsim dev seeds`: what it says at its end, where it is stopped, and of what it cannot play."""

from __future__ import annotations

import pytest

from rebalsim.cli import exits
from rebalsim.cli.main import code_of
from rebalsim.proof import seeds


def test_one_story_is_told_as_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of(["seeds", "--from", "3", "--count", "1"]) == exits.WITHIN
    told = capsys.readouterr().out
    assert told.startswith(
        "1 of 1 random story (seeds 3 to 3) was safe with faults on, settled once they were off"
    )
    assert "pauses, each of them the sum of its phases" in told


@pytest.mark.slow
def test_who_stops_it_is_told_what_was_safe_until_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    check = seeds.check_seed

    def impatient(seed: int, **rest: object) -> object:
        if seed == 5:
            raise KeyboardInterrupt
        return check(seed, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(seeds, "check_seed", impatient)
    assert code_of(["seeds", "--from", "3", "--count", "9"]) == exits.INTERRUPTED
    told = capsys.readouterr()
    assert (
        told.out == ""
        and "Stopped after 2 of 9 stories. 2 of 2 random stories (seeds 3 to 4) were safe"
        in told.err
    )


@pytest.mark.parametrize(
    "words",
    [("--from", "99999999999999999999999"), ("--from", "-1"), ("--count", "0"), ("--count", "nan")],
)
def test_seeds_that_no_story_can_have_are_a_bad_usage_and_no_bug(words: tuple[str, str]) -> None:
    assert code_of(["seeds", *words]) == exits.INVALID
