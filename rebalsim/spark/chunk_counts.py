"""What a chunk of a sweep must hold, written down beside its rows: how many there are, and a check
sum over them.

Spark's _SUCCESS says that a chunk was written. It stands there still when its files were emptied,
cut or deleted since. So each chunk is counted as it is written, and held against that count before
anybody relies on it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from typing import Any

from rebalsim.domain.sweep import Plan
from rebalsim.spark.schemas import PAUSE, run_columns, runs_ddl
from rebalsim.spark.session import SparkFailed
from rebalsim.spark.store import Store

COUNTED = "_COUNTED"  # begins with a line, so that no reader of tables takes it for data
LOOKS, BETWEEN_S = 3, 1.0  # a store may show what was written only a moment later
_NOT_YET = ("UNABLE_TO_INFER_SCHEMA", "PATH_NOT_FOUND", "FileNotFoundException")
_PLAIN = ("string", "long", "double", "boolean", "int", "float")
_CHUNK = "regexp_extract(input_file_name(), 'chunk(?:=|%3D)([^/]+)/', 1)"


def columns_of(table: str, plan: Plan) -> list[str]:
    """The plain columns of `runs` or `pauses`, over which the check sum goes."""
    if table == "pauses":
        return ["run", "variant", "seed", *(c.name for c in PAUSE if c.type in _PLAIN)]
    return [c.name for c in run_columns(plan) if c.type in _PLAIN]


def check_of(columns: Iterable[str]) -> str:
    """The check sum as an aggregate: the same in whatever order the rows come."""
    return f"coalesce(bit_xor(xxhash64({', '.join(f'`{name}`' for name in columns)})), 0L)"


def write_counted(frame: Any, store: Store, table: str, key: str, plan: Plan) -> None:
    """Write a chunk, and then what was counted on the way."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as f

    seen = Observation(f"{table} {key}")
    check = f.expr(check_of(columns_of(table, plan)))
    observed = frame.observe(seen, f.count(f.lit(1)).alias("rows"), check.alias("check"))
    folder = f"{table}/chunk={key}"
    observed.write.mode("overwrite").parquet(store.path(folder))
    found = seen.get
    text = json.dumps({"rows": int(found["rows"]), "check": int(found["check"])})
    store.write_text(f"{folder}/{COUNTED}", text)


def write_and_see(spark: Any, frame: Any, store: Store, table: str) -> Any:
    """Write a small table as one file, and read it again as soon as the store shows all of it."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as f

    seen = Observation(table)
    observed = frame.coalesce(1).observe(seen, f.count(f.lit(1)).alias("rows"))
    observed.write.mode("overwrite").parquet(store.path(table))
    rows = int(seen.get["rows"])
    for look in range(LOOKS):
        if look:
            time.sleep(BETWEEN_S)
        shown = _shown(spark, store.path(table))
        if shown is not None and shown.count() == rows:
            return shown
    raise SparkFailed(
        f"{store.path(table)} does not show what was just written into it. The runs are kept; "
        "continue with --resume when the store shows it."
    )


def _shown(spark: Any, path: str) -> Any | None:
    """A table as Spark reads it; None while nothing of it is there."""
    try:
        return spark.read.parquet(path)
    except Exception as e:
        if any(sign in str(e) for sign in _NOT_YET):
            return None
        raise


def sound_chunks(spark: Any, store: Store, plan: Plan, tables: Sequence[str]) -> list[str]:
    """The chunks whose rows are all there, in every one of these tables. What does not look so is
    looked at again: a store may show what was written, the word that it is whole included, late.
    """
    sound: set[str] = set()
    for look in range(LOOKS):
        if look:
            time.sleep(BETWEEN_S)
        begun = [key for key in store.chunks() if key not in sound]
        wanted = {table: _written(store, table, begun) for table in tables}
        keys = [key for key in begun if all(key in w for w in wanted.values())]
        there = {table: _found(spark, store, plan, table, keys) for table in tables}
        whole = [key for key in keys if all(there[t].get(key) == wanted[t][key] for t in tables)]
        sound.update(whole)
        if len(whole) == len(begun):
            break
    return [key for key in store.chunks() if key in sound]


Count = tuple[int, int]  # rows, check sum


def _written(store: Store, table: str, keys: Sequence[str]) -> dict[str, Count]:
    """What each finished chunk is said to hold; one without a word of it is not finished."""
    found: dict[str, Count] = {}
    for key in store.finished_chunks(table):
        if key not in keys:
            continue
        try:
            told = json.loads(store.read_text(f"{table}/chunk={key}/{COUNTED}"))
            found[key] = (int(told["rows"]), int(told["check"]))
        except (LookupError, RecursionError, TypeError, ValueError):
            continue
    return found


def _found(
    spark: Any, store: Store, plan: Plan, table: str, keys: Sequence[str]
) -> dict[str, Count]:
    """What they really hold. A file that cannot be read holds nothing."""
    if not keys:
        return {}
    columns = columns_of(table, plan)
    reader = spark.read.option("ignoreCorruptFiles", "true").option("ignoreMissingFiles", "true")
    if table == "runs":
        reader = reader.schema(runs_ddl(plan, False))
    try:
        frame = reader.parquet(*[store.path(f"{table}/chunk={key}") for key in keys])
        frame.selectExpr(
            f"{_CHUNK} AS in_chunk", *(f"`{name}`" for name in columns)
        ).createOrReplaceTempView("rebalsim_counted")
        rows = spark.sql(
            f"SELECT in_chunk, count(*), {check_of(columns)} FROM rebalsim_counted GROUP BY in_chunk"
        ).collect()
    except Exception:
        if len(keys) == 1:
            return {}
        # one that Spark cannot even begin to read hides what the others hold: each by itself
        return {k: c for key in keys for k, c in _found(spark, store, plan, table, [key]).items()}
    counts = {str(r[0]): (int(r[1]), int(r[2])) for r in rows}
    return {key: counts.get(key, (0, 0)) for key in keys}
