"""Plays a plan on Spark, chunk by chunk, so that nothing done is lost: a chunk is a Spark job over
some hundred tasks whose rows appear in `runs` at once, when the last of them is written. What is
there is not computed again.

Two chunks are under way at any time: the second's tasks fill the cores that the first's last
tasks leave idle. A chunk whose workers die for good is taken apart until the run that kills them
stands alone; that run becomes a row with its error.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from rebalsim.domain.sweep import Plan
from rebalsim.scenario.grid import Order, Slice, groups
from rebalsim.spark.bundle import bundle_of, order_as_json
from rebalsim.spark.chunk_counts import sound_chunks, write_counted
from rebalsim.spark.player import player_for, run_name
from rebalsim.spark.schemas import PAUSE, run_columns, runs_ddl
from rebalsim.spark.session import SparkFailed, reason_in
from rebalsim.spark.source import register
from rebalsim.spark.store import Store

# seconds of work in a task: a task costs tens of milliseconds, and the last ones are waited for
TASK_S = 1.5
CHUNK_S = 20.0  # seconds of all cores' work in a chunk: what a kill can cost
MOST_TASKS = 1_000  # in a chunk
_DEATHS = (
    "Python worker exited unexpectedly",
    "Python worker faulthandler",
    "crashed",
    "ExecutorLostFailure",
    "Lost executor",
    "exited caused by one of",
)
# jobs that may fail in a row before it is the cluster's fault: a bad run among thousands is found
# in a dozen
_PATIENCE = 40
_CHANCES = (
    3  # how often a job is begun again that lost a Python process before any run could be at fault
)
_TASK = re.compile(r"Task (\d+) in stage [\d.]+ failed")
_LOST = (
    "stopped SparkContext",
    "SparkContext was shut down",
    "Application has been killed",
    "Answer from Java side is empty",
    "Connection refused",
)


@dataclass(frozen=True, slots=True)
class Cutting:
    """How the grid is cut: written down when a sweep begins, so that a resumed one is cut alike."""

    order: Order
    task_s: float
    chunk_s: float
    with_pauses: bool

    def chunks(self) -> Iterator[tuple[str, list[Slice]]]:
        """(key, slices) of each chunk."""
        for number, slices in enumerate(
            groups(self.order.slices(self.task_s), self.chunk_s, MOST_TASKS)
        ):
            yield f"{number:06d}", slices

    def as_json(self) -> dict[str, Any]:
        return {
            "order": order_as_json(self.order),
            "task_s": self.task_s,
            "chunk_s": self.chunk_s,
            "pauses": self.with_pauses,
        }


def cutting_for(order: Order, cores: int, with_pauses: bool, chunk_s: float = CHUNK_S) -> Cutting:
    """Tasks of a second or two; smaller ones for a small sweep, so that it ends on all cores.
    `chunk_s` is on the clock, with all cores at work.
    """
    work_s = chunk_s * max(1, cores)
    task_s = max(0.02, min(TASK_S, order.total() / max(1, cores) / 4, work_s / max(1, cores) / 2))
    return Cutting(order, task_s, work_s, with_pauses)


@dataclass(slots=True)
class Progress:
    """How far a sweep is. `work` is in seconds of one core as predicted, for runs are not alike;
    dropped points count as played.
    """

    runs: int
    work: float
    runs_done: float = 0.0
    work_done: float = 0.0
    chunks_done: int = 0
    skipped_runs: int = 0
    failed_runs: int = 0


class Stopped(Exception):
    """The sweep was told to stop; what was done is kept."""


class Sweep:
    """One sweep into one folder."""

    def __init__(
        self,
        spark: Any,
        plan: Plan,
        store: Store,
        cutting: Cutting,
        stop: threading.Event | None = None,
    ) -> None:
        self.spark, self.plan, self.store, self.cutting = spark, plan, store, cutting
        self.progress = Progress(cutting.order.size, cutting.order.total())
        self._bundle = {**bundle_of(plan), "order": order_as_json(cutting.order)}
        self._tables = ("runs", "pauses") if cutting.with_pauses else ("runs",)
        self._done: dict[str, None] = {}
        self._lock = threading.Lock()
        self._under_way: dict[str, list[Slice]] = {}
        self._failures = 0  # jobs that failed since one succeeded
        self._stop = stop or threading.Event()
        register(spark)

    # -------------------------------------------------------------------------------------- playing

    def sound(self) -> list[str]:
        """The chunks that can be relied on; what is left of others is cleared away, so that
        nobody takes it for rows.
        """
        found = sound_chunks(self.spark, self.store, self.plan, self._tables)
        for table in self._tables:
            for key in self.store.chunks(table):
                if key not in found:
                    self.store.delete(f"{table}/chunk={key}")
        return found

    def lacking(self) -> int:
        """How many runs the folder lacks to be the whole plan, counted by its rows."""
        self._done = dict.fromkeys(sound_chunks(self.spark, self.store, self.plan, self._tables))
        return sum(
            piece.stop - piece.start
            for key, slices in self.cutting.chunks()
            for part in self._missing(key, slices)
            for piece in part
        )

    def play(
        self, tell: Callable[[Progress], None] = lambda _: None, every_s: float = 0.5
    ) -> Progress:
        """Compute all that is missing."""
        self._done = dict.fromkeys(self.sound())
        chunks = self.cutting.chunks()
        waiting: dict[Future[None], tuple[str, list[Slice]]] = {}
        is_over = False
        pool = ThreadPoolExecutor(2, thread_name_prefix="chunk")
        try:
            while waiting or not is_over:
                while not is_over and len(waiting) < 2:
                    try:
                        key, slices = next(chunks)
                    except StopIteration:
                        is_over = True
                        break
                    if not self._missing(key, slices):
                        self._count(slices, is_skipped=True)
                        continue
                    waiting[pool.submit(self._compute, key, slices)] = (key, slices)
                if not waiting:
                    continue
                finished, _ = wait(list(waiting), timeout=every_s, return_when=FIRST_COMPLETED)
                for future in [f for f in waiting if f in finished]:
                    _, slices = waiting.pop(future)
                    future.result()
                    self._count(slices)
                if self._stop.is_set():
                    raise Stopped
                tell(self._seen())
        except BaseException:
            self._stop.set()
            self._cancel()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
        tell(self.progress)
        return self.progress

    def _missing(self, key: str, slices: list[Slice]) -> list[list[Slice]]:
        """What of a chunk is not there yet, as runs of adjoining slices. A part of a chunk is
        named by its ranks, so whoever cut it, it counts.
        """
        if key in self._done:
            return []
        there = sorted(
            (int(a), int(b))
            for a, b in (
                name.split(".", 1)[1].split("-")
                for name in list(self._done)
                if name.startswith(f"{key}.")
            )
        )
        groups_: list[list[Slice]] = []
        at = -1
        for piece in slices:
            start = piece.start
            for begin, end in [
                *((a, b) for a, b in there if a < piece.stop and b > piece.start),
                (piece.stop, piece.stop),
            ]:
                if begin > start:
                    part = Slice(
                        start, begin, piece.cost * (begin - start) / (piece.stop - piece.start)
                    )
                    if groups_ and at == part.start:
                        groups_[-1].append(part)
                    else:
                        groups_.append([part])
                    at = part.stop
                start = max(start, end)
        return groups_

    def _compute(self, key: str, slices: list[Slice]) -> None:
        with self._lock:
            self._under_way[key] = slices
        try:
            for part in self._missing(key, slices):
                self._compute_part(
                    key, part, part[0].start == slices[0].start and part[-1].stop == slices[-1].stop
                )
        finally:
            with self._lock:
                self._under_way.pop(key, None)

    def _compute_part(self, key: str, slices: list[Slice], is_whole: bool) -> None:
        if self._stop.is_set():
            return
        name = key if is_whole else f"{key}.{slices[0].start}-{slices[-1].stop}"
        for chance in range(_CHANCES, -1, -1):
            try:
                self._write(name, self._frame(slices))
                return
            except Exception as e:
                if self._stop.is_set():
                    return
                if chance and _before_any_run(e):
                    continue
                culprit, error = self._culprit(e), e
                break
        if slices[-1].stop - slices[0].start == 1:
            self._write(name, self._failed_run(slices[0].start, reason_in(error)))
            self.progress.failed_runs += 1
            return
        for part in _parts(slices, culprit):
            self._compute_part(key, part, False)

    def _culprit(self, error: Exception) -> int:
        """The task that its worker did not survive, −1 if Spark does not name it. Raises if it
        was not that: only a worker's death can be a run's fault, anything else is the sweep's.
        """
        reason = reason_in(error)
        text = f"{reason} {error}"
        is_planner = "PythonPlannerRunner" in text  # no run had begun
        if (
            any(sign in text for sign in _DEATHS)
            and not is_planner
            and not any(sign in text for sign in _LOST)
            and self._failures < _PATIENCE
        ):
            self._failures += 1
            named = _TASK.search(text)
            return int(named[1]) if named else -1
        if "No space left" in text or "Disk quota" in text:
            raise SparkFailed(
                f"{self.store.out} (or Spark's own scratch space) is full. What was written "
                "stays readable; "
                "make room and continue with --resume."
            ) from None
        raise SparkFailed(
            f"Spark could not go on: {reason}. What was written stays readable; continue with "
            "--resume."
        ) from None

    def _frame(self, slices: list[Slice]) -> Any:
        job = {**self._bundle, "slices": [[s.start, s.stop] for s in slices]}
        reader = self.spark.read.format("rebalsim").option("bundle", json.dumps(job))
        reader = reader.option("code_from", self.plan.code_from)
        return reader.option("pauses", str(self.cutting.with_pauses).lower()).load()

    def _write(self, key: str, frame: Any) -> None:
        """Writes the chunk's tables, `runs` last: a chunk is done when its runs are there and counted."""
        self.spark.sparkContext.setJobGroup(
            f"rebalsim-{key}", f"runs of chunk {key}", interruptOnCancel=False
        )
        if not self.cutting.with_pauses:
            write_counted(frame, self.store, "runs", key, self.plan)
        else:
            frame = frame.persist()
            try:
                exploded = frame.selectExpr(
                    "run", "scenario", "point", "variant", "seed", "explode(each_pause) AS pause"
                ).selectExpr(
                    "run",
                    "scenario",
                    "point",
                    "variant",
                    "seed",
                    *(f"pause.{c.name}" for c in PAUSE),
                )
                write_counted(exploded, self.store, "pauses", key, self.plan)
                write_counted(frame.drop("each_pause"), self.store, "runs", key, self.plan)
            finally:
                frame.unpersist()
        self._done[key] = None
        self._failures = 0

    def _failed_run(self, rank: int, reason: str) -> Any:
        """The rows of a run that no worker survives."""
        point, seed_number = next(self.cutting.order.walker().walk(rank, rank + 1))
        player, seed = player_for(self.plan), self.plan.first_seed + seed_number
        values = player.points.values(point)
        columns = run_columns(self.plan)
        rows = []
        for variant in player.variants(point):
            row: dict[str, Any] = {
                **dict.fromkeys(c.name for c in columns),
                **{k: v for k, v in values.items() if k in {c.name for c in columns}},
            }
            row.update(
                run=run_name(point, variant, seed),
                point=point,
                variant=variant,
                seed=seed,
                verdict="error",
                error_kind="crash",
                error=f"no worker survived this run: {reason}",
                budgets=[],
                **({"each_pause": []} if self.cutting.with_pauses else {}),
            )
            rows.append(row)
        schema = runs_ddl(self.plan, self.cutting.with_pauses)
        whole = {c.name for c in columns if c.type == "long"}
        names = [
            *(c.name for c in columns),
            "budgets",
            *(["each_pause"] if self.cutting.with_pauses else []),
        ]
        return self.spark.createDataFrame(
            [
                tuple(int(r[n]) if n in whole and r[n] is not None else r[n] for n in names)
                for r in rows
            ],
            schema,
        )

    # ------------------------------------------------------------------------------------- progress

    def _count(self, slices: list[Slice], is_skipped: bool = False) -> None:
        runs, work = sum(s.stop - s.start for s in slices), sum(s.cost for s in slices)
        self.progress.runs_done += runs
        self.progress.work_done += work
        self.progress.chunks_done += 1
        if is_skipped:
            self.progress.skipped_runs += runs
            self.progress.work -= work
            self.progress.work_done -= work

    def _seen(self) -> Progress:
        """Progress with the finished tasks of the chunks under way: by Spark's own count."""
        seen = Progress(
            self.progress.runs,
            self.progress.work,
            self.progress.runs_done,
            self.progress.work_done,
            self.progress.chunks_done,
            self.progress.skipped_runs,
            self.progress.failed_runs,
        )
        tracker = self.spark.sparkContext.statusTracker()
        with self._lock:
            under_way = list(self._under_way.items())
        for key, slices in under_way:
            share = 0.0
            for job in tracker.getJobIdsForGroup(f"rebalsim-{key}"):
                info = tracker.getJobInfo(job)
                for stage in info.stageIds if info else ():
                    told = tracker.getStageInfo(stage)
                    if told and told.numTasks:
                        share = max(share, told.numCompletedTasks / told.numTasks)
            seen.runs_done += share * sum(s.stop - s.start for s in slices)
            seen.work_done += share * sum(s.cost for s in slices)
        return seen

    def _cancel(self) -> None:
        """Cancel all jobs, again and again until none is under way: one that is still being planned
        cannot be cancelled, and begins afterwards.
        """
        for _ in range(60):
            try:
                self.spark.sparkContext.cancelAllJobs()
            except Exception:
                return
            with self._lock:
                if not self._under_way:
                    return
            time.sleep(0.3)


def _before_any_run(error: Exception) -> bool:
    """Whether a Python process of the driver's went away: the one that plans a job, or the one
    that workers are forked from. Spark begins tasks again, and these it does not.
    """
    text = f"{reason_in(error)} {error}"
    is_gone = any(
        sign in text
        for sign in (*_DEATHS, "EOFException", "Connection reset", "Broken pipe", "Stream closed")
    )
    return is_gone and not _TASK.search(text) and not any(sign in text for sign in _LOST)


def _parts(slices: list[Slice], culprit: int) -> list[list[Slice]]:
    """What a failed piece is tried as: what comes before and after the slice that Spark named,
    and that slice alone; a lone slice in halves.
    """
    if len(slices) > 1:
        at = culprit if 0 <= culprit < len(slices) else len(slices) // 2
        return [part for part in (slices[:at], slices[at + 1 :], [slices[at]]) if part]
    only = slices[0]
    middle = (only.start + only.stop) // 2
    return [[Slice(only.start, middle, only.cost / 2)], [Slice(middle, only.stop, only.cost / 2)]]
