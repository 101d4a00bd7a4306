"""Faults that were found in sweeps that are resumed or concluded: each a test named by it."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rebalsim.domain.errors import InputError, RebalsimError
from rebalsim.domain.sweep import Plan
from rebalsim.spark import sweep_job
from rebalsim.spark.lock import LOCK, locked
from rebalsim.spark.store import Store

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def kept(spark: Any, plan_text: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Plan, Path]:
    """A whole sweep, to be damaged in copies."""
    from rebalsim.spark.plans import load_plan

    folder = tmp_path_factory.mktemp("kept")
    (folder / "plan.yaml").write_text(
        plan_text.replace("values: [6s, 10s, 45s]", "values: [6s, 10s]").replace(
            "seeds: 4", "seeds: 2"
        ),
        "utf-8",
    )
    plan = load_plan(folder / "plan.yaml")
    job = sweep_job.prepare(spark, plan, str(folder / "out"), probe_s=0.5, chunk_s=0.05)
    sweep_job.play(spark, job)
    sweep_job.conclude(spark, job)
    job.held.close()
    return plan, folder / "out"


@pytest.fixture
def out(kept: tuple[Plan, Path], tmp_path: Path) -> Iterator[Path]:
    shutil.copytree(kept[1], tmp_path / "out")
    yield tmp_path / "out"


def parts(out: Path) -> list[Path]:
    """Those that hold rows."""
    import pyarrow.parquet as pq

    files = sorted(out.glob("runs/chunk=*/*.parquet"))
    return [p for p in files if pq.read_metadata(p).num_rows]


def without_check(path: Path) -> None:
    """Hadoop's own check sum beside it, which a store in the cloud has not."""
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def deleted(path: Path) -> None:
    path.unlink()


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def replaced(path: Path) -> None:
    other = next(p for p in parts(path.parents[2]) if p.read_bytes() != path.read_bytes())
    path.write_bytes(other.read_bytes())


@pytest.mark.parametrize("damage", [emptied, deleted, truncated, replaced])
def test_resume_trusted_success_and_lacked_rows(
    damage: Callable[[Path], None], spark: Any, kept: tuple[Plan, Path], out: Path
) -> None:
    victim = parts(out)[0]
    without_check(victim)
    damage(victim)
    job = sweep_job.prepare(spark, kept[0], str(out), resume=True)
    try:
        with pytest.raises(RebalsimError, match=r"lacks .* of .* runs"):
            sweep_job.conclude(spark, job)
        done = sweep_job.play(spark, job)
        assert 0 < done.skipped_runs < done.runs
        assert sweep_job.conclude(spark, job).runs == rows_of(kept[1])
    finally:
        job.held.close()
    assert rows_of(out) == rows_of(kept[1])


def rows_of(out: Path) -> int:
    import pyarrow.dataset as ds

    return int(
        ds.dataset(
            [str(p) for p in out.glob("runs/chunk=*/*.parquet")], format="parquet"
        ).count_rows()
    )


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"plan": 1, "order": 2}', "null", "[" * 100_000, '{"plan": NaN}'],
    ids=["empty", "cut", "list", "other", "null", "deep", "nan"],
)
def test_a_damaged_manifest_ended_in_a_bug_message(
    text: str, spark: Any, kept: tuple[Plan, Path], out: Path
) -> None:
    (out / ".sweep.json.crc").unlink(missing_ok=True)
    (out / "sweep.json").write_text(text, "utf-8")
    with pytest.raises(InputError, match=r"sweep"):
        sweep_job.prepare(spark, kept[0], str(out), resume=True)


def test_a_manifest_that_was_changed_beneath_its_checksum_was_a_bug(
    spark: Any, kept: tuple[Plan, Path], out: Path
) -> None:
    assert (out / ".sweep.json.crc").exists()
    (out / "sweep.json").write_text('{"x":', "utf-8")
    with pytest.raises(InputError, match=r"sweep\.json: .*changed by hand: begin anew"):
        sweep_job.prepare(spark, kept[0], str(out), resume=True)


def test_a_disk_that_is_full_while_concluding_was_a_java_stack_trace(
    spark: Any, kept: tuple[Plan, Path], out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rebalsim.spark.tables import Tables

    def full(self: Tables) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Tables, "write", full)
    job = sweep_job.prepare(spark, kept[0], str(out), resume=True)
    with pytest.raises(RebalsimError, match=r"No space left on device.*--resume"):
        sweep_job.conclude(spark, job)
    job.held.close()


def test_two_drivers_wrote_into_one_folder(spark: Any, kept: tuple[Plan, Path], out: Path) -> None:
    job = sweep_job.prepare(spark, kept[0], str(out), resume=True)
    with pytest.raises(InputError, match="is being played by process"):
        sweep_job.prepare(spark, kept[0], str(out), resume=True)
    with pytest.raises(InputError, match="is being played by process"):
        sweep_job.prepare(spark, kept[0], str(out), overwrite=True)
    job.held.close()
    sweep_job.prepare(spark, kept[0], str(out), resume=True).held.close()
    assert not (out / LOCK).exists()


def test_a_driver_that_was_killed_keeps_nobody_out(
    spark: Any, kept: tuple[Plan, Path], out: Path
) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    told = {"host": socket.gethostname(), "process": gone.pid, "key": "x"}
    (out / LOCK).write_text(json.dumps(told), "utf-8")
    sweep_job.prepare(spark, kept[0], str(out), resume=True).held.close()
    assert not (out / LOCK).exists()


def test_another_machines_driver_is_believed_until_it_falls_silent(spark: Any, out: Path) -> None:
    store = Store(spark, str(out))
    (out / LOCK).write_text(json.dumps({"host": "elsewhere", "process": 1}), "utf-8")
    with pytest.raises(InputError, match="process 1 on elsewhere"), locked(store):
        pass
    os.utime(out / LOCK, (1, 1))
    with locked(store):
        assert "elsewhere" not in store.read_text(LOCK)


def test_a_store_that_shows_files_late_is_looked_at_again(
    spark: Any, kept: tuple[Plan, Path], out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eventually consistent: what was written is not there at the first look."""
    from rebalsim.spark import chunk_counts

    monkeypatch.setattr(chunk_counts, "BETWEEN_S", 0.0)
    looks: list[int] = []
    found = chunk_counts._found

    def late(*asked: Any) -> Any:
        looks.append(1)
        real = found(*asked)
        return dict.fromkeys(real, (0, 0)) if len(looks) == 1 else real

    monkeypatch.setattr(chunk_counts, "_found", late)
    store = Store(spark, str(out))
    whole = chunk_counts.sound_chunks(spark, store, kept[0], ("runs",))
    assert len(looks) == 2 and whole == store.finished_chunks()
