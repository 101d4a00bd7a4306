"""Rows in Parquet files of a folder a day: what comes and goes is what a plain list would hold."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

pa = pytest.importorskip("pyarrow")

from rebalsim.spark.parquet_folders import ParquetFolders, schema_of  # noqa: E402

SCHEMA = schema_of([("group", "STRING"), ("n", "BIGINT"), ("day", "STRING")])
Row = tuple[str, int, str]


def some_folders(place: Path) -> ParquetFolders:
    return ParquetFolders(place, "day", ("group",), ("group", "n"))


def rows(*told: Row) -> object:
    columns = zip(*told)
    return pa.table([pa.array(c, f.type) for c, f in zip(columns, SCHEMA)], schema=SCHEMA)


def files(place: Path) -> list[Path]:
    return sorted(p for p in place.rglob("*") if p.is_file())


def on_disk(place: Path) -> list[Row]:
    found = []
    for file in files(place):
        day = file.parent.name.removeprefix("day=")
        mine = [(r["group"], r["n"], day) for r in pa.parquet.read_table(file).to_pylist()]
        assert mine == sorted(mine)
        found += mine
    return sorted(found)


def test_many_batches_are_what_a_list_would_hold_in_few_files(tmp_path: Path) -> None:
    chance, held = random.Random(21), []
    folders = some_folders(tmp_path)
    for number in range(60):
        gone = {f"g{chance.randrange(40)}" for _ in range(3)}
        come = [
            (g, number * 100 + n, f"2026-11-{chance.randrange(3) + 10}")
            for g in gone
            for n in range(4)
        ]
        folders.take_out("group", gone)
        folders.put_in(rows(*come))
        held = sorted([r for r in held if r[0] not in gone] + come)
        if number % 10 == 0:
            folders = some_folders(tmp_path)  # another process goes on
    assert on_disk(tmp_path) == held
    assert len(files(tmp_path)) <= 3 * 20
    mine = folders.rows_of("group", ["g1", "nobody"]).to_pylist()
    assert sorted(r["n"] for r in mine) == [n for g, n, _ in held if g == "g1"]
    assert folders.rows_of("group", ["nobody"]) is None


def test_files_of_others_are_part_of_it_and_only_touched_ones_are_written(tmp_path: Path) -> None:
    folder = tmp_path / "day=2026-11-19"
    folder.mkdir()
    for name, told in (("a", [("x", 1), ("y", 2)]), ("b", [("z", 3)])):
        pa.parquet.write_table(
            rows(*[(g, n, "") for g, n in told]).drop_columns(["day"]),  # type: ignore[attr-defined]
            folder / f"part-{name}.parquet",
        )
        (folder / f".part-{name}.parquet.crc").write_bytes(b"of what was")
    (folder / ".hidden.parquet").write_bytes(b"half of it")
    folders = some_folders(tmp_path)
    folders.take_out("group", {"x"})
    names = [p.name for p in files(folder)]
    assert names == [
        ".hidden.parquet",
        ".part-b.parquet.crc",
        "part-a.parquet",
        "part-b.parquet",
    ]
    (folder / ".hidden.parquet").unlink()
    (folder / ".part-b.parquet.crc").unlink()
    assert on_disk(tmp_path) == [("y", 2, "2026-11-19"), ("z", 3, "2026-11-19")]
