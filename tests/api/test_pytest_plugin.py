"""Scenarios as pytest tests, in a pytest of their own: what is collected, what a failure says,
-k, xdist, JUnit, and that others are left alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from junitparser import JUnitXml

PASSING = """\
topics: {orders: {partitions: 4, rate: 100/s}}
group: {members: 2, handler: 1ms}
script: [{at: 50s, id: kill, crash: c0}]
replay: [eager, cooperative]
horizon: 3m
budgets:
  longest_pause: "<= 60s"
  cooperative: {rebalances: "<= 9"}
expect: [c0 is removed]
"""


def run(folder: Path, *words: str) -> tuple[int, str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "COV_"))}
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:hypothesispytest",
            *_plugin(),
            *words,
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**environment, "COLUMNS": "200"},
    )
    return done.returncode, done.stdout + done.stderr


def _plugin() -> list[str]:
    """Its entry point loads it where rebalsim is installed; beside a bare checkout it is named."""
    from importlib.metadata import entry_points

    return (
        []
        if any(e.name == "rebalsim" for e in entry_points(group="pytest11"))
        else ["-p", "rebalsim.pytest_plugin"]
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n", encoding="utf-8")
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "crash.yaml").write_text(PASSING, encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_a_test_for_each_variant_and_budget(folder: Path) -> None:
    (folder / "scenarios" / "k8s.yaml").write_text("kind: Deployment\n", encoding="utf-8")
    (folder / "scenarios" / "plan.yaml").write_text(
        "scenario: crash.yaml\naxes: {group.members: [2]}\n", encoding="utf-8"
    )
    code, said = run(folder, "scenarios", "--collect-only", "-q")
    assert code == 0 and [line for line in said.splitlines() if "::" in line] == [
        "scenarios/crash.yaml::eager: longest_pause <= 60s",
        "scenarios/crash.yaml::eager: c0 is removed",
        "scenarios/crash.yaml::cooperative: longest_pause <= 60s",
        "scenarios/crash.yaml::cooperative: rebalances <= 9",
        "scenarios/crash.yaml::cooperative: c0 is removed",
    ]


@pytest.mark.slow
def test_failures_say_what_a_check_says_in_two_processes_and_in_junit(folder: Path) -> None:
    (folder / "scenarios" / "broken.yaml").write_text(
        PASSING.replace("<= 60s", "<= 10s"), encoding="utf-8"
    )
    code, said = run(
        folder, "scenarios", "-n", "2", "--junit-xml", "junit.xml", "-k", "longest_pause"
    )
    assert code == 1 and "2 failed, 2 passed" in said
    assert "scenarios/broken.yaml:7: longest_pause <= 10s is broken (eager): observed 4" in said
    assert (
        "after c0 crashed (kill)" in said
        and "again: rebalsim run scenarios/broken.yaml --variant eager --seed 1" in said
    )
    assert "Traceback" not in said and "judge" not in said
    xml = JUnitXml.fromfile(str(folder / "junit.xml"))
    assert sorted((case.name, case.is_passed) for suite in xml for case in suite) == [
        ("cooperative: longest_pause <= 10s", False),
        ("cooperative: longest_pause <= 60s", True),
        ("eager: longest_pause <= 10s", False),
        ("eager: longest_pause <= 60s", True),
    ]


@pytest.mark.slow
def test_a_wrong_scenario_is_one_failing_test_with_its_line(folder: Path) -> None:
    (folder / "scenarios" / "wrong.yaml").write_text(
        PASSING.replace("members: 2", "membres: 2"), encoding="utf-8"
    )
    code, said = run(folder, "scenarios")
    assert (
        code == 1
        and "1 failed" in said
        and "scenarios/wrong.yaml:2:9: 'membres' is not a key of the group — did you mean "
        "'members'?"
        in said
        and "Traceback" not in said
    )


@pytest.mark.slow
def test_undecided_and_senseless_budgets_fail_and_warnings_warn(folder: Path) -> None:
    text = (
        PASSING.replace("horizon: 3m", "horizon: 1m")
        .replace(
            '  cooperative: {rebalances: "<= 9"}\nexpect: [c0 is removed]\n',
            """\
  rebalances: {limit: "<= 9", topic: orders}
  partitions_touched: {limit: "<= 1", level: warn}
""",
        )
        .replace("[eager, cooperative]", "[eager]")
    )
    (folder / "scenarios" / "crash.yaml").write_text(text, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    code, said = run(folder, "scenarios")
    assert code == 1 and "2 failed, 1 passed, 1 warning" in said
    assert "is undecided (eager)" in said and "A longer horizon decides" in " ".join(said.split())
    assert "scenarios/crash.yaml:8:3: rebalances cannot be narrowed by topics" in said
    assert (
        "BudgetWarning: scenarios/crash.yaml:9: partitions_touched <= 1 is broken (eager): "
        "observed 2" in said
    )


@pytest.mark.slow
def test_budgets_on_a_baseline_are_held_against_the_one_in_the_configuration(folder: Path) -> None:
    from rebalsim.cli.main import code_of

    (folder / "scenarios" / "crash.yaml").write_text(
        PASSING.replace('"<= 60s"', '"<= baseline + 5%"'), encoding="utf-8"
    )
    assert run(folder, "scenarios", "-k", "longest_pause")[0] == 1
    here = Path.cwd()
    try:
        os.chdir(folder)
        assert code_of(["check", "scenarios", "--save-baseline", "pauses.json"]) == 0
    finally:
        os.chdir(here)
    (folder / "pytest.ini").write_text(
        "[pytest]\nrebalsim_baseline = pauses.json\n", encoding="utf-8"
    )
    code, said = run(folder, "scenarios")
    assert code == 0 and "5 passed" in said


def test_it_is_switched_off_in_the_configuration(folder: Path) -> None:
    (folder / "pytest.ini").write_text("[pytest]\nrebalsim = false\n", encoding="utf-8")
    assert run(folder, "scenarios")[0] == 5  # no tests at all


def test_suites_without_scenarios_are_left_alone_and_pay_nothing(folder: Path) -> None:
    """Nothing of rebalsim is imported but the plugin itself, and no file but YAML is looked at."""
    (folder / "scenarios" / "crash.yaml").unlink()
    (folder / "test_own.py").write_text(
        """\
import sys
def test_nothing_of_rebalsim_is_imported():
    assert sorted(m for m in sys.modules if m.startswith("rebalsim")) == ["rebalsim", "rebalsim.pytest_plugin"]
    assert "simpy" not in sys.modules and "yaml" not in sys.modules
""",
        encoding="utf-8",
    )
    code, said = run(folder)
    assert code == 0 and "1 passed" in said, said


def test_the_plugin_loads_in_milliseconds() -> None:
    code = (
        "import pytest, time; t = time.perf_counter(); import rebalsim.pytest_plugin; "
        "print(time.perf_counter() - t)"
    )
    best = min(
        float(
            subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True
            ).stdout
        )
        for _ in range(3)
    )
    assert best < 0.05
