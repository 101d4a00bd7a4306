"""`rebalsim assign --assignor streams-…`: ask a Streams task assignor who gets which task."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from rebalsim.domain.errors import InputError

if TYPE_CHECKING:
    from rebalsim.assignors.streams.tasks import TaskId
    from rebalsim.assignors.streams.what_if import Application, TaskMove, TaskOutcome
    from rebalsim.assignors.what_if import Change

# the settings that decide here, each with the smallest value that Kafka takes
_SETTINGS = {
    "num.standby.replicas": 0,
    "acceptable.recovery.lag": 0,
    "max.warmup.replicas": 1,
    "num.stream.threads": 1,
}


def is_task_assignor(name: str) -> bool:
    """Whether tasks are dealt by it, and not partitions."""
    return name.startswith("streams-")


def command(
    name: str,
    topics: Mapping[str, int],
    members: Sequence[str],
    changes: Sequence[Change],
    *,
    settings: Sequence[str],
    stateless: str,
    records: int,
    as_json: bool,
) -> None:
    """Play the chain and print it."""
    from rebalsim.assignors.streams.what_if import NAMES, play

    if name not in NAMES:
        raise InputError(f"There is no task assignor '{name}' — write one of {', '.join(NAMES)}")
    application = _application(topics, settings, stateless, records)
    outcomes = play(name, application, topics, members, changes)
    if as_json:
        click.echo(json.dumps({"assignor": name, "steps": [_document(o) for o in outcomes]}))
    else:
        _print(name, application, outcomes)


def _application(
    topics: Mapping[str, int], settings: Sequence[str], stateless: str, records: int
) -> Application:
    from rebalsim.assignors.streams.settings import TaskAssignorSettings
    from rebalsim.assignors.streams.what_if import Application

    values = dict(_setting(text) for text in settings)
    without = frozenset(filter(None, (part.strip() for part in stateless.split(","))))
    unknown = sorted(without - {"all"} - set(topics))
    if unknown:
        raise InputError(f"--stateless {stateless}: there is no topic '{unknown[0]}'")
    known = TaskAssignorSettings()
    return Application(
        frozenset(topics) if "all" in without else without,
        records,
        values.get("num.stream.threads", 1),
        TaskAssignorSettings(
            values.get("num.standby.replicas", known.num_standby_replicas),
            values.get("acceptable.recovery.lag", known.acceptable_recovery_lag),
            values.get("max.warmup.replicas", known.max_warmup_replicas),
        ),
    )


def _setting(text: str) -> tuple[str, int]:
    key, _, value = text.partition("=")
    if key not in _SETTINGS:
        raise InputError(f"--set {text}: what counts here is {', '.join(_SETTINGS)}")
    if not value.isdecimal() or not _SETTINGS[key] <= int(value) < 1 << 63:
        raise InputError(f"--set {text}: {key} is a whole number, at least {_SETTINGS[key]}")
    if key == "num.stream.threads" and int(value) > 1_000:
        raise InputError(f"--set {text}: an instance here has at most 1,000 threads")
    return key, int(value)


def _document(o: TaskOutcome) -> dict[str, Any]:
    return {
        "change": o.change.text,
        "active": {member: [str(task) for task in tasks] for member, tasks in o.active.items()},
        "standby": {member: [str(task) for task in tasks] for member, tasks in o.standby.items()},
        "moved": [
            {
                "task": str(move.task),
                "from": move.source,
                "to": move.target,
                "stateful": move.stateful,
                "warm": move.warm,
            }
            for move in o.moves
        ],
        "rebalances": o.rounds,
        "probing_rebalances": o.probing,
        "warmups": [str(task) for task in o.warmups],
    }


def _print(name: str, application: Application, outcomes: Sequence[TaskOutcome]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    threads = f"{application.threads} thread{'s' if application.threads > 1 else ''} each"
    console.print(
        f"[bold]{name}[/], {threads}, "
        f"{application.settings.num_standby_replicas} standby replicas, {application.records:,} "
        "records in a changelog"
    )
    for o in outcomes:
        console.print()
        console.print(f"[bold]{_change(o)}[/]")
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for column in ("instance", "active tasks", "standby tasks"):
            table.add_column(column)
        for member, tasks in o.active.items():
            table.add_row(member, _names(tasks), _names(o.standby[member]))
        console.print(table)
        console.print(_verdict(o), soft_wrap=True)


def _change(o: TaskOutcome) -> str:
    count = len(o.active)
    group = f"{count} instance{'s' if count != 1 else ''}"
    return f"Start: {group}" if o.change.text == "start" else f"{o.change.text}: {group}"


def _names(tasks: Sequence[TaskId]) -> str:
    return " ".join(map(str, tasks)) or "–"


def _verdict(o: TaskOutcome) -> str:
    parts = [f"{o.rounds} rebalance{'s' if o.rounds > 1 else ''}"]
    if o.probing:
        parts[0] += f" ({o.probing} after a probing interval)"
    if o.warmups:
        parts.append(f"warmed up {_names(o.warmups)}")
    cold = [move for move in o.moves if not move.warm]
    warm = [move for move in o.moves if move.warm and move.stateful]
    plain = [move for move in o.moves if not move.stateful]
    parts += [
        f"{said} {_moved(moves)}"
        for said, moves in (
            ("moved cold", cold),
            ("moved warm", warm),
            ("moved without state", plain),
        )
        if moves
    ]
    return " · ".join(parts)


def _moved(moves: Sequence[TaskMove]) -> str:
    return ", ".join(f"{move.task} {move.source}→{move.target}" for move in moves)
