"""The answer of a sweep, read from its small tables: what comes to the driver is bounded,
whatever the sweep's size.
"""

from __future__ import annotations

from typing import Any

from rebalsim import __version__
from rebalsim.domain.answer import Answer, AxisSaid, Bar, BudgetSaid, PointSaid, ValueSaid
from rebalsim.domain.metrics import METRICS
from rebalsim.domain.percentiles import rank_in_sql
from rebalsim.domain.sweep import Plan
from rebalsim.domain.verdict import Outcome
from rebalsim.scenario.grid import digits_of
from rebalsim.spark.points import Points
from rebalsim.spark.tables import (
    Tables,
    main_column,
    main_metric,
    metrics_told,
    quoted,
    text_literal,
)

MOST_BEST = 200  # points that are told of by name
MOST_SHOWN = 4_000  # points that a page holds
MOST_CURVES = 400  # points whose percentiles a page draws
STEPS = tuple(range(0, 101, 5))


class Asker:
    """Asks the tables of one sweep."""

    def __init__(self, tables: Tables) -> None:
        self.tables, self.plan = tables, tables.plan
        self.spark, self.store = tables.spark, tables.store
        self.points = self.spark.read.parquet(self.store.path("points"))
        self.budgets = self.spark.read.parquet(self.store.path("budgets"))
        self.axes = self.spark.read.parquet(self.store.path("axes"))
        self._names = Points(self.plan)
        self._metrics = metrics_told(self.plan, tables.budgets)

    def answer(self) -> Answer:
        plan, counts = self.plan, self._counts()
        total = sum(counts.values())
        runs = self.points.selectExpr("sum(seeds) AS n").collect()[0]["n"] or 0
        order = (
            ", ".join(f"objective_{i} ASC NULLS LAST" for i in range(1, len(plan.objectives) + 1))
            + ", point, variant"
        )
        self.points.createOrReplaceTempView("rebalsim_points")
        best = self._said(
            f"SELECT * FROM rebalsim_points WHERE verdict = 'pass' ORDER BY {order} LIMIT "
            f"{MOST_BEST}"
        )
        front = self._said(
            f"SELECT * FROM rebalsim_points WHERE is_on_front ORDER BY {order} LIMIT {MOST_BEST}"
        )
        cheaper = self._next_cheaper(best, order)
        is_all = total <= MOST_SHOWN
        shown = (
            self._said(f"SELECT * FROM rebalsim_points ORDER BY point, variant LIMIT {MOST_SHOWN}")
            if is_all
            else self._plane(best, front)
        )
        main = main_metric(plan)
        return Answer(
            title=plan.title or plan.file,
            description=plan.description,
            plan_file=plan.file,
            version=__version__,
            out=self.store.out,
            axes=tuple(_axis_said(plan)),
            variants=tuple(
                r["variant"]
                for r in self.points.select("variant").distinct().orderBy("variant").collect()
            ),
            scenarios=tuple(b.name for b in plan.bases),
            objectives=tuple(o.text for o in plan.objectives),
            main_metric=main.name,
            main_percentile=main.percentile,
            currency=plan.costs.currency,
            has_costs=plan.costs.is_stated,
            budgets=tuple(dict.fromkeys(b.text for b in self.tables.budgets)),
            points=total,
            runs=int(runs),
            passing=counts.get(Outcome.PASS, 0),
            failing=counts.get(Outcome.FAIL, 0),
            inconclusive=counts.get(Outcome.INCONCLUSIVE, 0),
            erring=counts.get("error", 0),
            **self._errors(),
            best=best,
            next_cheaper=cheaper,
            next_cheaper_budgets=self._budgets_of(cheaper) if cheaper else (),
            front=front,
            tornado=self._tornado(),
            shown=shown,
            is_all_shown=is_all,
            curves=self._curves(best, front, shown),
            heat=plan.heat,
            show=plan.show,
            first_seed=plan.first_seed,
            seeds=plan.seeds,
        )

    # --------------------------------------------------------------------------------------- points

    def _said(self, query: str) -> tuple[PointSaid, ...]:
        return tuple(self._point(row.asDict()) for row in self.spark.sql(query).collect())

    def _point(self, row: dict[str, Any]) -> PointSaid:
        number = int(row["point"])
        digits = digits_of(number, self.plan.radices)
        places = {axis.name: digits[1 + i] for i, axis in enumerate(self.plan.axes)} | {
            axis.name: -1 for axis in self.plan.sampled
        }
        return PointSaid(
            number=number,
            scenario=row["scenario"],
            variant=row["variant"],
            at=self._names.labels(number),
            digits=places,
            settings=self._names.settings(number),
            consumers=row["consumers"],
            cost_per_hour=row["cost_per_hour"],
            seeds=row["seeds"],
            errors=row["errors"],
            error=row["error"] or "",
            pass_share=row["pass_share"],
            verdict=row["verdict"],
            broken=tuple(row["broken"] or ()),
            objectives=tuple(
                row[f"objective_{i}"] for i in range(1, len(self.plan.objectives) + 1)
            ),
            is_on_front=bool(row["is_on_front"]),
            metrics={
                m: (row[f"{m}_p50"], row[f"{m}_p95"], row[f"{m}_worst"]) for m in self._metrics
            },
            settles=row["settles"] or "",
            fullest=row["fullest"],
        )

    def _counts(self) -> dict[str, int]:
        """Points by verdict."""
        counted = self.points.groupBy("verdict").agg({"*": "count"})
        rows = counted.withColumnRenamed("count(1)", "n").collect()
        return {row["verdict"]: row["n"] for row in rows}

    def _errors(self) -> dict[str, Any]:
        """The errors that came most, and how many points took too long."""
        errors = self.spark.sql(
            "SELECT error, count(*) AS n FROM rebalsim_points WHERE error IS NOT NULL "
            "GROUP BY error ORDER BY n DESC, error LIMIT 5"
        ).collect()
        cut = self.spark.sql(
            "SELECT count(*) AS n FROM rebalsim_points WHERE error_kind = 'cut'"
        ).collect()[0]["n"]
        told = tuple((str(r["error"]), int(r["n"])) for r in errors)
        return {"errors": told, "cut": int(cut)}

    def _next_cheaper(self, best: tuple[PointSaid, ...], order: str) -> PointSaid | None:
        """What saving one more step would break: of the points that cost less than the winner (by
        the first objective) in its scenario and variant, those that differ from it in the
        fewest axes, and of these the dearest. Where there are none, the dearest of all.
        """
        if not best or best[0].objectives[0] is None:
            return None
        wins = best[0].objectives[0]
        rest = order.split(", ", 1)[1]
        cheaper = (
            "SELECT * FROM rebalsim_points WHERE verdict = 'fail' AND objective_1 < "
            f"CAST({wins!r} AS DOUBLE)"
        )
        dearest = f"ORDER BY objective_1 DESC, size(broken), {rest}"
        alike = self._said(
            f"{cheaper} AND scenario = {text_literal(best[0].scenario)} AND variant = "
            f"{text_literal(best[0].variant)} {dearest} LIMIT {MOST_SHOWN}"
        )
        if alike:
            return min(alike, key=lambda point: _unlike(point, best[0]))
        found = self._said(f"{cheaper} {dearest} LIMIT 1")
        return found[0] if found else None

    def _budgets_of(self, point: PointSaid) -> tuple[BudgetSaid, ...]:
        self.budgets.createOrReplaceTempView("rebalsim_budgets")
        rows = self.spark.sql(
            f"SELECT * FROM rebalsim_budgets WHERE point = {point.number} AND scenario = "
            f"{text_literal(point.scenario)} "
            f"AND variant = {text_literal(point.variant)} ORDER BY budget"
        ).collect()
        metric = {b.text: b.metric for b in self.tables.budgets}
        return tuple(
            BudgetSaid(
                r["budget"],
                metric.get(r["budget"], ""),
                r["verdict"],
                r["observed"],
                r["limit"],
                r["pass_share"],
                r["worst_seed"],
            )
            for r in rows
        )

    def _plane(
        self, best: tuple[PointSaid, ...], front: tuple[PointSaid, ...]
    ) -> tuple[PointSaid, ...]:
        """Of a sweep too large for a page: the heat map's two axes with all others as the winner
        has them, the best and the front.
        """
        anchor = (
            best
            or front
            or self._said(
                "SELECT * FROM rebalsim_points WHERE verdict <> 'error' ORDER BY point, variant "
                "LIMIT 1"
            )
        )[:1]
        found: list[PointSaid] = list(best) + list(front)
        for one in anchor:
            fixed = []
            for axis in self.plan.axes:
                if axis.name not in self.plan.heat:
                    step = axis.steps[one.digits[axis.name]]
                    value = (
                        text_literal(step.label)
                        if axis.kind == "text"
                        else f"CAST({step.number!r} AS DOUBLE)"
                    )
                    fixed.append(f"{quoted(axis.name)} = {value}")
            where = " AND ".join(fixed) or "true"
            found += self._said(
                f"SELECT * FROM rebalsim_points WHERE {where} ORDER BY point, variant LIMIT "
                f"{MOST_SHOWN}"
            )
        unique = {(p.number, p.variant): p for p in found}
        return tuple(unique[key] for key in sorted(unique))[:MOST_SHOWN]

    # ------------------------------------------------------------------ sensitivity and percentiles

    def _tornado(self) -> tuple[Bar, ...]:
        """Axes by how far they move the main metric, the widest first."""
        labels = {
            (a.name, step.number): step.label
            for a in self.plan.axes
            for step in a.steps
            if step.number is not None
        }
        gathered: dict[str, list[ValueSaid]] = {}
        for row in self.axes.orderBy("axis", "number", "value").limit(10_000).collect():
            label = labels.get((row["axis"], row["number"]), row["value"])
            if row["axis"] in [a.name for a in self.plan.sampled]:
                label = f"fifth {row['value']}"
            gathered.setdefault(row["axis"], []).append(
                ValueSaid(
                    str(label),
                    row["points"],
                    row["errors"],
                    row["pass_share"],
                    row["mean"],
                    row["least"],
                    row["most"],
                )
            )
        bars: list[Bar] = []
        for axis, values in gathered.items():
            known = [(v.mean, v.value) for v in values if v.mean is not None]
            if len(known) < 2:
                continue
            low, high = min(known), max(known)
            bars.append(Bar(axis, low[1], low[0], high[1], high[0], tuple(values)))
        return tuple(sorted(bars, key=lambda b: (-b.width, b.axis)))

    def _curves(
        self,
        best: tuple[PointSaid, ...],
        front: tuple[PointSaid, ...],
        shown: tuple[PointSaid, ...],
    ) -> dict[str, list[float]]:
        """The main metric over the seeds at 0, 5 … 100 %, for the points that somebody may click
        on.
        """
        if self.plan.seeds < 3:
            return {}
        wanted = list(
            dict.fromkeys(
                (p.number, p.variant)
                for p in (*best[: MOST_CURVES // 4], *front[: MOST_CURVES // 4], *shown)
            )
        )[:MOST_CURVES]
        if not wanted:
            return {}
        name = quoted(main_metric(self.plan).name)
        numbers = ", ".join(str(n) for n in sorted(dict.fromkeys(n for n, _ in wanted)))
        self.tables.runs().createOrReplaceTempView("rebalsim_runs")
        parts = ", ".join(f"element_at(v, {rank_in_sql(str(p), 'size(v)')}) AS p{p}" for p in STEPS)
        rows = self.spark.sql(f"""SELECT point, variant, {parts} FROM (
            SELECT point, variant, sort_array(collect_list({name})) AS v FROM rebalsim_runs WHERE point IN ({numbers}) GROUP BY point, variant
        ) WHERE size(v) > 0 ORDER BY point, variant""").collect()
        asked = dict.fromkeys(wanted)
        return {
            f"{r['point']}-{r['variant']}": [float(r[f"p{p}"]) for p in STEPS]
            for r in rows
            if (r["point"], r["variant"]) in asked
        }


def _axis_said(plan: Plan) -> list[AxisSaid]:
    said = [
        AxisSaid(
            a.name,
            a.kind,
            a.steps[0].settings[0][0] if len(a.steps[0].settings) == 1 else "",
            tuple(s.label for s in a.steps),
            tuple(s.number for s in a.steps),
        )
        for a in plan.axes
    ]
    return said + [AxisSaid(a.name, a.kind, a.path, (), (), True) for a in plan.sampled]


def _unlike(one: PointSaid, other: PointSaid) -> int:
    """In how many axes two points differ."""
    return sum(place != other.digits.get(axis) for axis, place in one.digits.items())


__all__ = ["METRICS", "Asker", "main_column"]
