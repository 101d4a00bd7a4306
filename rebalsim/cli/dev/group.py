"""`rebalsim dev`: the makers' commands behind one name, out of the users' way."""

from __future__ import annotations

import click

from rebalsim.cli.lazy_group import Commands, LazyGroup

DEV: Commands = {
    "Measure": {
        "bench": (
            "rebalsim.cli.dev.bench",
            "Measure what rebalsim costs, and hold it to its limits.",
        ),
        "house": (
            "rebalsim.cli.dev.house",
            "Measure the source: lines by room, long functions, import cycles.",
        ),
    },
    "Write": {
        "reference": (
            "rebalsim.cli.dev.reference",
            "Print the reference page: commands, exit codes, metrics, phases and words.",
        ),
    },
    "Try to break": {
        "seeds": (
            "rebalsim.cli.dev.seeds",
            "Play random stories with random faults, and hold them to what must be true of any.",
        ),
        "horizons": (
            "rebalsim.cli.dev.horizons",
            "Lengthen horizons: what is kept at one must not be broken at a later one.",
        ),
        "fuzz": (
            "rebalsim.cli.dev.fuzz",
            "Break files by the thousand and hold their readers to their word.",
        ),
    },
}


@click.group(
    "dev",
    cls=LazyGroup,
    table=DEV,
    path="rebalsim dev",
    epilog="Example: rebalsim dev seeds --count 1000",
)
def command() -> None:
    """For those who build rebalsim: measure it, and try to break it."""
