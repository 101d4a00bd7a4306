"""`rebalsim calibrate LOGS…`: what logs measure that a scenario cannot know."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from rebalsim.cli import exits, terminal
from rebalsim.cli.files import OUTPUT_FILE, write_text


@click.command(
    "calibrate",
    epilog="Examples: rebalsim calibrate logs/ · rebalsim calibrate logs/ --scenario ours.yaml --out "
    "ours-measured.yaml",
)
@click.argument("logs", nargs=-1, required=True, metavar="FILE…|FOLDER|-", type=click.Path())
@click.option("--group", default="", metavar="NAME", help="This group only.")
@click.option(
    "--scenario",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Answer this scenario's `# ASK:`s as far as the logs do (`rebalsim import` writes such).",
)
@click.option("--out", type=OUTPUT_FILE, metavar="FILE", help="Write to this file.")
def command(logs: tuple[str, ...], group: str, scenario: Path | None, out: str | None) -> int:
    """Measure in logs what a scenario cannot know, as an overlay with sample counts.

    Starts, callbacks, assignments, round trips, silences and crashes with their rates. How many
    pauses of the logs' second half a simulation reproduces that was calibrated on the first is
    told, too.
    """
    from rebalsim.incident.answers import answered
    from rebalsim.incident.calibrate import calibrate, overlay
    from rebalsim.incident.told import NO_GROUP
    from rebalsim.outside.files import read_text
    from rebalsim.scenario.document import MAX_BYTES
    from rebalsim.worlds.logs.observation import observe
    from rebalsim.worlds.logs.sources import sources_in

    observed = observe(sources_in(logs, sys.stdin.buffer), group)
    if not observed.groups:
        click.echo(NO_GROUP, err=True)
    found = calibrate(list(observed.groups.values()))
    if scenario is None:
        text = overlay(found)
    else:
        text, told = answered(read_text(scenario, MAX_BYTES), found)
        for line in told:
            click.echo(terminal.as_told(f"answered {line}"), err=True)
        if not told:
            click.echo(f"{scenario}: asks for nothing that these logs tell.", err=True)
    if out is not None:
        write_text(out, text)
        click.echo(f"{out}: written.", err=True)
    else:
        click.echo(terminal.as_told(text), nl=False)
    return exits.of_logs(observed.groups)
