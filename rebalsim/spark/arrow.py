"""Rows to and from Arrow's batches, and a function of rows over a frame: in batches where PySpark can
(it wants pandas for that), row by row where it cannot.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Iterator
from typing import Any

BATCH = 10_000
Rows = Iterator[tuple[Any, ...]]
RowsOf = Callable[[Iterable[Any]], Rows]


def map_rows(spark: Any, frame: Any, make: RowsOf, ddl: str) -> Any:
    """What `make` makes of each partition's rows."""
    if importlib.util.find_spec("pandas") is not None:
        return frame.mapInArrow(lambda batches: batches_of(make(rows_in(batches)), ddl), ddl)
    return spark.createDataFrame(frame.rdd.mapPartitions(make), ddl)


def rows_in(batches: Iterable[Any]) -> Rows:
    """The rows of these batches."""
    for batch in batches:
        yield from zip(*(column.to_pylist() for column in batch.columns))


def batches_of(rows: Iterable[tuple[Any, ...]], ddl: str) -> Iterator[Any]:
    """These rows in batches; columns as `name TYPE, …` says."""
    waiting: list[tuple[Any, ...]] = []
    for row in rows:
        waiting.append(row)
        if len(waiting) >= BATCH:
            yield _batch(waiting, ddl)
            waiting = []
    if waiting:
        yield _batch(waiting, ddl)


def _batch(rows: list[tuple[Any, ...]], ddl: str) -> Any:
    import pyarrow as pa

    types = {"STRING": pa.string(), "INT": pa.int32(), "BIGINT": pa.int64()}
    columns = [column.split() for column in ddl.split(", ")]
    arrays = [pa.array(c, types[type_]) for c, (_, type_) in zip(zip(*rows), columns)]
    return pa.RecordBatch.from_arrays(arrays, [name for name, _ in columns])
