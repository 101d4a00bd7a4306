"""`observe --spark`: a fleet's logs into tables, and what they come to."""

from __future__ import annotations

import click

from rebalsim.cli import exits, terminal


def on_a_fleet(
    logs: tuple[str, ...], out: str | None, master: str, follow: bool, page: str | None = None
) -> int:
    """Read a folder of logs on Spark; with --follow until interrupted."""
    if len(logs) != 1:
        raise click.UsageError("--spark takes one path: a folder, or a pattern that Spark knows.")
    if not out:
        raise click.UsageError("--spark needs --out DIR, where the tables go.")
    from rebalsim import __version__
    from rebalsim.cli.files import write_text
    from rebalsim.reports.fleet_to_html import render as to_html
    from rebalsim.reports.fleet_told import render
    from rebalsim.spark.fleet import fleet_of
    from rebalsim.spark.observe import follow_fleet, observe_fleet
    from rebalsim.spark.session import start_session, stop_session

    spark = start_session(master)
    try:
        if follow:
            query = follow_fleet(spark, logs[0], out, f"{out.rstrip('/')}/_checkpoint")
            try:
                query.awaitTermination()
            finally:
                query.stop()
            return exits.WITHIN
        observe_fleet(spark, logs[0], out)
        fleet = fleet_of(spark, out)
        if page:
            write_text(page, to_html(fleet, __version__))
        click.echo(terminal.as_told(render(fleet, out)), nl=False)
    finally:
        stop_session(spark)
    return exits.WITHIN
