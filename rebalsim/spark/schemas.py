"""The tables of a sweep: every column with its type and meaning, said once, for Spark, for Arrow
and for the README alike.

`runs` has a row per point × variant × seed; `pauses` one per pause of these (only with --pauses);
`budgets` one per point × variant ×
budget, `points` one per point × variant. Times are µs, as everywhere inside. An axis is a column of
its own, named as in the plan.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rebalsim.domain.metrics import METRICS, PHASES, Metric
from rebalsim.domain.sweep import Plan
from rebalsim.domain.unit import Unit

TYPES = {"string": "STRING", "long": "BIGINT", "int": "INT", "double": "DOUBLE", "flag": "BOOLEAN"}
_WHOLE = (Unit.DURATION, Unit.PARTITION_TIME, Unit.COUNT, Unit.PARTITIONS)


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: str  # a key of TYPES, or `[…]`: a list of structs, named by what it lists
    meaning: str


def type_of(metric: Metric) -> str:
    """The column's type: whole numbers stay whole, shares and amounts of lag are doubles."""
    return "long" if metric.unit in _WHOLE else "double"


KEYS = (
    Column(
        "run",
        "string",
        "the run's name: point-variant-seed; `rebalsim replay DIR --run NAME` plays it again",
    ),
    Column("scenario", "string", "the base scenario, as the plan calls it"),
    Column("point", "long", "the point's number in the plan's grid, last axis fastest"),
    Column("variant", "string", "eager, cooperative, … as in the scenario's replay"),
    Column("seed", "long", "the seed of this run"),
)
OUTCOME = (
    Column("consumers", "int", "consumers in the scenario, those that its script starts included"),
    Column("topic_partitions", "int", "partitions over all topics at the start"),
    Column(
        "fullest",
        "double",
        "share of its time that the member with the most partitions is busy handling, at the "
        "average rate, as the story begins and "
        "with partitions spread evenly; above 1 its lag grows for ever",
    ),
    Column(
        "settles",
        "string",
        "after its first disturbance (its formation aside) the group was left alone within 30 s: "
        "at once; later: slowly; "
        "disturbed again in the story's last quarter: never",
    ),
    Column(
        "cross_zone_bytes",
        "double",
        "bytes that consumers fetched from another zone; null where no zones are stated",
    ),
    Column(
        "cost_per_hour",
        "double",
        "member-hours × their price, and zone crossings × theirs, per hour of the story",
    ),
    Column(
        "verdict",
        "string",
        "pass, fail, inconclusive over the budgets; error where there is no result",
    ),
    Column(
        "error_kind",
        "string",
        "impossible (settings that cannot be), cut (took too long), memory, crash, bug; null "
        "where the run went well",
    ),
    Column("error", "string", "what went wrong, in a sentence; null where the run went well"),
)
JUDGED = (
    Column("budget", "string", "as it stands in the file"),
    Column("level", "string", "error, or warn: it only tells"),
    Column("observed", "double", "what this run came to, in the metric's base unit"),
    Column("limit", "double", "what the budget allows, in the same unit"),
    Column("excess", "double", "how far beyond the limit, negative where there is room"),
    Column("verdict", "string", "pass, fail, inconclusive"),
)
PAUSE = (
    Column("topic", "string", "topic of the partition that stood still"),
    Column("partition", "int", "its number"),
    Column("started_us", "long", "when it stopped"),
    Column("ended_us", "long", "when an owner was handed records again, or the horizon"),
    Column("is_open", "flag", "it had not ended at the horizon"),
    Column("why", "string", "revoked, lost, closed, killed, froze, stuck, …"),
    Column("cause", "string", "scale-out, crashed, session-expired, …"),
    Column("owner_before", "string", "who took its records last"),
    Column("owner_after", "string", "who was handed records again; empty while open"),
    *(
        Column(f"{phase.replace('-', '_')}_us", "long", f"time spent in the phase {phase}")
        for phase in PHASES
    ),
)


def axis_columns(plan: Plan) -> tuple[Column, ...]:
    """A column per axis: durations as µs, numbers as doubles, words as they stand in the plan."""
    kinds = {"duration": "long", "number": "double", "text": "string"}
    unit = {"duration": " (µs)", "number": "", "text": ""}
    return tuple(
        Column(a.name, kinds[a.kind], f"axis {a.name}{unit[a.kind]}") for a in plan.every_axis
    )


def metric_columns() -> tuple[Column, ...]:
    return tuple(
        Column(
            m.name,
            type_of(m),
            f"{m.meaning} ({m.unit}{', µs' if m.unit.is_time else ''})",
        )
        for m in METRICS.values()
    )


def run_columns(plan: Plan) -> tuple[Column, ...]:
    """The columns of `runs`, without the lists of budgets and pauses."""
    return (*KEYS, *axis_columns(plan), *OUTCOME, *metric_columns())


def reserved_names() -> tuple[str, ...]:
    """Names that an axis cannot have, because a table has a column of that name already."""
    return (
        *(c.name for c in (*KEYS, *OUTCOME, *metric_columns())),
        "budgets",
        "each_pause",
        "chunk",
        "seeds",
        "errors",
    )


def ddl(columns: tuple[Column, ...], lists: dict[str, tuple[Column, ...]] | None = None) -> str:
    """The schema as Spark's DDL, each column with its meaning as its comment."""

    def quoted(text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    parts = [
        f"`{c.name.replace('`', '``')}` {TYPES[c.type]} COMMENT {quoted(c.meaning)}"
        for c in columns
    ]
    for name, inner in (lists or {}).items():
        fields = ", ".join(f"{c.name}: {TYPES[c.type]}" for c in inner)
        parts.append(f"{name} ARRAY<STRUCT<{fields}>>")
    return ", ".join(parts)


def runs_ddl(plan: Plan, with_pauses: bool) -> str:
    return ddl(
        run_columns(plan), {"budgets": JUDGED, **({"each_pause": PAUSE} if with_pauses else {})}
    )


def arrow_schema(plan: Plan, with_pauses: bool) -> Any:
    """The columns of a sweep's runs as a schema for Arrow batches."""
    import pyarrow as pa

    types = {
        "string": pa.string(),
        "long": pa.int64(),
        "int": pa.int32(),
        "double": pa.float64(),
        "flag": pa.bool_(),
    }

    def fields(columns: Iterable[Column]) -> list[Any]:
        return [pa.field(c.name, types[c.type]) for c in columns]

    found = [*fields(run_columns(plan)), pa.field("budgets", pa.list_(pa.struct(fields(JUDGED))))]
    if with_pauses:
        found.append(pa.field("each_pause", pa.list_(pa.struct(fields(PAUSE)))))
    return pa.schema(found)


POINTS = (
    Column("seeds", "long", "runs of this point and variant"),
    Column("errors", "long", "how many of them have no result"),
    Column("error_kind", "string", "of one of these"),
    Column("error", "string", "of the first seed that has one"),
    Column("consumers", "int", "as in runs"),
    Column("topic_partitions", "int", "as in runs"),
    Column("fullest", "double", "as in runs"),
    Column("cost_per_hour", "double", "mean over the seeds"),
    Column("pass_share", "double", "share of the seeds that keep every budget"),
    Column("settles", "string", "at once, slowly or never: of the worst seed"),
    Column("objective_1", "double", "the first objective over the seeds, and so on: _2, _3 …"),
    Column(
        "<metric>_p50",
        "double",
        "median over the seeds, by nearest rank; likewise _p95, and _worst: the highest",
    ),
    Column(
        "verdict",
        "string",
        "pass, fail, inconclusive, error: over all budgets, each at its percentile",
    ),
    Column("broken", "string", "the budgets that it breaks, a list"),
    Column(
        "is_on_front",
        "flag",
        "nothing else is better in one objective without being worse in another",
    ),
)
BUDGETS = (
    Column("budget", "string", "as it stands in the file"),
    Column("level", "string", "error or warn"),
    Column("percentile", "double", "of the seeds that must hold; 100: all"),
    Column("seeds", "long", "runs that were judged"),
    Column("pass_share", "double", "share of them within the budget"),
    Column(
        "observed",
        "double",
        "what the deciding run came to (the one at the percentile), in the metric's base unit",
    ),
    Column("limit", "double", "what it was allowed"),
    Column("verdict", "string", "of the deciding run"),
    Column("seed", "long", "of the deciding run"),
    Column("worst", "double", "what the worst run came to"),
    Column("worst_seed", "long", "its seed"),
)
AXES = (
    Column("axis", "string", "an axis' name, or variant, or scenario"),
    Column("value", "string", "one of its values; of a sampled axis a fifth of its range"),
    Column("number", "double", "what the value measures"),
    Column("points", "long", "points and variants that have it"),
    Column("pass_share", "double", "share of them that keep every budget"),
    Column("errors", "long", "how many have no result"),
    Column("mean", "double", "of the main metric over them"),
    Column("p50", "double", "its median"),
    Column("p95", "double", "its 95th percentile"),
    Column("least", "double", "its lowest"),
    Column("most", "double", "its highest"),
)


def described(plan: Plan) -> list[tuple[str, str, tuple[Column, ...]]]:
    """(table, what a row is, columns) of every table of a sweep."""
    keys = (*KEYS[1:4], *axis_columns(plan))
    return [
        (
            "runs",
            "a row per point × variant × seed, with a list `budgets` of how each came out; in "
            "folders chunk=… that appear whole",
            run_columns(plan),
        ),
        ("runs.budgets", "each entry of that list", JUDGED),
        ("pauses", "a row per pause of a run, with --pauses", (*KEYS, *PAUSE)),
        ("budgets", "a row per point × variant × budget", (*keys, *BUDGETS)),
        ("points", "a row per point × variant", (*keys, *POINTS)),
        ("axes", "a row per value of each axis, over all points that have it", AXES),
    ]
