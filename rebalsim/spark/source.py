"""`spark.read.format("rebalsim")`: a plan's runs as a table, simulated while it is read.

    spark.dataSource.register(RebalsimSource)
    runs = spark.read.format("rebalsim").option("plan", "plan.yaml").load()
    runs.where("members <= 6 and variant = 'cooperative'").groupBy("members").agg({"longest_pause":
    "max"})

Filters on axes, point, seed and scenario are answered before anything is played (with
spark.sql.python.filterPushdown.enabled); Spark hands no columns down, so every run measures
everything. Options: plan (a file) or bundle (its JSON), pauses, partitions.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    InputPartition,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
    Not,
)

from rebalsim.domain.errors import InputError
from rebalsim.domain.sweep import Plan
from rebalsim.scenario.grid import Order
from rebalsim.spark.bundle import order_from_json, plan_of
from rebalsim.spark.player import play_ranks, player_for
from rebalsim.spark.points import Points
from rebalsim.spark.schemas import runs_ddl

# what a task should take: a task costs Spark tens of milliseconds, and the last one is waited for
_TASK_S = 1.5
_COMPARISONS: dict[type, Callable[[Any, Any], bool]] = {
    EqualTo: operator.eq,
    EqualNullSafe: operator.eq,
    GreaterThan: operator.gt,
    GreaterThanOrEqual: operator.ge,
    LessThan: operator.lt,
    LessThanOrEqual: operator.le,
    In: lambda a, b: a in b,
}


class RanksPartition(InputPartition):  # type: ignore[misc]
    """What one task plays: ranks [start, stop). Holds the order too, where it was found out
    while planning: readers travel without their memory.
    """

    def __init__(self, start: int, stop: int, order: Order | None = None) -> None:
        super().__init__((start, stop))
        self.start, self.stop, self.order = start, stop, order


class RebalsimSource(DataSource):  # type: ignore[misc]
    """The Data Source named `rebalsim`."""

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options)
        if "bundle" in options:
            self._job: dict[str, Any] = json.loads(options["bundle"])
            self._plan = plan_of(self._job, options.get("code_from", ""))
        elif "plan" in options:
            from rebalsim.spark.plans import load_plan

            self._job, self._plan = (
                {},
                load_plan(options["plan"], options.get("allow_code", "false").lower() == "true"),
            )
        else:
            raise InputError('format("rebalsim") needs a plan — add .option("plan", "plan.yaml").')
        self._with_pauses = str(options.get("pauses", "false")).lower() == "true"
        self._partitions = int(options.get("partitions", "0"))

    @classmethod
    def name(cls) -> str:
        return "rebalsim"

    def schema(self) -> str:
        return runs_ddl(self._plan, self._with_pauses)

    def reader(self, schema: Any) -> DataSourceReader:
        return RebalsimReader(self._plan, self._with_pauses, self._job, self._partitions)


class RebalsimReader(DataSourceReader):  # type: ignore[misc]
    """Cuts the grid into tasks, keeps the filters it can answer, and plays."""

    def __init__(self, plan: Plan, with_pauses: bool, job: dict[str, Any], partitions: int) -> None:
        self._plan, self._with_pauses, self._job, self._wanted_partitions = (
            plan,
            with_pauses,
            job,
            partitions,
        )
        self._order: Order | None = order_from_json(job["order"]) if "order" in job else None
        self._tests: list[tuple[str, str, Any]] = []  # column, comparison by its class' name, value

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        """Take those on what is known before playing; Spark applies the rest (all that this
        yields).
        """
        known = {"point", "seed", "variant", "scenario", *(a.name for a in self._plan.every_axis)}
        for each in filters:
            inner = each.child if isinstance(each, Not) else each
            if isinstance(each, IsNotNull) and each.attribute[0] in known:
                continue  # what is known before playing is never null
            if (
                type(inner) in _COMPARISONS
                and len(inner.attribute) == 1
                and inner.attribute[0] in known
            ):
                self._tests.append(
                    (
                        inner.attribute[0],
                        ("not " if inner is not each else "") + type(inner).__name__,
                        inner.value,
                    )
                )
            else:
                yield each

    def partitions(self) -> Sequence[InputPartition]:
        if "slices" in self._job:
            return [RanksPartition(start, stop) for start, stop in self._job["slices"]]
        order = self._order or _probed(self._plan)
        runs = order.size
        if self._wanted_partitions:
            count = max(1, min(self._wanted_partitions, runs))
            return [
                RanksPartition(runs * i // count, runs * (i + 1) // count, order)
                for i in range(count)
            ]
        return [RanksPartition(s.start, s.stop, order) for s in order.slices(_TASK_S)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        assert isinstance(partition, RanksPartition)
        order = partition.order or self._order
        assert order is not None
        early = [t for t in self._tests if t[0] != "variant"]
        late = [t for t in self._tests if t[0] == "variant"]

        def is_wanted(points: Points, point: int, seed: int) -> bool:
            if not early:
                return True
            values = {**points.values(point), "point": point, "seed": seed}
            return all(_passes(values[column], how, value) for column, how, value in early)

        def is_kept(row: dict[str, Any]) -> bool:
            return all(_passes(row[column], how, value) for column, how, value in late)

        player = player_for(self._plan, self._with_pauses)
        wanted, keep = is_wanted if early else None, is_kept if late else None
        ranks = (partition.start, partition.stop)
        yield from play_ranks(player, order, *ranks, wanted=wanted, keep=keep)


_BY_NAME = {kind.__name__: test for kind, test in _COMPARISONS.items()}


def _passes(value: Any, how: str, other: Any) -> bool:
    is_negated = how.startswith("not ")
    if value is None:
        return False
    return _BY_NAME[how.removeprefix("not ")](value, other) != is_negated


def _probed(plan: Plan) -> Order:
    from rebalsim.spark.probe import probe

    return probe(player_for(plan), seconds=3.0).order


def register(spark: Any) -> None:
    """Make `format("rebalsim")` known to this session."""
    spark.dataSource.register(RebalsimSource)
