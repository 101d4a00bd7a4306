"""`rebalsim recommend` in one process: the causes' remedies, single settings and pairs, judged over
seeds and wherever the faults strike; resumed, and written into the file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rebalsim.advice.search import Search, shifted, shifts_of
from rebalsim.advice.tried import Found, Tried
from rebalsim.cli.main import door
from rebalsim.domain.errors import InputError
from rebalsim.domain.remedy import Patch, Turn
from rebalsim.one_run import run_once
from rebalsim.scenario.load import load_scenario, story_of

CRASH = """\
title: A crash
topics: {orders: {partitions: 6, rate: 60/s}}
group:
  members: 3
  config:                        # ours
    session.timeout.ms: 45s      # Kafka's own
  handler: 1ms
script: [{at: 30s, crash: c1}]
replay: [cooperative]
horizon: 2m
budgets: {longest_pause: "<= 25s"}
"""


def recommend(*arguments: str) -> Any:
    return CliRunner().invoke(door, ["recommend", *arguments], standalone_mode=False)


@pytest.fixture
def crash(tmp_path: Path) -> Path:
    path = tmp_path / "crash.yaml"
    path.write_text(CRASH, "utf-8")
    return path


def found_in(told: Any) -> Any:
    return json.loads(told.stdout)


@pytest.mark.slow
def test_the_smallest_change_keeps_the_budgets_in_each_seed_and_at_each_moment(crash: Path) -> None:
    told = recommend(str(crash), "--json")
    best = found_in(told)["choices"][0]
    assert told.return_value == 0 and list(best["patch"]) == ["group.config.session.timeout.ms"]
    story = story_of(CRASH.encode(), "s", [f"{k}={v}" for k, v in best["patch"].items()]).check()
    scenario = story.scenario("cooperative")
    longest = [
        run_once(shifted(scenario, shift), seed).analysis.measure("longest_pause") or 0
        for seed, shift in [*((s, 0) for s in range(1, 21)), *((1, s) for s in shifts_of(scenario))]
    ]
    assert max(longest) <= 25_000_000
    assert best["patch"]["group.config.session.timeout.ms"] == "20s", "no shorter than need be"


def test_it_says_first_what_it_will_play_and_a_dry_run_ends_there(crash: Path) -> None:
    told = recommend(str(crash), "--dry-run")
    assert told.stderr.startswith("Plays up to 700,000 events") and told.stdout == ""
    assert told.return_value == 0


def test_what_is_wrong_with_a_budget_stands_in_the_command(crash: Path) -> None:
    result = recommend(str(crash), "--budget", "longest_pause <= fast")
    told = str(result.exception)
    assert told.startswith("--budget:1:1: 'fast' is neither") and "longest_pause <= fast" in told


def test_what_is_kept_already_needs_no_change(crash: Path) -> None:
    told = recommend(str(crash), "--budget", "longest_pause <= 60s")
    assert "Nothing need be changed: cooperative keeps all budgets" in told.stdout


def test_where_nothing_helps_it_says_which_budget_is_out_of_reach_and_why(crash: Path) -> None:
    told = recommend(str(crash), "--budget", "rebalances <= 0", "--budget", "longest_pause <= 25s")
    said = " ".join(told.stdout.split())
    assert told.return_value == 1
    assert "out of reach: rebalances <= 0; the nearest is 1" in said
    assert "1 round because c1's session ran out." in said and "The best that can be had:" in said


def test_what_is_undecided_was_told_as_broken(tmp_path: Path) -> None:
    path = tmp_path / "cut.yaml"
    cut = "script: [{at: 0s, cut: {members: all, for: 10m, from: brokers}}]"
    path.write_text(CRASH.replace("script: [{at: 30s, crash: c1}]", cut), "utf-8")
    told = recommend(str(path))
    said = " ".join(told.stdout.split())
    assert told.return_value == 1
    assert "— ? longest_pause <= 25s" in said and "breaks" not in said
    assert "? longest_pause <= 25s: undecided at best" in said


@pytest.mark.slow
def test_a_budgets_own_percentile_was_left_out_of_account(tmp_path: Path) -> None:
    """At p55 it is kept as it is; in 19 of 20 seeds it is not."""
    path = tmp_path / "chance.yaml"
    text = CRASH.replace(
        "script: [{at: 30s, crash: c1}]", "random_faults: [{kind: crash, about_every: 4m, for: 2s}]"
    )
    path.write_text(text, "utf-8")
    longest = sorted(
        run_once(load_scenario(path).scenario("cooperative"), seed).analysis.measure(
            "longest_pause"
        )
        or 0
        for seed in range(1, 21)
    )
    assert longest[10] < longest[18]
    for percent, place, code in ((55, 10, 0), (55, 9, 1), (95, 18, 0)):
        limit = f"{{longest_pause: '<= {longest[place]}us', seeds: p{percent}}}"
        written = "\n".join(
            f"budgets: [{limit}]" if line.startswith("budgets:") else line
            for line in text.splitlines()
        )
        path.write_text(written + "\n", "utf-8")
        told = recommend(str(path), "--variant", "cooperative", "--json")
        as_it_is = found_in(told)["as_it_is"][0]
        assert bool(as_it_is["breaks"]) == bool(code), (percent, place, as_it_is)


@pytest.mark.slow
def test_what_a_search_cannot_judge_was_passed_over_in_silence(crash: Path) -> None:
    crash.write_text(
        CRASH.replace("budgets:", "expect: [no rebalance before 20s]\nbudgets:"), "utf-8"
    )
    said = " ".join(recommend(str(crash)).stdout.split())
    assert "not searched for, since it is relative or a fact: no rebalance before 20s" in said


@pytest.mark.parametrize("kept", [b"\xff\xfe\0", b"[", b"", b'{"a": 1}\n'])
def test_a_kept_search_that_is_damaged_was_a_bug(crash: Path, tmp_path: Path, kept: bytes) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "tried.jsonl").write_bytes(kept)
    told = recommend(str(crash), "--out", str(tmp_path / "kept"), "--resume")
    assert isinstance(told.exception, InputError)
    assert "another folder" in str(told.exception) or ("UTF-8" in str(told.exception))


@pytest.mark.slow
def test_the_change_is_written_into_the_file_and_its_comments_stay(crash: Path) -> None:
    recommend(str(crash), "--apply")
    text = crash.read_text("utf-8")
    assert text == CRASH.replace("session.timeout.ms: 45s ", "session.timeout.ms: 20s ")


@pytest.mark.slow
def test_a_search_goes_on_where_it_was_broken_off(crash: Path, tmp_path: Path) -> None:
    kept = str(tmp_path / "kept")
    whole = recommend(str(crash), "--json")
    first = recommend(str(crash), "--events", "3000", "--out", kept, "--json")
    assert found_in(first)["is_spent"]
    again = recommend(str(crash), "--out", kept)
    assert "continue it with --resume" in str(again.exception)
    assert recommend(str(crash), "--out", kept, "--resume", "--json").stdout == whole.stdout
    wrong = recommend(str(crash), "--variant", "eager", "--out", kept, "--resume")
    assert wrong.exception is not None


@pytest.mark.slow
def test_a_knifes_edge_is_no_choice(crash: Path) -> None:
    """What keeps a budget only when the fault strikes at its written moment is told apart."""
    story = load_scenario(crash)
    search = Search(story, ("cooperative",))
    found = search.run()
    for choice in found.choices:
        scenario = choice.tried.story.scenario("cooperative")
        assert all((1, shift) in choice.tried.runs for shift in shifts_of(scenario))
    assert not {id(t) for t in found.edges} & {id(c.tried) for c in found.choices}


def test_changes_are_weighed_by_how_far_they_turn_not_by_how_many_they_are() -> None:
    story = load_scenario("crash")
    far = Tried("eager", Patch((Turn("session.timeout.ms", "45s", "6s"),), ()), story)
    two = Tried(
        "eager",
        Patch(
            (
                Turn("session.timeout.ms", "45s", "30s"),
                Turn("heartbeat.interval.ms", "3s", "2s"),
            ),
            (),
        ),
        story,
    )
    assert two.size < far.size


def test_its_options_fit_together(crash: Path) -> None:
    for arguments, says in (
        (("--resume",), "--resume continues what --out DIR kept"),
        (("--spark", "--dry-run"), "leave out what asks for Spark"),
        (("--over", "sesion.timeout.ms"), "did you mean 'session.timeout.ms'?"),
    ):
        told = recommend(str(crash), *arguments)
        assert says in str(told.exception), told.exception


@pytest.mark.parametrize(
    ("seeds", "said"),
    [
        ("1", "keeps the budgets under the one seed that was asked for (or"),
        ("3", "keeps the budgets in all of 3 seeds (or"),
    ],
)
def test_under_how_many_seeds_a_change_was_held_is_told_of_the_seeds_asked_for(
    crash: Path, seeds: str, said: str
) -> None:
    assert said in " ".join(recommend(str(crash), "--seeds", seeds).stdout.split())


def test_of_twenty_seeds_a_change_may_miss_a_budget_in_one() -> None:
    assert [Found([], seeds=seeds).seeds_to_keep for seeds in (5, 19, 20, 40)] == [5, 19, 19, 38]
