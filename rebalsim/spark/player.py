"""Plays what a plan says, a piece at a time: the one worker function behind sweeps,
`format("rebalsim")`, the SQL function and replay.

Knows no Spark: it goes from a range of ranks to Arrow batches, in whatever process it is. What
goes wrong in one run becomes that run's row: impossible settings, a run that takes too long,
memory, a crash of our own; a sweep is never killed by a point.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

from rebalsim.domain.errors import BugError, InputError, ProblemsError
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.sweep import Plan
from rebalsim.one_run import Run, run_once
from rebalsim.scenario.grid import Order
from rebalsim.scenario.load import story_of
from rebalsim.scenario.story import Story
from rebalsim.spark import rows
from rebalsim.spark.points import Points
from rebalsim.spark.schemas import arrow_schema, run_columns
from rebalsim.spark.zones import cross_zone_bytes

BATCH = 256


class TookTooLong(BaseException):
    """A run reached its time limit. Not an Exception: nothing on the way up may take it for one
    of its own.
    """


def run_name(point: int, variant: str, seed: int) -> str:
    return f"{point}-{variant}-{seed}"


def parse_run_name(name: str) -> tuple[int, str, int]:
    """The point, the variant and the seed of a run's name."""
    point, _, rest = name.partition("-")
    variant, _, seed = rest.rpartition("-")
    if not (point.isdigit() and seed.isdigit() and variant):
        raise InputError(
            f"'{name}' is no run's name — take one from the column `run`, such as 12-cooperative-3."
        )
    return int(point), variant, int(seed)


# variant, scenario, run, kind of error, error
Played = tuple[str, Scenario | None, Run | None, str, str]


def _fault(error: BaseException, limit_s: float) -> tuple[str, str]:
    """What went wrong in a run, as the columns error_kind and error."""
    if isinstance(error, TookTooLong):
        return "cut", f"cut after {limit_s:g} s on the clock (run_limit)"
    if isinstance(error, MemoryError):
        return "memory", "the worker ran out of memory"
    if isinstance(error, ProblemsError):
        return "impossible", error.problems[0].message
    if isinstance(error, InputError):
        return "impossible", str(error)
    if isinstance(error, BugError):
        return "bug", str(error)
    return "crash", f"{type(error).__name__}: {error}"


class Player:
    """A plan with its stories loaded. Travels to workers; keeps the last point's scenarios, for
    a point's seeds come in a row.
    """

    def __init__(self, plan: Plan, with_pauses: bool = False) -> None:
        self.plan = plan
        self.with_pauses = with_pauses
        self.points = Points(plan)
        self._stories: dict[str, Story] = {
            base.name: story_of(base.text.encode(), base.file, code_from=plan.code_from)
            for base in plan.bases
        }
        self._of_point: tuple[int, Story] | None = None
        self._axes = [a.name for a in plan.every_axis]
        self._whole = {a.name for a in plan.every_axis if a.kind == "duration"}
        self._columns = [c.name for c in run_columns(plan)]

    def __reduce__(self) -> Any:
        # Travels as the plan: a worker that has it already (see `player_for`) need not build it
        # again.
        return player_for, (self.plan, self.with_pauses)

    def story(self, point: int) -> Story:
        """The base scenario with the point's settings on it. What is wrong with it shows when a
        variant is asked for.
        """
        if self._of_point is None or self._of_point[0] != point:
            settings = [f"{path}={value}" for path, value in self.points.settings(point)]
            self._of_point = (
                point,
                self._stories[self.points.base(point).name].with_overrides(settings),
            )
        return self._of_point[1]

    def variants(self, point: int) -> tuple[str, ...]:
        """What is played at this point."""
        return self.points.variants(point, self.plan.variants or self.story(point).variants)

    def scenario(self, point: int, variant: str) -> Scenario:
        """ProblemsError says why these settings cannot be."""
        return self.story(point).scenario(variant)

    def play(self, point: int, seed: int) -> list[dict[str, Any]]:
        """The rows of this point and seed, one a variant."""
        played = [self._play_one(point, variant, seed) for variant in self.variants(point)]
        analyses = {variant: run.analysis for variant, _, run, _, _ in played if run is not None}
        return [self._judged_row(point, seed, one, analyses) for one in played]

    def _judged_row(
        self, point: int, seed: int, one: Played, analyses: dict[str, Any]
    ) -> dict[str, Any]:
        variant, scenario, _, _, _ = one
        try:
            with time_limit(self.plan.run_limit_s):
                return self._row(point, seed, *one, analyses)
        except (TookTooLong, Exception) as e:
            return self._row(
                point, seed, variant, scenario, None, *_fault(e, self.plan.run_limit_s), {}
            )

    def _play_one(self, point: int, variant: str, seed: int) -> Played:
        scenario: Scenario | None = None
        try:
            scenario = self.scenario(point, variant)
            with time_limit(self.plan.run_limit_s):
                return variant, scenario, run_once(scenario, seed), "", ""
        except (TookTooLong, Exception) as e:
            return variant, scenario, None, *_fault(e, self.plan.run_limit_s)

    def _row(
        self,
        point: int,
        seed: int,
        variant: str,
        scenario: Scenario | None,
        run: Run | None,
        kind: str,
        error: str,
        analyses: dict[str, Any],
    ) -> dict[str, Any]:
        row = self._place(point, seed, variant)
        if scenario is not None:
            row.update(
                consumers=rows.consumers_in(scenario),
                topic_partitions=sum(t.partitions for t in scenario.topics if t.exists_from_start),
                fullest=rows.fullest(scenario),
            )
        row.update(verdict="error", error_kind=kind or None, error=error or None, budgets=[])
        if self.with_pauses:
            row["each_pause"] = []
        if run is not None and scenario is not None:
            row.update(self._played(scenario, run, variant, analyses))
        return row

    def _place(self, point: int, seed: int, variant: str) -> dict[str, Any]:
        """The row's first columns: which run it is, and its point's value on each axis."""
        row: dict[str, Any] = dict.fromkeys(self._columns)
        row.update(
            run=run_name(point, variant, seed),
            scenario=self.points.base(point).name,
            point=point,
            variant=variant,
            seed=seed,
        )
        values = self.points.values(point)
        for name in self._axes:
            value = values[name]
            row[name] = round(value) if name in self._whole and isinstance(value, float) else value
        return row

    def _played(
        self, scenario: Scenario, run: Run, variant: str, analyses: dict[str, Any]
    ) -> dict[str, Any]:
        """The row's figures: metrics, budgets, verdict and costs of a run that was played."""
        plan = self.plan
        metrics = rows.measured(run.analysis)
        asked = (
            (plan.budgets, ()) if plan.has_budgets else (scenario.budgets, scenario.expectations)
        )
        budgets = rows.judged(*asked, variant, analyses)
        crossed = cross_zone_bytes(scenario, run.analysis)
        return {
            **metrics,
            "budgets": budgets,
            "verdict": rows.overall(budgets),
            "settles": rows.settles(run.analysis),
            "cross_zone_bytes": crossed,
            "cost_per_hour": rows.cost_per_hour(plan.costs, metrics, crossed, scenario.horizon_us),
            **({"each_pause": rows.pauses_of(run.analysis)} if self.with_pauses else {}),
        }


_PLAYERS: dict[tuple[str, bool], Player] = {}


def player_for(plan: Plan, with_pauses: bool = False) -> Player:
    """The plan's player in this process: built once, however many tasks ask for it."""
    key = (f"{hash(plan)}/{plan.file}/{plan.code_from}/{len(plan.text)}", with_pauses)
    found = _PLAYERS.get(key)
    if found is None or found.plan != plan:
        if len(_PLAYERS) > 3:
            _PLAYERS.clear()
        found = _PLAYERS[key] = Player(plan, with_pauses)
    return found


Wanted = Callable[
    [Points, int, int], bool
]  # whether a run of this point and seed is asked for at all


def play_ranks(
    player: Player,
    order: Order,
    start: int,
    stop: int,
    *,
    wanted: Wanted | None = None,
    keep: Callable[[dict[str, Any]], bool] | None = None,
) -> Iterator[Any]:
    """The runs of these ranks as Arrow batches: what each task of a sweep does."""
    import pyarrow as pa

    schema = arrow_schema(player.plan, player.with_pauses)
    rows_: list[dict[str, Any]] = []
    for point, seed_number in order.walker().walk(start, stop):
        seed = player.plan.first_seed + seed_number
        if (
            wanted is not None and not wanted(player.points, point, seed)
        ) or not player.points.is_played(point):
            continue
        for row in player.play(point, seed):
            if keep is None or keep(row):
                rows_.append(row)
        if len(rows_) >= BATCH:
            yield pa.RecordBatch.from_pylist(rows_, schema)
            rows_ = []
    if rows_:
        yield pa.RecordBatch.from_pylist(rows_, schema)


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Cut what takes longer. By the alarm signal, so in a process' main thread only; elsewhere
    (and on Windows) nothing is cut.
    """
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return

    def ring(_signal: int, _frame: Any) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
