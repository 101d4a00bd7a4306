"""`rebalsim schema`: the JSON Schema of scenario files, for editors."""

from __future__ import annotations

import json

import click

from rebalsim.cli import exits


@click.command("schema", epilog="Example: rebalsim schema > rebalsim.schema.json")
def command() -> int:
    """Print the JSON Schema of scenario files.

    An editor with a YAML language server completes and checks a scenario whose first line is
    `# yaml-language-server: $schema=rebalsim.schema.json`.
    """
    from rebalsim.scenario.schema import scenario_schema

    click.echo(json.dumps(scenario_schema(), indent=2, ensure_ascii=False))
    return exits.WITHIN
