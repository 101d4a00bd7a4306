"""`spark.read.format("rebalsim-logs")`: what logs tell, as a table, read while it is asked for.

    spark.read.format("rebalsim-logs").option("path", "logs/").option("table", "pauses").load()

Tables: events, rebalances, pauses, members, each read in one task, since a group's story is told by
files together; and facts, a task for some files, which a fleet's reading begins with. Paths are those
that Python opens; `rebalsim.spark.observe` reads all others through Spark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)

from rebalsim.domain.errors import InputError
from rebalsim.spark.arrow import batches_of
from rebalsim.spark.logs_files import FACT_DDL, SomeFiles, rows_of, shared_out, source_of
from rebalsim.worlds.logs.sources import sources_in
from rebalsim.worlds.logs.tables import COLUMNS, tables_in_one_process

TASKS = 16


class LogsSource(DataSource):  # type: ignore[misc]
    """The Data Source named `rebalsim-logs`."""

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options)
        self._path = options.get("path", "")
        self._table = options.get("table", "rebalances")
        self._tasks = int(options.get("tasks", str(TASKS)))
        self._bookmarks = options.get("bookmarks", "")
        if not self._path:
            raise InputError('format("rebalsim-logs") needs logs — add .option("path", "logs/").')
        if self._table not in ("facts", *COLUMNS):
            raise InputError(
                f"format(\"rebalsim-logs\") has no table '{self._table}' — there are "
                f"{', '.join(COLUMNS)} and facts"
            )

    @classmethod
    def name(cls) -> str:
        return "rebalsim-logs"

    def schema(self) -> str:
        return FACT_DDL if self._table == "facts" else table_ddl(self._table)

    def streamReader(self, schema: Any) -> DataSourceStreamReader:
        from rebalsim.spark.logs_stream import LogsStreamReader

        if self._table != "facts":
            raise InputError(
                'as a stream, format("rebalsim-logs") has only .option("table", "facts"): '
                "`rebalsim.spark.observe.follow_fleet` keeps the other tables current with them"
            )
        return LogsStreamReader(self._path, self._tasks, self._bookmarks)

    def reader(self, schema: Any) -> DataSourceReader:
        return LogsReader(self._path, self._table, self._tasks)


def table_ddl(table: str) -> str:
    """A table's columns, the group first and the day last."""
    inner = ", ".join(f"`{name}` {type_}" for name, type_ in COLUMNS[table])
    return f"`group` STRING, {inner}, day STRING"


class LogsReader(DataSourceReader):  # type: ignore[misc]
    """Shares the files out, and reads them."""

    def __init__(self, path: str, table: str, tasks: int) -> None:
        self._path, self._table, self._tasks = path, table, tasks

    def partitions(self) -> list[InputPartition]:
        files = [(s.name, str(s.path)) for s in sources_in([self._path])]
        if self._table != "facts":
            return [SomeFiles(files)]
        return [SomeFiles(some) for some in shared_out(files, self._tasks)]

    def read(self, partition: SomeFiles) -> Iterator[Any]:
        if self._table == "facts":
            return batches_of(rows_of(partition.files), FACT_DDL)
        return self._rows(partition.files)

    def _rows(self, files: list[tuple[str, str]]) -> Iterator[tuple[Any, ...]]:
        names = ["group", *(name for name, _ in COLUMNS[self._table]), "day"]
        found = tables_in_one_process(
            (name, source_of(name, path).chunks()) for name, path in files
        )
        for row in found[self._table]:
            yield tuple(row[name] for name in names)
