"""Options for the forms of output, out of the one table of them (`rebalsim.reports.forms`): which
one goes to stdout, and which are written to files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rebalsim.cli import terminal
from rebalsim.cli.files import OUTPUT_FILE, write_text
from rebalsim.reports.forms.form import Form, Subject, forms_of

if TYPE_CHECKING:
    from rebalsim.reports.view import View

F = TypeVar("F", bound=Callable[..., Any])


def options_of(subject: Subject) -> Callable[[F], F]:
    """An option for each form that can tell the subject; `printed_form` and `write_files` read
    them.
    """

    def decorate(function: F) -> F:
        for form in reversed(forms_of(subject)):
            said = form.tells[subject].help
            option = (
                click.option(
                    f"--{form.name}", form.option, type=OUTPUT_FILE, metavar="FILE", help=said
                )
                if form.is_file
                else click.option(f"--{form.name}", form.option, is_flag=True, help=said)
            )
            function = option(function)
        return function

    return decorate


def printed_form(subject: Subject, options: Mapping[str, Any]) -> Form | None:
    """The form that goes to stdout instead of text, if one was asked for; only one can."""
    asked = [f for f in forms_of(subject) if not f.is_file and options.get(f.option)]
    if len(asked) > 1:
        raise click.UsageError(
            f"{' and '.join('--' + form.name for form in asked)} both go to stdout — choose one."
        )
    return asked[0] if asked else None


def print_form(form: Form, subject: Subject, value: Any, view: View) -> None:
    """The form on stdout, in what the terminal can show."""
    text = form.tells[subject].render(value, view)
    click.echo(terminal.json_as_told(text) if form.is_json else terminal.as_told(text), nl=False)


def write_files(
    subject: Subject,
    value: Any,
    options: Mapping[str, Any],
    view: View,
    from_root: Callable[[Any, str], Any] = lambda value, root: value,
) -> Iterator[str]:
    """Writes the files that were asked for, and yields their names. `from_root` names a value's
    files as from the repository's root, for the forms that want it so.
    """
    for form in forms_of(subject):
        path = options.get(form.option) if form.is_file else None
        if path:
            telling = form.tells[subject]
            root = os.environ.get(telling.root_variable, "") if telling.root_variable else ""
            write_text(path, telling.render(from_root(value, root) if root else value, view))
            yield str(path)
