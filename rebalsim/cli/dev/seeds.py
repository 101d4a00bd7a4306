"""`rebalsim dev seeds`: random stories, held against what must be true of any."""

from __future__ import annotations

import time

import click

from rebalsim.cli import exits
from rebalsim.cli.dev.seed_range import of_seeds

_PROTOCOLS = {
    "classic": "classic",
    "consumer": "consumer",
    "both": "on the way from one to the other",
}


@click.command("seeds", epilog="Example: rebalsim dev seeds --from 5000 --count 1000 --plain")
@of_seeds(200)
@click.option(
    "--plain",
    is_flag=True,
    help="Play each with nothing skipped too, and count how many traces are the same.",
)
@click.option("--dense", "plain", is_flag=True, hidden=True)
@click.option("--show", is_flag=True, help="Print the first story instead of playing.")
def command(first: int, count: int, plain: bool, show: bool) -> int:
    """Play random stories with random faults: safe with the faults on, settled once they are off,
    each pause told whole by its phases.

    Exit 70 if one is not: it is printed with its seed, and `rebalsim dev seeds --from SEED --count
    1` repeats it.
    """
    from rebalsim.cli.progress import progress
    from rebalsim.proof.random_stories import random_story
    from rebalsim.proof.seeds import Tally, check_seed

    if show:
        click.echo(random_story(first), nl=False)
        return exits.WITHIN
    done = broken = 0
    tally = Tally()
    began = time.monotonic()

    def conclusion() -> str:
        what = "safe with faults on, settled once they were off" + (
            ", and the same with nothing skipped" if plain else ""
        )
        same = (
            f"\n{tally.same:,} of {_stories(tally.compared)} played plain and with quiet time "
            "skipped came to the same trace, event by event."
            if plain
            else ""
        )
        spoken = ", ".join(
            f"{tally.protocols[name]:,} {words}"
            for name, words in _PROTOCOLS.items()
            if name in tally.protocols
        )
        return (
            f"{done - broken:,} of {_stories(done, 'random ')} (seeds {first} to "
            f"{first + done - 1}) {'was' if done == 1 else 'were'} {what}; "
            f"{time.monotonic() - began:.0f} s.\n{f'By protocol: {spoken}.' if spoken else ''}\n"
            f"In {tally.rounds:,} rounds {tally.pauses:,} pauses, each of them the sum of its "
            f"phases ({tally.phases:,} in all).{same}"
        ).replace("\n\n", "\n")

    try:
        with progress(count) as step:
            for seed in range(first, first + count):
                found = check_seed(seed, plain=plain, tally=tally)
                done += 1
                if found is not None:
                    broken += 1
                    click.echo(f"\nSeed {found.seed}: {found.why}\n\n{found.story}")
                step()
    except KeyboardInterrupt:
        if done:
            click.echo(f"\nStopped after {done:,} of {_stories(count)}. {conclusion()}", err=True)
        raise
    click.echo(conclusion())
    return exits.BUG if broken else exits.WITHIN


def _stories(count: int, which: str = "") -> str:
    return f"{count:,} {which}{'story' if count == 1 else 'stories'}"
