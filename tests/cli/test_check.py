"""`rebalsim check`: which files, which verdicts, which exit codes, and what it says about what
is wrong.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from checking import BARE, DEPLOY, OPEN, SHORTER, Repository

from rebalsim.cli import exits, progress
from rebalsim.cli.main import code_of
from rebalsim.domain.scenario import Scenario

# ------------------------------------------------------------------------------- verdicts and codes


def test_kept_budgets_end_with_0_and_a_line_each(repository: Repository) -> None:
    assert repository.check("scenarios") == exits.WITHIN
    lines = repository.out.splitlines()
    assert lines[0] == "scenarios/deploy.yaml  Rolling deploy of orders-processor"
    assert [line.split("  ")[1].strip() for line in lines[1:4]] == ["✓", "✓", "✓"]
    assert "longest_pause <= 40s" in lines[1] and "35.1 s" in lines[1] and "12 % left" in lines[1]
    assert lines[-1].startswith("1 scenario: 3 budgets kept.")


def test_a_log_is_told_what_takes_so_long(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "FIRST_SIGN_S", 0.0)
    repository.check("scenarios", *SHORTER, "--advise", "5000", is_advised=True)
    assert "scenarios/deploy.yaml: trying what could help: " in repository.err
    assert " of at most 5,000 events played (--advise off leaves this out)" in repository.err
    assert "trying" not in repository.out


@pytest.mark.slow
def test_a_broken_budget_ends_with_1_and_says_why_and_where(repository: Repository) -> None:
    assert repository.check("scenarios", *SHORTER, is_advised=True) == exits.BROKEN
    told = " ".join(repository.out.split())
    assert "✗ rebalances == 0" in told
    assert "3 rounds because orders-0, orders-1 and orders-2's session ran out" in told
    assert "→ session.timeout.ms 20s → 45s: rebalances 9 → 0 (tried over 20 seeds)" in told
    assert (
        "at scenarios/deploy.yaml:20" in told
        and "--set group.config.session.timeout.ms=20s" in told
    )
    assert (
        "no rebalance after 30s group rebalanced at 1 m 21 s (session expired, orders-0), "
        "generation 2." in told
    )
    assert "1 budget kept, 2 budgets broken" in told


def test_the_line_that_is_told_is_the_budgets(repository: Repository) -> None:
    repository.check("scenarios", *SHORTER, "--json")
    found = {
        b["name"]: b["line"] for s in json.loads(repository.out)["stories"] for b in s["budgets"]
    }
    lines = DEPLOY.splitlines()
    assert {name: lines[line - 1].strip().split(":")[0] for name, line in found.items()} == {
        "longest_pause <= 40s": "longest_pause",
        "rebalances == 0": "rebalances",
        "no rebalance after 30s": "- no rebalance after 30s",
    }


def test_what_is_still_open_at_the_end_ends_with_3_and_says_so(repository: Repository) -> None:
    repository.write("open.yaml", OPEN)
    assert repository.check("open.yaml") == exits.INCONCLUSIVE
    told = " ".join(repository.out.split())
    assert (
        "? longest_pause <= 20s" in told
        and "Undecided: when the observation ended, 2 pauses had not ended" in told
        and "A longer horizon decides." in told
    )


def test_an_open_pause_that_has_gone_too_far_breaks_the_budget_already(
    repository: Repository,
) -> None:
    repository.write("open.yaml", OPEN.replace("<= 20s", "<= 5s"))
    assert repository.check("open.yaml") == exits.BROKEN


def test_a_broken_warning_is_told_and_ends_nothing(repository: Repository) -> None:
    repository.write(
        "warned.yaml",
        DEPLOY.replace('longest_pause: "<= 40s"', 'longest_pause: {limit: "<= 4s", level: warn}'),
    )
    assert repository.check("warned.yaml") == exits.WITHIN
    assert (
        "! longest_pause <= 4s" in " ".join(repository.out.split())
        and "1 budget only warned of" in repository.out
    )


@pytest.mark.parametrize(
    ("files", "code"),
    [
        (["deploy", "open"], 3),
        (["deploy", "broken", "open"], 1),
        (["broken", "invalid"], 2),
        (["open", "invalid", "bug"], 70),
        (["deploy"], 0),
    ],
)
def test_several_files_end_with_the_gravest(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, files: list[str], code: int
) -> None:
    texts = {
        "open": OPEN,
        "broken": DEPLOY.replace("60s", "20s"),
        "invalid": DEPLOY.replace("orders:", "order:", 1).replace("rate", "rat"),
        "bug": OPEN,
    }
    _break(monkeypatch, "A crash that cannot be played")
    texts["bug"] = texts["bug"].replace(
        "A crash that nobody has noticed yet", "A crash that cannot be played"
    )
    for name in files:
        if name in texts:
            repository.write(f"scenarios/{name}.yaml", texts[name])
    assert repository.check("scenarios", "--jobs", "1") == code


def _break(monkeypatch: pytest.MonkeyPatch, title: str) -> None:
    """Playing the story of this title fails, as only a bug of ours would."""
    from rebalsim import one_run

    play = one_run.play

    def broken(scenario: Scenario, **rest: object) -> object:
        if scenario.title == title:
            raise KeyError("orders-9")
        return play(scenario, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(one_run, "play", broken)


def test_a_bug_is_told_with_seed_and_version_and_hides_no_other_verdict(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("scenarios/bug.yaml", OPEN)
    _break(monkeypatch, "A crash that nobody has noticed yet")
    assert repository.check("scenarios", "-j", "1") == exits.BUG
    assert "rebalsim contradicts itself here: eager, seed 1: KeyError: 'orders-9'" in repository.out
    assert (
        "longest_pause <= 40s" in repository.out
        and "Please report it" in repository.err
        and "Traceback" not in repository.out + repository.err
    )


def test_runs_in_other_processes_say_the_same(repository: Repository) -> None:
    for i in range(3):
        repository.write(f"scenarios/open-{i}.yaml", OPEN)
    assert repository.check("scenarios", "--json", "--jobs", "1") == 3
    alone = json.loads(repository.out)
    assert repository.check("scenarios", "--json", "--jobs", "3") == 3
    assert json.loads(repository.out) == alone


# -------------------------------------------------------------------------------------- which files


def test_folders_patterns_and_files_are_taken_each_once_and_plans_passed_over(
    repository: Repository,
) -> None:
    repository.write("deploys/a/one.yml", OPEN)
    repository.write("deploys/plan.yaml", "scenario: scale-out\naxes: {group.members: [2, 3]}\n")
    repository.write("deploys/k8s.yaml", "apiVersion: apps/v1\nkind: Deployment\n")
    repository.write("deploys/rules.yaml", "groups:\n  - name: alerts\n")
    repository.write("deploys/.hidden/two.yaml", OPEN)
    assert repository.check("deploys", "scenarios/*.yaml", "scenarios/deploy.yaml", "--json") == 3
    told = json.loads(repository.out)
    assert [s["file"] for s in told["stories"]] == ["deploys/a/one.yml", "scenarios/deploy.yaml"]
    assert told["skipped"] == ["deploys/plan.yaml"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("empty",), "empty: there is no scenario here"),
        (("none/*.yaml",), "none/*.yaml: matches no file"),
        (("nope.yaml",), "There is no file and no stock story 'nope.yaml'"),
        (
            ("scenarios", "--set", "group.confg.x=1"),
            "'confg.x' is not a key of the group — did you mean 'config'?",
        ),
        (
            ("scenarios", "--set", "group.config.session.timeout.ms"),
            "sets nothing — write --set PATH=VALUE",
        ),
        (
            ("scenarios", "--only", "longst"),
            "--only longst: matches no budget — there are longest_pause <= 40s",
        ),
        (("scenarios", "--what-if"), "--what-if asks what settings would do"),
        (("scenarios", "--max-regression", "5%"), "--max-regression is against a baseline"),
        (("scenarios", "--json", "--markdown"), "--json and --markdown both go to stdout"),
        (("scenarios", "--update", *SHORTER), "--update writes what the files themselves cost"),
        (
            ("scenarios", "--save-baseline", "b.json", *SHORTER),
            "--save-baseline saves what the files themselves cost",
        ),
        ((), "Missing argument"),
        (("",), "PATH is empty, and names nothing"),
    ],
)
def test_what_is_asked_wrongly_ends_with_2_and_a_clear_line(
    repository: Repository, words: tuple[str, ...], said: str
) -> None:
    (repository.root / "empty").mkdir()
    assert repository.check(*words) == exits.INVALID
    assert said in repository.out + repository.err and "Traceback" not in repository.err


def test_only_plans_in_a_folder_are_told_apart_from_an_empty_one(repository: Repository) -> None:
    repository.write("plans/a.yaml", "axes: {}\n")
    assert repository.check("plans") == 2
    assert "1 plan passed over; `rebalsim sweep` plays them" in repository.err


def test_a_budget_that_makes_no_sense_ends_with_2_on_its_line(repository: Repository) -> None:
    repository.write(
        "wrong.yaml",
        DEPLOY.replace('  rebalances: "== 0"', '  rebalances: {limit: "== 0", topic: orders}'),
    )
    assert repository.check("wrong.yaml") == exits.INVALID
    assert (
        "wrong.yaml:20:3: rebalances cannot be narrowed by topics" in repository.err
        and "^^^^^^^^^^" in repository.err
    )
    assert "✓  longest_pause <= 40s" in repository.out  # the others are judged all the same


def test_a_mistyped_metric_ends_with_2_and_the_nearest_one(repository: Repository) -> None:
    repository.write("wrong.yaml", DEPLOY.replace("longest_pause", "longest_puase"))
    assert repository.check("wrong.yaml") == exits.INVALID
    assert (
        "wrong.yaml:19:3: There is no metric 'longest_puase' — did you mean 'longest_pause'?"
        in repository.err
    )


def test_a_scenario_without_budgets_is_warned_of_or_refused(repository: Repository) -> None:
    repository.write("bare.yaml", BARE)
    assert repository.check("bare.yaml") == exits.WITHIN
    assert "note: has no budgets, so nothing can fail" in repository.out
    assert repository.check("bare.yaml", "--require-budgets") == exits.INVALID
    assert "bare.yaml:1:1: Has no budgets" in repository.err


@pytest.mark.parametrize("form", [(), ("--json",), ("--markdown",)])
def test_what_cannot_be_judged_is_told_on_stderr_whatever_goes_to_stdout(
    repository: Repository, form: tuple[str, ...]
) -> None:
    assert repository.check("scenarios", "nowhere", *form) == exits.INVALID
    assert (
        repository.err
        == "nowhere:1:1: There is no file and no stock story 'nowhere' — `rebalsim init` writes "
        "one\n"
    )
    assert "longest_pause" in repository.out
    if not form:
        assert (
            "nowhere\n  ✗ 1 error, told on stderr\n" in repository.out
            and "1 file invalid" in repository.out
        )


# ------------------------------------------------------------------------ which budgets, which runs


@pytest.mark.parametrize(
    ("only", "names"),
    [
        ("longest_pause", ["longest_pause <= 40s"]),
        ("as-written", ["longest_pause <= 40s", "rebalances == 0", "no rebalance after 30s"]),
        ("*::as-written::reb*", ["rebalances == 0"]),
        ("deploy.yaml::as-written::no", ["no rebalance after 30s"]),
        ("no-rebalance", ["no rebalance after 30s"]),
    ],
)
def test_only_some_budgets_are_judged(repository: Repository, only: str, names: list[str]) -> None:
    repository.check("scenarios", "--only", only, "--json")
    assert [b["name"] for s in json.loads(repository.out)["stories"] for b in s["budgets"]] == names


def test_only_the_variants_that_are_asked_about_are_played(repository: Repository) -> None:
    text = OPEN.replace("replay: [eager]", "replay: [eager, cooperative, consumer]")
    repository.write(
        "one.yaml",
        text[: text.index("budgets")] + 'budgets: {cooperative: {longest_pause: "<= 2 × eager"}}\n',
    )
    repository.check("one.yaml", "--json")
    assert (
        json.loads(repository.out)["stories"][0]["runs"] == 2
    )  # cooperative, and eager which it is held against


def test_fail_fast_stops_at_the_first_file_that_fails(repository: Repository) -> None:
    repository.write("scenarios/a.yaml", DEPLOY.replace("60s", "20s"))
    assert repository.check("scenarios", "--fail-fast") == exits.BROKEN
    assert (
        "deploy.yaml" not in repository.out and "stopped at the first that failed" in repository.out
    )


def test_over_seeds_the_one_that_decided_is_told_and_can_be_repeated(
    repository: Repository,
) -> None:
    repository.write(
        "seeds.yaml", OPEN.replace("horizon: 1m", "horizon: 3m").replace("<= 20s", "<= 43s")
    )
    code = repository.check("seeds.yaml", "--runs", "12", "--json")
    ((budget, *_),) = (s["budgets"] for s in json.loads(repository.out)["stories"])
    assert (code, budget["outcome"], budget["runs"]) == (1, "fail", 12) and 1 <= budget[
        "broken"
    ] <= 12
    seed = budget["seed"]
    assert f"--seed {seed}" in budget["again"] and "stood still" in budget["because"]
    assert repository.check("seeds.yaml", "--seed", str(seed), "--json") == 1
    assert json.loads(repository.out)["stories"][0]["budgets"][0]["observed"] == budget["observed"]


def test_a_percentile_over_seeds_forgives_the_worst(repository: Repository) -> None:
    text = OPEN.replace("horizon: 1m", "horizon: 3m\nruns: 12").replace(
        'longest_pause: "<= 20s"', 'longest_pause: {limit: "<= 43s", seeds: p50}'
    )
    repository.write("seeds.yaml", text)
    repository.check("seeds.yaml", "--json")
    half = json.loads(repository.out)["stories"][0]["budgets"][0]
    assert half["name"] == "longest_pause <= 43s (p50 over seeds)" and half["runs"] == 12
    assert (half["outcome"] == "pass") == (half["broken"] <= 6)


def test_a_single_run_under_the_consumer_protocol_is_called_a_sample(
    repository: Repository,
) -> None:
    repository.write(
        "new.yaml",
        OPEN.replace("[eager]", "[consumer]")
        .replace("horizon: 1m", "horizon: 3m")
        .replace("<= 20s", "<= 90s"),
    )
    assert repository.check("new.yaml") == 0
    note = (
        "one run is a sample of many: it is judged over 20 seeds, by the worst of them — say "
        "`runs: N` for another number"
    )
    assert note in " ".join(repository.out.split())
    assert repository.check("new.yaml", "--runs", "3") == 0 and "sample" not in repository.out


@pytest.mark.slow
def test_a_budget_that_some_seeds_of_a_sample_break_is_broken(
    repository: Repository,
) -> None:
    text = (
        "topics: {orders: {partitions: 12, rate: 100/s}}\n"
        "group: {members: 4}\n"
        "script: [{at: 1m, rolling_bounce: {members: [c0], down: 5s}}]\n"
        "replay: [consumer]\nhorizon: 2m\n"
        'budgets: {longest_pause: "<= 5200ms"}\n'
    )
    repository.write("new.yaml", text)
    assert repository.check("new.yaml", "--advise", "off") == exits.BROKEN
    told = " ".join(repository.out.split())
    found = re.search(r"median ([\d.]+ s), p95 [\d.]+ s, worst ([\d.]+ s); (\d+) of them", told)
    assert found is not None and 0 < int(found[3]) < 20
    assert float(found[1].split()[0]) < 5.2 < float(found[2].split()[0])  # the middle keeps it
    assert f"broken with {found[3]} of 20 seeds" in told


# ------------------------------------------------------------------------------------- what if, run


def test_what_if_says_which_budgets_flip_and_what_each_metric_does(repository: Repository) -> None:
    assert repository.check("scenarios", "--what-if", *SHORTER) == exits.BROKEN
    told = " ".join(repository.out.split())
    assert "What if group.config.session.timeout.ms=20s" in told
    assert "~ as-written rebalances == 0 0 → 9 kept → broken scenarios/deploy.yaml:20" in told
    assert (
        "~ as-written longest_pause <= 40s 35.1 s → 2" in told and "2 budgets would flip." in told
    )
    assert repository.read("scenarios/deploy.yaml") == DEPLOY


def test_what_if_nothing_changes(repository: Repository) -> None:
    assert (
        repository.check("scenarios", "--what-if", "--set", "group.config.session.timeout.ms=60s")
        == exits.WITHIN
    )
    assert "nothing changes" in repository.out and "No budget would flip." in repository.out


@pytest.mark.parametrize(("words", "code"), [((), 0), (SHORTER, 1)])
def test_run_ends_as_check_would(repository: Repository, words: tuple[str, ...], code: int) -> None:
    assert (
        code_of(["run", "scenarios/deploy.yaml", *words, "--advise", "off"])
        == code
        == repository.check("scenarios/deploy.yaml", *words)
    )


def test_run_on_a_scenario_without_budgets_ends_with_0(repository: Repository) -> None:
    repository.write("bare.yaml", OPEN[: OPEN.index("budgets")])
    assert code_of(["run", "bare.yaml", "--advise", "off"]) == exits.WITHIN
    repository.write("open.yaml", OPEN)
    assert code_of(["run", "open.yaml", "--advise", "off"]) == exits.INCONCLUSIVE
    assert (
        "level" not in (said := repository.capsys.readouterr().out)
        and "Budgets" in said
        and "? eager: 10.0 s against longest_pause <= 20s" in said
    )


@pytest.mark.slow
def test_the_stock_stories_keep_their_budgets(repository: Repository) -> None:
    stories = Path(__file__).parents[2] / "scenarios"
    assert repository.check(str(stories)) == exits.WITHIN
    assert "broken" not in repository.out and "undecided" not in repository.out


def test_an_interrupt_ends_with_130_at_once_and_leaves_no_process(repository: Repository) -> None:
    repository.write("long.yaml", DEPLOY.replace("horizon: 4m", "horizon: 4m\nruns: 100000"))
    process = subprocess.Popen(
        [sys.executable, "-m", "rebalsim", "check", "long.yaml", "-j", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    group = os.getpgid(process.pid)
    time.sleep(2.5)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, out + err
    assert err.strip().splitlines()[-1] == "Interrupted."
    assert time.monotonic() - began < 10
    for _ in range(50):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    raise AssertionError("a process is still there")


@pytest.mark.slow
def test_what_chance_makes_of_a_budget_under_the_consumer_protocol_stands_beside_it(
    repository: Repository,
) -> None:
    repository.write(
        "new.yaml",
        """
        topics: {orders: {partitions: 12, rate: 600/s}}
        group: {members: 5}
        script: [{at: 1m, scale: 6}, {at: 2m, crash: c1}]
        replay: [cooperative, consumer]
        horizon: 4m
        budgets: {partition_seconds: "<= 1000s", longest_pause: "<= 1h"}
        """,
    )
    assert repository.check("new.yaml", "--json") == 0
    spread = {
        (b["variant"], b["metric"]): b["spread"]
        for b in json.loads(repository.out)["stories"][0]["budgets"]
    }
    assert (
        spread["cooperative", "partition_seconds"] == ""
        and "20 seeds" in spread["consumer", "longest_pause"]
    )
    assert re.fullmatch(
        r"by chance over 20 seeds: median [\d.]+ s, p95 \d+ s, worst \d+ s",
        spread["consumer", "partition_seconds"],
    )
    assert repository.check("new.yaml") == 0
    assert "by chance over 20 seeds: median" in repository.out
