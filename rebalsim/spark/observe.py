"""A fleet's logs on Spark: the same two steps as in one process, each file first, then each group.

    observe_fleet(spark, "s3a://logs/2026/", "s3a://tables/observed")

This is the first step, and the way in; `observed_tables` has the second. A file is read by one task: its
lines stay in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from rebalsim.spark.arrow import RowsOf, map_rows
from rebalsim.spark.logs_files import FACT_DDL
from rebalsim.spark.logs_source import LogsSource
from rebalsim.spark.observed_tables import take_in_facts
from rebalsim.spark.stream_tables import StreamTables
from rebalsim.worlds.logs.sources import PIECE
from rebalsim.worlds.logs.tables import facts_in_file

_WHOLE_FILES = str(1 << 50)
BOOKMARKS = "bookmarks"  # beside what Spark keeps of a stream
EVERY = "2 seconds"  # a stream looks for what has come, and no sooner


def observe_fleet(spark: Any, path: str, out: str) -> None:
    """Read everything below `path`, and write the four tables below `out`."""
    if is_opened_by_python(out):
        StreamTables(spark, out, Path(_bare(out))).put_together()  # what a stream left there
    take_in_facts(spark, facts_below(spark, path), out)


def facts_below(spark: Any, path: str) -> Any:
    """The first step: facts of each file. Python opens what is on this machine's file systems (or on
    all workers'); Spark opens all else.
    """
    if is_opened_by_python(path):
        return _of_files(spark, spark.read, path).load()
    return facts_in_lines(spark, lines_of(spark, path), path)


def lines_of(spark: Any, path: str) -> Any:
    """Each line as bytes, with its file."""
    spark.conf.set("spark.sql.files.maxPartitionBytes", _WHOLE_FILES)
    cost = (1 << 50) // max(1, spark.sparkContext.defaultParallelism * 4)
    spark.conf.set("spark.sql.files.openCostInBytes", str(cost))
    read = spark.read.option("recursiveFileLookup", "true").option("lineSep", "\n").text(path)
    return read.selectExpr("CAST(value AS BINARY) AS line", "_metadata.file_path AS file")


def facts_in_lines(spark: Any, lines: Any, path: str) -> Any:
    """Facts of lines that Spark has read, file by file."""
    return map_rows(spark, lines, _fact_maker(path), FACT_DDL)


def _fact_maker(path: str) -> RowsOf:
    root = _bare(path).rstrip("/")

    def make(rows: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
        for file, lines in groupby(rows, key=itemgetter(1)):
            name = _bare(file)
            name = name[len(root) :].lstrip("/") if name.startswith(root) else name
            name = name or root.rpartition("/")[2]
            if not name.rpartition("/")[2].startswith(("truth", ".")):
                yield from facts_in_file(name, _chunks(lines))

    return make


def _chunks(rows: Iterable[Any]) -> Iterator[list[str]]:
    """Cut where one process cuts the file."""
    chunk: list[str] = []
    at, cut = 0, PIECE
    for line, _ in rows:
        at += len(line) + 1
        if at > cut and chunk:
            yield chunk
            chunk = []
        while at > cut:
            cut += PIECE
        chunk.append(bytes(line).decode("utf-8", "replace").rstrip("\r"))
    if chunk:
        yield chunk


def _bare(path: str) -> str:
    """The path without a scheme for local files, as one process sees it."""
    parsed = urlparse(path)
    return unquote(parsed.path) if parsed.scheme == "file" else path


def follow_fleet(spark: Any, path: str, out: str, checkpoint: str, once: bool = False) -> Any:
    """A stream that keeps the tables current while files are added below `path`, or grow; its query.

    Each batch takes what has come since the one before: files that are new, and of those that have grown
    what is new, where both logs and tables are on a file system (else they are read again as a whole).
    What only Spark can open is taken once, when it comes.
    """
    tables = StreamTables(spark, out, Path(_bare(out))) if is_opened_by_python(out) else None

    def take_in(batch: Any, number: int) -> None:
        facts = batch if is_opened_by_python(path) else facts_in_lines(spark, batch, path)
        if tables is not None:
            tables.take_in(facts)
        else:
            take_in_facts(spark, facts, out)

    goes_on = tables is not None and is_opened_by_python(checkpoint)
    bookmarks = str(Path(_bare(checkpoint)) / BOOKMARKS) if goes_on else ""
    if is_opened_by_python(path):
        stream = _new_files(spark, path, bookmarks)
    else:
        stream = _new_lines(spark, path)
    writer = stream.writeStream.foreachBatch(take_in).option("checkpointLocation", checkpoint)
    trigger = {"availableNow": True} if once else {"processingTime": EVERY}
    return writer.trigger(**trigger).start()


def is_opened_by_python(path: str) -> bool:
    """Whether it is on a file system of this machine's (and of all workers')."""
    return urlparse(path).scheme in ("", "file") and not any(c in path for c in "*?{")


def _of_files(spark: Any, reader: Any, path: str) -> Any:
    """A reader of facts, a file by one task."""
    spark.dataSource.register(LogsSource)
    tasks = max(1, spark.sparkContext.defaultParallelism) * 4
    read = reader.format("rebalsim-logs").option("path", _bare(path))
    return read.option("table", "facts").option("tasks", str(tasks))


def _new_files(spark: Any, path: str, bookmarks: str) -> Any:
    return _of_files(spark, spark.readStream, path).option("bookmarks", bookmarks).load()


def _new_lines(spark: Any, path: str) -> Any:
    spark.conf.set("spark.sql.files.maxPartitionBytes", _WHOLE_FILES)
    read = spark.readStream.option("recursiveFileLookup", "true").option("lineSep", "\n")
    return read.text(path).selectExpr(
        "CAST(value AS BINARY) AS line", "_metadata.file_path AS file"
    )
