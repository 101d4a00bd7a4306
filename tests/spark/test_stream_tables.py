"""A stream's batches without Spark: whatever happens to files and to the process, the tables are those of
one process whenever a batch is through.
"""

from __future__ import annotations

import gzip
import random
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("pyspark")
pa = pytest.importorskip("pyarrow")

from rebalsim.spark import stream_tables  # noqa: E402
from rebalsim.spark.arrow import batches_of  # noqa: E402
from rebalsim.spark.logs_files import FACT_DDL, Changed  # noqa: E402
from rebalsim.spark.logs_marks import rows_on  # noqa: E402
from rebalsim.spark.parquet_folders import ParquetFolders  # noqa: E402
from rebalsim.spark.stream_tables import StreamTables  # noqa: E402
from rebalsim.worlds.logs import sources  # noqa: E402
from rebalsim.worlds.logs.sources import sources_in  # noqa: E402
from rebalsim.worlds.logs.tables import COLUMNS, tables_in_one_process  # noqa: E402

LOGS = Path(__file__).parents[2] / "scenarios" / "incidents" / "crash-last-night"
Tables = dict[str, list[str]]


class PowerCut(Exception):
    """The process is gone, wherever it was."""


class Night:
    """Logs that grow, are truncated and rotated, and the process that follows them."""

    def __init__(self, place: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.logs, self.out, self.bookmarks = place / "logs", place / "out", place / "bookmarks"
        self.logs.mkdir()
        self.text = {
            p.stem: gzip.decompress(p.read_bytes())[:40_000] for p in sorted(LOGS.glob("*.gz"))
        }
        self.at = dict.fromkeys(self.text, 0)
        self.before: dict[str, str] = {}
        self.now: dict[str, str] = {}
        self.step = 0
        self.tables = self.new_process()

    def new_process(self) -> StreamTables:
        return StreamTables(None, str(self.out), self.out)

    def goes_on(self) -> None:
        """Something is written to some of the logs; now and then one is cut short or moved away."""
        for name, text in self.text.items():
            path = self.logs / name
            what = self.random.random()
            if what < 0.04 and path.exists():
                path.write_bytes(b"")
            elif what < 0.08 and path.exists():
                path.replace(self.logs / f"{name}.1")
            if what < 0.7:
                size = self.random.choice((1, 300, 4_000, 15_000))
                with path.open("ab") as file:
                    file.write(text[self.at[name] : self.at[name] + size])
                self.at[name] += size
        self.step += 1
        self.before = self.now
        self.now = {p.name: f"{p.stat().st_size} {self.changed_at(p)}" for p in self.logs.iterdir()}

    def changed_at(self, path: Path) -> int:
        """A file's time, which says here what is in it: the tests write faster than clocks go."""
        return zlib.crc32(path.read_bytes())

    def batch(self) -> object:
        changed = [
            Changed(name, str(self.logs / name), self.before.get(name, ""), state)
            for name, state in sorted(self.now.items())
            if self.before.get(name) != state
        ]
        return pa.Table.from_batches(
            list(batches_of(rows_on(changed, self.bookmarks), FACT_DDL)) or [], SCHEMA
        )

    def follow(self) -> None:
        """The batch is taken in; where the process dies within, another takes it in again."""
        try:
            with cut_sometimes(self.random):
                self.tables._take_in(self.batch())
        except PowerCut:
            self.tables = self.new_process()
            self.tables._take_in(self.batch())

    def kept(self) -> Tables:
        found = {}
        for table, folders in self.tables._tables.items():
            rows = folders.all_rows()
            found[table] = sorted(map(_told, rows.to_pylist() if rows is not None else ()))
        return found

    def at_once(self) -> Tables:
        found = tables_in_one_process((s.name, s.chunks()) for s in sources_in([str(self.logs)]))
        return {table: sorted(map(_told, found[table])) for table in COLUMNS}


SCHEMA = stream_tables.schema_of([tuple(c.split()) for c in FACT_DDL.split(", ")])


def _told(row: dict[str, object]) -> str:
    return repr(sorted((k, v) for k, v in row.items() if k != "day"))


@contextmanager
def cut_sometimes(chance: random.Random) -> Iterator[None]:
    """In most batches the power goes at one of the moments at which something is written."""
    left = chance.randrange(20)
    write, remove = ParquetFolders._put, ParquetFolders._remove

    def counted() -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise PowerCut

    def writes(self: ParquetFolders, *args: object) -> None:
        counted()
        write(self, *args)

    def removes(self: ParquetFolders, *args: object) -> None:
        counted()
        remove(self, *args)

    ParquetFolders._put, ParquetFolders._remove = writes, removes  # type: ignore[method-assign]
    try:
        yield
    finally:
        ParquetFolders._put, ParquetFolders._remove = write, remove  # type: ignore[method-assign]


@pytest.mark.parametrize("seed", range(6))
def test_whatever_happens_the_tables_are_those_of_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(sources, "PIECE", 4_096)
    monkeypatch.setattr(stream_tables, "FEW_FACTS", 1 << 40)
    night = Night(tmp_path, seed)
    for _ in range(14):
        night.goes_on()
        night.follow()
        if any(night.logs.iterdir()):
            assert night.kept() == night.at_once()
    assert night.kept()["events"]
