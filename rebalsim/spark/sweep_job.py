"""A sweep from a plan to its answer: what `rebalsim sweep` and `rebalsim recommend` do once
their options are understood.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, TypeVar

from rebalsim.domain.answer import Answer
from rebalsim.domain.errors import InputError, RebalsimError
from rebalsim.domain.sweep import WAIT_FOR_WORKERS_S, Plan
from rebalsim.outside.rule import taken_from
from rebalsim.spark.bundle import bundle_of, order_from_json, plan_of, refuse_to_go_on
from rebalsim.spark.cluster_watch import ClusterWatch
from rebalsim.spark.lock import locked
from rebalsim.spark.plans import story_of_base
from rebalsim.spark.player import player_for
from rebalsim.spark.probe import probe
from rebalsim.spark.session import SparkFailed, local_cores, reason_in
from rebalsim.spark.store import Store
from rebalsim.spark.sweep import CHUNK_S, Cutting, Progress, Sweep, cutting_for
from rebalsim.spark.tables import Tables
from rebalsim.spark.workers import check_workers

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Job:
    """A sweep that is ready to be played into its folder; whoever sets `stop` breaks it off."""

    plan: Plan
    store: Store
    cutting: Cutting
    is_resumed: bool
    stop: threading.Event = field(default_factory=threading.Event)
    held: ExitStack = field(default_factory=ExitStack)  # its folder's lock, until it is closed


def cores_of(spark: Any) -> int:
    """How many tasks run at once."""
    master = str(spark.sparkContext.master)
    return local_cores(master) or max(1, int(spark.sparkContext.defaultParallelism))


def prepare(
    spark: Any,
    plan: Plan,
    out: str,
    *,
    resume: bool = False,
    overwrite: bool = False,
    with_pauses: bool = False,
    probe_s: float = 20.0,
    chunk_s: float = CHUNK_S,
) -> Job:
    """Look at the folder, decide how the grid is cut, and write both down."""
    store = Store(spark, out)
    names = [name for name in store.names() if not name.startswith(".")]
    if not resume and not overwrite:
        refuse_to_mix(out, names)
    held = ExitStack()
    if names:
        held.enter_context(locked(store))
    try:
        if resume and "sweep.json" in names:
            check_workers(spark)
            return _resumed(plan, store, with_pauses, held)
        return _begun(spark, plan, store, names, overwrite, with_pauses, probe_s, chunk_s, held)
    except BaseException:
        held.close()
        raise


def _begun(
    spark: Any,
    plan: Plan,
    store: Store,
    names: list[str],
    overwrite: bool,
    with_pauses: bool,
    probe_s: float,
    chunk_s: float,
    held: ExitStack,
) -> Job:
    """A sweep that begins: what was there is cleared away where that was asked for."""
    out = store.out
    if overwrite and names:
        if "sweep.json" not in names:
            raise InputError(
                f"{out} holds something that is no sweep, and --overwrite replaces sweeps only — "
                "name another folder."
            )
        store.clear()
    store.prepare()
    if not names:
        held.enter_context(locked(store))
    check_workers(spark)
    measured = probe(player_for(plan), probe_s)
    cutting = cutting_for(measured.order, cores_of(spark), with_pauses, chunk_s)
    store.write_manifest({**bundle_of(plan), **cutting.as_json()})
    return Job(plan, store, cutting, False, held=held)


def refuse_to_mix(out: str, names: list[str]) -> None:
    """A sweep begins in an empty folder."""
    if any(not name.startswith(".") for name in names):
        if "sweep.json" in names:
            raise InputError(
                f"{out} holds a sweep already — continue it with --resume, replace it with "
                "--overwrite, or name another folder."
            )
        raise InputError(f"{out} holds something already, and no sweep — name another folder.")


def _resumed(plan: Plan, store: Store, with_pauses: bool, held: ExitStack) -> Job:
    """The sweep as it was begun: with the plan of its folder, cut into the same chunks."""
    document = store.read_manifest()
    with taken_from(store.path("sweep.json"), "it is damaged: begin anew with --overwrite"):
        begun = plan_of(document, plan.code_from)
    if (begun.text, begun.bases) != (plan.text, plan.bases):
        raise InputError(
            f"The plan or its scenario has changed since the sweep in {store.out} began — put it "
            "back, or begin anew with --overwrite."
        )
    refuse_to_go_on(document, begun, store.out)
    if with_pauses and not document.get("pauses"):
        raise InputError(
            f"The sweep in {store.out} was begun without --pauses — continue it without, or "
            "begin anew with --overwrite."
        )
    with taken_from(store.path("sweep.json"), "it is damaged: begin anew with --overwrite"):
        cutting = Cutting(
            order_from_json(document["order"]),
            float(document["task_s"]),
            float(document["chunk_s"]),
            bool(document["pauses"]),
        )
    return Job(begun, store, cutting, True, held=held)


def play(spark: Any, job: Job, tell: Callable[[Progress], None] = lambda _: None) -> Progress:
    """Compute what is missing of the runs."""
    return Sweep(spark, job.plan, job.store, job.cutting, job.stop).play(tell)


def conclude(spark: Any, job: Job) -> Answer:
    """The small tables, and the answer from them."""
    from rebalsim.spark.answers import Asker

    lacking = Sweep(spark, job.plan, job.store, job.cutting, job.stop).lacking()
    if lacking:
        raise SparkFailed(
            f"{job.store.out} lacks {lacking:,} of {job.cutting.order.size:,} runs, which were "
            "there before — nothing is concluded from the rest; continue with --resume."
        )
    try:
        tables = tables_of(spark, job.plan, job.store)
        tables.write()
        return Asker(tables).answer()
    except RebalsimError:
        raise
    except Exception as e:
        raise SparkFailed(
            f"The tables in {job.store.out} could not be made: {reason_in(e)}. The runs are kept; "
            "make room, or mend what is told, and continue with --resume."
        ) from None


def tables_of(spark: Any, plan: Plan, store: Store) -> Tables:
    """The tables of a sweep, with the budgets that its runs were judged by."""
    own = tuple(
        dict.fromkeys(
            budget for base in plan.bases for budget in story_of_base(base, plan.code_from).budgets
        )
    )
    return Tables(spark, plan, store, own)


def interruptibly(
    work: Callable[[], T],
    spark: Any,
    stop: threading.Event,
    tell: Callable[[str], None] = lambda _: None,
    patience_s: float = WAIT_FOR_WORKERS_S,
) -> T:
    """Do the work in another thread, so that a Ctrl-C never falls into the middle of a word with
    the JVM; it cancels what is under way. So does a cluster without workers, after a while.
    """
    with (
        ThreadPoolExecutor(1, thread_name_prefix="conduct") as pool,
        ClusterWatch(spark, tell, patience_s) as watch,
    ):
        future = pool.submit(work)
        try:
            while not future.done():
                watch.check()
                wait([future], timeout=0.5)
            return future.result()
        except (KeyboardInterrupt, SparkFailed):
            stop.set()
            spark.sparkContext.cancelAllJobs()
            wait([future], timeout=30)
            raise
