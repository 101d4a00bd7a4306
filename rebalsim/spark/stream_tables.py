"""A stream's batch taken into the tables, where Python opens the folder that they are in.

The same as `observed_tables` does with Spark's own means, to the same files and the same rows. A batch of
a stream is small: planning and committing a dozen of Spark's jobs costs many times what there is to
do. Here Spark reads the logs and tells the groups, two plain jobs, and what comes of that is
put in place by one process, which writes only the files that hold something of these groups.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from rebalsim.spark.arrow import rows_in
from rebalsim.spark.marks import Marks
from rebalsim.spark.observed_tables import BUCKETS, FACTS, ORDER, take_in_facts
from rebalsim.spark.parquet_folders import ParquetFolders, schema_of
from rebalsim.worlds.logs.tables import COLUMNS, FACT_COLUMNS, tables_of_group

OPEN = "_facts_open"
MOST_FACTS = 500_000  # that one process takes in; a batch of more is Spark's
FEW_FACTS = 3_000  # that one process tells as fast as many
Told = dict[str, Any]  # of each table its rows


class StreamTables:
    """The four tables below `out` and the facts beside them, batch after batch.

    Of a file that grows, the facts that may still change are kept apart, in a small table of their own: what
    is final is only ever added to.
    """

    def __init__(self, spark: Any, out: str, place: Path) -> None:
        self._spark, self._out = spark, out
        self._facts = ParquetFolders(place / FACTS, "bucket", ("grp", "file"), ("grp",))
        self._open = ParquetFolders(place / OPEN, "bucket", ("grp", "file"), ("grp",))
        self._parted: set[str] = set()  # files whose facts that may change are all in the second
        self._tables = {
            table: ParquetFolders(place / table, "day", ("group",), ("group", *order))
            for table, order in ORDER.items()
        }

    def take_in(self, batch: Any) -> None:
        """Keep the facts of a batch, and tell the groups anew that they are of.

        What is kept is written last: a batch that is cut off and comes again finds the same.
        """
        rows = batch.select(*FACT_COLUMNS)
        fresh = rows.limit(MOST_FACTS + 1).toArrow()
        if fresh.num_rows <= MOST_FACTS:
            self._take_in(fresh)
            return
        marks = Marks.among(rows.where("dialect = ''").toArrow())
        self.put_together()
        whole = rows.where("dialect <> ''").where(~rows["file"].isin(marks.grown))
        take_in_facts(self._spark, whole, self._out)
        if marks.grown:
            self._take_in(rows.where(rows["file"].isin(marks.grown)).toArrow())

    def _take_in(self, fresh: Any) -> None:
        if not fresh.num_rows:
            return
        marks = Marks.among(fresh)
        fresh = fresh.filter(pc.not_equal(fresh["dialect"], ""))
        former = self._former(marks)
        groups = changed_groups(former.gone, fresh)
        told = self._told(self._all_of(groups, marks, fresh))
        for table, folders in self._tables.items():
            folders.take_out("group", groups)
            folders.put_in(told[table])
        self._facts.keep("file", former.shared, marks.stays_in)
        self._open.take_out("file", marks.files)
        self._facts.put_in(_bucketed(marks.final_of(fresh)))
        self._open.put_in(_in_one_bucket(marks.open_of(fresh)))
        self._parted |= set(marks.files)

    def _former(self, marks: Marks) -> Former:
        """What these files told before, and goes."""
        gone = [self._open.rows_of("file", marks.files)]
        shared = [file for file in marks.files if marks.is_whole(file) or file not in self._parted]
        found = self._facts.rows_of("file", shared) if shared else None
        if found is not None:
            gone.append(found.filter(pc.invert(marks.stays_in(found))))
        return Former(_joined_rows(gone, None), shared)

    def _all_of(self, groups: set[str], marks: Marks, fresh: Any) -> Any:
        """All that is known of these groups, sorted by group."""
        names = pa.array(sorted(groups), pa.string())
        kept = self._facts.rows_of("grp", groups)
        held = self._open.rows_of("grp", groups)
        if kept is not None:
            kept = kept.filter(marks.stays_in(kept))
        if held is not None:
            files = pa.array(marks.files, pa.string())
            held = held.filter(pc.invert(pc.is_in(held["file"], value_set=files)))
        fresh = fresh.filter(pc.is_in(fresh["grp"], value_set=names))
        return _joined_rows([kept, held, fresh], fresh.schema).sort_by("grp")

    def put_together(self) -> None:
        """All facts in one table, for Spark to see."""
        held = self._open.all_rows()
        if held is not None:
            files = pc.unique(held["file"]).to_pylist()
            self._facts.put_in(_bucketed(held))
            self._open.take_out("file", files)
        self._parted.clear()

    def _told(self, facts: Any) -> Told:
        """These groups' rows; where there are many facts, by all of Spark's workers."""
        if facts.num_rows <= FEW_FACTS:
            return _tables_of(facts)
        tasks = max(1, int(self._spark.sparkContext.defaultParallelism))
        shares = [_packed(share) for share in _shared_out(facts, tasks)]
        work = self._spark.sparkContext.parallelize(shares, len(shares)).map(_told_packed)
        found = [{t: _unpacked(packed) for t, packed in one.items()} for one in work.collect()]
        return {table: pa.concat_tables([told[table] for told in found]) for table in COLUMNS}


class Former(NamedTuple):
    """What the files of a batch told before."""

    gone: Any  # rows that go
    shared: list[str]  # files whose rows may go of the first table, too


def changed_groups(gone: Any, fresh: Any) -> set[str]:
    """The groups whose new rows differ from those that they would replace."""
    if gone is None:
        return set(pc.unique(fresh["grp"]).to_pylist())
    return {row[0] for row in _rows_as_set(gone) ^ _rows_as_set(fresh)}


def _rows_as_set(rows: Any) -> set[tuple[Any, ...]]:
    return set(zip(*(rows[name].to_pylist() for name in FACT_COLUMNS)))


def _joined_rows(found: list[Any], schema: Any) -> Any:
    """These tables as one; None where there is none."""
    there = [rows for rows in found if rows is not None]
    if not there:
        return None
    schema = schema or there[0].schema
    return pa.concat_tables([rows.select(schema.names).cast(schema) for rows in there])


def _in_one_bucket(facts: Any) -> Any:
    """In one folder: they are few, and are written anew with each batch."""
    return facts.append_column("bucket", pa.array([0] * facts.num_rows, pa.int32()))


def _bucketed(facts: Any) -> Any:
    """With the folder that each group's facts are kept in."""
    if not facts.num_rows:
        return facts.append_column("bucket", pa.array([], pa.int32()))
    names = facts["grp"].combine_chunks().dictionary_encode()
    buckets = [zlib.crc32(name.encode()) % BUCKETS for name in names.dictionary.to_pylist()]
    column = pa.array(buckets, pa.int32()).take(names.indices)
    return facts.append_column("bucket", column)


def _shared_out(facts: Any, tasks: int) -> Iterator[Any]:
    """So many shares of about one size, of whole groups; the facts are sorted by group."""
    groups = facts["grp"].to_pylist()
    begin = 0
    for number in range(1, tasks + 1):
        end = max(begin, len(groups) * number // tasks)
        while 0 < end < len(groups) and groups[end] == groups[end - 1]:
            end += 1
        if end > begin:
            yield facts.slice(begin, end - begin)
        begin = end


def _tables_of(facts: Any) -> Told:
    """The rows of all tables; the facts are sorted by group."""
    rows: dict[str, list[dict[str, Any]]] = {table: [] for table in COLUMNS}
    for group, mine in groupby(rows_in(facts.to_batches()), key=itemgetter(0)):
        for table, day, row in tables_of_group(group, mine):
            row["day"] = day
            rows[table].append(row)
    return {table: pa.Table.from_pylist(found, _SCHEMAS[table]) for table, found in rows.items()}


_SCHEMAS = {
    table: schema_of([("group", "STRING"), *columns, ("day", "STRING")])
    for table, columns in COLUMNS.items()
}


def _told_packed(packed: bytes) -> dict[str, bytes]:
    return {table: _packed(rows) for table, rows in _tables_of(_unpacked(packed)).items()}


def _packed(rows: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows)
    return bytes(sink.getvalue())


def _unpacked(packed: bytes) -> Any:
    return pa.ipc.open_stream(packed).read_all()
