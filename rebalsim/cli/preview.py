"""`rebalsim preview OLD NEW`: what a change of deployment files will do to consumption."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rebalsim import __version__
from rebalsim.cli import exits
from rebalsim.domain.errors import InputError

if TYPE_CHECKING:
    from rebalsim.preview.preview import Limit, Side
    from rebalsim.reports.previewed import Previewed


@click.command("preview", epilog="Example: rebalsim preview git:main deploy/")
@click.argument("versions", nargs=-1, required=True, metavar="[OLD] NEW")
@click.option("--budgets", "budgets", type=click.Path(), help="Budgets, in the form of `budgets:`.")
@click.option("--no-advice", is_flag=True, help="Do not try what would help.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
@click.option("--markdown", "as_markdown", is_flag=True, help="A pull request's comment instead.")
@click.option("--junit", type=click.Path(dir_okay=False), help="Write the budgets as JUnit XML.")
@click.option("--html", "page", type=click.Path(dir_okay=False), help="Write a page.")
def command(
    versions: tuple[str, ...],
    budgets: str | None,
    no_advice: bool,
    as_json: bool,
    as_markdown: bool,
    junit: str | None,
    page: str | None,
) -> int:
    """Say, before the merge, what deploying NEW over OLD will do to consumption.

    Each is a file, a folder, `-`, or `git:REV[:PATH]`, read as `rebalsim import` reads it. The roll
    from one to the other is played by the rollout's own rules; NEW alone is a restart as it stands.
    Budgets come from annotations in the manifests (rebalsim.io/longest-pause: "<= 30s") and from
    --budgets. It ends as `rebalsim check` does: 1 where one is broken.
    """
    if len(versions) > 2:
        raise click.UsageError("Two versions are compared — name an old one and a new one.")
    if as_json and as_markdown:
        raise click.UsageError("--json and --markdown are both for standard output — choose one.")
    from rebalsim.preview.preview import preview

    began = time.perf_counter()
    new = _side(versions[-1], ".")
    old = _side(versions[0], versions[-1]) if len(versions) == 2 else None
    limits = _limits(budgets) if budgets else []
    told = preview(old, new, limits, not no_advice)
    _emit(told, as_json, as_markdown, junit, page, time.perf_counter() - began)
    ending = (
        "fail" if told.refused and told.checked else told.as_check(__version__).stories[0].ending
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


def _emit(
    told: Previewed,
    as_json: bool,
    as_markdown: bool,
    junit: str | None,
    page: str | None,
    took: float,
) -> None:
    from rebalsim.reports import preview_to_json, preview_to_markdown, preview_to_terminal

    if as_json:
        click.echo(preview_to_json.render(told), nl=False)
    elif as_markdown:
        click.echo(preview_to_markdown.render(told), nl=False)
    else:
        click.echo(preview_to_terminal.render(told), nl=False)
        click.echo(f"{took:.1f} s", err=True)
    if junit:
        from rebalsim.reports import to_junit

        _write(junit, to_junit.render(told.as_check(__version__)))
    if page:
        from rebalsim.reports import preview_to_html

        _write(page, preview_to_html.render(told))


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as e:
        raise InputError(
            f"{path} cannot be written: {e.strerror or e} — choose a folder that exists"
        ) from None
