"""`rebalsim dev bench`: all ratios that rebalsim promises, measured in one go."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from rebalsim.cli import exits

if TYPE_CHECKING:
    from rebalsim.proof.bench.figure import Figure

PARTS = ("simulation", "growth", "start-up", "reports", "assignors", "sweep", "logs")


@click.command("bench", epilog="Example: rebalsim dev bench --only simulation --only start-up")
@click.option(
    "--quick",
    is_flag=True,
    help="Fewer repeats and smaller groups: for a look, not for the record.",
)
@click.option("--only", multiple=True, type=click.Choice(PARTS), help="This part only. Repeatable.")
@click.option(
    "--logs", default="", metavar="PATH", help="Read these plain logs for the part `logs`."
)
@click.option(
    "--against",
    default="",
    metavar="TREE",
    help="What a run costs here and in this other tree of rebalsim, in turns; nothing else.",
)
@click.option("--json", "as_json", is_flag=True, help="The figures as one JSON document.")
def command(quick: bool, only: tuple[str, ...], logs: str, against: str, as_json: bool) -> int:
    """Measure what rebalsim costs, as ratios taken within one run where that is possible, and hold
    it to its limits.

    Exit 1 if a limit is missed. Java's times need a JDK and Kafka's jars (fetched through
    Maven); Spark's need the extra `spark`.
    """
    told: dict[str, list[Figure]] = {}
    kept = True
    if not as_json:
        python = f"{platform.python_implementation()} {platform.python_version()}"
        click.echo(
            f"{python}; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores: what "
            "others do makes times worse."
        )
    for part in ("against",) if against else only or PARTS:
        figures, lines, ok = _measured(part, quick, logs, against)
        told[part] = figures
        kept = kept and ok and all(figure.ok for figure in figures)
        if not as_json:
            click.echo(f"\n{part}")
            for line in lines:
                click.echo(f"  {line}")
            for figure in figures:
                click.echo(f"  {figure.line()}")
    if as_json:
        click.echo(
            json.dumps(
                {
                    part: [
                        {
                            "name": f.name,
                            "measured": f.measured,
                            "unit": f.unit,
                            "limit": f.limit,
                            "is_most": f.is_most,
                            "ok": f.ok,
                            "note": f.note,
                        }
                        for f in figures
                    ]
                    for part, figures in told.items()
                },
                ensure_ascii=False,
                indent=2,
            )
        )
    return exits.WITHIN if kept else exits.BROKEN


Part = tuple["list[Figure]", list[str], bool]


def _measured(part: str, quick: bool, logs: str, against: str) -> Part:
    if part == "against":
        from rebalsim.proof.bench.against import measure

        return measure(against, quick), [], True
    return _logs(quick, logs) if part == "logs" else _BY_PART[part](quick)


def _simulation(quick: bool) -> Part:
    from rebalsim.proof.bench.simulation import measure

    return measure(quick), [], True


def _growth(quick: bool) -> Part:
    from rebalsim.proof.bench.simulation import growth

    lines, figure = growth(quick)
    return [figure], lines, True


def _start_up(quick: bool) -> Part:
    from rebalsim.proof.bench.start_up import measure

    return measure(quick), [], True


def _reports(quick: bool) -> Part:
    from rebalsim.proof.bench.report_forms import measure

    return measure(quick), [], True


def _assignors(quick: bool) -> Part:
    from rebalsim.proof.bench.assignors import measure, render

    measured = measure(quick=quick)
    return [], render(measured), all(m.ok for m in measured)


def _sweep(quick: bool) -> Part:
    from rebalsim.domain.errors import RebalsimError

    try:
        from rebalsim.proof.bench.sweep import lines, measure

        figures = measure(quick=quick)
    except (ImportError, RebalsimError) as e:
        return [], [f"left out: {e}"], True
    return [], lines(figures), figures.ok


def _logs(quick: bool, path: str = "") -> Part:
    from rebalsim.domain.errors import RebalsimError
    from rebalsim.proof.bench.logs import measure

    try:
        return measure(quick, path, spark=not quick), [], True
    except (ImportError, RebalsimError) as e:
        return measure(quick, path), [f"Spark is left out: {e}"], True


_BY_PART: dict[str, Callable[[bool], Part]] = {
    "simulation": _simulation,
    "growth": _growth,
    "start-up": _start_up,
    "reports": _reports,
    "assignors": _assignors,
    "sweep": _sweep,
    "logs": _logs,
}
