"""A sweep from a plan to its answer: what `rebalsim sweep` and `rebalsim recommend` do once their options are understood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rebalsim.domain.answer import Answer
from rebalsim.domain.errors import InputError
from rebalsim.domain.sweep import Plan
from rebalsim.spark.bundle import bundle_of, order_from_json, plan_of
from rebalsim.spark.plans import story_of_base
from rebalsim.spark.player import player_for
from rebalsim.spark.probe import probe
from rebalsim.spark.session import local_cores
from rebalsim.spark.store import Store
from rebalsim.spark.sweep import Cutting, Progress, Sweep, cutting_for
from rebalsim.spark.tables import Tables


@dataclass(frozen=True, slots=True)
class Job:
    """A sweep that is ready to be played into its folder."""

    plan: Plan
    store: Store
    cutting: Cutting
    is_resumed: bool


def cores_of(spark: Any) -> int:
    """How many tasks run at once."""
    master = str(spark.sparkContext.master)
    return local_cores(master) or max(1, int(spark.sparkContext.defaultParallelism))


def prepare(spark: Any, plan: Plan, out: str, *, resume: bool = False, overwrite: bool = False, with_pauses: bool = False, probe_s: float = 20.0) -> Job:
    """Look at the folder, decide how the grid is cut, and write both down."""
    store = Store(spark, out)
    names = [name for name in store.names() if not name.startswith(".")]
    if names and not resume and not overwrite:
        what = "a sweep" if "sweep.json" in names else "something"
        raise InputError(f"{out} holds {what} already — continue it with --resume, replace it with --overwrite, or name another folder.")
    if resume and "sweep.json" in names:
        return _resumed(plan, store, with_pauses)
    if overwrite and names:
        if "sweep.json" not in names:
            raise InputError(f"{out} holds something that is no sweep, and --overwrite replaces sweeps only — name another folder.")
        store.clear()
    store.prepare()
    measured = probe(player_for(plan), probe_s)
    cutting = cutting_for(measured.order, cores_of(spark), with_pauses)
    store.write_manifest({**bundle_of(plan), **cutting.as_json()})
    return Job(plan, store, cutting, False)


def _resumed(plan: Plan, store: Store, with_pauses: bool) -> Job:
    """The sweep as it was begun: its own plan, cut as it was cut."""
    document = store.read_manifest()
    begun = plan_of(document)
    if (begun.text, begun.bases) != (plan.text, plan.bases):
        raise InputError(f"The plan or its scenario has changed since the sweep in {store.out} began — put it back, or begin anew with --overwrite.")
    if with_pauses and not document["pauses"]:
        raise InputError(f"The sweep in {store.out} was begun without --pauses — continue it without, or begin anew with --overwrite.")
    cutting = Cutting(order_from_json(document["order"]), float(document["task_s"]), float(document["chunk_s"]), bool(document["pauses"]))
    return Job(begun, store, cutting, True)


def play(spark: Any, job: Job, tell: Callable[[Progress], None] = lambda _: None) -> Progress:
    """Compute what is missing of the runs."""
    return Sweep(spark, job.plan, job.store, job.cutting).play(tell)


def conclude(spark: Any, job: Job) -> Answer:
    """The small tables, and the answer from them."""
    from rebalsim.spark.answers import Asker

    tables = tables_of(spark, job.plan, job.store)
    tables.write()
    return Asker(tables).answer()


def tables_of(spark: Any, plan: Plan, store: Store) -> Tables:
    """The tables of a sweep, with the budgets that its runs were judged by."""
    own = tuple(dict.fromkeys(budget for base in plan.bases for budget in story_of_base(base).budgets))
    return Tables(spark, plan, store, own)
