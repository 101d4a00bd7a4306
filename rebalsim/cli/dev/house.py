"""`rebalsim dev house`: the source in figures."""

from __future__ import annotations

import dataclasses
import json

import click

from rebalsim.cli import exits


@click.command("house", epilog="Example: rebalsim dev house --columns 88")
@click.option(
    "--columns",
    type=click.IntRange(40, 200),
    default=100,
    show_default=True,
    help="Count lines as the formatter breaks them at this width.",
)
@click.option("--json", "as_json", is_flag=True, help="The figures as one JSON document.")
def command(columns: int, as_json: bool) -> int:
    """Measure the package's source: what a reader has to read, and where it is hard.

    Lines by room, quartiles of files and functions, the ten largest of each, import cycles within
    rooms (what only the type checker imports counted too), and the functions that branch more
    than 15 times. Needs ruff (the extra `dev`).
    """
    from rebalsim.proof.house import measure

    house = measure(columns)
    if as_json:
        click.echo(json.dumps(dataclasses.asdict(house), indent=2))
        return exits.WITHIN
    for line in house.lines():
        click.echo(line)
    return exits.WITHIN
