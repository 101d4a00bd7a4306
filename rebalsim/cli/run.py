"""`rebalsim run SCENARIO`: play a story in all its variants, side by side, and tell what stood
still.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rebalsim.cli.advising import advisor_for, with_remedies
from rebalsim.cli.exits import BROKEN
from rebalsim.cli.forms import printed_form
from rebalsim.cli.judging import conclude, judge_for
from rebalsim.cli.options import (
    advise_option,
    allow_code_option,
    load_story,
    scenario_argument,
    seed_option,
    set_option,
    variant_option,
    wire_option,
)
from rebalsim.cli.progress import forewarn, progress
from rebalsim.cli.report_options import emit, form_options, view_from, view_options
from rebalsim.domain.collector import seldom_collecting
from rebalsim.reports.forms.form import Subject
from rebalsim.reports.names import safe
from rebalsim.words.times import say_duration

if TYPE_CHECKING:
    from collections.abc import Callable

    from rebalsim.advice.advise import Advisor
    from rebalsim.analysis.over_seeds import OverSeeds
    from rebalsim.check.one_story import StoryJudge
    from rebalsim.one_run import Run
    from rebalsim.reports.report import Report, VariantReport
    from rebalsim.reports.view import View
    from rebalsim.scenario.story import Story
    from rebalsim.trace.trace import Trace


@click.command(
    "run",
    epilog="Examples: rebalsim run scale-out · rebalsim run my.yaml --runs 100 --html my.html",
)
@scenario_argument
@variant_option
@set_option
@seed_option
@click.option(
    "--runs",
    type=click.IntRange(1, 1_000_000),
    metavar="N",
    help="Play N seeds from the first one on, the same for every variant; tells p50, p95 and max.",
)
@click.option(
    "--check-invariants",
    is_flag=True,
    help="Hold every run against what must be true in any (exit 70 if it is not).",
)
@click.option(
    "--plain",
    is_flag=True,
    help="Skip no quiet time: every poll, batch and heartbeat is played. Slow; the same output.",
)
@click.option("--dense", "plain", is_flag=True, hidden=True)
@wire_option
@advise_option(200_000)
@form_options
@view_options
@allow_code_option
def command(
    scenario: str,
    variant: str | None,
    overrides: tuple[str, ...],
    seed: int | None,
    runs: int | None,
    check_invariants: bool,
    plain: bool,
    wire: bool,
    advise: int | None,
    allow_code: bool,
    **options: Any,
) -> int:
    """Play SCENARIO, a file or the name of a stock story, and tell which partitions stood still,
    for how long, and why.

    Every variant of its `replay` is played, eager and cooperative if it names none (Connect's
    workers alone: as they are). A scenario with budgets ends as `rebalsim check` would.

    It tells one story at length: `check` judges many in a line each, `report` tells what has
    happened already, and `compare` holds two against each other.
    """
    view = view_from(options)
    story = load_story(scenario, overrides, allow_code, seed)
    trace_file = options.pop("trace_file", None)
    player = Player(story, scenario, overrides, runs or story.runs, check_invariants, trace_file)
    player.on_wire = {} if wire else None
    if wire and trace_file is None and printed_form(Subject.RUNS, options) is not None:
        raise click.UsageError("--wire is for the text, or for --trace FILE — name a file.")
    variants = [variant] if variant is not None else list(story.variants)
    player.variants = variants
    player.advisor = advisor_for(story, advise)
    player.judge = judge_for(story, variants, player.runs, player.command)
    _say_beforehand(player)
    try:
        with plain_if(plain), progress(player.runs * len(variants)) as step:
            played = [player.play(name, len(variants) > 1, step) for name in variants]
    except KeyboardInterrupt:
        for line in player.so_far(len(variants)):
            click.echo(line, err=True)
        raise
    budgets, code = conclude(player.judge)
    played = with_remedies(played, player.advisor, player.judge)
    with seldom_collecting():
        emit(replace(report_on(player, played), budgets=budgets), options, view)
    if wire and trace_file is None:
        tell_wire(player, view)
    for hint in (warnings_said(story, scenario, overrides), way_out(player, code)):
        if hint:
            click.echo(hint, err=True)
    return code


def _say_beforehand(player: Player) -> None:
    """What will not fit is refused before any variant is played, and what takes long is said."""
    from rebalsim.one_run import is_sampled, refuse_what_will_not_fit, spread_seeds
    from rebalsim.scenario.scale import why_it_takes_long

    scenarios = [player.story.scenario(variant) for variant in player.variants]
    for scenario in scenarios:
        refuse_what_will_not_fit(scenario)
    played = [
        (one, spread_seeds(one) if player.runs == 1 and is_sampled(one) else player.runs)
        for one in scenarios
    ]
    if said := why_it_takes_long(played):
        forewarn(f"{player.file}: {said}")


@contextmanager
def plain_if(is_plain: bool) -> Iterator[None]:
    """With `--plain` nothing is skipped."""
    if not is_plain:
        yield
        return
    from rebalsim.simulation.world import plainly

    with plainly():
        yield


def tell_wire(player: Player, view: View) -> None:
    """What went over the wire in each variant's first run, in the part that the view shows."""
    from rebalsim.reports.event_table import render

    for variant, trace in (player.on_wire or {}).items():
        click.echo(f"\nOn the wire: {variant}")
        click.echo(render(trace, view), nl=False, color=view.is_coloured or None)


def way_out(player: Player, code: int) -> str:
    """Where a Connect cluster breaks a budget, the command that looks for a delay that keeps it."""
    clusters = (player.story.scenario(name).connect for name in player.variants)
    if code != BROKEN or player.overrides or not any(clusters):
        return ""
    again = shlex.join(["rebalsim", "recommend", player.file])
    return f"what keeps the budgets, such as a delay that fits: {safe(again)}"


def warnings_said(story: Story, file: str, overrides: Sequence[str]) -> str:
    """How many warnings lint has on the story, and the command that tells them; nothing where
    there is none.
    """
    from rebalsim.lint.registry import check

    found = len([p for p in story.problems() if p.is_warning]) + len(check(story))
    if not found:
        return ""
    again = shlex.join(
        [
            "rebalsim",
            "lint",
            file,
            *(word for override in overrides for word in ("--set", override)),
        ]
    )
    return f"{found} warning{'s' if found > 1 else ''} on this story: {safe(again)}"


class Player:
    """Plays one story's variants over its seeds, keeping the first run of each."""

    def __init__(
        self,
        story: Story,
        file: str,
        overrides: Sequence[str],
        runs: int,
        checks: bool,
        trace_file: str | None,
    ) -> None:
        self.story = story
        self.file = file
        self.overrides = overrides
        self.runs = runs
        self.checks = checks
        self.trace_file = trace_file
        self.judge: StoryJudge | None = None
        self.advisor: Advisor | None = None
        self.variants: Sequence[str] = story.variants  # those that are played
        # variant → its first run with every request and answer, where that is asked for
        self.on_wire: dict[str, Trace] | None = None
        self.over: dict[str, OverSeeds] = {}  # variant → what its runs came to until now

    def so_far(self, variants: int) -> Iterator[str]:
        """What is known when somebody has waited long enough."""
        done = sum(len(over.seeds) for over in self.over.values())
        yield f"\nStopped after {done:,} of {self.runs * variants:,} runs."
        for variant, over in self.over.items():
            if known := over.known("longest_pause"):
                p50, p95 = over.at("longest_pause", 50), over.at("longest_pause", 95)
                told = [
                    f"{name} {say_duration(round(value))}"
                    for name, value in (("p50", p50), ("p95", p95), ("max", known[-1]))
                    if value is not None
                ]
                yield (
                    f"  {variant}: longest pause of {len(over.seeds):,} runs {', '.join(told)}; "
                    f"the worst came with seed {over.worst_seed('longest_pause')}"
                )

    def command(self, variant: str = "", seed: int | None = None) -> str:
        """What repeats it."""
        parts = ["rebalsim", "run", self.file]
        parts += ["--variant", variant] if variant else []
        parts += ["--seed", str(self.story.seed if seed is None else seed)]
        for override in self.overrides:
            parts += ["--set", override]
        return shlex.join(parts)

    def play(self, variant: str, one_of_several: bool, step: Callable[[], None]) -> VariantReport:
        """Every seed of one variant."""
        from rebalsim.analysis.over_seeds import OverSeeds
        from rebalsim.cli.sources import sampled
        from rebalsim.one_run import run_once
        from rebalsim.reports.report import VariantReport

        scenario = self.story.scenario(variant)
        kept: Run | None = None
        over = self.over[variant] = OverSeeds()
        for seed in range(scenario.seed, scenario.seed + self.runs):
            run = run_once(scenario, seed)
            run.trace.header.command = self.command(variant, seed)
            if self.checks:
                self._check(run, variant, seed)
            if self.judge is not None:
                self.judge.add(variant, seed, run.analysis)
            trace = self._told(run, variant, seed)
            self._advised(variant, seed, run.analysis)
            if self.trace_file:
                from rebalsim.trace.jsonl import write_trace

                write_trace(
                    trace,
                    trace_path(self.trace_file, variant, seed, one_of_several or self.runs > 1),
                )
            if self.runs > 1:
                over.add(seed, run.analysis)
            kept = kept or run
            step()
        assert kept is not None
        spread, told = sampled(
            scenario,
            kept.trace,
            over if self.runs > 1 else None,
            map(self.story.scenario, self.variants),
            lambda seed, analysis: self._seen(variant, seed, analysis),
        )
        shown = [self._shown(variant, scenario.seed, over)] if self.runs > 1 else []
        notes = (*scenario.notes, *told, *shown)
        return VariantReport(variant, kept.analysis, scenario.heading, self.file, spread, notes)

    def _shown(self, variant: str, seed: int, over: OverSeeds) -> str:
        """Which of several seeds is shown, and which was the worst."""
        worst, longest = over.worst_seed("longest_pause"), over.known("longest_pause")
        shown = f"Shown is seed {seed}, the first of {self.runs:,}"
        if worst is None or longest[0] == longest[-1]:
            return f"{shown}."
        if worst == seed:
            return f"{shown}, which has the longest pause of all."
        again = self.command(variant, worst)
        return f"{shown}; the longest pause of all came with seed {worst}: {again}"

    def _seen(self, variant: str, seed: int, analysis: Any) -> None:
        """Take in one more seed of a variant that is told over several seeds: it is judged, and
        advised from.
        """
        if self.judge is not None:
            self.judge.add(variant, seed, analysis)
        self._advised(variant, seed, analysis)

    def _told(self, run: Run, variant: str, seed: int) -> Trace:
        """The run's trace as it is to be told: of the whole wire, if that is asked for."""
        if self.on_wire is None or (self.trace_file is None and variant in self.on_wire):
            return run.trace
        from rebalsim.one_run import on_the_wire

        trace = on_the_wire(self.story.scenario(variant), seed)
        trace.header.command = run.trace.header.command
        self.on_wire.setdefault(variant, trace)
        return trace

    def _advised(self, variant: str, seed: int, analysis: Any) -> None:
        if self.advisor is not None:
            self.advisor.saw(variant, seed, analysis)

    def _check(self, run: Run, variant: str, seed: int) -> None:
        broken = run.analysis.violations
        if broken:
            from rebalsim.domain.errors import BugError

            more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
            raise BugError(
                f"{broken[0].rule} at {broken[0].at_us / 1e6:.6f} s in {variant}, seed {seed}: "
                f"{broken[0].text}{more}. "
                f"Repeat it with: {self.command(variant, seed)} --check-invariants"
            )


def report_on(player: Player, played: list[VariantReport]) -> Report:
    """The report of all variants."""
    from rebalsim.cli.sources import report_on as told

    report = told(player.file, played, player.command())
    return replace(
        report, title=player.story.title or report.title, description=player.story.description
    )


def trace_path(name: str, variant: str, seed: int, is_one_of_several: bool) -> Path:
    """The file itself for one run; of several, `.VARIANT.SEED` before the suffix."""
    path = Path(name)
    if not is_one_of_several:
        return path
    suffix = ".jsonl.gz" if path.name.endswith(".jsonl.gz") else path.suffix
    stem = path.name.removesuffix(suffix) if suffix else path.name
    safe = "".join(c if c.isalnum() or c in "-_" else "-" for c in variant)
    return path.with_name(f"{stem}.{safe}.{seed}{suffix}")
