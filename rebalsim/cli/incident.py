"""`rebalsim incident FILE…`: last night, from its logs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from rebalsim.cli import exits, terminal
from rebalsim.cli.files import OUTPUT_FILE, write_text
from rebalsim.cli.options import advise_option


@click.command(
    "incident",
    epilog="Examples: rebalsim incident logs/ · rebalsim incident storm-last-night · rebalsim "
    "incident logs/ --scenario night.yaml --html night.html",
)
@click.argument("logs", nargs=-1, required=True, metavar="FILE…|FOLDER|STORY|-", type=click.Path())
@click.option("--group", default="", metavar="NAME", help="This group only.")
@click.option(
    "--scenario",
    type=OUTPUT_FILE,
    metavar="FILE",
    help="Write the incident as a scenario, ready to keep as a regression.",
)
@click.option("--html", type=OUTPUT_FILE, metavar="FILE", help="One self-contained page.")
@advise_option(200_000, "How many events an incident's remedies may take to try.")
@click.option("--advice", type=click.IntRange(0), hidden=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.option("--anonymise", is_flag=True, help="Replace every name, each always by the same.")
def command(
    logs: tuple[str, ...],
    group: str,
    scenario: str | None,
    html: str | None,
    advise: int | None,
    advice: int | None,
    as_json: bool,
    anonymise: bool,
) -> int:
    """Tell what happened, who held it up, and what would have prevented it.

    The first sentence says what happened; the second what would have prevented it, which is
    tried on a replay of what was observed. How far the replay agrees stands beneath; where fewer
    than 80 % of the pauses replay within 10 %, nothing is advised.

    It explains one night: `observe` tells the same logs without replaying them.
    """
    from rebalsim.advice.advise import DEFAULT_EVENTS
    from rebalsim.incident.calm import render_calm
    from rebalsim.incident.investigate import investigate
    from rebalsim.incident.told import NO_GROUP, render
    from rebalsim.worlds.logs.anonymise import anonymised
    from rebalsim.worlds.logs.observation import observe
    from rebalsim.worlds.logs.sources import sources_in

    files = tuple(_stock(name) for name in logs)
    observed = observe(sources_in(files, sys.stdin.buffer), group)
    if anonymise:
        observed = anonymised(observed)
    asked = advise if advise is not None else advice
    found = investigate(observed, DEFAULT_EVENTS if asked is None else asked)
    if scenario is not None:
        _write_scenario(scenario, found)
    if found:
        text = render(found)
    else:
        text = render_calm(observed.groups.values()) if observed.groups else f"{NO_GROUP}\n"
    if html is not None:
        shown = () if anonymise else logs
        _write_page(html, found, text, files[0], shown)
    click.echo(_as_json(found) if as_json else terminal.as_told(text), nl=as_json)
    return exits.of_logs(observed.groups)


def _stock(name: str) -> str:
    """A story that ships, where no file has that name."""
    if name == "-" or Path(name).exists() or not name.replace("-", "").isalnum():
        return name
    from rebalsim.scenario.load import stock_folder

    folder = stock_folder() / "incidents" / name
    return str(folder) if folder.is_dir() else name


def _write_scenario(path: str, found: list[Any]) -> None:
    from rebalsim.domain.errors import InputError

    if not found or found[0].written is None:
        why = found[0].why_not if found else "nothing stood still"
        raise InputError(f"{path}: there is no scenario to write — {why}")
    write_text(path, found[0].written.text)


def _write_page(path: str, found: list[Any], text: str, file: str, named: tuple[str, ...]) -> None:
    """What happened, what would have prevented it, and the observed timeline with the replay's beside it
    where there is one. `named`: the logs, as the user named them, where that may be shown.
    """
    from dataclasses import replace
    from html import escape

    from rebalsim.analysis import analyse
    from rebalsim.cli.sources import report_on
    from rebalsim.incident.told import chain, happened, prevented, replayed
    from rebalsim.reports.report import VariantReport
    from rebalsim.reports.to_html import render as to_html
    from rebalsim.worlds.logs.to_trace import trace_of

    if not found:
        head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>incident</title>'
        write_text(path, f"{head}<p>{escape(text)}")
        return
    worst = found[0]
    trace = trace_of([worst.story])
    name, by = named[0] if named else "", trace.header.heading
    heading = f"observed ({by})" if by else "observed"
    shown = [VariantReport("observed", analyse(trace), heading, name)]
    if worst.held is not None:
        shown.append(VariantReport("replayed", worst.held.analysis, "", name))
    report = replace(
        report_on(file, shown, f"rebalsim incident {' '.join(named)}" if named else ""),
        file=name,
        title=happened(worst),
        first=tuple(_sentence(line) for line in (prevented(worst), *replayed(worst))),
        chain=tuple((heading, tuple(lines)) for heading, lines in chain(worst)),
    )
    write_text(path, to_html(report))


def _sentence(line: str) -> str:
    told = line.strip()
    told = told[:1].upper() + told[1:]
    return told if told.endswith(".") else f"{told}."


def _as_json(found: list[Any]) -> str:
    import json

    from rebalsim.incident.told import happened, prevented
    from rebalsim.reports.remedies_told import tell_remedy

    document = [
        {
            "group": i.story.name,
            "happened": happened(i),
            "prevented": prevented(i) if i.held is not None or i.why_not else None,
            "partition_seconds": round(i.cost_us / 1e6, 3) if i.story.pauses else None,
            "replayed": (
                {
                    "pauses": i.held.observed,
                    "within": i.held.agreeing,
                    "believed": i.held.is_believed,
                }
                if i.held is not None
                else None
            ),
            "remedies": [tell_remedy(r) for r in i.remedies],
            "scenario": i.written.text if i.written is not None else None,
            "disturbances": [
                {
                    "begin": d.begin_us // 1_000,
                    "end": d.end_us // 1_000,
                    "partition_seconds": round(d.cost_us / 1e6, 3) if d.pauses else None,
                    "causes": [
                        {
                            "kind": kind,
                            "member": member or None,
                            "partition_seconds": round(sum(map(d.length_us, ps)) / 1e6, 3),
                        }
                        for (kind, member), ps in d.by_cause()
                    ],
                }
                for d in i.disturbances
            ],
        }
        for i in found
    ]
    return terminal.json_as_told(json.dumps(document, indent=1))
