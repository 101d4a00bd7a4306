"""What Spark costs a sweep, as ratios in one run: against one plain process doing the same runs,
and against a pool of two.

Session start is left out, and all three are warm before the clock runs. The plain process and
the pool play the same ranks with the same function and build the same rows, but write nothing;
Spark's time includes writing its tables. Half of theirs is timed before Spark and half after it,
so that what else the machine does falls upon all of them.
"""

from __future__ import annotations

import multiprocessing
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rebalsim.domain.sweep import Base, Plan
from rebalsim.scenario.grid import Order
from rebalsim.scenario.plan import parse_plan
from rebalsim.spark.plans import find_base
from rebalsim.spark.player import play_ranks, player_for
from rebalsim.spark.probe import probe
from rebalsim.spark.schemas import reserved_names

SPEED_UP, OF_POOL, OVERHEAD_MS, GROWTH = 1.8, 0.9, 0.5, 1.25  # goals
_BATCH = 250


@dataclass(slots=True)
class SweepFigures:
    """Figures (a) to (d), and what skew does."""

    runs: int
    run_ms: float  # of one plain process
    plain_s: float
    pool_s: float
    spark_s: float
    # memory: planned runs, and the driver's peak in MB while planning and handing out so many
    few_runs: int
    few_mb: float
    many_runs: int
    many_mb: float
    dry_s: float  # the pipeline of `many_runs` points without playing them
    million_s: float  # a million runs of the small scale-out, both variants: from the measured rate
    # share of the cores' time that is idle in the last half of a skewed sweep, heaviest first
    skew_idle: float
    skew_idle_as_written: float  # the same in the plan's order, cut into equal numbers of runs
    load: float = 0.0  # the machine's load average when it began: others' work makes ratios worse

    @property
    def speed_up(self) -> float:
        return self.plain_s / self.spark_s

    @property
    def of_pool(self) -> float:
        return self.pool_s / self.spark_s

    @property
    def overhead_ms(self) -> float:
        return (2 * self.spark_s - self.plain_s) / self.runs * 1e3

    @property
    def growth(self) -> float:
        return self.many_mb / self.few_mb

    @property
    def ok(self) -> bool:
        return (
            self.speed_up >= SPEED_UP
            and self.of_pool >= OF_POOL
            and self.overhead_ms < OVERHEAD_MS
            and self.growth <= GROWTH
        )


def lines(figures: SweepFigures) -> list[str]:
    """The figures as a command prints them."""

    def mark(is_met: bool) -> str:
        return "✓" if is_met else "✗"

    f = figures
    return [
        f"sweep: {f.runs:,} runs of {f.run_ms:.2f} ms (scale-out, eager, every metric), "
        f"local[2], session start left out (load at the start {f.load:.1f})",
        f"  (a) one process {f.plain_s:.1f} s, pool of two {f.pool_s:.1f} s, Spark "
        f"{f.spark_s:.1f} s",
        f"      {mark(f.speed_up >= SPEED_UP)} {f.speed_up:.2f} × one process (goal {SPEED_UP})   "
        f"{mark(f.of_pool >= OF_POOL)} {f.of_pool:.2f} × the pool (goal {OF_POOL})",
        f"  (b) {mark(f.overhead_ms < OVERHEAD_MS)} overhead {f.overhead_ms:.2f} ms a run (goal "
        f"under {OVERHEAD_MS})",
        f"  (c) {mark(f.growth <= GROWTH)} driver's peak {f.few_mb:.0f} MB for {f.few_runs:,} "
        f"planned runs, {f.many_mb:.0f} MB for {f.many_runs:,} "
        f"({f.growth:.2f} ×, goal {GROWTH})",
        f"  (d) a million runs of scale-out, both variants: {_minutes(f.million_s)} on two cores "
        "at this rate; the pipeline alone, "
        f"{f.many_runs:,} points without playing them: {_minutes(f.dry_s)}",
        f"  skew (2,000 members beside 3): cores idle {f.skew_idle * 100:.0f} % of the last "
        "half, heaviest first; "
        f"{f.skew_idle_as_written * 100:.0f} % as written and cut evenly",
    ]


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


def _plan(text: str) -> Plan:
    return parse_plan(text, "bench.yaml", _base, reserved_names())


def _base(name: str) -> Base:
    return find_base(name, Path())


def throughput_plan(runs: int) -> Plan:
    """`runs` runs of the small scale-out in one variant."""
    return _plan(
        "scenario: scale-out\naxes: {group.config.heartbeat.interval.ms: {as: heartbeat, values: "
        "[1s, 2s, 3s, 4s, 5s]}}\n"
        f"variants: eager\nseeds: {runs // 5}\n"
    )


def _play_slice(job: tuple[Plan, Order, int, int]) -> int:
    plan, order, start, stop = job
    return sum(batch.num_rows for batch in play_ranks(player_for(plan), order, start, stop))


def measure(quick: bool = False) -> SweepFigures:
    """Measure all; takes some four minutes, a quarter of that with `quick`, on two cores that
    have nothing else to do.
    """
    import os

    from rebalsim.spark.session import start_session, stop_session

    runs = 2_000 if quick else 20_000
    load = os.getloadavg()[0]
    spark = start_session("local[2]", is_brief=True)  # as the command starts it for so many runs
    folder = Path(tempfile.mkdtemp(prefix="rebalsim-bench-"))
    try:
        plain_s, pool_s, spark_s = _three_ways(spark, runs, folder)
        few, many = (2_000, 50_000) if quick else (10_000, 1_000_000)
        # The few are over in a moment: as many looks at them as at the many, or the peak of a coin
        # tossed once meets that of one tossed often.
        few_mb = max(_dry(spark, few, folder / f"few{i}")[0] for i in range(2 if quick else 8))
        many_mb, dry_s = _dry(spark, many, folder / "many")
        idle, as_written = _skew(spark, folder, quick)
    finally:
        stop_session(spark)
        shutil.rmtree(folder, ignore_errors=True)
    million_s = _of_both_variants_s() * 1e6 * (spark_s / plain_s)
    run_ms = plain_s / runs * 1e3
    return SweepFigures(
        *(runs, run_ms, plain_s, pool_s, spark_s),
        *(few, few_mb, many, many_mb, dry_s),
        *(million_s, idle, as_written, load),
    )


def _three_ways(spark: Any, runs: int, folder: Path) -> tuple[float, float, float]:
    """Seconds for the same runs in one process, in a pool of two, and on Spark. What else the
    machine does falls on all three alike: they take turns, half by half.
    """
    plan = throughput_plan(runs)
    order = probe(player_for(plan), 3.0).order
    half, quarter = runs // 2, runs // 4
    with multiprocessing.get_context("spawn").Pool(2) as pool:

        def alone(start: int) -> float:
            began = time.perf_counter()
            _play_slice((plan, order, start, start + quarter))
            return (time.perf_counter() - began) * 2

        def together(start: int) -> float:
            end = start + half
            cuts = [(at, min(at + _BATCH, end)) for at in range(start, end, _BATCH)]
            began = time.perf_counter()
            pool.map(_play_slice, [(plan, order, *cut) for cut in cuts], chunksize=1)
            return time.perf_counter() - began

        pool.map(_play_slice, [(plan, order, i, i + 1) for i in range(4)], chunksize=1)
        _sweep(spark, throughput_plan(200), folder / "warm")
        plain_s, pool_s = alone(0), together(0)
        began = time.perf_counter()
        _sweep(spark, plan, folder / "timed", order)
        spark_s = time.perf_counter() - began
        pool_s += together(half)
        return plain_s + alone(half), pool_s, spark_s


def _of_both_variants_s() -> float:
    """Seconds that one process takes for a point in both variants: a sweep of a million is scaled
    by this, since eager alone was timed.
    """
    both = _plan(
        "scenario: scale-out\naxes: {group.config.heartbeat.interval.ms: [3s]}\nseeds: 200\n"
    )
    order = probe(player_for(both), 1.0).order
    began = time.perf_counter()
    _play_slice((both, order, 0, 200))
    return (time.perf_counter() - began) / 200


def _sweep(spark: Any, plan: Plan, out: Path, order: Order | None = None) -> None:
    from rebalsim.spark.store import Store
    from rebalsim.spark.sweep import Sweep, cutting_for

    store = Store(spark, str(out))
    store.prepare()
    Sweep(
        spark, plan, store, cutting_for(order or probe(player_for(plan), 3.0).order, 2, False)
    ).play()


def _dry(spark: Any, runs: int, out: Path) -> tuple[float, float]:
    """The driver's peak memory (Python and JVM, MB) and the time of a sweep of so many points of
    which a condition drops all.
    """
    from rebalsim.spark.store import Store
    from rebalsim.spark.sweep import Cutting, Sweep

    text = (
        "scenario: scale-out\naxes: {group.members: {range: 1..10, step: 1}, "
        "topics.orders.partitions: {range: 1..10, step: 1}}\n"
        f"where: members > 100\nseeds: {runs // 100}\n"
    )
    plan = _plan(text)
    order = Order(plan.radices, plan.seeds, tuple((1.0,) * r for r in plan.radices), 1e-3)
    store = Store(spark, str(out))
    store.prepare()
    runtime = spark.sparkContext._jvm.java.lang.Runtime.getRuntime()
    peak = 0.0

    def look(_: object) -> None:
        nonlocal peak
        # what is held, not what waits for its collector
        spark.sparkContext._jvm.java.lang.System.gc()
        peak = max(peak, _python_mb() + (runtime.totalMemory() - runtime.freeMemory()) / 1e6)

    began = time.perf_counter()
    Sweep(spark, plan, store, Cutting(order, 1.5, 40.0, False)).play(
        look, every_s=0.3 if runs < 50_000 else 2.0
    )
    took = time.perf_counter() - began
    look(None)
    return peak, took


def _python_mb() -> float:
    """This process' resident memory; its peak where the system does not tell the present."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
        return pages * resource.getpagesize() / 1e6
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
            1e6 if sys.platform == "darwin" else 1e3
        )


def _skew(spark: Any, folder: Path, quick: bool) -> tuple[float, float]:
    """Share of idle core time in the last half: heaviest first in slices of equal cost, against
    the plan's order in slices of equal count.
    """
    from rebalsim.scenario.grid import even_order

    large = 300 if quick else 2_000
    cases = ", ".join(
        f"s{n}: {{group.members: {n}, script.0.scale.to: {n + 1}, topics.orders.partitions: "
        f"{max(4, n)}}}"
        for n in (3, 10, 30, 100, large)
    )
    plan = _plan(
        f"scenario: scale-out\naxes: {{size: {{cases: {{{cases}}}}}}}\nvariants: eager\nseeds: "
        f"{4 if quick else 6}\nrun_limit: 10m\n"
    )
    order = probe(player_for(plan), 120.0).order
    by_cost = [(s.start, s.stop) for s in order.slices(max(1.0, order.total() / 40))]
    even = even_order(plan.radices, plan.seeds)
    count = max(2, len(by_cost))
    by_count = [(even.size * i // count, even.size * (i + 1) // count) for i in range(count)]
    return _idle(spark, plan, order, by_cost, folder / "skew"), _idle(
        spark, plan, even, [s for s in by_count if s[0] < s[1]], folder / "even"
    )


def _idle(spark: Any, plan: Plan, order: Order, slices: list[tuple[int, int]], out: Path) -> float:
    import json

    from rebalsim.spark.bundle import bundle_of, order_as_json
    from rebalsim.spark.source import register

    register(spark)
    job = json.dumps({**bundle_of(plan), "order": order_as_json(order), "slices": slices})
    context = spark.sparkContext
    context.setJobGroup(f"bench-{out.name}", "skew")
    spark.read.format("rebalsim").option("bundle", job).load().write.mode("overwrite").parquet(
        str(out)
    )
    spans = sorted(_tasks(context, f"bench-{out.name}"))
    first, last = spans[0][0], max(end for _, end in spans)
    middle = (first + last) / 2
    busy = sum(max(0.0, end - max(start, middle)) for start, end in spans)
    return max(0.0, 1 - busy / (2 * (last - middle)))


def _tasks(context: Any, group: str) -> Iterator[tuple[float, float]]:
    """When each task of a job group ran, in seconds."""
    tracker = context.statusTracker()
    store = context._jsc.sc().statusStore()
    for job in tracker.getJobIdsForGroup(group):
        info = tracker.getJobInfo(job)
        for stage in info.stageIds if info else ():
            tasks = store.taskList(stage, 0, 100_000)
            for i in range(tasks.size()):
                task = tasks.apply(i)
                start = task.launchTime().getTime() / 1e3
                yield start, start + task.duration().get() / 1e3


if __name__ == "__main__":
    for line in lines(measure("--quick" in sys.argv)):
        sys.stdout.write(line + "\n")
