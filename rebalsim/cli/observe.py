"""`rebalsim observe FILE…`: what brokers' and clients' logs tell of a group's life."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from rebalsim.cli import exits, terminal
from rebalsim.cli.forms import printed_form
from rebalsim.cli.report_options import form_options, view_from, view_options
from rebalsim.reports.forms.form import Subject, forms_of


@click.command(
    "observe",
    epilog="Examples: rebalsim observe logs/ · rebalsim observe logs/ --group orders --html "
    "night.html · kubectl logs -l app=orders --prefix | rebalsim observe -",
)
@click.argument("logs", nargs=-1, metavar="FILE…|FOLDER|-", type=click.Path())
@click.option("--group", default="", metavar="NAME", help="This group only.")
@click.option(
    "--zone", default="", metavar="ZONE", help="Of times that tell none: Europe/Berlin, +01:00."
)
@click.option("--pauses", is_flag=True, help="Also draw the timeline and tell each pause.")
@click.option(
    "--what-to-log", is_flag=True, help="Print the logging settings that tell the most, and stop."
)
@click.option("--follow", is_flag=True, help="Go on reading while the logs grow, until Ctrl-C.")
@click.option(
    "--anonymise",
    is_flag=True,
    help="Replace the names of groups, topics, members and hosts, each always by the same.",
)
@click.option(
    "--spark", "on_spark", is_flag=True, help="Read a fleet's logs on Spark, into tables."
)
@click.option(
    "--out", metavar="DIR", help="Where --spark writes events, rebalances, pauses, members."
)
@click.option("--master", default="", metavar="URL", help="Spark's master, for --spark.")
@form_options
@view_options
def command(
    logs: tuple[str, ...],
    group: str,
    zone: str,
    pauses: bool,
    what_to_log: bool,
    follow: bool,
    anonymise: bool,
    on_spark: bool,
    out: str | None,
    master: str,
    **options: Any,
) -> int:
    """Read brokers' and clients' logs, in any mix, and tell each group's rebalances and pauses.

    Kafka's own patterns, Spring Boot's, JSON (logstash, ECS), librdkafka, franz-go, sarama,
    kafka-python, aiokafka, KafkaJS, Streams and Connect; from docker, Kubernetes or the journal;
    plain, gzip or zstd. What is read is told apart by its content. `--json` prints rebalances,
    callbacks, pauses and clocks; `--html`, `--trace` and the like need one group.

    It tells all that the logs hold: `incident` says what would have prevented it, `calibrate` what
    a scenario should assume, and `report` tells one group as it tells a trace.
    """
    from rebalsim.worlds.logs.gaps import WHAT_TO_LOG

    if what_to_log:
        click.echo(WHAT_TO_LOG, nl=False)
        return exits.WITHIN
    if not logs:
        raise click.UsageError("Give logs: files, folders, or - for standard input.")
    given = {"--group": group, "--zone": zone, "--pauses": pauses, "--anonymise": anonymise}
    given |= {f"--{form.name}": options.get(form.option) for form in forms_of(Subject.RUNS)}
    given["--trace"] = options.get("trace_file")
    if on_spark:
        from rebalsim.cli.observe_fleet import on_a_fleet

        _refuse("--spark", given, ("--html",) if not follow else ())
        return on_a_fleet(logs, out, master, follow, options.get("html"))
    if follow:
        _refuse("--follow", given, ("--group", "--zone", "--anonymise"))
        return _follow(logs, group, zone, anonymise)
    return _observe(logs, (group, zone), pauses, anonymise, options)


def _refuse(mode: str, given: dict[str, Any], known: tuple[str, ...]) -> None:
    """Refuse options that would have no effect here, rather than pass over them in silence."""
    vain = [option for option, value in given.items() if value and option not in known]
    if vain:
        raise click.UsageError(f"{mode} does not go with {', '.join(vain)}.")


def _follow(logs: tuple[str, ...], group: str, zone: str, anonymise: bool) -> int:
    from rebalsim.cli.observe_follow import follow_input, follow_logs
    from rebalsim.worlds.logs.anonymise import Names

    names = Names() if anonymise else None
    if logs == ("-",):
        return follow_input(sys.stdin.buffer, group, zone, names)
    if "-" in logs:
        raise click.UsageError("--follow takes files and folders, or - alone.")
    return follow_logs(logs, group, zone, names)


def _observe(
    logs: tuple[str, ...],
    meant: tuple[str, str],
    pauses: bool,
    anonymise: bool,
    options: dict[str, Any],
) -> int:
    from rebalsim.cli.report_options import emit, write_files
    from rebalsim.reports.observed import render
    from rebalsim.worlds.logs.anonymise import anonymised
    from rebalsim.worlds.logs.observation import observe
    from rebalsim.worlds.logs.sources import sources_in
    from rebalsim.worlds.logs.to_json import document_of

    view = view_from(options)
    observed = observe(sources_in(logs, sys.stdin.buffer), *meant)
    if anonymise:
        observed = anonymised(observed)
    wants = options.get("trace_file") or any(
        options.get(form.option) for form in forms_of(Subject.RUNS) if form.is_file
    )
    form = printed_form(Subject.RUNS, options)
    is_own_json = form is not None and form.is_json  # the document on groups, not that on pauses
    told = pauses or (form is not None and not is_own_json)
    if wants or told:
        shown = () if anonymise else logs  # a file may bear the name of a host or a group
        report = _as_report(observed, logs[0], shown)
        if told:
            emit(report, {**options, "as_json": False}, view)
        else:
            write_files(report, options, view)
    if is_own_json:
        click.echo(terminal.json_as_told(json.dumps(document_of(observed), indent=1)))
    elif form is None:
        click.echo(terminal.as_told(render(observed, meant[0])), nl=False)
    return exits.of_logs(observed.groups)


def _as_report(observed: Any, file: str, shown: tuple[str, ...]) -> Any:
    """What every trace can be: a page, a timeline, a table. `shown`: the logs, where they may be named."""
    from dataclasses import replace

    from rebalsim.analysis import analyse
    from rebalsim.cli.sources import report_on
    from rebalsim.reports.report import VariantReport
    from rebalsim.worlds.logs.to_trace import trace_of

    trace = trace_of(list(observed.groups.values()))
    name = shown[0] if shown else ""
    found = VariantReport("logs", analyse(trace), trace.header.heading, name)
    told = f"rebalsim observe {' '.join(shown)}" if shown else ""
    return replace(report_on(file, [found], told), file=name)
