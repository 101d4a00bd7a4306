"""Rows of files that grow, and the marks among them."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyspark")
pa = pytest.importorskip("pyarrow")

from rebalsim.spark.arrow import batches_of  # noqa: E402
from rebalsim.spark.logs_files import FACT_DDL, Changed  # noqa: E402
from rebalsim.spark.logs_marks import rows_on  # noqa: E402
from rebalsim.spark.marks import Marks  # noqa: E402

LINE = (
    "[2026-11-19 08:{m:02d}:{s:02d},{n:03d}] INFO [Consumer clientId=c, groupId=orders] Adding newly "
    "assigned partitions: t-{n} (org.apache.kafka.clients.consumer.internals.X)\n"
)
Rows = list[tuple[object, ...]]


class Log:
    """A file that grows, read as a stream reads it."""

    def __init__(self, place: Path) -> None:
        self.path, self.bookmarks = place / "app.log", place / "bookmarks"
        self.states = [""]
        self.count = 0

    def add(self, count: int) -> None:
        with self.path.open("a") as file:
            for n in range(self.count, self.count + count):
                file.write(LINE.format(m=n // 60, s=n % 60, n=n % 1000))
        self.count += count

    def read(self) -> tuple[Rows, Rows]:
        self.states.append(f"{self.path.stat().st_size} {len(self.states)}")
        return self.read_again()

    def read_again(self) -> tuple[Rows, Rows]:
        changed = Changed("app.log", str(self.path), *self.states[-2:])
        found = list(rows_on([changed], self.bookmarks))
        return [r for r in found if not r[7]], [r for r in found if r[7]]


def test_a_batch_that_comes_again_tells_the_same(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.add(900)
    marks, rows = log.read()
    assert [m[8] for m in marks] == ["whole"] and len(rows) >= 900
    log.add(900)
    marks, rows = log.read()
    assert [m[8] for m in marks] == ["grown"] and 900 <= len(rows) < 1_700
    assert log.read_again() == (marks, rows)
    assert len(list(log.bookmarks.rglob("*.json"))) == 2


@pytest.mark.parametrize("broken", ["", "{}", "[1]", '{"at": 3}', "\x00"])
def test_a_broken_bookmark_is_none(tmp_path: Path, broken: str) -> None:
    log = Log(tmp_path)
    log.add(900)
    log.read()
    for file in log.bookmarks.rglob("*.json"):
        file.write_text(broken)
    log.add(3)
    marks, rows = log.read()
    assert [m[8] for m in marks] == ["whole"] and len(rows) >= 903


def test_a_file_that_has_gone_since_tells_nothing(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.add(3)
    log.read()
    log.path.unlink()
    assert log.read_again() == ([], [])


def test_marks_say_which_rows_stay_and_which_may_change(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.add(900)
    former = _table([], log.read()[1])
    log.add(900)
    batch = _table(*log.read())
    marks = Marks.among(batch)
    fresh = batch.filter(pa.compute.not_equal(batch["dialect"], ""))
    stays = former.filter(marks.stays_in(former))
    final, may_change = marks.final_of(fresh), marks.open_of(fresh)
    assert marks.grown == ["app.log"]
    assert final.num_rows + may_change.num_rows == fresh.num_rows
    assert 0 < may_change.num_rows < final.num_rows
    places = [p for t in (stays, final, may_change) for p in t["place"].to_pylist()]
    assert sorted(places) == list(range(1_800))  # each once, and none is missing


def _table(marks: Rows, rows: Rows) -> object:
    return pa.Table.from_batches(list(batches_of([*marks, *rows], FACT_DDL)))
