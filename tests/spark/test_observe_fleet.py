"""A fleet's logs on Spark: the same rows as one process, days replaced, late files taken in, a stream."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path
from typing import Any

import pytest

from rebalsim.reports.fleet_told import render
from rebalsim.worlds.logs.sources import sources_in
from rebalsim.worlds.logs.tables import COLUMNS, tables_in_one_process

pytestmark = pytest.mark.spark
INCIDENTS = Path(__file__).parents[2] / "scenarios" / "incidents"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for name in ("crash-last-night", "stuck-last-night"):
        shutil.copytree(INCIDENTS / name, tmp_path / "logs" / name)
    return tmp_path / "logs"


def in_one_process(logs: Path) -> dict[str, list[str]]:
    found = tables_in_one_process((s.name, s.chunks()) for s in sources_in([str(logs)]))
    return {name: sorted(map(told, rows)) for name, rows in found.items()}


def told(row: Any) -> str:
    """A row in words; nothing, said in two ways, is the same."""
    values = row if isinstance(row, dict) else row.asDict()
    return repr(sorted((k, v if k != "day" else str(v)) for k, v in values.items()))


def on_disk(spark: Any, out: Path) -> dict[str, list[str]]:
    return {
        name: sorted(map(told, spark.read.parquet(str(out / name)).collect())) for name in COLUMNS
    }


def test_the_same_rows_as_one_process_also_when_late_and_again(
    spark: Any, logs: Path, tmp_path: Path
) -> None:
    from rebalsim.spark.fleet import fleet_of
    from rebalsim.spark.observe import observe_fleet

    out = tmp_path / "tables"
    late = tmp_path / "late"
    late.mkdir()
    shutil.move(str(logs / "crash-last-night" / "pay-4.log.gz"), late / "pay-4.log.gz")
    observe_fleet(spark, str(logs), str(out))
    shutil.move(str(late / "pay-4.log.gz"), logs / "crash-last-night" / "pay-4.log.gz")
    observe_fleet(spark, str(logs), str(out))
    expected = in_one_process(logs)
    assert expected["pauses"]
    assert on_disk(spark, out) == expected
    fleet = fleet_of(spark, str(out))
    text = render(fleet, str(out))
    assert "payments" in text
    assert "What stood still, by cause" in text
    assert fleet.blamed[0].lost_us == max(b.lost_us for b in fleet.blamed)
    assert any(b.group == "payments" and b.member.startswith("pay-") for b in fleet.blamed)


def test_read_through_spark_it_is_the_same_and_so_is_the_data_source(
    spark: Any, logs: Path
) -> None:
    import rebalsim.spark
    from rebalsim.spark.observe import facts_in_lines, lines_of
    from rebalsim.spark.observed_tables import table_of, tables_from

    rebalsim.spark.register(spark)
    expected = in_one_process(logs)
    facts = facts_in_lines(spark, lines_of(spark, str(logs)), str(logs))
    rows = table_of(tables_from(spark, facts), "pauses").collect()
    assert sorted(map(told, rows)) == expected["pauses"]
    read = spark.read.format("rebalsim-logs").option("path", str(logs)).option("table", "pauses")
    assert sorted(map(told, read.load().collect())) == expected["pauses"]


def test_a_stream_keeps_the_tables_current(spark: Any, logs: Path, tmp_path: Path) -> None:
    from rebalsim.spark.observe import follow_fleet

    out, checkpoint = tmp_path / "tables", str(tmp_path / "checkpoint")
    follow_fleet(spark, str(logs), str(out), checkpoint, once=True).awaitTermination()
    shutil.copytree(INCIDENTS / "deploy-last-night", logs / "deploy-last-night")
    follow_fleet(spark, str(logs), str(out), checkpoint, once=True).awaitTermination()
    assert on_disk(spark, out) == in_one_process(logs)


def test_a_stream_reads_a_file_again_that_has_grown(spark: Any, logs: Path, tmp_path: Path) -> None:
    """A log that is being written, cut within a line; and one that is rotated meanwhile."""
    from rebalsim.spark.observe import follow_fleet

    out, checkpoint = tmp_path / "tables", str(tmp_path / "checkpoint")
    packed = sorted((logs / "crash-last-night").glob("*.log.gz"))
    whole = {p: gzip.decompress(p.read_bytes()) for p in packed}
    for p, text in whole.items():
        p.unlink()
        p.with_suffix("").write_bytes(text[: len(text) // 2])
    follow_fleet(spark, str(logs), str(out), checkpoint, once=True).awaitTermination()
    assert on_disk(spark, out) == in_one_process(logs)
    for number, (p, text) in enumerate(whole.items()):
        if number == 0:
            rotated = p.with_suffix("").rename(p.with_suffix(".1"))
            assert rotated.name.endswith(".log.1")
            p.with_suffix("").write_bytes(text[len(text) // 2 :])
        else:
            p.with_suffix("").write_bytes(text)
    follow_fleet(spark, str(logs), str(out), checkpoint, once=True).awaitTermination()
    assert on_disk(spark, out) == in_one_process(logs)


def test_a_stream_reads_files_on_as_they_grow(spark: Any, logs: Path, tmp_path: Path) -> None:
    """Bit by bit, half lines too, with one that is truncated within, and a look at all in between."""
    from rebalsim.spark.observe import follow_fleet, observe_fleet

    out, checkpoint = tmp_path / "tables", str(tmp_path / "checkpoint")
    packed = sorted((logs / "crash-last-night").glob("*.log.gz"))
    whole = {p.with_suffix(""): gzip.decompress(p.read_bytes()) * 3 for p in packed}
    for p in packed:
        p.unlink()
    for step in range(1, 6):
        for number, (p, text) in enumerate(whole.items()):
            begin = len(text) // 2 if step > 3 and number == 1 else 0
            p.write_bytes(text[begin : len(text) * step // 5 + step * 7])
        if step == 3:
            observe_fleet(spark, str(logs), str(out))
        follow_fleet(spark, str(logs), str(out), checkpoint, once=True).awaitTermination()
        assert on_disk(spark, out) == in_one_process(logs)


def test_a_stream_goes_on_from_what_spark_itself_wrote(
    spark: Any, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A first batch too large for one process, then small ones, which are told by Spark's workers."""
    from rebalsim.spark import stream_tables
    from rebalsim.spark.observe import follow_fleet

    out, checkpoint = tmp_path / "tables", str(tmp_path / "checkpoint")
    monkeypatch.setattr(stream_tables, "MOST_FACTS", 10)
    follow_fleet(spark, str(logs), str(out), checkpoint, once=True).awaitTermination()
    assert list(out.glob("pauses/day=*/part-*")) and not list(out.glob("pauses/day=*/rows-*"))
    monkeypatch.undo()
    monkeypatch.setattr(stream_tables, "FEW_FACTS", 0)
    shutil.copytree(INCIDENTS / "deploy-last-night", logs / "deploy-last-night")
    first = logs / "crash-last-night" / "pay-4.log.gz"
    first.write_bytes(gzip.compress(gzip.decompress(first.read_bytes())[:20_000]))
    follow_fleet(spark, str(logs), str(out), checkpoint, once=True).awaitTermination()
    assert list(out.glob("pauses/day=*/rows-*"))
    assert on_disk(spark, out) == in_one_process(logs)
