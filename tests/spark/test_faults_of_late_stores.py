"""A sweep into a store that shows what was written only a while later: through Hadoop's own door,
by a file system of ours that hides young files (compiled here, so it needs a JDK).
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from real_spark import spark_or_skip
from test_faults import rows_in, run

pytestmark = pytest.mark.spark
SOURCE = Path(__file__).with_name("LateFileSystem.java")


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    spark_or_skip()
    if shutil.which("javac") is None or shutil.which("jar") is None:
        pytest.skip("no javac here: a JDK is needed to compile the store that shows files late")
    import pyspark

    jars = Path(pyspark.__file__).parent / "jars"
    built = tmp_path / "classes"
    subprocess.run(
        ["javac", "-cp", f"{jars}/*", "-d", str(built), str(SOURCE)], check=True, text=True
    )
    subprocess.run(
        ["jar", "cf", "late.jar", "-C", str(built), "."], cwd=tmp_path, check=True, text=True
    )
    return tmp_path / "late.jar"


@pytest.mark.soak
def test_a_store_that_shows_files_late_lacked_all_that_was_written(
    jar: Path, plan_file: Path, tmp_path: Path
) -> None:
    plan_file.write_text(plan_file.read_text("utf-8").replace("seeds: 4", "seeds: 1"), "utf-8")
    sweep = ["sweep", str(plan_file), "--master", "local[1]"]
    out = tmp_path / "late"
    conf = [
        *("--conf", f"spark.driver.extraClassPath={jar}"),
        *("--conf", "spark.hadoop.fs.late.impl=LateFileSystem"),
    ]
    code, said, err = run([*sweep, "--out", f"late://{out}", *conf], timeout=300)
    assert code == 0, err
    code, usual, err = run([*sweep, "--out", str(tmp_path / "usual")], timeout=300)
    assert code == 0, err
    # a long path is broken where the line ends
    one, other = "".join(said.split()), "".join(usual.split())
    assert one.replace(f"late://{out}", "OUT") == other.replace(str(tmp_path / "usual"), "OUT")
    assert [r["run"] for r in rows_in(out)] == [r["run"] for r in rows_in(tmp_path / "usual")]
