"""`rebalsim preview OLD NEW`: what a change of deployment files will do to consumption."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rebalsim import __version__
from rebalsim.cli import exits, forms
from rebalsim.cli.options import advise_option
from rebalsim.domain.errors import InputError
from rebalsim.domain.verdict import Ending
from rebalsim.reports.forms.form import Form, Subject

if TYPE_CHECKING:
    from rebalsim.preview.preview import Side
    from rebalsim.preview.runs import Limit
    from rebalsim.reports.previewed import Previewed


@click.command("preview", epilog="Example: rebalsim preview git:main deploy/")
@click.argument("versions", nargs=-1, required=True, metavar="[OLD] NEW")
@click.option("--budgets", "budgets", type=click.Path(), help="Budgets, in the form of `budgets:`.")
@advise_option(120_000)
@click.option("--no-advice", is_flag=True, hidden=True)
@forms.options_of(Subject.PREVIEW)
def command(
    versions: tuple[str, ...],
    budgets: str | None,
    advise: int | None,
    no_advice: bool,
    **options: Any,
) -> int:
    """Say, before the merge, what deploying NEW over OLD will do to consumption.

    Each is a file, a folder, `-`, or `git:REV[:PATH]`, read as `rebalsim import` reads it. The roll
    from one to the other is played by the rollout's own rules; NEW alone is a restart as it stands.
    Budgets come from annotations in the manifests (rebalsim.io/longest-pause: "<= 30s") and from
    --budgets. It ends as `rebalsim check` does: 1 where one is broken.

    It starts from deployment files: `import` writes the scenario that it plays, and `check` judges
    scenarios that you wrote.
    """
    if len(versions) > 2:
        raise click.UsageError("Two versions are compared — name an old one and a new one.")
    form = forms.printed_form(Subject.PREVIEW, options)
    from rebalsim.preview.preview import preview

    began = time.perf_counter()
    new = _side(versions[-1], ".")
    old = _side(versions[0], versions[-1]) if len(versions) == 2 else None
    limits = _limits(budgets) if budgets else []
    told = preview(old, new, limits, 0 if no_advice else advise)
    _emit(told, form, options, time.perf_counter() - began)
    ending = (
        Ending.FAIL
        if told.refused and told.checked
        else told.as_check(__version__).stories[0].ending
    )
    return exits.OF_CHECKS[ending]


def _side(version: str, like: str) -> Side:
    from rebalsim.preview.preview import side_of
    from rebalsim.worlds.files import piped, read_files
    from rebalsim.worlds.git_files import is_revision, read_revision

    if is_revision(version):
        inside = "." if is_revision(like) or Path(like).is_absolute() else like
        return side_of(version, read_revision(version, inside))
    return side_of(version, read_files([version], piped() if version == "-" else None))


def _limits(path: str) -> list[Limit]:
    """A file in the form of `budgets:`: a table of metric and limit, or a list of such."""
    from rebalsim.worlds.files import read_files
    from rebalsim.worlds.text_tree import Unreadable, at, trees
    from rebalsim.worlds.values import Text, place

    try:
        tree = next(iter(trees(read_files([path])[0][1], path)), None)
    except Unreadable as e:
        raise InputError(
            f'{path}:{e.line}: not read: {e.why} — write longest_pause: "<= 30s"'
        ) from None
    inner = at(tree, "budgets")
    tree = inner if inner is not None else tree
    found: list[Limit] = []
    for table in tree if isinstance(tree, list) else [tree]:
        for metric, limit in (table if isinstance(table, dict) else {}).items():
            if not isinstance(limit, Text):
                raise InputError(f'{place(metric)}: {metric} has no limit — write "<= 30s"')
            found.append((str(metric), str(limit).replace('"', ""), place(limit)))
    if not found:
        raise InputError(f'{path} holds no budgets — write longest_pause: "<= 30s"')
    return found


def _emit(told: Previewed, form: Form | None, options: Mapping[str, Any], took: float) -> None:
    from rebalsim.reports.view import View

    if form is not None:
        forms.print_form(form, Subject.PREVIEW, told, View())
    else:
        from rebalsim.reports.preview_to_terminal import render

        click.echo(render(told), nl=False)
        click.echo(f"{took:.1f} s", err=True)
    for _ in forms.write_files(Subject.PREVIEW, told, options, View()):
        pass
