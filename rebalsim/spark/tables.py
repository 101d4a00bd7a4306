"""From `runs` to the small tables of the answer, by Spark alone: points, budgets, axes. Percentiles
are by nearest rank (percentile_disc).

Every table is sorted, and sums are exact (decimal where a double's would hang on the order of
its parts), so that the rows are the same, to the bit and in the same order, however the runs
came about.
"""

from __future__ import annotations

from typing import Any

from rebalsim.domain.budget import Budget
from rebalsim.domain.metrics import HEADLINES, METRICS
from rebalsim.domain.percentiles import rank_in_sql
from rebalsim.domain.sweep import Objective, Plan
from rebalsim.spark.chunk_counts import write_and_see
from rebalsim.spark.schemas import runs_ddl
from rebalsim.spark.store import Store

# What `points` tells of: the headlines and what else a planner weighs. Each as _p50, _p95 and
# _worst over the seeds.
SUMMARY = (
    *HEADLINES,
    "p95_pause",
    "p99_pause",
    "p99_partition_pause",
    "members_removed",
    "disturbances",
    "rebalances_per_hour",
    "rebalancing_share",
    "lag_at_end",
    "record_age_p99",
    "member_seconds",
    "open_pauses",
    "unsettled",
)
BUCKETS = 5  # a sampled axis is told by fifths


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def text_literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def metrics_told(plan: Plan, budgets: tuple[Budget, ...]) -> tuple[str, ...]:
    """The metrics that `points` has columns for."""
    wanted = (
        *SUMMARY,
        *(o.name for o in plan.objectives),
        *(b.metric.replace("-", "_").replace(".", "_") for b in budgets),
    )
    return tuple(dict.fromkeys(name for name in wanted if name in METRICS))


def main_metric(plan: Plan) -> Objective:
    """The metric that pictures and sensitivities are about: the first that is to be made small."""
    return next(
        (o for o in plan.objectives if o.name in METRICS),
        Objective("longest_pause", text="longest_pause"),
    )


def main_column(plan: Plan) -> str:
    """The column of `points` that holds the main metric."""
    main = main_metric(plan)
    return next(
        (f"objective_{i}" for i, o in enumerate(plan.objectives, 1) if o is main),
        f"{main.name}_worst",
    )


class Tables:
    """The tables of one sweep, as DataFrames over what lies in its folder."""

    def __init__(self, spark: Any, plan: Plan, store: Store, budgets: tuple[Budget, ...]) -> None:
        self.spark, self.plan, self.store = spark, plan, store
        self.budgets = plan.budgets if plan.has_budgets else budgets
        self.axes = [a.name for a in plan.every_axis]
        self.keys = ["scenario", "point", "variant", *self.axes]

    def runs(self) -> Any:
        """All runs so far."""
        folders = [self.store.path(f"runs/chunk={key}") for key in self.store.finished_chunks()]
        if not folders:
            return self.spark.createDataFrame([], runs_ddl(self.plan, False))
        return self.spark.read.schema(runs_ddl(self.plan, False)).parquet(*folders)

    def budgets_frame(self, runs: Any) -> Any:
        """A row per point × variant × budget: what was observed over the seeds, and whether that
        is within.
        """
        percent = _case(
            "budget",
            {b.text: str(b.percentile) for b in self.budgets if b.percentile is not None},
            "100",
            "DOUBLE",
        )
        key = ", ".join(quoted(k) for k in self.keys)
        runs.createOrReplaceTempView("rebalsim_runs")
        # Ordered as `check` orders seeds: by the verdict's gravity, then by how far beyond the
        # limit; the first of equals decides.
        return self.spark.sql(f"""
            WITH each AS (
                SELECT {key}, seed, explode(budgets) AS b FROM rebalsim_runs WHERE error_kind IS NULL
            ), gathered AS (
                SELECT {key}, b.budget AS budget, any_value(b.level) AS level, count(*) AS seeds, avg(CAST(b.verdict = 'pass' AS DOUBLE)) AS pass_share,
                       sort_array(collect_list(struct(
                           CASE b.verdict WHEN 'pass' THEN 0 WHEN 'inconclusive' THEN 1 ELSE 2 END AS gravity, b.excess AS excess, -seed AS minus_seed,
                           b.observed AS observed, b.limit AS allowed, b.verdict AS verdict))) AS ordered
                FROM each GROUP BY {key}, b.budget
            ), ranked AS (
                SELECT *, {percent} AS percentile, element_at(ordered, {rank_in_sql(percent, "seeds")}) AS decides,
                       element_at(ordered, -1) AS worst FROM gathered
            )
            SELECT {key}, budget, level, percentile, seeds, pass_share, decides.observed AS observed, decides.allowed AS limit, decides.verdict AS verdict,
                   -decides.minus_seed AS seed, worst.observed AS worst, -worst.minus_seed AS worst_seed
            FROM ranked ORDER BY point, scenario, variant, budget""")

    def points_frame(self, runs: Any, budgets: Any) -> Any:
        """A row per point × variant: the metrics over the seeds, the verdict, the objectives,
        and whether it is on the Pareto front.
        """
        key = ", ".join(quoted(k) for k in self.keys)
        metrics = metrics_told(self.plan, self.budgets)
        parts = []
        for m in metrics:
            name = quoted(m)
            parts += [
                f"percentile_disc(0.5) WITHIN GROUP (ORDER BY {name}) AS {m}_p50",
                f"percentile_disc(0.95) WITHIN GROUP (ORDER BY {name}) AS {m}_p95",
                f"max({name}) AS {m}_worst",
            ]
        objectives = ", ".join(
            f"{self._objective(o)} AS objective_{i}" for i, o in enumerate(self.plan.objectives, 1)
        )
        runs.createOrReplaceTempView("rebalsim_runs")
        budgets.createOrReplaceTempView("rebalsim_budgets")
        frame = self.spark.sql(f"""
            WITH measured AS (
                SELECT {key}, count(*) AS seeds, count(error_kind) AS errors, min(error_kind) AS error_kind, min_by(error, seed) AS error,
                       max(consumers) AS consumers, max(topic_partitions) AS topic_partitions, max(fullest) AS fullest,
                       CAST(avg(CAST(cost_per_hour AS DECIMAL(30, 9))) AS DOUBLE) AS cost_per_hour,
                       avg(CAST(verdict = 'pass' AS DOUBLE)) AS pass_share,
                       CASE WHEN count_if(settles = 'never') > 0 THEN 'never' WHEN count_if(settles = 'slowly') > 0 THEN 'slowly' ELSE min(settles) END
                       AS settles, {objectives}, {", ".join(parts)}
                FROM rebalsim_runs GROUP BY {key}
            ), broken AS (
                SELECT scenario, point, variant,
                       count_if(verdict = 'fail' AND level = 'error') AS failed, count_if(verdict = 'inconclusive' AND level = 'error') AS unsure,
                       array_sort(collect_list(CASE WHEN verdict = 'fail' AND level = 'error' THEN budget END)) AS broken
                FROM rebalsim_budgets GROUP BY scenario, point, variant
            )
            SELECT m.*, CASE WHEN m.errors > 0 THEN 'error' WHEN b.failed > 0 THEN 'fail' WHEN b.unsure > 0 THEN 'inconclusive'
                   ELSE 'pass' END AS verdict, b.broken AS broken
            FROM measured m LEFT JOIN broken b ON m.scenario = b.scenario AND m.point = b.point AND m.variant = b.variant""")
        return self._with_front(frame).orderBy("point", "scenario", "variant")

    def _objective(self, objective: Objective) -> str:
        """An objective over the seeds of a point, as a number to make small."""
        if objective.name == "cost":
            return "CAST(avg(CAST(cost_per_hour AS DECIMAL(30, 9))) AS DOUBLE)"
        if objective.name in METRICS:
            name = quoted(objective.name)
            if objective.percentile is None:
                return f"CAST(max({name}) AS DOUBLE)"
            rank = rank_in_sql(str(objective.percentile), f"count({name})")
            return f"CAST(try_element_at(sort_array(collect_list({name})), {rank}) AS DOUBLE)"
        return f"CAST(max({quoted(objective.name)}) AS DOUBLE)"

    def _with_front(self, frame: Any) -> Any:
        """Mark what nothing else beats in every objective at once, of the points that meet all
        budgets; of all of them where none does. Compared are the distinct outcomes, which are few,
        not the points.
        """
        names = [f"objective_{i}" for i in range(1, len(self.plan.objectives) + 1)]
        frame.createOrReplaceTempView("rebalsim_points")
        columns = ", ".join(names)
        known = " AND ".join(f"{n} IS NOT NULL" for n in names)
        passing = "(SELECT count_if(verdict = 'pass') FROM rebalsim_points)"
        counts = f"(p.verdict = 'pass' OR (p.verdict <> 'error' AND {passing} = 0))"
        if len(names) == 1:
            front = (
                f"SELECT DISTINCT {columns} FROM outcomes WHERE objective_1 = (SELECT "
                "min(objective_1) FROM outcomes)"
            )
        elif len(names) == 2:
            # Along the first objective, only what is lower in the second than all before it stays.
            front = f"""SELECT {columns} FROM (
                SELECT {columns}, min(objective_2) OVER (ORDER BY objective_1 ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
                FROM (SELECT objective_1, min(objective_2) AS objective_2 FROM outcomes GROUP BY objective_1)) WHERE before IS NULL OR objective_2 < before"""
        else:
            beats = " AND ".join(f"o.{n} <= p.{n}" for n in names)
            better = " OR ".join(f"o.{n} < p.{n}" for n in names)
            front = (
                f"SELECT {columns} FROM outcomes p WHERE NOT EXISTS (SELECT 1 FROM outcomes o "
                f"WHERE {beats} AND ({better}))"
            )
        return self.spark.sql(f"""
            WITH outcomes AS (SELECT DISTINCT {columns} FROM rebalsim_points p WHERE {counts} AND {known}),
                 front AS ({front})
            SELECT p.*, f.objective_1 IS NOT NULL AND {counts} AS is_on_front
            FROM rebalsim_points p LEFT JOIN front f ON {" AND ".join(f"p.{n} = f.{n}" for n in names)}""")

    def axes_frame(self, points: Any) -> Any:
        """A row per axis and value (and per variant): how the main metric and the verdicts fare
        over all points that have it.
        """
        column = main_column(self.plan)
        points.createOrReplaceTempView("rebalsim_points")
        kinds = {a.name: a.kind for a in self.plan.every_axis}
        sampled = [a.name for a in self.plan.sampled]
        parts = []
        for name in [*(["scenario"] if len(self.plan.bases) > 1 else []), *self.axes, "variant"]:
            source, number, label = (
                "rebalsim_points",
                "CAST(NULL AS DOUBLE)",
                f"CAST({quoted(name)} AS STRING)",
            )
            if name in sampled:
                source = (
                    f"(SELECT *, ntile({BUCKETS}) OVER (ORDER BY {quoted(name)}, point, variant) "
                    "AS bucket FROM rebalsim_points)"
                )
                number, label = (
                    f"percentile_disc(0.5) WITHIN GROUP (ORDER BY {quoted(name)})",
                    "CAST(bucket AS STRING)",
                )
            elif kinds.get(name, "text") != "text":
                number = f"CAST(max({quoted(name)}) AS DOUBLE)"
            parts.append(f"""SELECT {text_literal(name)} AS axis, {label} AS value, CAST({number} AS DOUBLE) AS number, count(*) AS points,
                             avg(CASE WHEN verdict <> 'error' THEN CAST(verdict = 'pass' AS DOUBLE) END) AS pass_share, count_if(verdict = 'error') AS errors,
                             CAST(avg(CAST({column} AS DECIMAL(30, 6))) AS DOUBLE) AS mean, percentile_disc(0.5) WITHIN GROUP (ORDER BY {column}) AS p50,
                             percentile_disc(0.95) WITHIN GROUP (ORDER BY {column}) AS p95,
                             min({column}) AS least, max({column}) AS most
                             FROM {source} GROUP BY {label}""")
        return self.spark.sql(" UNION ALL ".join(parts)).orderBy("axis", "number", "value")

    def write(self) -> None:
        """Compute and write the small tables: one file each, over whatever runs there are."""
        runs = self.runs()
        budgets = write_and_see(self.spark, self.budgets_frame(runs), self.store, "budgets")
        points = write_and_see(self.spark, self.points_frame(runs, budgets), self.store, "points")
        write_and_see(self.spark, self.axes_frame(points), self.store, "axes")


def _case(column: str, values: dict[str, str], otherwise: str, type_: str) -> str:
    """A small constant table as an expression."""
    whens = " ".join(
        f"WHEN {column} = {text_literal(key)} THEN {value}" for key, value in values.items()
    )
    return f"CAST({f'CASE {whens} ELSE {otherwise} END' if whens else otherwise} AS {type_})"
