"""`rebalsim migrate SCENARIO --to consumer`: what moving to the consumer protocol does to a
group's settings and pauses.
"""

from __future__ import annotations

import textwrap
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rebalsim.cli import exits
from rebalsim.cli.files import write_text
from rebalsim.cli.options import scenario_argument
from rebalsim.domain.alarm import AlarmKind
from rebalsim.domain.metrics import METRICS, Selection
from rebalsim.domain.percentiles import percentile
from rebalsim.domain.unit import Unit
from rebalsim.words.times import say_duration

if TYPE_CHECKING:
    from rebalsim.analysis.analysis import Analysis
    from rebalsim.domain.scenario import Scenario
    from rebalsim.scenario.migration_stories import Migration

MOST_ACTIONS = 12
WIDTH = 80
SHOWN = ("longest_pause", "p95_partition_pause", "partition_seconds", "rebalances")
START = "start"  # in place of an action: the group's first settling
OF_START = {
    "first_settle_time": "start: time to begin",
    "partition_seconds": "start: partition-seconds",
}
OF_THE_START = (
    "The start: under the classic protocol members wait until all are there, under the consumer "
    "protocol the first one gets everything and "
    "hands on to the others."
)
MOST_NAMES = 3
OF_ACTIONS = {
    "longest_pause": "The longest pause of each action of the script",
    "partition_seconds": "Partition-seconds of each action of the script",
}


@click.command(
    "migrate",
    epilog="Example: rebalsim migrate scenarios/rolling-bounce.yaml --to consumer --out "
    "to-consumer.yaml",
)
@scenario_argument
@click.option(
    "--to",
    "target",
    type=click.Choice(["consumer", "streams"]),
    default="consumer",
    show_default=True,
    help="The protocol to move to.",
)
@click.option(
    "--variant",
    default="",
    metavar="NAME",
    help="The variant that stands for how the group runs today; its first classic one if left out.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Write the migration scenario to this file: one deploy to the new protocol.",
)
def command(scenario: str, target: str, variant: str, out: Path | None) -> int:
    """Say what moving SCENARIO to the consumer protocol (KIP-848) does: to its settings, and to its
    pauses before, during and after.

    Before and after are the story's own script under either protocol; during is one rolling
    deploy to the new one with everything else quiet, brokers and clients upgraded already. All
    three are told over 20 seeds, each of which strikes at another moment between two heartbeats
    (5 for more than fifty members). Pauses are those of a group that has settled; what its start
    costs is told by itself.

    --to streams is for a Kafka Streams application (KIP-1071), and says why no live road leads
    there.
    """
    from rebalsim.scenario.load import read_bytes
    from rebalsim.scenario.migration_stories import migration_of

    name, raw = read_bytes(scenario)
    if target == "streams":
        from rebalsim.cli.migrate_streams import told

        for line in told(raw, name, variant):
            click.echo(line)
        return exits.WITHIN
    migration = migration_of(raw, name, variant)
    for line in _settings(migration):
        click.echo(
            textwrap.fill(
                line,
                79,
                subsequent_indent=" " * (len(line) - len(line.lstrip()) + 2),
                break_on_hyphens=False,
            )
        )
    phases = {
        phase: Phase(played)
        for phase, played in (
            ("before", migration.before),
            ("during", migration.during),
            ("after", migration.after),
        )
    }
    for lines in (
        _pauses(phases, migration),
        _by_action(phases, migration),
        _surprises(phases, migration),
    ):
        for line in lines:
            click.echo(line)
    if out is not None:
        write_text(out, migration.text)
        click.echo(f"\nThe migration scenario is in\n  {out}\nrebalsim run plays it.")
    return exits.WITHIN


class Phase:
    """One part of the migration, played over as many seeds as the others."""

    def __init__(self, scenario: Scenario) -> None:
        from rebalsim.analysis.over_seeds import OverSeeds
        from rebalsim.one_run import run_once, spread_seeds
        from rebalsim.reports.surprises_told import tell_surprises

        scenario = replace(scenario, start="cold")  # what a start costs is among its figures
        self.values: dict[tuple[str, str, str], list[float]] = {}  # group, action, metric
        self.over = OverSeeds()
        self.surprises: tuple[str, ...] = ()
        self.actions: dict[str, int] = {}  # what set off pauses, in order of time
        # group → who did not come back → in how many seeds
        self.gone: dict[str, dict[str, int]] = {}
        for seed in range(scenario.seed, scenario.seed + spread_seeds(scenario)):
            run = run_once(scenario, seed)
            if not self.over.seeds:
                self.surprises = tell_surprises(run.trace)
            self.over.add(seed, run.analysis)
            for pause in run.analysis.pauses:
                if pause.cause.action:
                    self.actions[pause.cause.action] = min(
                        pause.started_us, self.actions.get(pause.cause.action, pause.started_us)
                    )
            for alarm in run.analysis.alarms:
                if alarm.kind is AlarmKind.DIED and alarm.back_us < 0:
                    gone = self.gone.setdefault(alarm.group, {})
                    gone.update((name, gone.get(name, 0) + 1) for name in alarm.consumers)
            for group in [g.name for g in scenario.groups]:
                self._measure(run.analysis, group)

    def _measure(self, analysis: Analysis, group: str) -> None:
        all_of_it, measure = Selection(group=group), analysis.measure
        later = replace(all_of_it, after_start=True)
        for action in ("", *self.actions):
            for metric in SHOWN if not action else OF_ACTIONS:
                self._keep(group, action, metric, measure(metric, replace(later, action=action)))
        stood, stood_later = (measure("partition_seconds", s) or 0 for s in (all_of_it, later))
        self._keep(group, START, "partition_seconds", stood - stood_later)
        self._keep(group, START, "first_settle_time", measure("first_settle_time", all_of_it))

    def _keep(self, group: str, action: str, metric: str, value: float | None) -> None:
        if value is not None:
            self.values.setdefault((group, action, metric), []).append(value)

    def said_gone(self, group: str) -> str:
        """Who did not come back, and under how many of the seeds where it is not all."""
        seeds, gone = len(self.over.seeds), self.gone.get(group, {})
        if len(gone) > MOST_NAMES:
            return f"{len(gone)} members"
        return (
            ", ".join(
                name if times == seeds else f"{name} ({times} of {seeds} seeds)"
                for name, times in gone.items()
            )
            or "-"
        )

    def said(self, group: str, action: str, metric: str) -> str:
        """Its median over the seeds, with the p95 and the worst where they differ."""
        values = sorted(self.values.get((group, action, metric), ()))
        if not values:
            return "unknown"
        is_time = METRICS[metric].unit != Unit.COUNT

        def say(value: float) -> str:
            if not is_time:
                return f"{value:.0f}"
            return (
                f"{value / 1e6:.0f} s"
                if metric == "partition_seconds" or not value
                else say_duration(round(value))
            )

        median, p95, worst = (
            say(percentile(values, 50) or 0),
            say(percentile(values, 95) or 0),
            say(values[-1]),
        )
        return median if median == p95 == worst else f"{median} ({p95}, {worst})"


def _settings(migration: Migration) -> list[str]:
    lines = (
        ["First", *[f"  {i}. {step}" for i, step in enumerate(migration.steps, 1)], ""]
        if migration.steps
        else []
    )
    for kind in migration.kinds:
        names = (
            f"{kind.members[0]} … {kind.members[-1]}"
            if len(kind.members) > 2
            else ", ".join(kind.members)
        )
        lines.append(f"{kind.group} ({names}, {kind.client}): settings before → after")
        for fate in kind.fates:
            lines += [f"  {fate.key}", f"    {fate.fate}: {fate.before} → {fate.after}"]
    lines.append("The brokers: settings before → after")
    for fate in migration.brokers:
        lines += [f"  {fate.key}", f"    {fate.fate}: {fate.before} → {fate.after}"]
    dropped = [note for note in migration.after.notes if "dropped" in note]
    return lines + (
        ["Written in the file, and dropped", *[f"  {note}" for note in dropped]] if dropped else []
    )


def _pauses(phases: dict[str, Phase], migration: Migration) -> list[str]:
    from rebalsim.reports.figures import title_of

    seeds = " / ".join(dict.fromkeys(str(len(phase.over.seeds)) for phase in phases.values()))
    lines = ["", f"Pauses, once the group has settled: median of {seeds} seeds (p95, worst)"]
    for group in [g.name for g in migration.before.groups]:
        rows = [
            [title_of(metric), *[phase.said(group, "", metric) for phase in phases.values()]]
            for metric in SHOWN
        ]
        rows += [
            [what, *[phase.said(group, START, metric) for phase in phases.values()]]
            for metric, what in OF_START.items()
        ]
        if any(
            phases["before"].gone.get(group, {}).keys() ^ phases["after"].gone.get(group, {}).keys()
        ):
            rows.append(
                ["did not come back", *[phase.said_gone(group) for phase in phases.values()]]
            )
        lines += [
            "",
            *_table([[group if len(migration.before.groups) > 1 else "", *phases], *rows]),
        ]
    return [*lines, "", *_remarks(phases, bool(migration.steps))]


def _remarks(phases: dict[str, Phase], has_steps: bool) -> list[str]:
    said = [OF_THE_START]
    if has_steps:
        said.append(
            "During is the deploy to the new protocol alone: the upgrades that come first are "
            "not in it."
        )
    if any(phase.gone for phase in phases.values()):
        said.append(
            "Whoever did not come back is no longer restarted either, and so its later restarts "
            "cost nothing."
        )
    wrapper = textwrap.TextWrapper(
        77, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
    )
    return [line for text in said for line in wrapper.wrap(text)]


def _by_action(phases: dict[str, Phase], migration: Migration) -> list[str]:
    """The longest pause that each action of the story's own script comes to, before and after,
    and how long partitions stand still for it in sum.
    """
    lines = []
    for metric, title in OF_ACTIONS.items():
        lines += _each_action(phases, migration, metric, title)
    return lines


def _each_action(
    phases: dict[str, Phase], migration: Migration, metric: str, title: str
) -> list[str]:
    rows = []
    before, after = phases["before"], phases["after"]
    actions = sorted(
        {**after.actions, **before.actions},
        key=lambda name: before.actions.get(name, after.actions.get(name, 0)),
    )
    for group in [g.name for g in migration.before.groups]:
        for action in actions:
            said = [
                phase.said(group, action, metric)
                if (group, action, metric) in phase.values
                else "0 s"
                for phase in (before, after)
            ]
            if any(cell != "0 s" for cell in said):
                rows.append(
                    [f"{action}, {group}" if len(migration.before.groups) > 1 else action, *said]
                )
    if not rows:
        return []
    return [
        "",
        title,
        "",
        *_table([["", "before", "after"], *rows[:MOST_ACTIONS]]),
        *([f"  and {len(rows) - MOST_ACTIONS} more"] if len(rows) > MOST_ACTIONS else []),
    ]


def _surprises(phases: dict[str, Phase], migration: Migration) -> list[str]:
    from rebalsim.reports.chance_told import said_of_chance

    told = [*phases["after"].surprises, said_of_chance(phases["after"].over, migration.after)]
    lines = ["", "What surprises people, as it happened here (after)"]
    return lines + [
        line
        for text in told
        if text
        for line in textwrap.wrap(
            text, 79, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
        )
    ]


def _table(rows: list[list[str]]) -> list[str]:
    """Columns two blanks apart. Where that is too wide, what stands in brackets goes below what
    it is the spread of.
    """
    lines = _columns(rows)
    if max(map(len, lines)) <= WIDTH:
        return lines
    return _columns([part for row in rows for part in _above_and_below(row)])


def _above_and_below(row: list[str]) -> list[list[str]]:
    halves = [cell.partition(" (") if i else (cell, "", "") for i, cell in enumerate(row)]
    below = [f"({rest}" if bracket else "" for _, bracket, rest in halves]
    return [[first for first, _, _ in halves], *([below] if any(below) else [])]


def _columns(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  "
        + "  ".join(
            f"{cell:<{width}}" if not i else f"{cell:>{width}}"
            for i, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    ]
