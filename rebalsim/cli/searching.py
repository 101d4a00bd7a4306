"""`rebalsim recommend` in this process: says what it will play, searches, keeps what was tried, tells
what it came to, and writes the first choice into the file where that is asked for.
"""

from __future__ import annotations

import json
import shlex
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rebalsim import __version__
from rebalsim.cli import exits, terminal
from rebalsim.cli.options import load_story
from rebalsim.cli.progress import signs
from rebalsim.domain.budget import Level
from rebalsim.domain.errors import InputError, ProblemsError
from rebalsim.domain.instants import SECOND
from rebalsim.words.times import say_duration

if TYPE_CHECKING:
    from rebalsim.advice.search import Search
    from rebalsim.advice.tried import Choice, Found, RunSaid
    from rebalsim.domain.scenario import Scenario
    from rebalsim.scenario.story import Story

TRIED = "tried.jsonl"
COLD_S = 1.0  # the first run loads much; where it was this short, a second one is timed


def search_here(
    scenario: str,
    budgets: Sequence[str],
    over: Sequence[str],
    variants: Sequence[str],
    seeds: int | None,
    events: int | None,
    folder: str | None,
    resume: bool,
    is_applied: bool,
    is_dry: bool,
    as_json: bool,
    allow_code: bool,
) -> int:
    """The whole command without Spark."""
    from rebalsim.advice.search import DEFAULT_EVENTS, SEEDS, Search, budgets_of

    story = _asked(load_story(scenario, (), allow_code), scenario, budgets)
    named = tuple(variants) or story.variants
    for name in named:
        story.scenario(name)
    _check_over(over)
    if resume and not folder:
        raise click.UsageError("--resume continues what --out DIR kept — name that folder.")
    asked = list(dict.fromkeys(b for name in named for b in budgets_of(story, name)))
    if not asked:
        raise InputError(
            f"{scenario}: none of its budgets can be searched for: they are relative or only warn "
            '— say one with --budget, as in --budget "longest_pause <= 5s"'
        )
    limit = DEFAULT_EVENTS if events is None else events
    click.echo(_plan(story, named, over, limit), err=True)
    if is_dry:
        return exits.WITHIN
    with _journal(folder, resume, story, named) as (known, note), signs() as shown:

        def step(what: str, done: int) -> None:
            shown.clear()
            click.echo(f"  {what} ({done:,} events so far)", err=True)

        def watch(events: int) -> None:
            shown.searching(limit - search.purse.left, limit)

        search = Search(story, named, limit, over, seeds or SEEDS, known, note, step, watch)
        try:
            found = search.run()
        except KeyboardInterrupt:
            _told_so_far(search, folder)
            raise
    if not found.all_tried:
        raise InputError(
            f"A single run of this story costs more than {limit:,} events — allow more with "
            "--events, or make its horizon shorter"
        )
    if as_json:
        from rebalsim.reports.search_told import document_of

        click.echo(json.dumps(document_of(found, asked), ensure_ascii=False, indent=2))
    else:
        _print_found(story, scenario, found, asked, _left_aside(story, named, asked))
    if is_applied and found.choices:
        _apply(scenario, found.choices[0])
    return exits.WITHIN if found.choices else exits.BROKEN


def _asked(story: Story, scenario: str, budgets: Sequence[str]) -> Story:
    """The story with the budgets that the command asks for, or its own."""
    if budgets:
        from rebalsim.advice.limits import budget_of

        limits = [dict([budget_of(text)]) for text in budgets]
        for text, limit in zip(budgets, limits):
            _check_budget(story, text, limit)
        story = story.with_overrides([("budgets", limits), ("expect", [])]).check()
    if not story.budgets:
        raise click.UsageError(
            f"{scenario} has no budgets — say what must be met with --budget, as in --budget "
            '"longest_pause <= 5s"'
        )
    return story


def _check_budget(story: Story, text: str, limit: dict[str, str]) -> None:
    """Refuse a budget of the command line that makes no sense here: it stands in the command, and
    in no file.
    """
    try:
        story.with_overrides([("budgets", [limit]), ("expect", [])]).check()
    except ProblemsError as e:
        told = [
            replace(p, file="--budget", line=1, column=1, source=text, width=len(text))
            for p in e.problems
        ]
        raise ProblemsError(tuple(told)) from None


def _check_over(over: Sequence[str]) -> None:
    from rebalsim.advice.ladders import LADDERS, OF_BROKERS, OF_STREAMS, OF_WORKERS
    from rebalsim.words.nearest import or_nearest

    known = {**LADDERS, **OF_BROKERS, **OF_WORKERS, **OF_STREAMS}
    for name in over:
        if name not in known:
            raise InputError(
                f"'{name}' is not among the settings that can be searched — "
                f"{or_nearest(name, known)}"
            )


def _plan(story: Story, variants: Sequence[str], over: Sequence[str], events: int) -> str:
    """What will be played, and how long that takes: one run is timed for it."""
    from rebalsim.advice.trial import WORK_OF_EVENT
    from rebalsim.simulation.work_limit import TooMuchWork, at_most

    scenario = story.scenario(variants[0])
    try:
        with at_most(WORK_OF_EVENT * events):
            size, each = _timed(scenario, story.seed)
            if each < COLD_S:
                each = min(each, _timed(scenario, story.seed)[1])
    except TooMuchWork:
        raise InputError(
            f"A single run of this story costs more than {events:,} events — allow more with "
            "--events, or make its horizon shorter"
        ) from None
    runs = events // max(1, size)
    keys = ", ".join(over) if over else "the usual settings"
    return (
        f"Plays up to {events:,} events, which are some {runs:,} runs and at most about "
        f"{say_duration(round(runs * each) * SECOND) if runs * each >= 1 else 'a second'}, in this "
        f"process: {', '.join(variants)} as it is, what the causes propose, {keys} one by one, "
        "then in pairs. Ctrl-C stops it."
    )


def _timed(scenario: Scenario, seed: int) -> tuple[int, float]:
    """What a run costs, in events and in seconds."""
    from rebalsim.advice.trial import cost_of
    from rebalsim.one_run import run_once

    began = time.perf_counter()
    size = cost_of(scenario, run_once(scenario, seed).analysis)
    return size, time.perf_counter() - began


@contextmanager
def _journal(
    folder: str | None, resume: bool, story: Story, variants: Sequence[str]
) -> Iterator[tuple[dict[str, RunSaid], Callable[[str, RunSaid], None]]]:
    """The runs that an earlier search kept in this folder, and what keeps new ones."""
    if folder is None:
        yield {}, lambda key, run: None
        return
    path = Path(folder) / TRIED
    head = {"rebalsim": __version__, "story": story.digest, "variants": list(variants)}
    known = _known(path, head, resume)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        if not known and path.stat().st_size == 0:
            file.write(json.dumps(head) + "\n")

        def note(key: str, run: RunSaid) -> None:
            file.write(json.dumps([key, asdict(run)]) + "\n")

        yield known, note


def _known(path: Path, head: dict[str, Any], resume: bool) -> dict[str, RunSaid]:
    from rebalsim.outside.documents import parse_json
    from rebalsim.outside.files import read_text
    from rebalsim.outside.rule import taken_from

    if not path.exists():
        return {}
    if not resume:
        raise InputError(
            f"{path}: holds an earlier search — continue it with --resume, or name another folder"
        )
    lines = read_text(path).splitlines()
    with taken_from(path, "is it a search that was kept? If not, name another folder"):
        if json.loads(lines[0]) != head:
            raise InputError(
                f"{path}: is of another story, other variants or another rebalsim — name another "
                "folder"
            )
    known = {}
    for line in lines[1:]:
        try:
            key, run = parse_json(line, str(path))
            known[str(key)] = _run_kept(run)
        except (InputError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            break  # the last line of what was broken off
    return known


def _run_kept(run: dict[str, Any]) -> RunSaid:
    from rebalsim.advice.tried import RunSaid

    return RunSaid(
        {str(name): float(value) for name, value in run["figures"].items()},
        tuple([float(value) for value in run["beyond"]]),
        int(run["events"]),
        tuple([int(place) for place in run["undecided"]]),
    )


def _told_so_far(search: Search, folder: str | None) -> None:
    found = search.found
    click.echo(f"\nStopped after {len(found.all_tried)} changes.", err=True)
    if found.choices:
        from rebalsim.reports.answer_choice import rank_of_change
        from rebalsim.reports.remedies_told import tell_patch

        best = min(found.choices, key=lambda c: rank_of_change(c.cost, c.tried.middle()))
        click.echo(
            f"  until now: {best.tried.variant}, {tell_patch(best.tried.patch)} keeps all budgets",
            err=True,
        )
    if folder:
        click.echo(f"  the same command with --out {folder} --resume goes on from here", err=True)


def _print_found(
    story: Story, scenario: str, found: Found, budgets: Sequence[Any], aside: Sequence[str]
) -> None:
    from rebalsim.reports.search_told import render_search

    whys = ["" for _ in budgets]
    if not found.choices:
        for place, budget in enumerate(budgets):
            least = found.least(budget)
            if least.goes_beyond(budget) > 0 and not least.is_undecided(budget):
                whys[place] = _why(least, budget)
    command = shlex.join(["rebalsim", "run", scenario])
    width = terminal.width_of(None)
    for line in render_search(
        f"The smallest change of {story.title or scenario}", found, budgets, whys, command, aside
    ):
        indent = len(line) - len(line.lstrip())
        wrapped = textwrap.wrap(
            line, width, subsequent_indent=" " * (indent + 2), break_on_hyphens=False
        )
        is_command = line.startswith("See it: ")
        click.echo(terminal.as_told(line if is_command else "\n".join(wrapped)))
    if not found.choices and found.is_spent:
        click.echo("--spark searches the whole grid of usual values, on Spark.")


def _why(tried: Any, budget: Any) -> str:
    """What stands in a budget's way."""
    from rebalsim.advice.search import analysis_of
    from rebalsim.analysis.judge import measure_budget
    from rebalsim.reports.evidence_told import tell_evidence
    from rebalsim.reports.verdict_told import say_openness

    analysis = analysis_of(tried)
    measured = measure_budget(analysis, budget)
    return say_openness(measured) if measured.unowned else tell_evidence(analysis, budget)


def _left_aside(story: Story, variants: Sequence[str], asked: Sequence[Any]) -> list[str]:
    """What else the story asks of these variants, and a search cannot judge."""
    rest: list[Any] = [b for b in story.budgets if b not in asked and b.level == Level.ERROR]
    rest += story.expectations
    return list(dict.fromkeys(one.text for one in rest if one.variant in ("", *variants)))


def _apply(scenario: str, choice: Choice) -> None:
    """Writes the change into the file, and holds the file to what was tried."""
    from rebalsim.cli.files import write_text
    from rebalsim.scenario.edit import NotEditable, with_setting
    from rebalsim.scenario.load import story_of

    path, tried = Path(scenario), choice.tried
    if not tried.patch.sets:
        return
    if not path.is_file():
        raise InputError(f"--apply changes a file, and {scenario} is none — `rebalsim init` copies")
    text = path.read_bytes().decode("utf-8")
    try:
        for setting, value in tried.patch.sets:
            text = with_setting(text, setting, value)
        made = story_of(text.encode(), scenario).check().scenario(tried.variant)
    except NotEditable as e:
        raise InputError(
            f"{scenario}: not changed, for {e} — write it yourself: "
            f"{', '.join(tried.patch.overrides)}"
        ) from None
    wanted = tried.story.scenario(tried.variant)
    if (made.groups, made.cluster) != (wanted.groups, wanted.cluster):
        raise InputError(
            f"{scenario}: not changed, for the text would mean something else — write it "
            f"yourself: {', '.join(tried.patch.overrides)}"
        )
    write_text(scenario, text)
    click.echo(f"Written into {scenario}: {', '.join(tried.patch.overrides)}", err=True)
