"""`rebalsim dev reference`: docs/reference.md, made of what the code says of itself."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import click

from rebalsim.cli import exits


@click.command("reference", epilog="Example: rebalsim dev reference > docs/reference.md")
def command() -> int:
    """Print the reference page: commands, exit codes, and the catalogue of `rebalsim explain`."""
    click.echo(reference(), nl=False)
    return exits.WITHIN


def reference() -> str:
    """The whole page."""
    return "\n".join([*_head(), *_commands(), *_exit_codes(), *_catalogue()]) + "\n"


def _head() -> Iterator[str]:
    yield "# Reference"
    yield ""
    yield (
        "Printed by the code (`rebalsim dev reference`). `rebalsim explain TERM` says more of each "
        "term, `rebalsim COMMAND --help` of each command."
    )


def _commands() -> Iterator[str]:
    from rebalsim.cli.dev.group import DEV
    from rebalsim.cli.main import COMMANDS

    yield from ("", "## Commands", "", "| command | what it does |", "|---|---|")
    for table, path in ((COMMANDS, "rebalsim"), (DEV, "rebalsim dev")):
        for commands in table.values():
            for name, (module, text) in commands.items():
                found = importlib.import_module(module).command
                options = ", ".join(
                    f"`{option.opts[-1]}`"
                    for option in found.params
                    if isinstance(option, click.Option) and not option.hidden
                )
                yield f"| `{path} {name}` | {text}{f' Options: {options}.' if options else ''} |"


def _exit_codes() -> Iterator[str]:
    yield from ("", "## Exit codes", "", "| code | meaning |", "|---|---|")
    for code, meaning in exits.MEANINGS.items():
        yield f"| {code} | {meaning} |"
    yield ""
    yield "Several verdicts in one command end with the gravest: " + ", ".join(
        str(code) for code in exits.GRAVITY
    )


def _catalogue() -> Iterator[str]:
    from rebalsim.cli.explain import catalogue

    for heading, entries in catalogue().items():
        if heading == "Exit codes":
            continue
        yield from ("", f"## {heading}", "")
        for entry in entries:
            about = entry.title or (entry.sections[0][1] if entry.sections else "")
            kind = entry.kind.split(" ")[0]
            term = f"**{entry.term}**" if kind in ("phase", "word") else f"`{entry.term}`"
            yield f"- {term}: {' '.join(about.split())}" if about else f"- {term}"
