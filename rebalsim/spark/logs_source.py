"""`spark.read.format("rebalsim-logs")`: what logs tell, as a table, read while it is asked for.

    spark.read.format("rebalsim-logs").option("path", "logs/").option("table", "pauses").load()

Tables: events, rebalances, pauses, members, each read in one task, since a group's story is told by
files together; and facts, a task for some files, which a fleet's reading begins with. Paths are those
that Python opens; `rebalsim.spark.observe` reads all others through Spark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from rebalsim.domain.errors import InputError
from rebalsim.spark.arrow import batches_of
from rebalsim.worlds.logs.sources import Source, sources_in
from rebalsim.worlds.logs.tables import COLUMNS, facts_in_file, tables_in_one_process

FACT_DDL = (
    "grp STRING, host STRING, part INT, file STRING, source STRING, place BIGINT, clock STRING, "
    "dialect STRING, fact STRING"
)
TASKS = 16


class SomeFiles(InputPartition):  # type: ignore[misc]
    """What one task reads: (name, path) of each file."""

    def __init__(self, files: list[tuple[str, str]]) -> None:
        super().__init__(tuple(files))
        self.files = files


class LogsSource(DataSource):  # type: ignore[misc]
    """The Data Source named `rebalsim-logs`."""

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options)
        self._path = options.get("path", "")
        self._table = options.get("table", "rebalances")
        self._tasks = int(options.get("tasks", str(TASKS)))
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
        found = tables_in_one_process((name, _source(name, path).chunks()) for name, path in files)
        for row in found[self._table]:
            yield tuple(row[name] for name in names)


def shared_out(files: list[tuple[str, str]], tasks: int) -> list[list[tuple[str, str]]]:
    """The files in so many shares of about one size, the largest first."""
    sized = sorted(((Path(path).stat().st_size, name, path) for name, path in files), reverse=True)
    shares: list[tuple[int, list[tuple[str, str]]]] = [(0, []) for _ in range(max(1, tasks))]
    for size, name, path in sized:
        least = min(range(len(shares)), key=lambda n: (shares[n][0], n))
        held, mine = shares[least]
        mine.append((name, path))
        shares[least] = (held + size, mine)
    return [mine for _, mine in shares if mine]


def rows_of(files: list[tuple[str, str]]) -> Iterator[tuple[Any, ...]]:
    """The facts of these files."""
    for name, path in files:
        yield from facts_in_file(name, _source(name, path).chunks())


def _source(name: str, path: str) -> Source:
    return Source(name, name, Path(path))
