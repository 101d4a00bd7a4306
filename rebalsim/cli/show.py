"""`rebalsim show SCENARIO`: the story as meant, every default filled in, and where each value
comes from.
"""

from __future__ import annotations

import dataclasses
import json
import shutil

import click

from rebalsim.cli import exits
from rebalsim.cli.options import (
    allow_code_option,
    load_story,
    scenario_argument,
    seed_option,
    set_option,
    variant_option,
)


@click.command(
    "show", epilog="Example: rebalsim show scenarios/scale-out.yaml --variant cooperative"
)
@scenario_argument
@variant_option
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="The resolved scenarios as one JSON document instead of text.",
)
@set_option
@seed_option
@allow_code_option
def command(
    scenario: str,
    variant: str | None,
    as_json: bool,
    overrides: tuple[str, ...],
    seed: int | None,
    allow_code: bool,
) -> int:
    """Print a scenario as rebalsim understands it.

    Every default is filled in, each value says where it comes from (a line of the file, a
    variant, --set, or a default), and the script is told as a timetable. Other variants follow
    with what they change.

    Nothing is played: `run` plays it, `lint` says what is unwise in it.
    """
    story = load_story(scenario, overrides, allow_code, seed)
    names = (variant,) if variant else story.variants
    if as_json:
        document = {
            "schema_version": 1,
            "file": story.file,
            "digest": story.digest,
            "variants": [dataclasses.asdict(story.scenario(name)) for name in names],
        }
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return exits.WITHIN
    from rebalsim.scenario.show import show_lines

    width = max(60, min(120, shutil.get_terminal_size((80, 24)).columns))
    for line in show_lines(story, variant or "", width):
        click.echo(line)
    return exits.WITHIN
