"""`rebalsim seeds`: random stories, held against what must be true of any."""

from __future__ import annotations

import time

import click

from rebalsim.cli import exits

_PROTOCOLS = {"classic": "classic", "consumer": "consumer", "both": "on the way from one to the other"}


@click.command("seeds", epilog="Example: rebalsim seeds --from 5000 --count 1000 --dense")
@click.option("--from", "first", type=click.IntRange(0), default=0, show_default=True, metavar="SEED",
              help="The first one: give each machine a range of its own.")
@click.option("--count", type=click.IntRange(1), default=200, show_default=True, metavar="N", help="How many.")
@click.option("--dense", is_flag=True, help="Play each tick by tick too, and compare the traces.")
@click.option("--show", is_flag=True, help="Print the first story instead of playing.")
def command(first: int, count: int, dense: bool, show: bool) -> int:
    """Play random stories with random faults: safe with the faults on, settled once they are off, each pause told whole by its phases.

    Exit 70 if one is not: it is printed with its seed, and `rebalsim seeds --from SEED --count 1` repeats it.
    """
    from rebalsim.cli.run import progress
    from rebalsim.verify.random_stories import random_story
    from rebalsim.verify.seeds import Tally, check_seed

    if show:
        click.echo(random_story(first), nl=False)
        return exits.WITHIN
    broken = 0
    tally = Tally()
    began = time.monotonic()
    with progress(count) as step:
        for seed in range(first, first + count):
            found = check_seed(seed, dense=dense, tally=tally)
            if found is not None:
                broken += 1
                click.echo(f"\nSeed {found.seed}: {found.why}\n\n{found.story}")
            step()
    took = time.monotonic() - began
    what = "safe with faults on, settled once they were off" + (", and the same tick by tick" if dense else "")
    click.echo(f"{count - broken:,} of {count:,} random stories (seeds {first} to {first + count - 1}) were {what}; {took:.0f} s.")
    spoken = ", ".join(f"{tally.protocols[name]:,} {words}" for name, words in _PROTOCOLS.items() if name in tally.protocols)
    if spoken:
        click.echo(f"By protocol: {spoken}.")
    click.echo(f"In {tally.rounds:,} rounds {tally.pauses:,} pauses; the {tally.phases:,} phases of each added up to it exactly.")
    return exits.BUG if broken else exits.WITHIN
