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
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rebalsim.spark.arrow import rows_in
from rebalsim.spark.observed_tables import BUCKETS, FACTS, ORDER, take_in_facts
from rebalsim.spark.pile import Pile, schema_of
from rebalsim.worlds.logs.tables import COLUMNS, FACT_COLUMNS, tables_of_group

MOST_FACTS = 500_000  # that one process takes in; a batch of more is Spark's
FEW_FACTS = 3_000  # that one process tells as fast as many
Told = dict[str, Any]  # of each table its rows


class StreamTables:
    """The four tables below `out` and the facts beside them, batch after batch."""

    def __init__(self, spark: Any, out: str, place: Path) -> None:
        self._spark, self._out = spark, out
        self._facts = Pile(place / FACTS, "bucket", ("grp", "file"), ("grp",))
        self._tables = {
            table: Pile(place / table, "day", ("group",), ("group", *order))
            for table, order in ORDER.items()
        }

    def take_in(self, batch: Any) -> None:
        """Keep the facts of a batch, and tell the groups anew that they are of.

        What is kept is written last: a batch that is cut off and comes again finds the same.
        """
        fresh = batch.select(*FACT_COLUMNS).limit(MOST_FACTS + 1).toArrow()
        if fresh.num_rows > MOST_FACTS:
            take_in_facts(self._spark, batch, self._out)
        elif fresh.num_rows:
            self._take_in(fresh)

    def _take_in(self, fresh: Any) -> None:
        files = pc.unique(fresh["file"]).to_pylist()
        groups = set(pc.unique(fresh["grp"]).to_pylist())
        former = self._facts.rows_of("file", files)
        if former is not None:
            groups.update(pc.unique(former["grp"]).to_pylist())
        told = self._told(_joined(self._facts.rows_of("grp", groups), fresh, files))
        for table, pile in self._tables.items():
            pile.take_out("group", groups)
            pile.put_in(told[table])
        self._facts.take_out("file", files)
        self._facts.put_in(_bucketed(fresh))

    def _told(self, facts: Any) -> Told:
        """These groups' rows; where there are many facts, by all of Spark's workers."""
        if facts.num_rows <= FEW_FACTS:
            return _tables_of(facts)
        tasks = max(1, int(self._spark.sparkContext.defaultParallelism))
        shares = [_packed(share) for share in _shared_out(facts, tasks)]
        work = self._spark.sparkContext.parallelize(shares, len(shares)).map(_told_packed)
        found = [{t: _unpacked(packed) for t, packed in one.items()} for one in work.collect()]
        return {table: pa.concat_tables([told[table] for told in found]) for table in COLUMNS}


def _joined(former: Any, fresh: Any, files: list[str]) -> Any:
    """What is known of the groups: the files' facts take the place of what they told before."""
    if former is not None:
        stays = pc.invert(pc.is_in(former["file"], value_set=pa.array(files, pa.string())))
        fresh = pa.concat_tables([former.filter(stays).cast(fresh.schema), fresh])
    return fresh.sort_by("grp")


def _bucketed(facts: Any) -> Any:
    """With the folder that each group's facts are kept in."""
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
