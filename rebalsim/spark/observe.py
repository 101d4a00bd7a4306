"""A fleet's logs on Spark: the same two steps as in one process, each file first, then each group.

    observe_fleet(spark, "s3a://logs/2026/", "s3a://tables/observed")

writes events, rebalances, pauses and members as Parquet, partitioned by day and sorted by group. A day
that is read again replaces what was there of it; facts are kept beside the tables, so that files which
come late are taken in. A file is read by one task: its lines stay in order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any
from urllib.parse import unquote, urlparse

from rebalsim.spark.logs_source import FACT_DDL, LogsSource
from rebalsim.worlds.logs.tables import COLUMNS, FACT_COLUMNS, facts_in_file, tables_of_group

FACTS = "_facts"
_TOLD_DDL = "tbl STRING, day STRING, grp STRING, told STRING"
_WHOLE_FILES = str(1 << 50)
CHUNK = 5_000


def observe_fleet(spark: Any, path: str, out: str) -> None:
    """Read everything below `path`, and write the four tables below `out`."""
    write_tables(spark, with_former(spark, facts_below(spark, path), out), out)


def facts_below(spark: Any, path: str) -> Any:
    """The first step: facts of each file. Python opens what is on this machine's file systems (or on
    all workers'); Spark opens all else.
    """
    if urlparse(path).scheme in ("", "file") and not any(c in path for c in "*?{"):
        spark.dataSource.register(LogsSource)
        tasks = max(1, spark.sparkContext.defaultParallelism) * 4
        read = spark.read.format("rebalsim-logs").option("path", _bare(path))
        return read.option("table", "facts").option("tasks", str(tasks)).load()
    return facts_in_lines(spark, lines_of(spark, path), path)


def _tasks(spark: Any) -> int:
    return max(1, int(spark.sparkContext.defaultParallelism)) * 2


def lines_of(spark: Any, path: str) -> Any:
    """Each line as bytes, with its file."""
    spark.conf.set("spark.sql.files.maxPartitionBytes", _WHOLE_FILES)
    cost = (1 << 50) // max(1, spark.sparkContext.defaultParallelism * 4)
    spark.conf.set("spark.sql.files.openCostInBytes", str(cost))
    read = spark.read.option("recursiveFileLookup", "true").option("lineSep", "\n").text(path)
    return read.selectExpr("CAST(value AS BINARY) AS line", "_metadata.file_path AS file")


def facts_in_lines(spark: Any, lines: Any, path: str) -> Any:
    """Facts of lines that Spark has read, file by file."""
    return spark.createDataFrame(lines.rdd.mapPartitions(_fact_maker(path)), FACT_DDL)


def _fact_maker(path: str) -> Callable[[Iterable[Any]], Iterator[tuple[Any, ...]]]:
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
    chunk: list[str] = []
    for line, _ in rows:
        chunk.append(bytes(line).decode("utf-8", "replace").rstrip("\r"))
        if len(chunk) >= CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _bare(path: str) -> str:
    """The path without a scheme for local files, as one process sees it."""
    parsed = urlparse(path)
    return unquote(parsed.path) if parsed.scheme == "file" else path


# --------------------------------------------------------------------------------- the second step


def with_former(spark: Any, facts: Any, out: str) -> Any:
    """These facts with those of files that were read before; kept beside the tables."""
    from pyspark.errors import AnalysisException

    place = f"{out.rstrip('/')}/{FACTS}"
    try:
        former = spark.read.parquet(place)
    except AnalysisException:
        former = None
    if former is not None:
        facts = facts.persist()
        kept = former.join(facts.select("file").distinct(), "file", "left_anti")
        facts = facts.unionByName(kept.select(*FACT_COLUMNS))
    facts.write.mode("overwrite").parquet(f"{place}.new")
    _put_in_place(spark, f"{place}.new", place)
    return spark.read.parquet(place)


def _put_in_place(spark: Any, fresh: str, place: str) -> None:
    """Rename, on whatever file system it is."""
    path = spark._jvm.org.apache.hadoop.fs.Path
    system = path(fresh).getFileSystem(spark._jsc.hadoopConfiguration())
    system.delete(path(place), True)
    system.rename(path(fresh), path(place))


def write_tables(spark: Any, facts: Any, out: str) -> None:
    """All rows of the groups' stories; each day that has any is replaced."""
    told = tables_from(spark, facts).persist()
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    for table, order in _ORDER.items():
        rows = (
            table_of(told, table)
            .repartition(_tasks(spark), "day")
            .sortWithinPartitions("day", "group", *order)
        )
        rows.write.mode("overwrite").partitionBy("day").parquet(f"{out.rstrip('/')}/{table}")
    told.unpersist()


_ORDER = {
    "events": ("at_us", "consumer", "what"),
    "rebalances": ("started_us", "generation"),
    "pauses": ("started_us", "topic", "partition"),
    "members": ("first_us", "consumer"),
}


def tables_from(spark: Any, facts: Any) -> Any:
    """The second step: each group's rows, as JSON."""
    sorted_facts = facts.repartition(_tasks(spark), "grp").sortWithinPartitions("grp")
    return spark.createDataFrame(sorted_facts.rdd.mapPartitions(_tell), _TOLD_DDL)


def _tell(rows: Iterable[Any]) -> Iterator[tuple[str, str, str, str]]:
    for group, facts in groupby(rows, key=itemgetter(0)):
        for table, day, row in tables_of_group(group, facts):
            yield table, day, group, json.dumps(row, separators=(",", ":"))


def table_of(told: Any, table: str) -> Any:
    """One of the tables, with its columns."""
    ddl = ", ".join(["`group` STRING", *(f"`{name}` {type_}" for name, type_ in COLUMNS[table])])
    rows = told.where(f"tbl = '{table}'").selectExpr("day", f"from_json(told, '{ddl}') AS told")
    return rows.select("told.*", "day")


def follow_fleet(spark: Any, path: str, out: str, checkpoint: str, once: bool = False) -> Any:
    """A stream that keeps the tables current while files are added below `path`; its query. Each new
    file is taken as a whole, as a collector or a rotation writes it.
    """
    read = spark.readStream.option("recursiveFileLookup", "true").option("lineSep", "\n").text(path)
    lines = read.selectExpr("CAST(value AS BINARY) AS line", "_metadata.file_path AS file")

    def take_in(batch: Any, number: int) -> None:
        write_tables(spark, with_former(spark, facts_in_lines(spark, batch, path), out), out)

    writer = lines.writeStream.foreachBatch(take_in).option("checkpointLocation", checkpoint)
    return (writer.trigger(availableNow=True) if once else writer).start()
