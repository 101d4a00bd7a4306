"""`rebalsim migrate SCENARIO --to consumer`: what moving to the consumer protocol does to a group's settings and pauses."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rebalsim.cli import exits
from rebalsim.cli.options import scenario_argument
from rebalsim.domain.errors import InputError

if TYPE_CHECKING:
    from rebalsim.analysis.over_seeds import OverSeeds
    from rebalsim.scenario.road import Road

SHOWN = ("longest_pause", "p95_partition_pause", "partition_seconds", "rebalances")


@click.command("migrate", epilog="Example: rebalsim migrate scenarios/rolling-bounce.yaml --to consumer --out to-consumer.yaml")
@scenario_argument
@click.option("--to", "target", type=click.Choice(["consumer"]), default="consumer", show_default=True, help="The protocol to move to.")
@click.option("--variant", default="", metavar="NAME", help="The variant that stands for how the group runs today; its first classic one if left out.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the migration scenario to this file: one deploy to the new protocol.")
def command(scenario: str, target: str, variant: str, out: Path | None) -> int:
    """Say what moving SCENARIO to the consumer protocol (KIP-848) does: to its settings, and to its pauses before, during and after.

    Before and after are the story's own script under either protocol; during is one rolling deploy with everything else quiet. What runs
    under the consumer protocol is told over 20 seeds, because a single run of it is a sample.
    """
    from rebalsim.one_run import spread
    from rebalsim.scenario.load import read_bytes
    from rebalsim.scenario.road import road_of

    name, raw = read_bytes(scenario)
    road = road_of(raw, name, variant)
    for line in _settings(road):
        click.echo(textwrap.fill(line, 79, subsequent_indent=" " * (len(line) - len(line.lstrip()) + 2)))
    phases = {"before": spread(road.before, 1), "during": spread(road.during), "after": spread(road.after)}
    click.echo("")
    for line in _pauses(phases):
        click.echo(line)
    if out is not None:
        try:
            out.write_text(road.text, encoding="utf-8")
        except OSError as e:
            raise InputError(f"{out}: cannot be written ({e.strerror}) — give --out a place of your own") from None
        click.echo(f"\nThe migration scenario is in\n  {out}\nrebalsim run plays it.")
    return exits.WITHIN


def _settings(road: Road) -> list[str]:
    lines = ["First", *[f"  {step}" for step in road.steps], ""] if road.steps else []
    lines.append(f"Settings, before ({road.before.heading or road.before.variant}) and after (consumer)")
    for fate in road.fates:
        lines += [f"  {fate.key}", f"    {fate.fate}: {fate.before} → {fate.after}"]
    dropped = [note for note in road.after.notes if "dropped" in note]
    return lines + (["  Written in the file, and dropped:", *[f"    {note}" for note in dropped]] if dropped else [])


def _pauses(phases: dict[str, OverSeeds]) -> list[str]:
    from rebalsim.domain.metrics import METRICS

    lines = ["Pauses: median of the seeds (p95, worst)", f"  {'':19}" + "".join(f"{name:>10}" if name == "before" else f"{name:>24}" for name in phases)]
    for metric in SHOWN:
        is_time = METRICS[metric].unit not in ("count", "")
        cells = [f"{_cell(over, metric, is_time):>{10 if name == 'before' else 24}}" for name, over in phases.items()]
        lines.append(f"  {metric.replace('_', ' '):19}" + "".join(cells))
    return lines


def _cell(over: OverSeeds, metric: str, is_time: bool) -> str:
    values = over.known(metric)
    if not values:
        return "unknown"

    def say(value: float | None) -> str:
        if value is None:
            return "unknown"
        return f"{value / 1e6:.1f} s" if is_time else f"{value:.0f}"

    if values[0] == values[-1]:
        return say(values[0])
    return f"{say(over.at(metric, 50))} ({say(over.at(metric, 95))}, {say(values[-1])})"
