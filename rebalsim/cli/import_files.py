"""`rebalsim import FILE…`: a scenario from deployment files, client settings and listings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rebalsim.cli import exits
from rebalsim.cli.files import write_new

if TYPE_CHECKING:
    from rebalsim.worlds.understood import Understood


@click.command("import", epilog="Example: rebalsim import deploy/ --out our-deploy.yaml")
@click.argument("files", nargs=-1, required=True, metavar="FILE|FOLDER|-…")
@click.option("--json", "as_json", is_flag=True, help="What was understood, as one JSON object.")
@click.option(
    "--explain",
    "with_explanation",
    is_flag=True,
    help="Say what was understood, ignored, contradictory, and what would hurt.",
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False),
    help="Write the scenario to this file, never over an existing one.",
)
@click.option(
    "--no-calibration",
    is_flag=True,
    help="Do not try which of the unknown numbers move the answer.",
)
def command(
    files: tuple[str, ...],
    as_json: bool,
    with_explanation: bool,
    out: str | None,
    no_calibration: bool,
) -> int:
    """Write a scenario from what you deploy: manifests, settings, listings, in any mix.

    It reads Kubernetes (kustomize and Helm's output included), docker-compose, client settings of
    the usual frameworks and clients, KEDA, Strimzi, and what kafka-consumer-groups and others
    print; what a file is, is seen from its content. Every value says in a comment where it comes
    from; what nobody can know from files is marked ASK. Nothing is executed, and no file but the
    given ones is read. Exit 2 where nothing consumes.
    """
    from rebalsim.worlds.explained import explained, nothing_consumes
    from rebalsim.worlds.files import piped, read_files
    from rebalsim.worlds.understand import understand

    sources = read_files(files, piped() if "-" in files else None)
    made = understand(sources)
    if as_json:
        from rebalsim.worlds.to_json import to_json

        click.echo(to_json(made, sources), nl=False)
        return exits.WITHIN if made.consumers or made.listed.groups else exits.INVALID
    if with_explanation:
        click.echo(_hidden(explained(made), sources), err=bool(out))
    from rebalsim.worlds.to_scenario import can_be_played, playable, to_scenario

    if not can_be_played(made):
        click.echo(nothing_consumes(made), err=True)
        return exits.INVALID
    text = playable(_hidden(to_scenario(made), sources))
    _deliver(text, out, with_explanation)
    _tell_rest(made)
    if not no_calibration:
        _calibrate(made, text)
    return exits.WITHIN


def _calibrate(made: Understood, text: str) -> None:
    """The numbers that are not known and move the answer most, each tried over its range."""
    from rebalsim.preview.calibrate import calibrated

    found = calibrated(made, text)
    if found:
        click.echo(
            "Measure first, since these move the answer most (tried over their range):", err=True
        )
    for number, moved in enumerate(found, 1):
        click.echo(f"  {number}. {moved.sentence}", err=True)


def _hidden(text: str, sources: list[tuple[str, str]]) -> str:
    """The text without a line that holds what looks like a credential."""
    from rebalsim.worlds.secrets import without, worth_hiding

    hidden = {h for _, source in sources for h in worth_hiding(source)}
    return "\n".join(str(without(line, hidden)) for line in text.split("\n"))


def _deliver(text: str, out: str | None, was_explained: bool) -> None:
    if out is None:
        if not was_explained:
            click.echo(text, nl=False)
        return
    write_new(out, text)
    click.echo(out)


def _tell_rest(made: Understood) -> None:
    """What a reader must know beside the scenario: what was not read, and why."""
    for file, line, why in made.unread:
        click.echo(f"{file}:{line}: not read: {why}", err=True)
    for file in made.to_render:
        click.echo(f"{file}: a template, read as far as it goes: render it first", err=True)
    from rebalsim.worlds.connect_block import left_out

    for said in left_out(made):
        click.echo(said, err=True)
    for where in made.share_groups:
        click.echo(
            f"{where}: a share group (KIP-932) has no rebalance of this kind: not played", err=True
        )
