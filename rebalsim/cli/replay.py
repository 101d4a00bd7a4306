"""`rebalsim replay DIR --run NAME`: any run of a sweep again, as a timeline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from rebalsim.cli import exits


@click.command("replay", epilog="Example: rebalsim replay out/session --run 12-cooperative-3")
@click.argument("folder", metavar="DIR")
@click.option("--run", "name", required=True, metavar="NAME", help="Which run: point-variant-seed, as the column `run` names it.")
@click.option("--trace", "trace_file", type=click.Path(dir_okay=False), metavar="FILE", help="Write the run's trace.")
@click.option("--html", type=click.Path(dir_okay=False), metavar="FILE", help="Write the run's timeline as a page.")
@click.option("--json", "as_json", is_flag=True, help="Print the row and whether the replay is identical to it, as JSON.")
@click.option("--master", default="", metavar="URL", help="Spark's master, for a folder that only Spark can read.")
@click.option("--conf", multiple=True, metavar="K=V", help="A setting for Spark, for a folder that only Spark can read. Repeatable.")
def command(folder: str, name: str, trace_file: str | None, html: str | None, as_json: bool, master: str, conf: tuple[str, ...]) -> int:
    """Play a run of a sweep again from the sweep's folder, and say whether it is identical to its row.

    The folder holds the plan and the scenario as they were. Exit 1 where the replay differs (another version of rebalsim).
    """
    from rebalsim.spark.again import play_again
    from rebalsim.spark.java import check_packages

    check_packages()
    manifest, row = _recorded(folder, name, master, conf)
    again = play_again(manifest, name, row)
    if trace_file and again.run is not None:
        from rebalsim.trace.jsonl import write_trace

        write_trace(again.run.trace, Path(trace_file))
    if as_json:
        shown = {k: v for k, v in row.items() if k != "chunk"}
        click.echo(json.dumps({"run": name, "identical": not again.differing, "differing": list(again.differing), "row": shown}, ensure_ascii=False, indent=2))
    else:
        _tell(again, html)
        _say_whether_identical(again, manifest)
    return exits.BROKEN if again.differing else exits.WITHIN


def _recorded(folder: str, name: str, master: str, conf: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The sweep's description of itself, and the run's row."""
    from rebalsim.spark.again import is_local, read_manifest, read_row

    if is_local(folder):
        return read_manifest(folder), read_row(folder, name)
    from rebalsim.cli.sweep import parse_conf
    from rebalsim.domain.errors import InputError
    from rebalsim.spark import conduct
    from rebalsim.spark.bundle import plan_of
    from rebalsim.spark.session import start_session, stop_session
    from rebalsim.spark.store import Store
    from rebalsim.spark.tables import text_literal

    spark = start_session(master, parse_conf(conf), name="rebalsim replay")
    try:
        store = Store(spark, folder)
        manifest = store.read_manifest()
        found = conduct.tables_of(spark, plan_of(manifest), store).runs().where(f"run = {text_literal(name)}").limit(1).collect()
        if not found:
            raise InputError(f"The sweep in {folder} has no run '{name}' — the column `run` of its table `runs` names them.")
        return manifest, found[0].asDict(recursive=True)
    finally:
        stop_session(spark)


def _tell(again: Any, html: str | None) -> None:
    from rebalsim.spark.player import digits

    labels = again.player.points.labels(again.point)
    base = again.player.points.base(again.point)
    assert digits(again.player.plan, again.point) is not None
    click.echo(f"{again.name}: {base.name} with {', '.join(f'{k} {v}' for k, v in labels.items()) or 'nothing changed'}; {again.variant}, seed {again.seed}")
    sets = " ".join(f"--set {path}={value}" for path, value in again.player.points.settings(again.point))
    click.echo(f"The same without the sweep: rebalsim run {base.file} --variant {again.variant} --seed {again.seed} {sets}".rstrip())
    if again.run is None:
        click.echo(f"It has no result: {again.row.get('error')}")


def _say_whether_identical(again: Any, manifest: dict[str, Any]) -> None:
    if not again.differing:
        click.echo(f"Identical to the row of the sweep in every column ({len(again.row)}).")
        return
    from rebalsim import __version__

    click.echo(f"Differs from the row of the sweep in {', '.join(again.differing[:8])}{' …' if len(again.differing) > 8 else ''}."
               f" The sweep was played by rebalsim {manifest.get('rebalsim')}, this is {__version__}.")
