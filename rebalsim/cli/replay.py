"""`rebalsim replay DIR --run NAME`: any run of a sweep again, told as `rebalsim run` tells it,
and held to its row.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from rebalsim.cli import exits
from rebalsim.cli.options import allow_code_option
from rebalsim.cli.report_options import emit, form_options, view_from, view_options

if TYPE_CHECKING:
    from rebalsim.spark.run_replay import Again


@click.command("replay", epilog="Example: rebalsim replay out/session --run 12-cooperative-3")
@click.argument("folder", metavar="DIR")
@click.option(
    "--run",
    "name",
    required=True,
    metavar="NAME",
    help="Which run: point-variant-seed, as the column `run` names it.",
)
@click.option(
    "--master",
    default="",
    metavar="URL",
    help="Spark's master, for a folder that only Spark can read.",
)
@click.option(
    "--conf",
    multiple=True,
    metavar="K=V",
    help="A setting for Spark, for a folder that only Spark can read. Repeatable.",
)
@allow_code_option
@form_options
@view_options
def command(
    folder: str, name: str, master: str, conf: tuple[str, ...], allow_code: bool, **options: Any
) -> int:
    """Play a run of a sweep again from the sweep's folder, and say whether it is identical to its
    row.

    The folder holds the plan and the scenario as they were. Exit 1 where the replay differs
    (another version of rebalsim).

    It plays what a sweep has played: `run` plays a scenario.
    """
    from rebalsim.scenario.load import code_folder
    from rebalsim.spark.java import check_packages
    from rebalsim.spark.run_replay import play_again

    view = view_from(options)
    check_packages()
    manifest, row = _recorded(folder, name, master, conf)
    again = play_again(manifest, name, row, code_folder(allow_code))
    if again.run is not None:
        emit(_report(again), options, view)
    else:
        click.echo(f"The run {name} has no result: {row.get('error')}")
    click.echo(_sentence(again, manifest), err=True)
    return exits.BROKEN if again.differing else exits.WITHIN


def _recorded(
    folder: str, name: str, master: str, conf: tuple[str, ...]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The sweep's description of itself, and the run's row."""
    from rebalsim.spark.run_replay import is_local, read_manifest, read_row

    if is_local(folder):
        return read_manifest(folder), read_row(folder, name)
    from rebalsim.cli.sweep import parse_conf
    from rebalsim.domain.errors import InputError
    from rebalsim.spark import sweep_job
    from rebalsim.spark.bundle import plan_of
    from rebalsim.spark.session import start_session, stop_session
    from rebalsim.spark.store import Store
    from rebalsim.spark.tables import text_literal

    spark = start_session(master, parse_conf(conf), name="rebalsim replay", is_brief=True)
    try:
        store = Store(spark, folder)
        manifest = store.read_manifest()
        found = (
            sweep_job.tables_of(spark, plan_of(manifest), store)
            .runs()
            .where(f"run = {text_literal(name)}")
            .limit(1)
            .collect()
        )
        if not found:
            raise InputError(
                f"The sweep in {folder} has no run '{name}' — the column `run` of its table "
                "`runs` names them."
            )
        return manifest, found[0].asDict(recursive=True)
    finally:
        stop_session(spark)


def _report(again: Again) -> Any:
    """The run as a report of one variant, with the command that plays it without the sweep."""
    from rebalsim import __version__
    from rebalsim.reports.report import Report, VariantReport

    assert again.scenario is not None and again.run is not None
    base = again.player.points.base(again.point)
    parts = ["rebalsim", "run", base.file, "--variant", again.variant, "--seed", str(again.seed)]
    for path, value in again.player.points.settings(again.point):
        parts += ["--set", f"{path}={value}"]
    at = ", ".join(
        f"{axis} {value}" for axis, value in again.player.points.labels(again.point).items()
    )
    told = VariantReport(
        again.variant,
        again.run.analysis,
        again.scenario.heading,
        base.file,
        {},
        again.scenario.notes,
    )
    header = again.run.analysis.header
    return Report(
        f"Run {again.name}: {again.scenario.title or base.name}{f' with {at}' if at else ''}",
        (told,),
        again.scenario.description,
        base.file,
        base.text,
        header.digest,
        header.kafka,
        again.seed,
        __version__,
        shlex.join(parts),
    )


def _sentence(again: Again, manifest: dict[str, Any]) -> str:
    if not again.differing:
        return f"Identical to its row in the sweep, in all {len(again.row)} columns."
    from rebalsim import __version__

    return (
        "Differs from its row in the sweep in "
        f"{', '.join(again.differing[:8])}{' …' if len(again.differing) > 8 else ''}. "
        f"The sweep was played by rebalsim {manifest.get('rebalsim')}, this is {__version__}."
    )
