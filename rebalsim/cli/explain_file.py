"""`rebalsim explain FILE --partition P --at T`: the causal chain of a pause, in sentences."""

from __future__ import annotations

import textwrap
from typing import Any

import click

from rebalsim.cli import exits
from rebalsim.cli.options import (
    allow_code_option,
    seed_option,
    set_option,
    variant_option,
    width_option,
)
from rebalsim.cli.report_options import INSTANT, check_view, view_from
from rebalsim.domain.errors import InputError


@click.command(
    "explain",
    epilog="Example: rebalsim explain scenarios/scale-out.yaml --variant eager --partition "
    "orders-3 "
    "--at 1m",
)
@click.argument("file", type=click.Path())
@click.option(
    "--partition",
    metavar="NAME",
    help="Which partition, such as orders-3; without it the one that stood still longest.",
)
@click.option(
    "--at",
    "at_us",
    type=INSTANT,
    metavar="TIME",
    help="When, as in 41s or 1:05; without it its longest pause.",
)
@variant_option
@click.option("--ascii", "is_ascii", is_flag=True, help="Plain ASCII.")
@width_option
@set_option
@seed_option
@allow_code_option
def command(
    file: str,
    partition: str | None,
    at_us: int | None,
    variant: str | None,
    overrides: tuple[str, ...],
    seed: int | None,
    allow_code: bool,
    **options: Any,
) -> int:
    """Say why a partition of FILE stood still at a moment: the chain of events from what set it off
    to the first records after it.

    FILE is a scenario, a trace, a recording, or a folder of client logs.
    """
    from rebalsim.cli.sources import open_variants, report_on
    from rebalsim.reports.pause_explained import calm, render

    found = open_variants(file, variant, overrides, seed, allow_code, needs_events=True)
    view = view_from({**options, "partitions": (partition,) if partition else ()})
    report = report_on(file, found, "")
    check_view(report, view)
    if at_us is not None and at_us >= report.horizon_us:
        raise InputError(
            "--at is after the end: the observation stops after "
            f"{report.horizon_us / 1_000_000:g} s"
        )
    for place, v in enumerate(found):
        if len(found) > 1:
            click.echo(("\n" if place else "") + f"{v.title}:")
        pauses = [
            p
            for p in v.analysis.pauses
            if view.shows_pause(p) and (at_us is None or p.started_us <= at_us < p.ended_us)
        ]
        pause = max(pauses, key=lambda p: p.length_us, default=None)
        if pause is not None:
            click.echo(render(v.analysis, pause, view), nl=False, color=view.is_coloured or None)
        elif at_us is not None and partition is not None:
            click.echo(
                calm(v.analysis, partition, at_us, view), nl=False, color=view.is_coloured or None
            )
        else:
            click.echo("Nothing stood still" + (" at that moment." if at_us is not None else "."))
        if chance := _chance(file, v.name, overrides, seed, allow_code):
            click.echo(f"\n{textwrap.fill(chance, view.width, break_on_hyphens=False)}")
    return exits.WITHIN


def _chance(
    file: str, variant: str, overrides: tuple[str, ...], seed: int | None, allow_code: bool
) -> str:
    """What the chain's one run is a sample of, where it is a sample."""
    from rebalsim.cli.options import load_story
    from rebalsim.cli.sources import SCENARIO, kind_of
    from rebalsim.one_run import is_sampled, spread
    from rebalsim.reports.chance_told import said_of_chance
    from rebalsim.reports.figures import say

    if kind_of(file) != SCENARIO or file == "-":
        return ""
    scenario = load_story(file, overrides, allow_code, seed).scenario(variant)
    if not is_sampled(scenario):
        return ""
    over = spread(scenario)
    values = over.known("longest_pause")
    if not values:
        return ""
    longest = (
        f"{say('longest_pause', over.at('longest_pause', 50))} in the middle, "
        f"{say('longest_pause', over.at('longest_pause', 95))} at p95 and "
        f"{say('longest_pause', values[-1])} at worst"
        if values[0] != values[-1]
        else f"{say('longest_pause', values[0])} under each"
    )
    seeds = f"over {len(over.seeds)} seeds the longest pause is {longest}"
    return (
        f"This is seed {scenario.seed} of the consumer protocol, one sample: {seeds}. "
        f"{said_of_chance(over, scenario)}"
    )
