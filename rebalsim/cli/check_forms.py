"""How a check is told: text or a form on stdout, files for CI systems, annotations under GitHub.
The environment is looked at here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rebalsim.cli import forms, terminal
from rebalsim.cli.options import width_option
from rebalsim.cli.streams import to_runner
from rebalsim.domain.errors import InputError
from rebalsim.domain.verdict import Ending
from rebalsim.outside.text import no_orders
from rebalsim.reports.forms.form import Subject

if TYPE_CHECKING:
    from rebalsim.reports.check_report import CheckReport
    from rebalsim.reports.view import View

F = TypeVar("F", bound=Callable[..., Any])


def form_options(function: F) -> F:
    """An option for each form that tells a check, and --github, --ascii, --width; written by
    `emit`.
    """
    for option in reversed(
        (
            click.option(
                "--github/--no-github",
                "as_github",
                default=None,
                help="Annotations and a job summary for GitHub.  [default: under GITHUB_ACTIONS]",
            ),
            click.option(
                "--ascii", "is_ascii", is_flag=True, help="Plain ASCII instead of ✓ and →."
            ),
            width_option,
        )
    ):
        function = option(function)
    return forms.options_of(Subject.CHECK)(function)


def refuse_two_forms(options: Mapping[str, Any]) -> None:
    """At most one form goes to stdout."""
    forms.printed_form(Subject.CHECK, options)


def emit(report: CheckReport, options: Mapping[str, Any]) -> None:
    """Prints the one form that goes to stdout, then writes the files that were asked for."""
    form = forms.printed_form(Subject.CHECK, options)
    is_github = options.get("as_github")
    is_github = os.environ.get("GITHUB_ACTIONS") == "true" if is_github is None else bool(is_github)
    view = _view(options)
    text = form.tells[Subject.CHECK].render(report, view) if form else _text(report, view)
    if is_github and form is None:
        text = no_orders(text)
    click.echo(text, nl=False)
    for error in errors_of(report):
        click.echo(error, err=True)
    if is_github:
        _tell_github(report, to_stderr=form is not None)
    for _ in forms.write_files(Subject.CHECK, report, options, view, from_root):
        pass
    if report.ending is Ending.BUG:
        told = next(s for s in report.stories if s.bug)
        click.echo(
            f"This is a bug in rebalsim, not in {told.file}. Please report it with the file and "
            "this line: "
            f"rebalsim {report.version}, {told.bug}",
            err=True,
        )


def errors_of(report: CheckReport) -> list[str]:
    """What kept a story, or the whole check, from being judged: told on stderr whatever goes to
    stdout, so that a log shows it.
    """
    return [
        *(str(p) for story in report.stories for p in story.problems if not p.is_warning),
        *report.problems,
    ]


def _view(options: Mapping[str, Any]) -> View:
    from rebalsim.reports.view import View

    return View(
        terminal.width_of(options.get("width")),
        bool(options.get("is_ascii")) or terminal.is_ascii_only(),
        terminal.is_coloured(),
    )


def _text(report: CheckReport, view: View) -> str:
    from rebalsim.reports.check_to_terminal import render

    return render(report, view)


def _tell_github(report: CheckReport, to_stderr: bool) -> None:
    """Annotations into the step's log, and the table into its summary."""
    from rebalsim.reports.to_github import render as to_github

    to_runner(to_github(from_root(report, os.environ.get("GITHUB_WORKSPACE", ""))), to_stderr)
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        from rebalsim.reports.check_to_markdown import render as to_markdown

        try:
            # other steps' summaries stand there already
            with Path(summary).open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(to_markdown(report))
        except OSError as e:
            raise InputError(
                f"{summary}: the job summary cannot be written ({e.strerror or e}) — unset "
                "GITHUB_STEP_SUMMARY, or add --no-github"
            ) from None


def from_root(report: CheckReport, root: str) -> CheckReport:
    """The report with its files named as from the repository's root, where this runs in a folder
    below it.
    """
    here = Path.cwd()
    if not root or not here.is_relative_to(Path(root).resolve()):
        return report
    below = here.relative_to(Path(root).resolve())

    def moved(file: str) -> str:
        path = Path(file)
        if path.is_absolute():
            return (
                str(path.relative_to(Path(root).resolve()))
                if path.is_relative_to(Path(root).resolve())
                else file
            )
        return os.path.normpath(below / path).replace(os.sep, "/") if file else file

    stories = tuple(
        replace(
            s,
            file=moved(s.file),
            checked=tuple(replace(c, file=moved(c.file)) for c in s.checked),
            problems=tuple(replace(p, file=moved(p.file)) for p in s.problems),
        )
        for s in report.stories
    )
    comparison = report.comparison
    if comparison is not None:
        comparison = replace(
            comparison, changes=tuple(replace(c, file=moved(c.file)) for c in comparison.changes)
        )
    return replace(report, stories=stories, comparison=comparison)
