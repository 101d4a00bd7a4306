"""`rebalsim run`: every variant played, over as many seeds as asked for, its traces kept, its
invariants checked.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from rebalsim import one_run
from rebalsim.analysis import findings
from rebalsim.analysis.values import Violation
from rebalsim.cli import exits, progress
from rebalsim.cli.main import code_of, door


def run(*args: str) -> Result:
    """Without advice, which is not what these tests are about and takes most of the time."""
    told = ["run", "--advise", "off", *args]
    return CliRunner().invoke(door, told, standalone_mode=False)


def test_a_stock_story_is_played_by_name_in_all_its_variants() -> None:
    said = run("scale-out", "--width", "100").output
    assert "eager (range)" in said and "cooperative (cooperative-sticky)" in said
    assert "Again: rebalsim run scale-out --seed 1" in said


def test_one_variant_one_seed_and_a_setting() -> None:
    told = json.loads(
        run(
            "scale-out", "--variant", "eager", "--seed", "7", "--set", "group.members=3", "--json"
        ).output
    )
    assert [v["name"] for v in told["variants"]] == ["eager"]
    assert "--seed 7" in json.dumps(told) and "group.members=3" in json.dumps(told)


def test_a_second_rebalance_that_never_comes_is_not_compared_as_a_wait_for_a_heartbeat() -> None:
    said = " ".join(run("static-torn-handover").output.split())
    assert (
        "a moved partition waits 3 m 54 s for a second rebalance that never comes: pod-0 was "
        "restarted in between" in said
    )


def test_the_same_seed_prints_the_same() -> None:
    assert run("scale-out", "--json").output == run("scale-out", "--json").output


def test_several_seeds_give_percentiles_and_say_which_seed_was_worst() -> None:
    said = run("crash", "--variant", "eager", "--runs", "5", "--seed", "2").output
    assert "the longest pause of all came with seed" in " ".join(said.split())


def test_each_trace_has_a_file_of_its_own(tmp_path: Path) -> None:
    run("scale-out", "--trace", str(tmp_path / "t.jsonl"), "--runs", "2")
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "t.cooperative.1.jsonl",
        "t.cooperative.2.jsonl",
        "t.eager.1.jsonl",
        "t.eager.2.jsonl",
    ]
    run("scale-out", "--trace", str(tmp_path / "one.jsonl"), "--variant", "eager")
    first = json.loads((tmp_path / "one.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert first["trace"]["command"] == "rebalsim run scale-out --variant eager --seed 1"


def test_invariants_hold_in_a_stock_story() -> None:
    assert run("static-membership", "--check-invariants", "--json").exit_code == exits.WITHIN


def test_a_broken_invariant_is_a_bug_and_names_its_seed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        findings,
        "find_violations",
        lambda *_: [Violation("two-owners", 5_000_000, "orders-0 is held by c0 and c1", ())],
    )
    assert (
        code_of(["run", "--advise", "off", "scale-out", "--check-invariants", "--seed", "9"])
        == exits.BUG
    )
    said = capsys.readouterr().err
    assert (
        "two-owners at 5.000000 s in eager, seed 9" in said
        and "--variant eager --seed 9 --check-invariants" in said
    )


def test_an_unknown_variant_is_a_bad_usage() -> None:
    assert code_of(["run", "--advise", "off", "scale-out", "--variant", "nope"]) == exits.INVALID


def test_many_runs_give_signs_of_life_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "FIRST_SIGN_S", 0.0)
    assert code_of(["run", "--advise", "off", "scale-out", "--runs", "20"]) == exits.WITHIN
    said = capsys.readouterr()
    assert "1 of 40 runs · " in said.err and "/s · " in said.err and "of 40 runs" not in said.out


def test_who_stops_many_runs_is_told_what_is_known_so_far(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    played: list[int] = []
    plays = one_run.run_once

    def gets_tired(scenario: Any, seed: int) -> Any:
        played.append(seed)
        if len(played) > 25:
            raise KeyboardInterrupt
        return plays(scenario, seed)

    monkeypatch.setattr(one_run, "run_once", gets_tired)
    assert (
        code_of(["run", "--advise", "off", "scale-out", "--runs", "1000000", "--variant", "eager"])
        == exits.INTERRUPTED
    )
    said = capsys.readouterr().err
    assert (
        "Stopped after 25 of 1,000,000 runs." in said
        and "eager: longest pause of 25 runs p50 " in said
        and "the worst came with seed" in said
    )


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_what_lint_would_say_is_counted_on_stderr_with_the_command_that_says_it(
    form: tuple[str, ...],
) -> None:
    found = run("crash-replaced-early", "--set", "group.members=5", *form)
    assert (
        found.stderr
        == "2 warnings on this story: rebalsim lint crash-replaced-early --set group.members=5\n"
    )
    assert "2 warnings" not in found.stdout
    assert (
        CliRunner()
        .invoke(door, found.stderr.strip().split("rebalsim ")[1].split(), standalone_mode=False)
        .stderr.startswith("1 file: 2 warnings.")
    )


def test_a_story_that_lint_is_silent_on_is_not_followed_by_a_word_of_it() -> None:
    assert run("scale-out").stderr == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("crash", "--variant", "eager", "--runs", "5", "--seed", "2"),
            "the first of 5; the longest pause of all came with seed",
        ),
        (
            ("scale-out", "--variant", "eager", "--runs", "3", "--set", "script=[]"),
            "the first of 3.",
        ),
    ],
)
def test_the_worst_of_several_seeds_is_named_where_there_is_one(
    words: tuple[str, ...], said: str
) -> None:
    assert said in " ".join(run(*words).output.split())


@pytest.mark.slow
def test_a_story_of_many_members_says_that_it_is_told_over_fewer_seeds() -> None:
    many = [
        word
        for one in ("group.members=51", "script.0.scale=52", "topics.orders.partitions=52")
        for word in ("--set", one)
    ]
    told = " ".join(run("scale-out", "--replay", "consumer", *many).output.split())
    assert (
        "Of a story with so many members 5 seeds are played and not 20" in told
        and "--runs N plays more" in told
    )


def test_next_to_a_sample_of_many_seeds_the_others_are_told_over_the_same() -> None:
    """A middle of moments between two heartbeats is not held against a single one."""
    told = json.loads(run("scale-out", "--replay", "eager,consumer", "--json").output)
    assert [v["spread"]["longest_pause"]["runs"] for v in told["variants"]] == [20, 20]
    assert json.loads(run("scale-out", "--json").output)["variants"][0]["spread"] == {}


def test_a_seed_by_itself_says_how_much_later_it_plays_the_script() -> None:
    assert "Seed 2 plays the script 1.85 s later than written" in " ".join(
        run("scale-out", "--seed", "2").output.split()
    )
    assert "later than written" not in run("scale-out").output


def test_a_cluster_that_breaks_a_budget_is_pointed_to_the_command_that_finds_a_delay(
    tmp_path: Path,
) -> None:
    path = tmp_path / "ours.yaml"
    path.write_text(
        "connect: {workers: 3, connectors: {jdbc: 9}}\n"
        "script: [{at: 1m, rolling_bounce: {down: 5s, settle: 20s}}]\n"
        'budgets: {longest_task_pause: "<= 10ms"}\n',
        encoding="utf-8",
    )
    said = run(str(path), "--advise", "off").stderr.splitlines()[-1]
    assert said == f"what keeps the budgets, such as a delay that fits: rebalsim recommend {path}"
    kept = run(str(path), "--advise", "off", "--set", "budgets.longest_task_pause=<= 9m")
    assert "recommend" not in kept.stderr
