"""`rebalsim check PATH…`: are the budgets of these scenarios kept? A line a budget, and an exit
code that a build can rely on.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rebalsim import __version__
from rebalsim.cli import check_forms, exits
from rebalsim.cli.options import (
    ScenarioPath,
    advise_option,
    allow_code_option,
    seed_option,
    set_option,
)
from rebalsim.cli.progress import forewarn, signs
from rebalsim.domain.errors import InputError
from rebalsim.domain.verdict import Ending

if TYPE_CHECKING:
    from rebalsim.analysis.baseline import Baseline
    from rebalsim.check.many import StoriesChecked, Wanted
    from rebalsim.reports.check_report import CheckReport, Comparison


class Percent(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """`5%`, as a share."""

    name = "percent"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"\s*(\d{1,6}(?:\.\d{1,6})?)\s*%\s*", str(value))
        if not found:
            self.fail(
                f"'{value}' is no percentage — write one such as 5% (0% allows nothing to get "
                "worse)",
                param,
                ctx,
            )
        return float(found.group(1)) / 100


@click.command(
    "check",
    epilog="Examples: rebalsim check scenarios · rebalsim check scenarios --baseline pauses.json "
    "--max-regression 5%",
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=ScenarioPath())
@click.option(
    "--only",
    multiple=True,
    metavar="WHAT",
    help="These budgets only: a metric, a variant, a part of a name, a pattern. Repeatable.",
)
@click.option("--fail-fast", is_flag=True, help="Stop at the first scenario that fails.")
@click.option(
    "--require-budgets", is_flag=True, help="A scenario without budgets is an error (exit 2)."
)
@click.option(
    "--runs",
    type=click.IntRange(1, 1_000_000),
    metavar="N",
    help="Judge over N seeds, instead of the scenario's.",
)
@seed_option
@set_option
@click.option(
    "--what-if",
    is_flag=True,
    help="With --set: say which budgets flip and what each metric does; exits as the changed "
    "story would.",
)
@click.option(
    "--baseline",
    "baseline_file",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Tell what changed against this baseline.",
)
@click.option(
    "--max-regression",
    type=Percent(),
    metavar="PERCENT",
    help="With --baseline: fail where a metric got worse by more than this; what got worse by less "
    "than 0.1 % is not told.",
)
@click.option(
    "--save-baseline",
    "saved_file",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write what was measured to a file to commit.",
)
@click.option(
    "--update",
    is_flag=True,
    help="Tighten the budgets in the files to what was observed; never loosens one.",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 1024),
    metavar="N",
    help="So many processes.  [default: one for each core]",
)
@advise_option(200_000)
@check_forms.form_options
@allow_code_option
def command(
    paths: tuple[str, ...],
    only: tuple[str, ...],
    fail_fast: bool,
    require_budgets: bool,
    runs: int | None,
    seed: int | None,
    overrides: tuple[str, ...],
    what_if: bool,
    baseline_file: str | None,
    max_regression: float | None,
    saved_file: str | None,
    update: bool,
    jobs: int | None,
    advise: int | None,
    allow_code: bool,
    **options: Any,
) -> int:
    """Play the scenarios and hold each budget against what they cost.

    PATH is a scenario file, a folder (with all below it) or a quoted pattern such as
    'deploys/**/*.yaml'. Plans are passed over. Exit 0: every budget is kept; 1: one is broken;
    2: a scenario or an option is wrong; 3: nothing is broken, but a pause that had not ended
    could still break a budget; 70: a bug in rebalsim.

    It gives verdicts, for CI: `run` shows what a story comes to, and why.
    """
    check_forms.refuse_two_forms(options)
    is_changed = bool(overrides) or seed is not None or runs is not None
    _refuse_first(
        {
            _WHAT_IF_NOTHING: what_if and not overrides,
            _WHAT_IF_OF_STDIN: what_if and "-" in paths,
            _REGRESSION_OF_NOTHING: max_regression is not None and baseline_file is None,
            _UPDATE_OF_OTHERS: update and (is_changed or bool(only)),
            _SAVED_OF_OTHERS: saved_file is not None and (bool(overrides) or bool(only)),
        }
    )
    from rebalsim.check.many import Wanted

    baseline = _read_baseline(baseline_file) if baseline_file else None
    saved_over = _saved_before(saved_file) if saved_file else None
    job = Job(
        paths,
        Wanted(
            (*overrides, *([f"seed={seed}"] if seed is not None else [])),
            allow_code,
            runs,
            only,
            jobs,
            fail_fast,
            require_budgets,
            baseline,
            with_metrics=bool(baseline or saved_file or what_if),
            advise=advise,
            is_saving=saved_file is not None,
        ),
        overrides,
        what_if,
        baseline_file,
        max_regression,
    )
    began = time.monotonic()
    report, outcome = job.report()
    if saved_file and outcome is not None:
        report = _save(saved_file, saved_over, report, outcome)
    if update and outcome is not None:
        report = _update(report, outcome)
    report = replace(report, seconds=time.monotonic() - began)
    check_forms.emit(report, options)
    return exits.OF_CHECKS[report.ending]


_WHAT_IF_NOTHING = "--what-if asks what settings would do — say which with --set PATH=VALUE"
_WHAT_IF_OF_STDIN = "--what-if plays the file twice, and standard input is read once — name a file"
_REGRESSION_OF_NOTHING = "--max-regression is against a baseline — name one with --baseline FILE"
_UPDATE_OF_OTHERS = (
    "--update writes what the files themselves cost — leave out --set, --seed, --runs and --only"
)
_SAVED_OF_OTHERS = (
    "--save-baseline saves what the files themselves cost — leave out --set and --only"
)


def _refuse_first(told: Mapping[str, bool]) -> None:
    """The first of these sentences that is so."""
    for why, is_so in told.items():
        if is_so:
            raise click.UsageError(why)


@dataclass(frozen=True, slots=True)
class Job:
    """What was asked for."""

    paths: tuple[str, ...]
    wanted: Wanted
    overrides: tuple[str, ...]
    is_what_if: bool
    baseline_file: str | None
    max_regression: float | None

    def report(self) -> tuple[CheckReport, StoriesChecked | None]:
        """Everything that was found, and the figures."""
        from rebalsim.check.find import find_files
        from rebalsim.check.many import check_files
        from rebalsim.reports.check_report import CheckReport

        found = find_files(self.paths)
        flips = None
        with signs() as shown:
            outcome = check_files(found.files, self.wanted, shown.played, shown.trying, forewarn)
            if self.is_what_if:
                from rebalsim.check.what_if import flips_of

                before = check_files(
                    found.files,
                    replace(
                        self.wanted,
                        overrides=tuple(
                            o for o in self.wanted.overrides if o not in self.overrides
                        ),
                    ),
                    shown.played,
                    shown.trying,
                )
                flips = flips_of(before, outcome)
        report = CheckReport(
            tuple(outcome.stories),
            __version__,
            flips=flips,
            overrides=self.overrides,
            skipped=found.plans,
            is_cut_short=outcome.is_cut_short,
            comparison=self._comparison(outcome),
        )
        return report, outcome

    def _comparison(self, outcome: StoriesChecked) -> Comparison | None:
        if self.baseline_file is None or self.wanted.baseline is None:
            return None
        from rebalsim.analysis.baseline import Baseline, compare
        from rebalsim.check.many import name_in_baseline
        from rebalsim.reports.baseline_told import line_changed, what_changed
        from rebalsim.reports.check_report import Comparison

        now = Baseline(
            __version__,
            {name_in_baseline(file): variants for file, variants in outcome.tallies.items()},
        )
        was = self.wanted.baseline
        reasons = {
            (file, v): why
            for file, variants in now.stories.items()
            for v in variants
            if (why := what_changed(was, now, file, v, _lines_of(outcome, file, v)))
        }
        lines = {
            (file, v): line_changed(was, now, file, v, _lines_of(outcome, file, v))
            for file, variants in now.stories.items()
            for v in variants
        }
        gone = (
            ()
            if outcome.is_cut_short
            else tuple(file for file in was.stories if file not in now.stories)
        )
        return Comparison(
            self.baseline_file,
            compare(was, now),
            reasons,
            self.max_regression,
            gone,
            was.rebalsim,
            lines,
            _still_open(was, now),
        )


def _still_open(was: Baseline, now: Baseline) -> dict[tuple[str, str], tuple[str, ...]]:
    """By file and variant, the metrics that the baseline knows and that this check leaves
    undecided.
    """
    from rebalsim.domain.metrics import METRICS
    from rebalsim.domain.unit import Better

    return {
        (file, variant): tuple(
            name
            for name in one.still_open
            if name in was.stories[file][variant].metrics and METRICS[name].better != Better.NEITHER
        )
        for file, variants in now.stories.items()
        for variant, one in variants.items()
        if variant in was.stories.get(file, {})
    }


def _lines_of(outcome: StoriesChecked, file: str, variant: str) -> Callable[[str], int]:
    """Where the file says a setting of this variant; 0 where it does not."""
    from rebalsim.analysis.baseline import name_in_baseline

    stories = {name_in_baseline(name): story for name, story in outcome.loaded.items()}
    story = stories.get(file)

    def line_of(key: str) -> int:
        if story is None:
            return 0
        name, _, setting = key.rpartition(" ")
        seats = story.resolver(variant).seats
        whose = name or next(iter(seats), "")
        kind = "consumer" if whose else "cluster"
        line, _, text, _ = story.place_of(kind, whose, setting, variant)
        return line if setting in text else 0

    return line_of


# -------------------------------------------------------------------------------------------- files


MOST_OF_BASELINE = 32 << 20


def _read_baseline(name: str) -> Baseline:
    from rebalsim.outside.files import read_text
    from rebalsim.outside.rule import taken_from
    from rebalsim.reports.baseline_file import parse

    if not Path(name).exists():
        raise InputError(
            f"{name}: there is no such baseline — `rebalsim check … --save-baseline {name}` "
            "writes it"
        )
    next_step = "name a baseline that --save-baseline wrote"
    with taken_from(name, next_step):
        return parse(read_text(name, MOST_OF_BASELINE), name)


def _saved_before(name: str) -> Baseline | None:
    """What is in the file that will be written; a file that is no baseline is not overwritten."""
    if not Path(name).exists():
        return None
    try:
        return _read_baseline(name)
    except InputError as e:
        raise InputError(
            f"{e}\n{name} exists and is no baseline that can be read, so it is not overwritten — "
            "remove it first, or name another file"
        ) from None


def _save(
    name: str, before: Baseline | None, report: CheckReport, outcome: StoriesChecked
) -> CheckReport:
    """The new figures over those of files that are still there and were not checked now."""
    from rebalsim.analysis.baseline import Baseline
    from rebalsim.check.many import name_in_baseline
    from rebalsim.cli.files import write_text
    from rebalsim.reports.baseline_file import render

    if outcome.is_cut_short or any(
        s.ending in (Ending.INVALID, Ending.BUG) for s in report.stories
    ):
        return replace(
            report,
            problems=(
                *report.problems,
                f"{name}: not written, because not every scenario could be judged",
            ),
        )
    kept = {
        file: variants
        for file, variants in (before.stories if before is not None else {}).items()
        if Path(file).is_file()
    }
    stories = {
        **kept,
        **{name_in_baseline(file): variants for file, variants in outcome.tallies.items()},
    }
    write_text(name, render(Baseline(__version__, stories)))
    click.echo(
        f"Baseline of {len(stories)} scenario{'s' if len(stories) != 1 else ''} written to "
        f"{name}; commit it.",
        err=True,
    )
    return report


def _update(report: CheckReport, outcome: StoriesChecked) -> CheckReport:
    from rebalsim.check.ratchet import tightened
    from rebalsim.cli.files import write_text

    for checked in report.stories:
        story, path = outcome.loaded.get(checked.file), Path(checked.file)
        if story is None or checked.ending in (Ending.INVALID, Ending.BUG) or not path.is_file():
            continue
        text, changes = tightened(story, path.read_bytes().decode("utf-8"), checked)
        if changes:
            write_text(path, text)
        for change in changes:
            click.echo(
                f"{checked.file}:{change.line}: {change.metric} {change.before} → {change.after}",
                err=True,
            )
    return report
