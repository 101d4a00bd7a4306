"""`rebalsim report TRACE`: everything that `run` shows, of what has happened already."""

from __future__ import annotations

from typing import Any

import click

from rebalsim.cli import exits
from rebalsim.cli.options import variant_option
from rebalsim.cli.report_options import emit, form_options, view_from, view_options


@click.command(
    "report",
    epilog="Examples: rebalsim report trace.jsonl · rebalsim report incident-logs/ --html "
    "incident.html",
)
@click.argument("trace", metavar="TRACE", type=click.Path())
@variant_option
@form_options
@view_options
def command(trace: str, variant: str | None, **options: Any) -> int:
    """Tell which partitions stood still in TRACE, for how long, and why, without simulating.

    TRACE is a trace (`rebalsim run --trace FILE` writes one), a recording of real consumers, or
    a folder with their logs, which `rebalsim observe` reads and tells more of. A scenario is
    played first, as `run` would.

    It tells all of a trace; `explain` goes into one pause of it, `describe` into one moment, and
    `trace` prints its events.
    """
    from rebalsim.cli.sources import LOGS, kind_of, open_variants, report_on

    view = view_from(options)
    found = open_variants(trace, variant, has_spread=True)
    if kind_of(trace) == LOGS and not options.get("as_json"):
        click.echo("Logs are read by `rebalsim observe`, which tells more of them.", err=True)
    emit(report_on(trace, found, f"rebalsim report {trace}"), options, view)
    return exits.WITHIN
