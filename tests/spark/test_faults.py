"""Sweeps whose workers die, that are interrupted, or that lack what they need: as a user would
meet them, through the command.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from real_spark import ROOT, spark_or_skip
from waiting import until_a_chunk_is_done

pytestmark = pytest.mark.spark

# Runs in every Python that Spark starts: kills the process for good as soon as it plays one certain
# point.
DEADLY = """
import os, sys
if "daemon" in " ".join(sys.orig_argv):
    import rebalsim.spark.player as player
    play = player.Player.play
    def deadly(self, point, seed):
        if point == 9 and seed == 2:
            os.kill(os.getpid(), 9)
        return play(self, point, seed)
    player.Player.play = deadly
"""
SLOW = """
import sys
if "daemon" in " ".join(sys.orig_argv):
    import time
    import rebalsim.spark.player as player
    play = player.Player.play
    def slow(self, point, seed):
        time.sleep(0.15)
        return play(self, point, seed)
    player.Player.play = slow
"""


def start(
    arguments: list[str], sabotage: str = "", folder: Path | None = None
) -> subprocess.Popen[str]:
    environment = {**os.environ, "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}
    if sabotage and folder:
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(sabotage, "utf-8")
        environment["PYTHONPATH"] = f"{folder}{os.pathsep}{ROOT}"
    return subprocess.Popen(
        [sys.executable, "-m", "rebalsim", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )


def run(arguments: list[str], timeout: float = 400, **more: Any) -> tuple[int, str, str]:
    process = start(arguments, **more)
    out, err = process.communicate(timeout=timeout)
    return process.returncode, out, err


def rows_in(out: Path, table: str = "runs") -> list[dict[str, Any]]:
    import pyarrow.dataset as ds

    files = [str(f) for f in sorted(out.glob(f"{table}/**/*.parquet"))]
    return sorted(
        ds.dataset(files, format="parquet").to_table().to_pylist(), key=lambda r: r["run"]
    )


def test_a_run_that_kills_its_worker_is_one_row_of_a_whole_sweep(
    plan_file: Path, tmp_path: Path
) -> None:
    spark_or_skip()
    out = tmp_path / "out"
    code, said, err = run(
        ["sweep", str(plan_file), "--out", str(out), "--master", "local[2,1]"],
        sabotage=DEADLY,
        folder=tmp_path / "sabotage",
    )
    assert code == 0, err
    rows = rows_in(out)
    dead = [r for r in rows if r["error_kind"] == "crash"]
    assert [r["run"] for r in dead] == ["9-cooperative-2", "9-eager-2"], dead[0]["error"]
    assert "no worker survived this run" in dead[0]["error"] and dead[0]["session"] == 10_000_000
    assert len(rows) == 16 * 2 * 4 and sum(r["error_kind"] is None for r in rows) == 14 * 2 * 4 - 2
    assert "Traceback" not in err + said and "WARN" not in err + said


def test_ctrl_c_keeps_what_is_there_and_resume_does_the_rest(
    plan_file: Path, tmp_path: Path
) -> None:
    spark_or_skip()
    out = tmp_path / "out"
    plan_file.write_text(plan_file.read_text("utf-8").replace("seeds: 4", "seeds: 6"), "utf-8")
    # Chunks are cut by the runs' predicted time; sleeping workers make each last, so that there is
    # something to interrupt.
    process = start(
        [
            "sweep",
            str(plan_file),
            "--out",
            str(out),
            "--master",
            "local[2]",
            "--mark-every",
            "0.1",
        ],
        sabotage=SLOW,
        folder=tmp_path / "sabotage",
    )
    until_a_chunk_is_done(out, process)
    os.kill(process.pid, signal.SIGINT)
    said, err = process.communicate(timeout=60)
    assert process.returncode == 130, said + err
    assert "continue with the same command and --resume" in err and "Traceback" not in err
    so_far = rows_in(out)
    assert 0 < len(so_far) < 16 * 2 * 6
    code, said, err = run(
        ["sweep", str(plan_file), "--out", str(out), "--master", "local[2]", "--resume"]
    )
    assert code == 0, err
    assert "were there already" in err
    rows = rows_in(out)
    assert len(rows) == len({r["run"] for r in rows}) == 16 * 2 * 6
    assert [r for r in rows if r["run"] in {s["run"] for s in so_far}] == so_far


@pytest.mark.soak
def test_a_worker_that_is_short_of_memory_costs_its_runs_and_no_more(tmp_path: Path) -> None:
    spark_or_skip()
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "title: Which size\nscenario: scale-out\nseeds: 1\nbudgets: {longest_pause: '<= 9s'}\n"
        "axes: {topics.orders.partitions: {as: partitions, values: [6, 60, 30000]}}\n",
        "utf-8",
    )
    sweep = ["sweep", str(plan), "--master", "local[2]"]
    limit = "spark.executor.pyspark.memory"
    code, _, err = run([*sweep, "--out", str(tmp_path / "a"), "--conf", f"{limit}=320m"])
    assert code == 0, err
    rows = rows_in(tmp_path / "a")
    assert {r["partitions"] for r in rows if r["verdict"] == "error"} <= {30000}
    # Python may say so, or be gone before it can
    errors = {r["error"] for r in rows if r["verdict"] == "error"}
    assert errors and all("ran out of memory" in e or "no worker survived" in e for e in errors)
    assert sum(r["verdict"] != "error" for r in rows) >= 4
    code, _, err = run([*sweep, "--out", str(tmp_path / "b"), "--conf", f"{limit}=150m"])
    assert code == 2 and "continue with --resume" in err and "Traceback" not in err, err
