"""`rebalsim sweep PLAN`: play a family of scenarios on Spark, and answer with a table and a
picture.
"""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rebalsim.cli import exits, forms
from rebalsim.cli.options import allow_code_option
from rebalsim.domain.sweep import WAIT_FOR_WORKERS_S
from rebalsim.reports.forms.form import Subject

if TYPE_CHECKING:
    from rebalsim.domain.answer import Answer
    from rebalsim.spark.sweep import Progress

BRIEF = 200_000  # runs below which Spark's own work is over before it would have been optimised
CONF_HELP = "A setting for Spark, as in spark.executor.memory=4g. Repeatable."


def parse_conf(values: tuple[str, ...]) -> dict[str, str]:
    """`--conf k=v`, as spark-submit takes it."""
    found: dict[str, str] = {}
    for value in values:
        key, equals, setting = value.partition("=")
        if not equals or not key.strip():
            raise click.UsageError(
                f"--conf {value} sets nothing — write --conf key=value, as in --conf "
                "spark.executor.memory=4g"
            )
        found[key.strip()] = setting.strip()
    return found


@click.command(
    "sweep", epilog="Example: rebalsim sweep session-timeout --out out/session --html session.html"
)
@click.argument("plan", required=False)
@click.option(
    "--out",
    metavar="DIR",
    help="Where the tables go: a folder, or any place that Spark can write to (s3a://…).",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Only say how many points and runs it would be, show some, and estimate the time.",
)
@click.option(
    "--tables",
    is_flag=True,
    help="Only say which tables and columns a sweep of this plan writes, and what they mean.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Continue a sweep that was broken off: compute only what is missing.",
)
@click.option("--overwrite", is_flag=True, help="Replace the sweep that is there.")
@click.option(
    "--pauses",
    is_flag=True,
    help="Write the table of pauses too: a row per pause, with its phases.",
)
@click.option(
    "--mark-every",
    type=click.FloatRange(0.05),
    default=20.0,
    show_default=True,
    metavar="SECONDS",
    help="How much work a kill can cost: runs are kept in chunks of about so long.",
)
@click.option(
    "--master",
    default="",
    metavar="URL",
    help="Spark's master: local[4], spark://…, yarn, k8s://….  [default: all cores of this "
    "machine]",
)
@click.option("--conf", multiple=True, metavar="K=V", help=CONF_HELP)
@click.option(
    "--wait-for-workers",
    type=click.FloatRange(1),
    default=WAIT_FOR_WORKERS_S,
    show_default=True,
    metavar="SECONDS",
    help="Give up, to be resumed, when a cluster has had no worker for so long.",
)
@click.option("--spark-log", is_flag=True, help="Show what Spark logs.")
@click.option(
    "--pack",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write an archive that brings rebalsim to workers that have none; used too, where a plan "
    "is named.",
)
@forms.options_of(Subject.SWEEP)
@allow_code_option
def command(
    plan: str | None,
    out: str | None,
    dry_run: bool,
    tables: bool,
    resume: bool,
    overwrite: bool,
    pauses: bool,
    mark_every: float,
    master: str,
    conf: tuple[str, ...],
    wait_for_workers: float,
    spark_log: bool,
    pack: str | None,
    allow_code: bool,
    **options: Any,
) -> int:
    """Play every point of a plan, with every seed and variant, and say which points meet the
    budgets.

    PLAN is a plan file, or a stock plan by name. A plan names a scenario, the settings to vary,
    budgets, and what to make small.

    It maps a whole grid: `recommend` looks for the one change that is enough, `replay` plays one of
    its runs again.
    """
    forms.printed_form(Subject.SWEEP, options)  # which refuses two
    if resume and overwrite:
        raise click.UsageError(
            "--resume keeps what is there and --overwrite throws it away — choose one."
        )
    settings = parse_conf(conf)
    if pack:
        settings = _packed(pack) | settings
        if plan is None:
            return exits.WITHIN
    if plan is None:
        example = "as in `rebalsim sweep session-timeout --out out`."
        raise click.UsageError(f"Which plan? Name a file or a stock plan, {example}")
    from rebalsim.spark.plans import load_plan

    loaded = load_plan(plan, allow_code)
    if tables:
        return _tables(loaded)
    if loaded.seeds == 1 and (samples := _samples(loaded)):
        what = f"{samples} the consumer protocol, where one run is a sample of many"
        click.echo(f"note: {what} — say seeds: 20 in the plan to see what is chance.", err=True)
    if dry_run:
        return _dry_run(loaded, master, options["as_json"])
    if not out:
        where = "Name a folder with --out DIR (or look first with --dry-run)."
        raise click.UsageError(f"Where to? {where}")
    session = Session(master, settings, spark_log, wait_for_workers)
    answer = _swept(loaded, plan, out, session, resume, overwrite, pauses, mark_every)
    write_answer(answer, options)
    return exits.WITHIN


def _packed(file: str) -> dict[str, str]:
    """Write rebalsim as an archive for the workers, and return the setting of Spark that brings it
    there.
    """
    from rebalsim.spark.pack import build_pack

    size = f"{build_pack(file) / 1024:,.0f} KiB"
    how = f"workers get it with --conf spark.submit.pyFiles={file}"
    click.echo(f"{file}: {size}; {how}", err=True)
    return {"spark.submit.pyFiles": str(Path(file).resolve())}


@dataclass(frozen=True, slots=True)
class Session:
    """The Spark that plays a plan."""

    master: str
    settings: dict[str, str]
    is_loud: bool
    wait_for_workers: float


def _swept(
    loaded: Any,
    plan: str,
    out: str,
    session: Session,
    resume: bool,
    overwrite: bool,
    pauses: bool,
    mark_every: float,
) -> Any:
    """Every point played; the answer."""
    from rebalsim.spark.java import check_packages

    check_packages()  # what is imported next needs them
    from rebalsim.spark import sweep_job
    from rebalsim.spark.run_replay import is_local, local_path
    from rebalsim.spark.session import start_session, stop_session

    if is_local(out) and not (resume or overwrite):
        folder = local_path(out)  # before Spark is waited for
        sweep_job.refuse_to_mix(out, [p.name for p in folder.iterdir()] if folder.is_dir() else [])
    with told_steps() as step:
        step("Starting Spark")
        spark = start_session(
            session.master,
            session.settings,
            is_loud=session.is_loud,
            name=f"rebalsim sweep {Path(plan).stem}",
            is_brief=loaded.points * loaded.seeds < BRIEF,
        )
        try:
            step("Timing a few runs")
            job = sweep_job.interruptibly(
                lambda: sweep_job.prepare(
                    spark,
                    loaded,
                    out,
                    resume=resume,
                    overwrite=overwrite,
                    with_pauses=pauses,
                    chunk_s=mark_every,
                ),
                spark,
                threading.Event(),
                step,
                session.wait_for_workers,
            )
            return played(spark, job, step, session.wait_for_workers)
        finally:
            stop_session(spark)


def played(
    spark: Any, job: Any, step: Callable[[str], None], patience_s: float = WAIT_FOR_WORKERS_S
) -> Answer:
    """Play and conclude, with progress; a Ctrl-C says how to go on."""
    from rebalsim.spark import sweep_job

    seen: list[Progress] = []
    began = time.monotonic()

    def tell(progress: Progress) -> None:
        seen[:] = [progress]
        step(progress_line(progress, time.monotonic() - began))

    def work() -> Answer:
        done = sweep_job.play(spark, job, tell)
        if job.is_resumed and done.skipped_runs:
            click.echo(f"{done.skipped_runs:,} of {done.runs:,} were there already.", err=True)
        step("Concluding")
        return sweep_job.conclude(spark, job)

    try:
        return sweep_job.interruptibly(work, spark, job.stop, step, patience_s)
    except KeyboardInterrupt:
        share = f"{seen[0].runs_done:,.0f} of {seen[0].runs:,} runs" if seen else "nothing"
        click.echo(
            f"\nStopped with {share} played. The table `runs` in {job.store.out} is readable as "
            "far as it goes; "
            "continue with the same command and --resume.",
            err=True,
        )
        raise
    finally:
        job.held.close()


def progress_line(progress: Progress, elapsed_s: float) -> str:
    """`12,400 of 200,000 runs · 815/s · 3 m 50 s left`: time left by the work that is left, for
    runs are not alike.
    """
    from rebalsim.domain.instants import SECOND
    from rebalsim.words.times import say_duration

    fresh = progress.runs_done - progress.skipped_runs
    parts = [f"{progress.runs_done:,.0f} of {progress.runs:,} runs"]
    if elapsed_s > 2 and fresh > 0:
        parts.append(f"{fresh / elapsed_s:,.0f}/s")
        if progress.work_done > 0 and progress.work > progress.work_done:
            left_s = elapsed_s * (progress.work - progress.work_done) / progress.work_done
            parts.append(
                f"{say_duration(round(left_s) * SECOND) if left_s >= 1 else 'a second'} left"
            )
    return " · ".join(parts)


@contextlib.contextmanager
def told_steps() -> Iterator[Callable[[str], None]]:
    """One line that changes on a terminal; a line every half minute elsewhere."""
    is_terminal = sys.stderr.isatty()
    told_at, told, width = [0.0], [""], [0]

    def step(text: str) -> None:
        now = time.monotonic()
        if is_terminal:
            click.echo(f"\r{text.ljust(width[0])}", nl=False, err=True)
            width[0] = len(text)
        elif (" of " not in text and text != told[0]) or now - told_at[0] > 30:
            click.echo(text, err=True)
            told_at[0], told[0] = now, text

    try:
        yield step
    finally:
        if is_terminal:
            click.echo("\r" + " " * width[0] + "\r", nl=False, err=True)


def write_answer(answer: Answer, options: Mapping[str, Any]) -> None:
    """The answer in the form that was asked for; page and picture to their files."""
    from rebalsim.reports.view import View

    for path in forms.write_files(Subject.SWEEP, answer, options, View()):
        click.echo(f"Written to {path}", err=True)
    form = forms.printed_form(Subject.SWEEP, options)
    if form is not None:
        click.echo(form.tells[Subject.SWEEP].render(answer, View()), nl=False)
    else:
        from rich.console import Console

        from rebalsim.reports.sweep_to_terminal import render_answer

        encoding = (sys.stdout.encoding or "ascii").lower()
        render_answer(answer, Console(highlight=False), is_ascii="utf" not in encoding)


def _tables(plan: Any) -> int:
    from rebalsim.spark.schemas import TYPES, described

    for name, row, columns in described(plan):
        click.echo(f"{name}: {row}")
        width = max(len(c.name) for c in columns)
        for column in columns:
            click.echo(
                f"  {column.name.ljust(width)}  {TYPES[column.type].lower():<8}  {column.meaning}"
            )
        click.echo()
    return exits.WITHIN


def _samples(plan: Any) -> str:
    """Which of the plan's variants run the consumer protocol; empty if none does, as its
    scenarios stand.
    """
    from rebalsim.domain.errors import RebalsimError
    from rebalsim.one_run import is_sampled
    from rebalsim.scenario.load import story_of

    found: dict[str, None] = {}
    for base in plan.bases:
        story = story_of(base.text.encode(), base.file)
        for variant in plan.variants or story.variants:
            # what is wrong with a point is told as that point's error
            with contextlib.suppress(RebalsimError):
                if is_sampled(story.scenario(variant)):
                    found[variant] = None
    return f"{' and '.join(found)} {'runs' if len(found) == 1 else 'run'}" if found else ""


def _dry_run(plan: Any, master: str, as_json: bool) -> int:
    from rebalsim.spark.estimate import estimate, sample_points
    from rebalsim.spark.player import player_for
    from rebalsim.spark.session import LOCAL_MASTER, local_cores

    player = player_for(plan)
    cores = local_cores(master or LOCAL_MASTER)
    told = estimate(player, cores or 1)
    sample = sample_points(player, 8)
    if as_json:
        document = _estimated(told, sample)
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        for line in _estimate_told(plan, told, sample, cores):
            click.echo(line)
    return exits.WITHIN


def _seconds_a_run(told: Any) -> float:
    seconds: float = told.probe.order.total() / told.probe.order.size / told.probe.rows
    return seconds


def _estimated(told: Any, sample: Sequence[Any]) -> dict[str, Any]:
    return {
        "grid": told.grid,
        "points": told.points,
        "points_are_exact": told.is_exact,
        "seeds": told.seeds,
        "runs": told.runs,
        "cores": told.cores,
        "timed_runs": told.probe.timed,
        "seconds_per_run": _seconds_a_run(told),
        "estimated_seconds": round(told.seconds, 1),
        "sample": [
            {"point": point, "at": at, **({"problem": why} if why else {})}
            for point, at, why in sample
        ],
    }


def _estimate_told(plan: Any, told: Any, sample: Sequence[Any], cores: int | None) -> Iterator[str]:
    from rebalsim.domain.instants import SECOND
    from rebalsim.words.lists import plural
    from rebalsim.words.times import say_duration

    about = "" if told.is_exact else "about "
    yield plan.title or plan.file
    dropped = f" (of {told.grid:,}; where: drops the others)" if told.points != told.grid else ""
    yield (
        f"{about}{told.points:,} points{dropped} × {plural(told.seeds, 'seed')} × "
        f"{plural(told.probe.rows, 'variant')} = {about}{told.runs:,} runs"
    )
    yield "Such as:"
    for point, at, why in sample:
        settings = " · ".join(f"{k} {v}" for k, v in at.items())
        yield f"  {point:>8}  {settings}{f'   ✗ {why}' if why else ''}"
    if told.impossible:
        yield (
            f"{told.impossible} of {told.sampled} points looked at cannot be; they become rows "
            "with their error."
        )
    where = f"on {plural(cores, 'core')} here" if cores else "of one core; divide by the cluster's"
    rest = "" if told.probe.is_complete else "; not every axis was tried"
    yield (
        f"About {say_duration(round(told.seconds * SECOND))} {where}, Spark's start included "
        f"(a run takes {_seconds_a_run(told) * 1e3:.1f} ms on average, from {told.probe.timed} "
        f"timed{rest})."
    )
