"""The second step of a fleet's reading: facts become the four tables, group by group.

Facts are kept beside the tables, in buckets of groups: that is the state with which files that come late
are taken in. What is read again replaces what its files told before; only the groups that new facts are
of are told anew, and only the days on which they have rows are written. The tables are Parquet, events,
rebalances, pauses and members, partitioned by `day` and sorted by group.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from operator import itemgetter
from typing import Any

from rebalsim.spark.arrow import map_rows
from rebalsim.worlds.logs.tables import COLUMNS, FACT_COLUMNS, tables_of_group

FACTS = "_facts"
BUCKETS = 64
_TOLD_DDL = "tbl STRING, day STRING, grp STRING, told STRING"
ORDER = {
    "events": ("at_us", "consumer", "what"),
    "rebalances": ("started_us", "generation"),
    "pauses": ("started_us", "topic", "partition"),
    "members": ("first_us", "consumer"),
}


def take_in_facts(spark: Any, facts: Any, out: str) -> None:
    """Keep these facts, and tell the groups anew that they are of."""
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    bucketed = facts.selectExpr(
        "*", f"CAST(pmod(crc32(grp), {BUCKETS}) AS INT) AS bucket"
    ).persist()
    if not bucketed.isEmpty():
        former = _former(spark, f"{out.rstrip('/')}/{FACTS}")
        groups = _touched(bucketed, former).persist()
        _keep(spark, bucketed, former, groups, out)
        mine = _former(spark, f"{out.rstrip('/')}/{FACTS}").join(
            groups, ["bucket", "grp"], "left_semi"
        )
        _write_tables(spark, mine, groups, out)
        groups.unpersist()
    bucketed.unpersist()


def _former(spark: Any, place: str) -> Any:
    """What was written there before; None where nothing was."""
    from pyspark.errors import AnalysisException

    try:
        return spark.read.parquet(place)
    except AnalysisException:
        return None


def _touched(facts: Any, former: Any) -> Any:
    """The groups that these facts are of, and those that the same files told of before."""
    groups = facts.select("bucket", "grp")
    if former is not None:
        files = facts.select("file").distinct()
        groups = groups.union(former.join(files, "file", "left_semi").select("bucket", "grp"))
    return groups.distinct()


def _keep(spark: Any, facts: Any, former: Any, groups: Any, out: str) -> None:
    """Write the buckets anew in which these groups are."""
    columns = [*FACT_COLUMNS, "bucket"]
    rows = facts.select(*columns)
    if former is not None:
        buckets = groups.select("bucket").distinct()
        kept = former.join(facts.select("file").distinct(), "file", "left_anti")
        rows = rows.unionByName(kept.join(buckets, "bucket", "left_semi").select(*columns))
    writer = rows.repartition(_tasks(spark), "bucket").write.mode("overwrite")
    writer.partitionBy("bucket").parquet(f"{out.rstrip('/')}/{FACTS}")


def _write_tables(spark: Any, facts: Any, groups: Any, out: str) -> None:
    """All rows of these groups' stories in place of their former ones."""
    told = tables_from(spark, facts).persist()
    names = groups.selectExpr("grp AS `group`")
    told.count()  # once, not by each of the four that follow
    with ThreadPoolExecutor(len(ORDER)) as side_by_side:
        list(side_by_side.map(lambda table: _write(spark, told, names, table, out), ORDER))
    told.unpersist()


def _write(spark: Any, told: Any, names: Any, table: str, out: str) -> None:
    """One of the four: most of it is planning and committing, which they do at the same time."""
    place = f"{out.rstrip('/')}/{table}"
    fresh = table_of(told, table)
    former = _former(spark, place)
    if former is not None:
        fresh = _with_others(fresh, former, names)
    rows = fresh.repartition(_tasks(spark), "day")
    rows = rows.sortWithinPartitions("day", "group", *ORDER[table])
    rows.write.mode("overwrite").partitionBy("day").parquet(place)


def _with_others(fresh: Any, former: Any, names: Any) -> Any:
    """These rows, and what other groups have on the same days."""
    former = former.selectExpr(
        *(f"`{c}`" for c in former.columns if c != "day"), "CAST(day AS STRING) AS day"
    )
    mine = former.join(names, "group", "left_semi").select("day")
    days = fresh.select("day").union(mine).distinct()
    others = former.join(names, "group", "left_anti").join(days, "day", "left_semi")
    return fresh.unionByName(others)


def _tasks(spark: Any) -> int:
    return max(1, int(spark.sparkContext.defaultParallelism)) * 2


def tables_from(spark: Any, facts: Any) -> Any:
    """Each group's rows, as JSON."""
    rows = facts.select(*FACT_COLUMNS).repartition(_tasks(spark), "grp").sortWithinPartitions("grp")
    return map_rows(spark, rows, _tables_of_groups, _TOLD_DDL)


def _tables_of_groups(rows: Iterable[Any]) -> Iterator[tuple[str, str, str, str]]:
    for group, facts in groupby(rows, key=itemgetter(0)):
        for table, day, row in tables_of_group(group, facts):
            yield table, day, group, json.dumps(row, separators=(",", ":"))


def table_of(told: Any, table: str) -> Any:
    """One of the tables, with its columns."""
    ddl = ", ".join(["`group` STRING", *(f"`{name}` {type_}" for name, type_ in COLUMNS[table])])
    rows = told.where(f"tbl = '{table}'").selectExpr("day", f"from_json(told, '{ddl}') AS told")
    return rows.select("told.*", "day")
