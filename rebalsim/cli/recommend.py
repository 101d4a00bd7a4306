"""`rebalsim recommend SCENARIO --budget …`: the smallest change that meets the budgets, and what
it costs elsewhere.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rebalsim.cli import exits
from rebalsim.cli.files import OUTPUT_FILE, write_text
from rebalsim.cli.options import ScenarioPath, allow_code_option
from rebalsim.cli.sweep import CONF_HELP, parse_conf, played, told_steps

if TYPE_CHECKING:
    from rebalsim.domain.answer import Answer, PointSaid
    from rebalsim.domain.sweep import Base, Plan
    from rebalsim.scenario.story import Story
    from rebalsim.spark.recommend import Choice, Expelled


@click.command(
    "recommend",
    epilog='Example: rebalsim recommend scale-out --budget "longest_pause <= 1s" --over '
    "heartbeat.interval.ms,session.timeout.ms",
)
@click.argument("scenario", type=ScenarioPath())
@click.option(
    "--budget",
    "budgets",
    multiple=True,
    metavar="LIMIT",
    help='What must be met, as in "longest_pause <= 5s". Repeatable.  [default: the scenario\'s]',
)
@click.option(
    "--over",
    default="",
    metavar="KEYS",
    help="Settings to turn, by Kafka's keys and commas; members too.  "
    "[default: session.timeout.ms, heartbeat.interval.ms, max.poll.interval.ms, "
    "max.poll.records; the brokers' under the consumer protocol; of Kafka Connect "
    "scheduled.rebalance.max.delay.ms before the workers' session and heartbeat]",
)
@click.option(
    "--variant",
    "variants",
    multiple=True,
    metavar="NAME",
    help="Variants to choose from; the first is how it is now. Repeatable.  [default: the "
    "scenario's]",
)
@click.option(
    "--seeds",
    type=click.IntRange(1, 1000),
    default=None,
    help="How many seeds each choice must meet the budgets with.  [default: 20]",
)
@click.option(
    "--gc-pauses",
    metavar="EVERY:LENGTH",
    default="",
    help="Pauses that healthy members suffer, as in 10m:1s..8s.  [default: the scenario's random "
    "freezes]",
)
@click.option(
    "--cuts",
    metavar="EVERY:LENGTH",
    default="",
    help="Network cuts that healthy members suffer, likewise.  [default: the scenario's random "
    "cuts]",
)
@click.option("--out", metavar="DIR", help="Keep what was tried here.  [default: thrown away]")
@click.option("--html", type=OUTPUT_FILE, metavar="FILE", help="Write the whole search as a page.")
@click.option("--json", "as_json", is_flag=True, help="Print the recommendation as JSON.")
@click.option(
    "--master",
    default="",
    metavar="URL",
    help="Spark's master.  [default: all cores of this machine]",
)
@click.option("--conf", multiple=True, metavar="K=V", help=CONF_HELP)
@click.option(
    "--spark",
    "is_on_spark",
    is_flag=True,
    help="Search the whole grid of usual values, on Spark; --master, --html, --gc-pauses and "
    "--cuts do, too.",
)
@click.option(
    "--events",
    type=click.IntRange(1, 10**12),
    metavar="N",
    help="How many events may be played in this process.  [default: 700,000]",
)
@click.option("--dry-run", is_flag=True, help="Say what would be played, and how long that takes.")
@click.option("--resume", is_flag=True, help="Go on with what --out DIR kept.")
@click.option(
    "--apply",
    "is_applied",
    is_flag=True,
    help="Write the smallest change into the scenario's file; its comments stay.",
)
@allow_code_option
def command(
    scenario: str,
    budgets: tuple[str, ...],
    over: str,
    variants: tuple[str, ...],
    seeds: int | None,
    gc_pauses: str,
    cuts: str,
    out: str | None,
    html: str | None,
    as_json: bool,
    master: str,
    conf: tuple[str, ...],
    is_on_spark: bool,
    events: int | None,
    dry_run: bool,
    resume: bool,
    is_applied: bool,
    allow_code: bool,
) -> int:
    """Find the smallest change of a scenario that keeps its budgets, over seeds and wherever its
    faults strike, and say what the change costs elsewhere.

    Played in this process: what the causes propose, then single settings, then pairs. Exit 1
    where nothing that was tried keeps them.

    It looks for one change: `sweep` maps all points of a grid, and `run` tries single remedies for
    what it tells.
    """
    searched = tuple(k.strip() for k in over.split(",") if k.strip())
    is_grid = is_on_spark or master or html or gc_pauses or cuts or conf
    if is_grid and (events or dry_run or resume or is_applied):
        raise click.UsageError(
            "--events, --dry-run, --resume and --apply are for the search in this process — leave "
            "out what asks for Spark."
        )
    if not is_grid:
        from rebalsim.cli.searching import search_here

        return search_here(
            scenario,
            budgets,
            searched,
            variants,
            seeds,
            events,
            out,
            resume,
            is_applied,
            dry_run,
            as_json,
            allow_code,
        )
    from rebalsim.spark.java import check_packages

    check_packages()  # what is imported next needs them
    grid = _grid(scenario, budgets, searched, variants, seeds, allow_code)
    return grid.search({"freeze": gc_pauses, "cut": cuts}, out, html, as_json, master, conf)


def _grid(
    scenario: str,
    budgets: tuple[str, ...],
    searched: tuple[str, ...],
    variants: tuple[str, ...],
    seeds: int | None,
    allow_code: bool,
) -> Grid:
    from rebalsim.domain.errors import InputError
    from rebalsim.scenario.load import code_folder
    from rebalsim.spark import recommend
    from rebalsim.spark.plans import find_base, story_of_base

    try:
        base = find_base(scenario, Path())
    except LookupError as e:
        raise InputError(str(e.args[0])) from None
    story = story_of_base(base, code_folder(allow_code)).check()
    named = variants or story.variants
    for name in named:
        story.scenario(name)
    if not budgets and not story.budgets:
        raise click.UsageError(
            f"{scenario} has no budgets — say what must be met with --budget, as in --budget "
            '"longest_pause <= 5s"'
        )
    keys = searched or recommend.usual_of(story, named[0])
    seeds = seeds or recommend.seeds_for(story, named)
    plan = recommend.plan_for(base, story, budgets, keys, named, seeds)
    return Grid(replace(plan, code_from=story.code_from), base, story, keys, named)


@dataclass(frozen=True, slots=True)
class Grid:
    """The usual values of some settings of a story, to be searched on Spark."""

    plan: Plan
    base: Base
    story: Story
    keys: tuple[str, ...]
    variants: tuple[str, ...]

    def search(
        self,
        own_faults: dict[str, str],
        out: str | None,
        html: str | None,
        as_json: bool,
        master: str,
        conf: tuple[str, ...],
    ) -> int:
        """Play it all, tell what was found, and say with which code the command ends.
        `own_faults`: by their kind, those that take the place of the scenario's.
        """
        from rebalsim.spark import recommend
        from rebalsim.spark.session import start_session, stop_session

        faults = recommend.faults_of(self.story, self.variants[0], own_faults)
        name, confs = f"rebalsim recommend {self.base.name}", parse_conf(conf)
        with tempfile.TemporaryDirectory(prefix="rebalsim-") as scratch, told_steps() as step:
            step("Starting Spark")
            spark = start_session(master, confs, name=name, is_brief=True)
            try:
                found = self._found(spark, out or str(Path(scratch) / "search"), step)
                if found.choices and found.choices[0].turns:
                    step("Playing a day of faults" if faults else "Concluding")
                    for number, fault in enumerate(faults):
                        folder = str(Path(scratch) / f"faults{number}")
                        found.expelled.append(self._day(spark, folder, fault, found.choices[0]))
            finally:
                stop_session(spark)
        self._tell(found, html, as_json)
        return exits.WITHIN if found.choices else exits.BROKEN

    def _found(self, spark: Any, out: str, step: Callable[[str], None]) -> Found:
        from rebalsim.spark import recommend, sweep_job
        from rebalsim.spark.answers import Asker

        job = sweep_job.prepare(spark, self.plan, out, probe_s=5.0)
        answer = played(spark, job, step)
        asker = Asker(sweep_job.tables_of(spark, self.plan, job.store))
        now = recommend.as_it_is(asker, self.variants)
        choices = recommend.choices(asker, self.story, self.keys, self.variants)
        return Found(
            answer,
            now,
            recommend.budgets_broken(asker, now) if now is not None else (),
            choices,
            None if choices else recommend.closest(asker),
        )

    def _day(self, spark: Any, folder: str, fault: tuple[str, str, str], best: Choice) -> Expelled:
        """A day of such faults, as it is and as recommended."""
        from rebalsim.spark import recommend, sweep_job
        from rebalsim.spark.answers import Asker

        cases = {"as it is": (), "recommended": best.point.settings}
        day = recommend.day_of_faults(self.base, fault, cases, best.point.variant, 2)
        day = replace(day, code_from=self.plan.code_from)
        job = sweep_job.prepare(spark, day, folder, probe_s=1.0)
        sweep_job.play(spark, job)
        job.held.close()
        sweep_job.tables_of(spark, day, job.store).write()
        return recommend.expelled(Asker(sweep_job.tables_of(spark, day, job.store)), fault)

    def _tell(self, found: Found, html: str | None, as_json: bool) -> None:
        if html:
            from rebalsim.reports.sweep_to_html import render as to_html

            write_text(html, to_html(found.answer))
            click.echo(f"Page written to {html}", err=True)
        if as_json:
            document = _document(self.plan, found.now, found.choices, found.expelled)
            click.echo(json.dumps(document, ensure_ascii=False, indent=2))
            return
        from rebalsim.reports.recommendation import render_recommendation

        for line in render_recommendation(
            found.answer,
            found.now,
            found.broken,
            found.choices,
            found.near,
            self.story.scenario(self.variants[0]),
            found.expelled,
        ):
            click.echo(line)


@dataclass(frozen=True, slots=True)
class Found:
    """What the search of a grid came to."""

    answer: Answer
    now: PointSaid | None  # the point as it is
    broken: Any  # which budgets it breaks
    choices: list[Choice]
    near: PointSaid | None  # where there is no choice: what comes nearest
    expelled: list[Expelled] = field(default_factory=list)


def _document(plan: Any, now: Any, found: list[Choice], expelled: list[Expelled]) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "kind": "recommendation",
        "title": plan.title,
        "as_it_is": None if now is None else {"verdict": now.verdict, "broken": list(now.broken)},
        "choices": [
            {
                "changes": [
                    {"setting": t.name, "before": t.before, "after": t.after} for t in c.turns
                ],
                "variant": c.point.variant,
                "settings": dict(c.point.settings),
                "metrics_worst": {name: values[2] for name, values in c.point.metrics.items()},
            }
            for c in found
        ],
        "expelled_a_day": [
            {
                "kind": e.kind,
                "about_every": e.every,
                "for": e.for_,
                "before": e.before,
                "after": e.after,
            }
            for e in expelled
        ],
    }
