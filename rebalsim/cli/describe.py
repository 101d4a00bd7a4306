"""`rebalsim describe FILE --at T`: what kafka-consumer-groups would have shown at that instant."""

from __future__ import annotations

import click

from rebalsim.cli import exits, terminal
from rebalsim.cli.options import allow_code_option, seed_option, set_option, variant_option
from rebalsim.cli.report_options import INSTANT
from rebalsim.domain.errors import InputError


@click.command(
    "describe",
    epilog="Example: rebalsim describe scale-out --variant cooperative --at 1m1s --members "
    "--verbose",
)
@click.argument("file", type=click.Path())
@click.option(
    "--at",
    "at_us",
    type=INSTANT,
    metavar="TIME",
    help="When, as in 41s or 1:05; without it at the end.",
)
@click.option(
    "--describe",
    "is_offsets",
    is_flag=True,
    help="Offsets, lag and owners per partition (as without it).",
)
@click.option("--offsets", "is_offsets", is_flag=True, help="The same.")
@click.option("--members", "is_members", is_flag=True, help="The group's members.")
@click.option("--state", "is_state", is_flag=True, help="The group's state.")
@click.option(
    "--verbose", "is_verbose", is_flag=True, help="More columns: each member's assignment, epochs."
)
@click.option(
    "--group", "groups", multiple=True, metavar="NAME", help="This group only. Repeatable."
)
@variant_option
@set_option
@seed_option
@allow_code_option
def command(
    file: str,
    at_us: int | None,
    is_offsets: bool,
    is_members: bool,
    is_state: bool,
    is_verbose: bool,
    groups: tuple[str, ...],
    variant: str | None,
    overrides: tuple[str, ...],
    seed: int | None,
    allow_code: bool,
) -> int:
    """Print what `kafka-consumer-groups --describe` would have shown of FILE at a moment, in its
    columns.

    CURRENT-OFFSET is what had been committed: known where a rebalance began or a new owner,
    reckoned in between (every auto.commit.interval.ms since a consumer's last assignment, while it
    polls); a Kafka Streams application's commits are told.

    FILE is a scenario, a trace, a recording, or a folder of client logs. Hosts are not
    simulated: the consumer's name stands there.

    It tells of one moment of a group; why its partitions stand still is for `explain` to say.
    """
    from rebalsim.cli.sources import only_variant, open_variants
    from rebalsim.reports.describe import render

    if is_members and is_state:
        raise click.UsageError("--members and --state are different tables — choose one.")
    chosen = only_variant(
        open_variants(file, variant, overrides, seed, allow_code, needs_events=True), file
    )
    a = chosen.analysis
    if at_us is not None and at_us >= a.horizon_us:
        raise InputError(
            f"--at is after the end: the observation stops after {a.horizon_us / 1_000_000:g} s"
        )
    for group in groups:
        if group not in a.groups:
            raise InputError(
                f"There is no group '{group}' in {file} — there is {', '.join(a.groups) or 'none'}"
            )
    form = "members" if is_members else "state" if is_state else "offsets"
    click.echo(
        terminal.as_told(
            render(a, a.horizon_us - 1 if at_us is None else at_us, form, is_verbose, groups)
        ),
        nl=False,
    )
    return exits.WITHIN
