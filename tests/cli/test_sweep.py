"""`sweep`, `recommend` and `replay` as a user meets them, as far as that needs no Spark: help,
mistakes, what is missing, the dry run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from rebalsim.cli.main import code_of, door
from rebalsim.cli.sweep import parse_conf, progress_line
from rebalsim.domain.errors import InputError
from rebalsim.spark.java import java_major
from rebalsim.spark.session import local_cores
from rebalsim.spark.sweep import Progress

ROOT = Path(__file__).resolve().parents[2]
PLAN = (
    "title: T\nscenario: scale-out\naxes: {group.members: [1, 2], "
    "group.config.heartbeat.interval.ms: {as: heartbeat, values: [1s, 50s]}}\n"
    "where: members > 1\n"
)


def rebalsim(*arguments: str, cwd: Path | None = None, **env: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "rebalsim", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", **env},
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN, "utf-8")
    return path


@pytest.mark.parametrize("command", ["sweep", "recommend", "replay"])
def test_help_has_an_example_and_needs_no_spark(command: str) -> None:
    told = CliRunner().invoke(door, [command, "--help"])
    assert told.exit_code == 0 and f"Example: rebalsim {command}" in told.output
    assert "pyspark" not in sys.modules or command


@pytest.mark.slow
def test_a_dry_run_counts_shows_and_estimates_without_spark(plan: Path) -> None:
    code, out, err = rebalsim("sweep", str(plan), "--dry-run", PATH="/nonexistent", JAVA_HOME="")
    assert (code, err) == (0, "")
    assert "2 points (of 4; where: drops the others) × 1 seed × 2 variants = 4 runs" in out
    assert (
        "dropped by where:" in out
        and "heartbeat.interval.ms 50s is not below session.timeout.ms 45s" in out
        and "About " in out
    )
    code, out, _ = rebalsim("sweep", str(plan), "--dry-run", "--json")
    document = json.loads(out)
    assert (
        document["grid"],
        document["points"],
        document["points_are_exact"],
        document["runs"],
    ) == (4, 2, True, 4)
    assert document["timed_runs"] > 0 and document["estimated_seconds"] > 0


def test_the_tables_are_told_with_every_metric_and_axis(plan: Path) -> None:
    code, out, _ = rebalsim("sweep", str(plan), "--tables")
    assert code == 0
    from rebalsim.domain.metrics import METRICS

    for name in (
        *METRICS,
        "heartbeat",
        "members",
        "runs:",
        "points:",
        "budgets:",
        "axes:",
        "pauses:",
    ):
        assert f"\n  {name} " in out or out.startswith(name) or f"\n{name}" in out


@pytest.mark.slow
def test_no_java_an_old_java_no_pyspark_are_one_line_each(plan: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    code, said, err = rebalsim("sweep", str(plan), "--out", out, PATH="/nonexistent", JAVA_HOME="")
    assert (code, said, err.count("\n")) == (
        2,
        "",
        2,
    ) and "No Java was found. Spark needs Java 17 or newer" in err
    old = tmp_path / "old" / "bin"
    old.mkdir(parents=True)
    (old / "java").write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    (old / "java").chmod(0o755)
    code, said, err = rebalsim("sweep", str(plan), "--out", out, JAVA_HOME=str(old.parent))
    assert (code, said, err.count("\n")) == (
        2,
        "",
        2,
    ) and "is Java 11, and Spark needs Java 17 or newer" in err
    code, said, err = rebalsim("sweep", str(plan), "--out", out, JAVA_HOME=str(tmp_path))
    assert code == 2 and "there is no bin/java in it" in err
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "sitecustomize.py").write_text(
        "import sys\nsys.modules['pyspark'] = None\n"
    )  # as if it were not there, whoever imports it
    for command in (
        ("sweep", str(plan), "--out", out),
        ("recommend", "crash", "--spark", "--budget", "longest_pause <= 10s"),
        ("replay", out, "--run", "0-eager-1"),
    ):
        code, said, err = rebalsim(*command, PYTHONPATH=f"{tmp_path / 'none'}{os.pathsep}{ROOT}")
        assert (
            (code, said) == (2, "")
            and "pyspark is not installed. Sweeps run on Spark — pip install 'rebalsim[spark]'"
            in err
        ), command
    code, said, err = rebalsim(
        "sweep", str(plan), "--dry-run", PYTHONPATH=f"{tmp_path / 'none'}{os.pathsep}{ROOT}"
    )
    assert code == 0 and "About " in said, err


def test_masters_are_told_apart_before_spark_is_waited_for() -> None:
    assert [
        local_cores(m)
        for m in (
            "local",
            "local[3]",
            "local[2,4]",
            "local-cluster[2,1,512]",
            "spark://a:7077,b:7077",
            "yarn",
            "k8s://https://x:6443",
        )
    ] == [1, 3, 2, None, None, None, None]
    assert (local_cores("local[*]") or 0) >= 1
    for nonsense in ("local[x]", "local[0]", "foo://bar", "spark", "", "local[2", "mesos://x"):
        with pytest.raises(InputError, match="Spark knows no master"):
            local_cores(nonsense)


def test_versions_of_java() -> None:
    assert java_major('openjdk version "17.0.15" 2025-04-15') == 17
    assert java_major('java version "1.8.0_392"') == 8
    assert java_major('openjdk version "21" 2023-09-19') == 21
    assert java_major("no such thing") is None


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "Which plan?"),
        (("{plan}",), "Where to? Name a folder with --out"),
        (("{plan}", "--out", "x", "--resume", "--overwrite"), "choose one"),
        (("{plan}", "--out", "x", "--json", "--markdown"), "choose one"),
        (("{plan}", "--out", "x", "--conf", "spark.x"), "write --conf key=value"),
        (("nowhere.yaml", "--dry-run"), "There is no file and no stock plan 'nowhere.yaml'"),
        (
            ("{plan}", "--out", "{full}"),
            "holds something already, and no sweep — name another folder",
        ),
        (("{plan}", "--out", "{swept}"), "holds a sweep already — continue it with --resume"),
    ],
)
def test_mistakes_are_one_line_and_cost_no_wait(
    plan: Path, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    for folder, file in (("full", "thesis.txt"), ("swept", "sweep.json")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / file).write_text("{}")
    named = {
        "plan": plan,
        "full": tmp_path / "full",
        "swept": tmp_path / "swept",
    }
    told = CliRunner().invoke(door, ["sweep", *(a.format(**named) for a in arguments)])
    assert told.exit_code != 0 and told.exc_info is not None
    assert says in told.output + str(told.exception)


def test_a_master_that_does_not_answer_is_named(plan: Path, tmp_path: Path) -> None:
    """In a process of its own: beside a session that lives, no other master is asked."""
    master = "spark://127.0.0.1:1"
    code, out, err = rebalsim(
        "sweep", str(plan), "--out", str(tmp_path / "out"), "--master", master
    )
    assert (code, out) == (2, "")
    assert f"No Spark master answers at {master}" in err


def test_a_plan_of_a_trillion_points_is_refused_with_the_number(tmp_path: Path) -> None:
    path = tmp_path / "huge.yaml"
    axes = ", ".join(
        f"{key}: {{range: 1..1000, step: 1}}"
        for key in (
            "group.members",
            "topics.orders.partitions",
            "group.config.max.poll.records",
            "group.config.fetch.min.bytes",
        )
    )
    path.write_text(f"scenario: scale-out\naxes: {{{axes}}}\n")
    code, out, err = rebalsim("sweep", str(path), "--dry-run")
    assert (
        (code, out) == (2, "")
        and "These axes make 1,000,000,000,000 points" in err
        and f"{path}:2:7" in err
    )


@pytest.mark.slow
def test_the_pack_is_the_same_bytes_each_time_and_holds_what_a_worker_needs(tmp_path: Path) -> None:
    for name in ("a.zip", "b.zip"):
        code, _, err = rebalsim("sweep", "--pack", str(tmp_path / name))
        assert code == 0 and "spark.submit.pyFiles" in err
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    names = zipfile.ZipFile(tmp_path / "a.zip").namelist()
    assert {
        "rebalsim/one_run.py",
        "rebalsim/spark/source.py",
        "simpy/core.py",
        "yaml/__init__.py",
    } <= set(names)
    assert not [n for n in names if "__pycache__" in n or n.endswith((".pyc", ".so"))]
    # A Python that sees nothing but the archive can play.
    done = subprocess.run(
        [
            sys.executable,
            "-S",
            "-c",
            "import sys; "
            f"sys.path[:] = [{str(tmp_path / 'a.zip')!r}] + [p for p in sys.path if "
            "'site-packages' not in p];"
            "import rebalsim.one_run, rebalsim.spark.player; print(rebalsim.one_run.__file__)",
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
    )
    assert done.stdout.startswith(str(tmp_path / "a.zip")), done.stderr
    code, _, err = rebalsim("sweep", "--pack", str(tmp_path / "nowhere" / "a.zip"))
    assert code == 2 and "cannot be written" in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nowhere",), "no stock story 'nowhere'"),
        (("{bare}",), "has no budgets"),
        (("scale-out", "--budget", "longest_pause"), "is no budget"),
        (("scale-out", "--budget", "longest_paus <= 2s"), "did you mean 'longest_pause'?"),
        (
            ("scale-out", "--budget", "longest_pause <= 2s", "--over", "session.timeout"),
            "did you mean 'session.timeout.ms'?",
        ),
        (("scale-out", "--budget", "longest_pause <= 2s", "--variant", "eagre"), "eager"),
        (
            ("scale-out", "--budget", "longest_pause <= 2s", "--gc-pauses", "often"),
            "does not say how often and how long",
        ),
    ],
)
def test_mistakes_of_recommend(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    bare = tmp_path / "bare.yaml"
    bare.write_text("topics: {orders: {partitions: 4}}\ngroup: {members: 2}\n")
    code, out, err = rebalsim("recommend", *(a.format(bare=bare) for a in arguments))
    assert (code, out) == (2, "") and says in err, err


def test_replay_of_what_is_not_there(tmp_path: Path) -> None:
    code, _, err = rebalsim("replay", str(tmp_path), "--run", "1-eager-1")
    assert code == 2 and "holds no sweep: there is no sweep.json in it" in err


def test_conf_is_taken_as_spark_submit_takes_it() -> None:
    assert parse_conf(("spark.a=1", "spark.b = x=y ")) == {"spark.a": "1", "spark.b": "x=y"}


def test_time_left_is_by_the_work_that_is_left() -> None:
    # Half of the runs are done, but they were the dear ones: a tenth of the work is left.
    line = progress_line(Progress(1000, 100.0, runs_done=500, work_done=90.0), 90.0)
    assert line == "500 of 1,000 runs · 6/s · 10.0 s left"
    assert (
        progress_line(Progress(1000, 50.0, runs_done=600, work_done=25.0, skipped_runs=500), 50.0)
        == "600 of 1,000 runs · 2/s · 50.0 s left"
    )


def test_a_sweep_of_the_consumer_protocol_with_one_seed_is_called_a_sample(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    story, plan = tmp_path / "story.yaml", tmp_path / "plan.yaml"
    story.write_text(
        "topics: {orders: 4}\ngroup: {members: 2}\nreplay: [eager, {kafka: '4.2', protocol: "
        "consumer}]\nhorizon: 1m\n"
    )
    plan.write_text("scenario: story.yaml\naxes: {group.members: [2, 3]}\n")
    assert code_of(["sweep", str(plan), "--dry-run"]) == 0
    assert (
        "kafka-4.2-consumer runs the consumer protocol, where one run is a sample of many"
        in " ".join(capsys.readouterr().err.split())
    )
    plan.write_text("scenario: story.yaml\naxes: {group.members: [2, 3]}\nvariants: [eager]\n")
    assert code_of(["sweep", str(plan), "--dry-run"]) == 0
    assert "sample" not in capsys.readouterr().err
