"""`rebalsim migrate SCENARIO --to consumer`: what moving to the consumer protocol does to a group's settings and pauses."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rebalsim.cli import exits
from rebalsim.cli.options import scenario_argument
from rebalsim.domain.errors import InputError
from rebalsim.domain.instants import say_duration
from rebalsim.domain.metrics import METRICS, Selection, percentile

if TYPE_CHECKING:
    from rebalsim.domain.scenario import Scenario
    from rebalsim.scenario.road import Road

MOST_ACTIONS = 12
SHOWN = ("longest_pause", "p95_partition_pause", "partition_seconds", "rebalances")
OF_ACTIONS = {"longest_pause": "The longest pause of each action of the script", "partition_seconds": "Partition-seconds of each action of the script"}


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
    from rebalsim.scenario.load import read_bytes
    from rebalsim.scenario.road import road_of

    name, raw = read_bytes(scenario)
    road = road_of(raw, name, variant)
    for line in _settings(road):
        click.echo(textwrap.fill(line, 79, subsequent_indent=" " * (len(line) - len(line.lstrip()) + 2), break_on_hyphens=False))
    phases = {phase: Phase(played) for phase, played in (("before", road.before), ("during", road.during), ("after", road.after))}
    for lines in (_pauses(phases, road), _by_action(phases, road), _surprises(phases, road)):
        for line in lines:
            click.echo(line)
    if out is not None:
        try:
            out.write_text(road.text, encoding="utf-8")
        except OSError as e:
            raise InputError(f"{out}: cannot be written ({e.strerror}) — give --out a place of your own") from None
        click.echo(f"\nThe migration scenario is in\n  {out}\nrebalsim run plays it.")
    return exits.WITHIN


class Phase:
    """One part of the road, played: under the consumer protocol over many seeds."""

    def __init__(self, scenario: Scenario) -> None:
        from rebalsim.analysis.over_seeds import OverSeeds
        from rebalsim.analysis.surprises import surprises
        from rebalsim.one_run import is_sampled, run_once, spread_seeds

        self.values: dict[tuple[str, str, str], list[float]] = {}      # group, action, metric
        self.over = OverSeeds()
        self.surprises: tuple[str, ...] = ()
        self.actions: dict[str, int] = {}                              # what set off pauses, in order of time
        for seed in range(scenario.seed, scenario.seed + (spread_seeds(scenario) if is_sampled(scenario) else 1)):
            run = run_once(scenario, seed)
            if not self.over.seeds:
                self.surprises = surprises(run.trace)
            self.over.add(seed, run.analysis)
            for pause in run.analysis.pauses:
                if pause.cause.action:
                    self.actions[pause.cause.action] = min(pause.started_us, self.actions.get(pause.cause.action, pause.started_us))
            for group in [g.name for g in scenario.groups]:
                for action in ("", *self.actions):
                    for metric in SHOWN if not action else OF_ACTIONS:
                        value = run.analysis.measure(metric, Selection(group=group, action=action))
                        if value is not None:
                            self.values.setdefault((group, action, metric), []).append(value)

    def said(self, group: str, action: str, metric: str) -> str:
        """Its median over the seeds, with the p95 and the worst where they differ."""
        values = sorted(self.values.get((group, action, metric), ()))
        if not values:
            return "unknown"
        is_time = METRICS[metric].unit not in ("count", "")

        def say(value: float) -> str:
            if not is_time:
                return f"{value:.0f}"
            return f"{value / 1e6:.0f} s" if metric == "partition_seconds" or not value else say_duration(round(value))

        median, p95, worst = say(percentile(values, 50) or 0), say(percentile(values, 95) or 0), say(values[-1])
        return median if median == p95 == worst else f"{median} ({p95}, {worst})"


def _settings(road: Road) -> list[str]:
    lines = ["First", *[f"  {i}. {step}" for i, step in enumerate(road.steps, 1)], ""] if road.steps else []
    for kind in road.kinds:
        names = kind.members[0] if len(kind.members) == 1 else f"{kind.members[0]} … {kind.members[-1]}"
        lines.append(f"{kind.group} ({names}, {kind.client}): settings before → after")
        for fate in kind.fates:
            lines += [f"  {fate.key}", f"    {fate.fate}: {fate.before} → {fate.after}"]
    lines.append("The brokers: settings before → after")
    for fate in road.brokers:
        lines += [f"  {fate.key}", f"    {fate.fate}: {fate.before} → {fate.after}"]
    dropped = [note for note in road.after.notes if "dropped" in note]
    return lines + (["Written in the file, and dropped", *[f"  {note}" for note in dropped]] if dropped else [])


def _pauses(phases: dict[str, Phase], road: Road) -> list[str]:
    lines = ["", "Pauses: median of the seeds (p95, worst)"]
    for group in [g.name for g in road.before.groups]:
        rows = [[metric.replace("_", " "), *[phase.said(group, "", metric) for phase in phases.values()]] for metric in SHOWN]
        lines += ["", *_table([[group if len(road.before.groups) > 1 else "", *phases], *rows])]
    return lines


def _by_action(phases: dict[str, Phase], road: Road) -> list[str]:
    """The longest pause that each action of the story's own script comes to, before and after, and how long partitions stand still for it in sum."""
    lines = []
    for metric, title in OF_ACTIONS.items():
        lines += _each_action(phases, road, metric, title)
    return lines


def _each_action(phases: dict[str, Phase], road: Road, metric: str, title: str) -> list[str]:
    rows = []
    before, after = phases["before"], phases["after"]
    actions = sorted({**after.actions, **before.actions}, key=lambda name: before.actions.get(name, after.actions.get(name, 0)))
    for group in [g.name for g in road.before.groups]:
        for action in actions:
            said = [phase.said(group, action, metric) if (group, action, metric) in phase.values else "0 s" for phase in (before, after)]
            if any(cell != "0 s" for cell in said):
                rows.append([f"{action}, {group}" if len(road.before.groups) > 1 else action, *said])
    if not rows:
        return []
    return ["", title, "", *_table([["", "before", "after"], *rows[:MOST_ACTIONS]]),
            *([f"  and {len(rows) - MOST_ACTIONS} more"] if len(rows) > MOST_ACTIONS else [])]


def _surprises(phases: dict[str, Phase], road: Road) -> list[str]:
    from rebalsim.one_run import said_of_chance

    told = [*phases["after"].surprises, said_of_chance(phases["after"].over, road.after)]
    lines = ["", "What surprises people, as it happened here (after)"]
    return lines + [line for text in told if text for line in textwrap.wrap(text, 79, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)]


def _table(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  " + "  ".join(f"{cell:<{width}}" if not i else f"{cell:>{width}}" for i, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in rows]
