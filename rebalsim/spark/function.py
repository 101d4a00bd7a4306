"""`SELECT * FROM rebalsim(scenario => 'scale-out', members => 12, session_timeout_ms => '10s')`: a
what-if as a SQL query.

Every named argument but scenario, variant, seed and seeds is a setting: `members` is the
group's, a Kafka key is written with underscores, and `sets` takes whole paths
(`'topics.orders.partitions=24; horizon=5m'`). A row per variant and seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)
from pyspark.sql.udtf import AnalyzeArgument, AnalyzeResult

from rebalsim.domain.errors import InputError
from rebalsim.domain.sweep import Plan
from rebalsim.scenario.axes import default_name
from rebalsim.scenario.config_language import CLIENT_KEYS
from rebalsim.scenario.member_language import GROUP
from rebalsim.spark.schemas import JUDGED, Column, run_columns
from rebalsim.words.nearest import or_nearest

_OWN = ("scenario", "variant", "seed", "seeds", "sets")
_KEYS = {default_name(f"group.config.{f.name}"): f"group.config.{f.name}" for f in CLIENT_KEYS}
_GROUP = {name: f"group.{name}" for name in GROUP.fields if "." not in name}


def settings_of(arguments: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """The settings that named arguments stand for."""
    found: list[tuple[str, str]] = []
    for name, value in arguments.items():
        if name in _OWN or value is None:
            continue
        path = _KEYS.get(name.lower()) or _GROUP.get(name.lower())
        if path is None:
            raise InputError(
                f"rebalsim() has no argument '{name}' — "
                f"{or_nearest(name, (*_OWN, *_GROUP, *_KEYS))}"
            )
        found.append((path, str(value)))
    for part in str(arguments.get("sets") or "").split(";"):
        if part.strip():
            path, equals, value = part.partition("=")
            if not equals:
                raise InputError(
                    f"rebalsim(): '{part.strip()}' in sets sets nothing — write path=value"
                )
            found.append((path.strip(), value.strip()))
    return tuple(found)


def plan_for(arguments: dict[str, Any]) -> Plan:
    """A plan without axes, for one point."""
    from pathlib import Path

    from rebalsim.spark.plans import find_base

    name = str(arguments.get("scenario") or "")
    if not name:
        raise InputError("rebalsim() needs a scenario — write rebalsim(scenario => 'scale-out')")
    try:
        base = find_base(name, Path())
    except LookupError as e:
        raise InputError(str(e)) from None
    variant = arguments.get("variant")
    return Plan(
        title="",
        file="rebalsim()",
        text="",
        bases=(base,),
        settings=settings_of(arguments),
        variants=(str(variant),) if variant else (),
        first_seed=int(arguments.get("seed") or 1),
        seeds=int(arguments.get("seeds") or 1),
    )


class RebalsimFunction:
    """The table function's handler: schema when a query is analysed, rows when it is run."""

    @staticmethod
    def analyze(**arguments: AnalyzeArgument) -> AnalyzeResult:
        unknown = [name for name, a in arguments.items() if a.isTable or not a.isConstantExpression]
        if unknown:
            raise InputError(
                f"rebalsim(): {unknown[0]} must be a constant — a table of what-ifs is a plan, "
                "read with format('rebalsim')"
            )
        plan_for({name: a.value for name, a in arguments.items()})
        return AnalyzeResult(schema=_schema())

    def eval(self, **arguments: Any) -> Iterator[tuple[Any, ...]]:
        from rebalsim.spark.player import player_for

        plan = plan_for(arguments)
        player = player_for(plan)
        names = [*(c.name for c in run_columns(plan)), "budgets"]
        for seed in range(plan.first_seed, plan.first_seed + plan.seeds):
            for row in player.play(0, seed):
                if row["error_kind"] == "impossible":
                    raise InputError(f"rebalsim(): {row['error']}")
                row["budgets"] = [tuple(b[c.name] for c in JUDGED) for b in row["budgets"]]
                yield tuple(row[name] for name in names)


def _schema() -> StructType:
    columns = run_columns(Plan("", "", "", ()))
    return StructType(
        [
            *(_field(c) for c in columns),
            StructField("budgets", ArrayType(StructType([_field(c) for c in JUDGED]))),
        ]
    )


def _field(column: Column) -> StructField:
    types = {
        "string": StringType(),
        "long": LongType(),
        "int": IntegerType(),
        "double": DoubleType(),
        "flag": BooleanType(),
    }
    return StructField(column.name, types[column.type], True, {"comment": column.meaning})


def register_function(spark: Any) -> None:
    """Make the SQL function `rebalsim` known to this session."""
    from pyspark.sql.functions import udtf

    # rows: neither pandas nor its types
    spark.udtf.register("rebalsim", udtf(RebalsimFunction, useArrow=False))
