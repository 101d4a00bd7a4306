"""`rebalsim trace FILE`: the whole exchange as a table."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from rebalsim.cli import exits, terminal
from rebalsim.cli.options import (
    allow_code_option,
    seed_option,
    set_option,
    variant_option,
    wire_option,
)
from rebalsim.cli.report_options import view_from, view_options


@click.command(
    "trace",
    epilog="Examples: rebalsim trace scale-out --variant eager --from 1m · rebalsim trace t.jsonl "
    "--event 'Join*' --member c2 · rebalsim trace stuck-handler --variant eager --wire",
)
@click.argument("file", type=click.Path())
@variant_option
@click.option(
    "--event",
    "events",
    multiple=True,
    metavar="NAME",
    help="Only this kind: JoinGroup, MemberRemoved, Callback*. Repeatable.",
)
@click.option(
    "--event-number",
    "numbers",
    multiple=True,
    type=click.IntRange(0),
    metavar="N",
    help="Only the event of this number. Repeatable.",
)
@click.option(
    "--records",
    "with_records",
    is_flag=True,
    help="With deliveries, positions and lag, which are many.",
)
@wire_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@set_option
@seed_option
@allow_code_option
@view_options
def command(
    file: str,
    variant: str | None,
    events: tuple[str, ...],
    numbers: tuple[int, ...],
    with_records: bool,
    wire: bool,
    as_json: bool,
    overrides: tuple[str, ...],
    seed: int | None,
    allow_code: bool,
    **options: Any,
) -> int:
    """Print the exchange in FILE: time, who, event, effect.

    FILE is a trace, a recording, a folder of client logs, or a scenario, which is played.

    It prints events as they came; what they mean is for `report` to tell.
    """
    from rebalsim.cli.sources import only_variant, open_variants, report_on
    from rebalsim.reports.event_table import Filter, render, rows

    view = view_from(options)
    chosen = only_variant(
        open_variants(file, variant, overrides, seed, allow_code, needs_events=True, wire=wire),
        file,
    )
    from rebalsim.cli.report_options import check_view

    check_view(report_on(file, [chosen], ""), view)
    wanted = Filter(events, numbers, with_records)
    if as_json:
        for told in rows(chosen.analysis.trace, view, wanted):
            click.echo(terminal.json_as_told(json.dumps(asdict(told), ensure_ascii=False)))
    else:
        click.echo(
            render(chosen.analysis.trace, view, wanted), nl=False, color=view.is_coloured or None
        )
    return exits.WITHIN
