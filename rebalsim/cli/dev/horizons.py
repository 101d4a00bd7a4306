"""`rebalsim dev horizons`: what is kept at one horizon must not be broken at a longer one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from rebalsim.cli import exits
from rebalsim.cli.dev.seed_range import of_seeds

if TYPE_CHECKING:
    from rebalsim.proof.horizons import Overturned, Tally


@click.command("horizons", epilog="Example: rebalsim dev horizons --form parts --from 5000")
@click.option(
    "--form",
    "forms",
    multiple=True,
    metavar="FORM",
    help="What is asked: runs, parts, facts, relative, anew. Repeatable; without it all of them.",
)
@click.option("--stock", is_flag=True, help="Of the stock stories instead of random ones.")
@click.option(
    "--only", default="", metavar="TEXT", help="With --stock: those with it in their names."
)
@of_seeds(20)
@click.option(
    "--cuts",
    type=click.IntRange(1, 10_000),
    default=4,
    show_default=True,
    metavar="N",
    help="At how many instants each is cut, besides those shortly after what it does.",
)
def command(
    forms: tuple[str, ...], stock: bool, only: str, first: int, count: int, cuts: int
) -> int:
    """Hold verdicts to their word: a longer horizon never turns kept into broken, unless the story
    itself goes on there.

    Stories are cut at many instants; whatever is kept there is asked again later. Exit 70 if any of
    it is broken then: each is printed with its story and both horizons.
    """
    from rebalsim.domain.errors import InputError
    from rebalsim.proof.horizons import FORMS

    if unknown := next((form for form in forms if form not in FORMS), ""):
        raise InputError(f"There is no form '{unknown}' — there are {', '.join(FORMS)}")
    seeds = range(first, first + count)
    code = exits.WITHIN
    for form in forms or FORMS:
        if not _holds(form, _stock_names(only) if stock else [""], seeds, cuts):
            code = exits.BUG
    return code


def _holds(form: str, names: list[str], seeds: range, cuts: int) -> bool:
    """One form over all the stories (an empty name: the random one of the seed), and its line."""
    from rebalsim.cli.progress import progress
    from rebalsim.proof.horizons import FORMS, Tally
    from rebalsim.words.lists import plural

    tally, stories, began = Tally(), 0, time.monotonic()
    try:
        with progress(len(names) * len(seeds)) as step:
            for seed in seeds:
                for name in names:
                    known = len(tally.overturned)
                    _try(name, form, seed, cuts, tally)
                    stories += 1
                    _tell(tally.overturned[known:], f"{name}, seed {seed}" if name else str(seed))
                    step()
    finally:
        kind = "stock" if names[0] else "random"
        which = (f"{kind} story", f"{kind} stories")
        click.echo(
            f"{form}: {FORMS[form]}; {tally.asked:,} asked in {plural(stories, *which)}, "
            f"{tally.kept:,} kept and asked again later, {len(tally.overturned):,} overturned; "
            f"{time.monotonic() - began:.0f} s."
        )
    return not tally.overturned


def _try(name: str, form: str, seed: int, cuts: int, tally: Tally) -> None:
    from rebalsim.proof.horizons import try_seed, try_stock

    if name:
        try_stock(name, form, seed, cuts, tally)
    else:
        try_seed(seed, form, cuts, tally)


def _tell(overturned: Sequence[Overturned], of_what: str) -> None:
    for found in overturned:
        click.echo(
            f"Story {of_what}: kept at {found.cut_us} us and broken at {found.later_us} us: "
            f"{found.what}"
        )


def _stock_names(only: str) -> list[str]:
    from rebalsim.domain.errors import InputError
    from rebalsim.scenario.load import stock_stories

    names = [name for name in stock_stories() if only in name]
    if not names:
        raise InputError(f"No stock story has '{only}' in its name — see `rebalsim show --list`")
    return names
