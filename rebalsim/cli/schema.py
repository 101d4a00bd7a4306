"""`rebalsim schema`: the JSON Schema of scenario files, for editors; with --result, of what
--json prints.
"""

from __future__ import annotations

import json

import click

from rebalsim.cli import exits


@click.command("schema", epilog="Example: rebalsim schema > rebalsim.schema.json")
@click.option(
    "--result",
    "is_result",
    is_flag=True,
    help="The schema of what run, report and compare print with --json.",
)
def command(is_result: bool) -> int:
    """Print the JSON Schema of scenario files.

    An editor with a YAML language server completes and checks a scenario whose first line is
    `# yaml-language-server: $schema=rebalsim.schema.json`.
    """
    if is_result:
        from rebalsim.reports.result_schema import result_schema

        click.echo(json.dumps(result_schema(), indent=2, ensure_ascii=False))
        return exits.WITHIN
    from rebalsim.scenario.schema import scenario_schema

    click.echo(json.dumps(scenario_schema(), indent=2, ensure_ascii=False))
    return exits.WITHIN
