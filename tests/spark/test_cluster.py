"""A real standalone cluster on loopback: a master and two workers of one core each, whose Python
has never heard of rebalsim.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sysconfig
import time
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from real_spark import spark_or_skip
from test_faults import rows_in, run, start
from waiting import until_a_chunk_is_done

pytestmark = pytest.mark.spark

# What a JVM does in a minute is not worth its second compiler (`start_session`, is_brief).
BRIEF = "-XX:TieredStopAtLevel=1"
BRIEF_JVMS = (
    *("--conf", f"spark.driver.extraJavaOptions={BRIEF}"),
    *("--conf", f"spark.executor.extraJavaOptions={BRIEF}"),
)


def bare_python(folder: Path) -> Path:
    """A Python that has PySpark and pyarrow and nothing else: no rebalsim, no simpy, no YAML."""
    venv.create(folder, with_pip=False, symlinks=True)
    here = Path(sysconfig.get_paths()["purelib"])
    there = next(folder.glob("lib/python*/site-packages"))
    for name in ("pyspark", "py4j", "pyarrow"):
        (there / name).symlink_to(here / name)
    python = folder / "bin" / "python"
    check = subprocess.run(
        [
            python,
            "-c",
            "import pyspark, pyarrow\ntry:\n import rebalsim\nexcept ImportError: print('none')",
        ],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
    )
    assert check.stdout == "none\n"
    return python


class Cluster:
    """A master and two workers, each in a process group of its own, so that a worker can be
    killed with all that it started.
    """

    def __init__(self, folder: Path) -> None:
        import pyspark

        self.folder = folder
        self._class = Path(pyspark.__file__).parent / "bin" / "spark-class"
        self._processes: list[subprocess.Popen[bytes]] = []
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.master = f"spark://127.0.0.1:{port}"
        self._start(
            "master",
            "org.apache.spark.deploy.master.Master",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            "--webui-port",
            "0",
        )
        self._wait("master", "New state: ALIVE")
        self.workers = [
            self._start(
                f"worker{i}",
                "org.apache.spark.deploy.worker.Worker",
                "--host",
                "127.0.0.1",
                "--webui-port",
                "0",
                "--cores",
                "1",
                "--memory",
                "600m",
                "--work-dir",
                str(folder / f"work{i}"),
                self.master,
            )
            for i in (0, 1)
        ]
        for i in (0, 1):
            self._wait(f"worker{i}", "Successfully registered with master")

    def _start(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": BRIEF,
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [str(self._class), *arguments],
                stdout=log,
                stderr=log,
                env=env,
                start_new_session=True,
                cwd=self.folder,
            )
        self._processes.append(process)
        return process

    def _wait(self, name: str, line: str) -> None:
        deadline = time.monotonic() + 60
        while line not in (self.folder / f"{name}.log").read_text("utf-8", "replace"):
            assert time.monotonic() < deadline, (self.folder / f"{name}.log").read_text(
                "utf-8", "replace"
            )[-2000:]
            time.sleep(0.1)

    def kill_worker(self, number: int) -> None:
        os.killpg(self.workers[number].pid, signal.SIGKILL)

    def stop(self) -> None:
        for process in self._processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    spark_or_skip()
    folder = tmp_path / "cluster"
    folder.mkdir()
    made = Cluster(folder)
    yield made
    made.stop()


def test_a_sweep_on_a_cluster_survives_the_loss_of_a_worker(
    cluster: Cluster, spark: Any, plan_file: Path, tmp_path: Path
) -> None:
    plan_file.write_text(plan_file.read_text("utf-8").replace("seeds: 4", "seeds: 10"), "utf-8")
    out, pack = tmp_path / "out", tmp_path / "rebalsim.zip"
    python = bare_python(tmp_path / "bare")
    code, _, err = run(
        [
            "sweep",
            str(plan_file),
            "--out",
            str(out),
            "--master",
            cluster.master,
            "--conf",
            f"spark.pyspark.python={python}",
            "--conf",
            "spark.executor.memory=512m",
            *BRIEF_JVMS,
        ]
    )
    assert code == 2 and "has no rebalsim" in err and "--pack" in err, err
    process = start(
        [
            "sweep",
            str(plan_file),
            "--out",
            str(out),
            "--overwrite",
            "--master",
            cluster.master,
            "--pack",
            str(pack),
            "--mark-every",
            "0.25",
            "--json",
            "--conf",
            f"spark.pyspark.python={python}",
            "--conf",
            "spark.executor.memory=512m",
            *BRIEF_JVMS,
            "--conf",
            "spark.executor.cores=1",
        ]
    )
    until_a_chunk_is_done(out, process)
    cluster.kill_worker(0)
    said, err = process.communicate(timeout=180)
    assert process.returncode == 0, err
    assert len(list((cluster.folder / "work1").glob("app-*/*"))) > 0
    here = tmp_path / "here"
    from rebalsim.reports.sweep_to_json import render as render_json
    from rebalsim.spark import sweep_job
    from rebalsim.spark.plans import load_plan

    job = sweep_job.prepare(spark, load_plan(plan_file), str(here))
    sweep_job.play(spark, job)
    said_here = render_json(sweep_job.conclude(spark, job))
    assert without_folder(rows_in(out)) == without_folder(rows_in(here))
    for table in ("points", "budgets", "axes"):
        assert table_of(out, table) == table_of(here, table)
    assert said.replace(str(out), "OUT") == said_here.replace(str(here), "OUT")


@pytest.mark.soak
def test_a_cluster_that_goes_away_for_good_ends_the_sweep_and_another_finishes_it(
    cluster: Cluster, plan_file: Path, tmp_path: Path
) -> None:
    plan_file.write_text(plan_file.read_text("utf-8").replace("seeds: 4", "seeds: 40"), "utf-8")
    out = tmp_path / "out"
    sweep = ["sweep", str(plan_file), "--out", str(out)]
    process = start(
        [
            *sweep,
            *("--master", cluster.master, "--mark-every", "0.25", "--wait-for-workers", "5"),
            *("--conf", "spark.executor.memory=512m", "--conf", "spark.executor.cores=1"),
        ]
    )
    until_a_chunk_is_done(out, process)
    cluster.kill_worker(0)
    cluster.kill_worker(1)
    said, err = process.communicate(timeout=120)
    assert process.returncode == 2, said + err
    assert "No worker of spark://" in err and "--resume" in err and "Traceback" not in err
    so_far = rows_in(out)
    code, said, err = run([*sweep, "--master", "local[2]", "--resume"])
    assert code == 0 and "were there already" in err, err
    rows = rows_in(out)
    assert len(rows) == len({r["run"] for r in rows}) > len(so_far)


def without_folder(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    assert rows
    return [{k: v for k, v in row.items() if k != "chunk"} for row in rows]


def table_of(out: Path, table: str) -> list[dict[str, Any]]:
    import pyarrow.parquet as pq

    rows: list[dict[str, Any]] = pq.read_table(str(out / table)).to_pylist()
    assert rows
    return rows
