"""`rebalsim assign`: ask an assignor who gets which partition, step by step."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from rebalsim.cli import exits
from rebalsim.domain.errors import InputError

if TYPE_CHECKING:
    from rebalsim.assignors.registry import Assignor
    from rebalsim.assignors.what_if import Change, Outcome
    from rebalsim.domain.ids import Partition


@click.command(
    "assign",
    epilog="Example: rebalsim assign --assignor cooperative-sticky --topics orders:12,payments:4 "
    "--members 3 --then +1 --then -c0",
)
@click.option(
    "--assignor",
    "name",
    default="cooperative-sticky",
    show_default=True,
    metavar="NAME",
    help="range, roundrobin, sticky, cooperative-sticky, server-range, server-uniform, or "
    "module:function; tasks of Kafka Streams are dealt by streams-ha, streams-sticky and "
    "streams-broker-sticky.",
)
@click.option(
    "--topics",
    required=True,
    metavar="NAME:N,…",
    help="Topics with their partitions; every member subscribes to all.",
)
@click.option(
    "--members",
    default="3",
    show_default=True,
    metavar="N",
    help="How many members the group begins with, or their names.",
)
@click.option(
    "--then",
    "changes",
    multiple=True,
    metavar="CHANGE",
    help="What happens next: +1 (a member joins), -c0 (it leaves), orders:16 (the topic grows); "
    "several at once with commas.",
)
@click.option("--compare", metavar="all|NAME,…", help="Put these assignors side by side instead.")
@click.option(
    "--allow-code",
    is_flag=True,
    help="Allow an assignor of your own (module:function) to be imported and run.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=N",
    help="Kafka Streams: num.standby.replicas, acceptable.recovery.lag, max.warmup.replicas, "
    "num.stream.threads.",
)
@click.option(
    "--stateless",
    default="",
    metavar="all|TOPIC,…",
    help="Kafka Streams: the topics whose tasks have no store.",
)
@click.option(
    "--records",
    default=1_000_000,
    show_default=True,
    type=click.IntRange(0, 10**15),
    help="Kafka Streams: records in each task's changelog.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of tables.")
def command(
    name: str,
    topics: str,
    members: str,
    changes: tuple[str, ...],
    compare: str | None,
    allow_code: bool,
    settings: tuple[str, ...],
    stateless: str,
    records: int,
    as_json: bool,
) -> int:
    """Ask an assignor who gets which partition, and what each change of the group moves.

    Every step is followed to its end: a cooperative group through its second rebalance, a group
    of the consumer protocol to its target. "At least" is the fewest moves to loads that differ
    by one at most. Ties fall as for members with these very ids.

    With streams-ha and its like the members are instances of a Kafka Streams application, and
    each topic is a sub-topology of its own; they are followed through every probing rebalance,
    by which all that restores has caught up.
    """
    from rebalsim.assignors.what_if import parse_topics, play
    from rebalsim.cli import assign_tasks

    counts = parse_topics(topics)
    start = _members(members)
    planned = _changes(changes, start, counts)
    if assign_tasks.is_task_assignor(name):
        assign_tasks.command(
            name,
            counts,
            start,
            planned,
            settings=settings,
            stateless=stateless,
            records=records,
            as_json=as_json,
        )
        return exits.WITHIN
    names = [name] if compare is None else _compared(compare)
    assignors = [_assignor(each, allow_code) for each in names]
    played = [(each, play(each, counts, start, planned)) for each in assignors]
    if as_json:
        documents = [_document(assignor, outcomes) for assignor, outcomes in played]
        click.echo(json.dumps({"topics": counts, "assignors": documents}))
    elif compare is None:
        _print_steps(played[0][0], played[0][1], counts)
    else:
        _print_compared(played, counts)
    return exits.WITHIN


def _assignor(name: str, allow_code: bool) -> Assignor:
    from rebalsim.assignors.callable import load_callable
    from rebalsim.assignors.registry import by_name
    from rebalsim.domain.own_code import is_own_code
    from rebalsim.scenario.load import code_folder

    return load_callable(name, code_folder(allow_code)) if is_own_code(name) else by_name(name)


def _compared(text: str) -> list[str]:
    from rebalsim.assignors.registry import ASSIGNORS

    return (
        list(ASSIGNORS)
        if text == "all"
        else list(dict.fromkeys(filter(None, (part.strip() for part in text.split(",")))))
    )


def _members(text: str) -> list[str]:
    if text.isdecimal():
        if not 1 <= int(text) <= 10_000:
            raise InputError(f"--members {text}: a group here has 1 to 10,000 members")
        return [f"c{i}" for i in range(int(text))]
    names = [part.strip() for part in text.split(",")]
    if not all(re.fullmatch(r"[A-Za-z0-9._][A-Za-z0-9._-]*", name) for name in names):
        raise InputError(f"--members {text}: write a number, or names like a,b,c")
    twice = next((member for i, member in enumerate(names) if member in names[:i]), None)
    if twice is not None:
        raise InputError(f"--members {text}: '{twice}' is there twice")
    return names


def _changes(texts: Sequence[str], start: Sequence[str], topics: dict[str, int]) -> list[Change]:
    from rebalsim.assignors.what_if import parse_change

    present, counts, planned = list(start), dict(topics), []
    named = [int(member[1:]) for member in start if re.fullmatch(r"c\d+", member)]
    number = max(named, default=-1) + 1
    for text in texts:
        change = parse_change(text, present, counts, number)
        number += len(change.joined)
        present = [member for member in present if member not in change.left] + list(change.joined)
        counts.update(change.grown)
        planned.append(change)
    return planned


def _document(assignor: Assignor, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    from rebalsim.assignors.what_if import protocol_of

    return {
        "assignor": assignor.name,
        "protocol": protocol_of(assignor),
        "steps": [_step(o) for o in outcomes],
    }


def _step(o: Outcome) -> dict[str, Any]:
    return {
        "change": o.change.text,
        "assignment": {member: [str(p) for p in held] for member, held in o.assignment.items()},
        "moved": [
            {"partition": str(move.partition), "from": move.source, "to": move.target}
            for move in o.moves
        ],
        "moved_at_least": o.least,
        "stopped": o.stopped,
        "withheld": o.withheld,
        "imbalance": o.imbalance,
        "rebalances": o.rebalances,
    }


def _print_steps(assignor: Assignor, outcomes: Sequence[Outcome], topics: dict[str, int]) -> None:
    from rich.console import Console
    from rich.table import Table

    from rebalsim.assignors.what_if import protocol_of

    console = Console(highlight=False)
    console.print(f"[bold]{assignor.name}[/] ({protocol_of(assignor)}), {_topics_told(topics)}")
    for step, o in enumerate(outcomes):
        console.print()
        console.print(f"[bold]{_change_told(o.change, len(o.assignment))}[/]", soft_wrap=False)
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column("member", no_wrap=True)
        table.add_column("has", justify="right")
        table.add_column("partitions", ratio=3 if step else None)
        if step:
            table.add_column("gained", style="green", ratio=2)
            table.add_column("gave up", style="red", ratio=2)
            table.expand = True
        for member, held in o.assignment.items():
            row = [member, str(len(held)), _runs(held)]
            if step:
                had = o.before.get(member, [])
                row += [
                    _runs([p for p in held if p not in had]),
                    _runs([p for p in had if p not in held]),
                ]
            table.add_row(*row)
        console.print(table)
        console.print(_verdict(o, assignor.protocols[0] == "consumer", bool(step)))


def _verdict(o: Outcome, by_broker: bool, is_change: bool) -> str:
    loads = [len(held) for held in o.assignment.values()]
    spread = f"imbalance {o.imbalance} ({_each(loads)} each)"
    if not is_change:
        return spread
    moved = f"moved {len(o.moves)}, at least {o.least}"
    if len(o.moves) < o.least:
        moved += " for even loads"
    stopped = f"{o.stopped} stopped"
    if by_broker:
        rounds = "one new target"
    elif o.withheld:
        rounds = (
            f"{o.rebalances} rebalances ({o.withheld} withheld in the first)"
            if o.rebalances == 2
            else f"{o.rebalances} rebalances"
        )
    else:
        rounds = f"{o.rebalances} rebalance{'s' if o.rebalances > 1 else ''}"
    return f"{moved} · {stopped} · {rounds}\n{spread}"


def _each(loads: Sequence[int]) -> str:
    return str(loads[0]) if min(loads) == max(loads) else f"{min(loads)} to {max(loads)}"


def _print_compared(
    played: Sequence[tuple[Assignor, Sequence[Outcome]]], topics: dict[str, int]
) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    console.print(_topics_told(topics))
    for step, first in enumerate(played[0][1]):
        console.print()
        console.print(f"[bold]{_change_told(first.change, len(first.assignment))}[/]")
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column("assignor", no_wrap=True)
        for column in ("moved", "at least", "stopped", "rebalances") if step else ():
            table.add_column(column, justify="right")
        table.add_column("imbalance", justify="right")
        table.add_column("each has", no_wrap=True)
        for assignor, outcomes in played:
            o = outcomes[step]
            loads = [len(held) for held in o.assignment.values()]
            rounds = "-" if assignor.protocols[0] == "consumer" else str(o.rebalances)
            row = [
                assignor.name,
                *((str(len(o.moves)), str(o.least), str(o.stopped), rounds) if step else ()),
            ]
            table.add_row(*row, str(o.imbalance), _each(loads))
        console.print(table)
    console.print()
    console.print(
        "moved     partitions that changed hands\n"
        "at least  the fewest moves to even loads from where this assignor stood\n"
        "stopped   taken from a member that goes on, if only to be given back (eager)",
        style="dim",
    )


def _topics_told(topics: dict[str, int]) -> str:
    total = sum(topics.values())
    return ", ".join(f"{topic} × {count}" for topic, count in topics.items()) + (
        f": {total} partitions" if len(topics) > 1 else " partitions"
    )


def _change_told(change: Change, members: int) -> str:
    group = f"{members} member{'s' if members != 1 else ''}"
    if change.text == "start":
        return f"Start: {group}"
    parts = []
    if change.joined:
        parts.append(f"{', '.join(change.joined)} {'join' if len(change.joined) > 1 else 'joins'}")
    if change.left:
        parts.append(f"{', '.join(change.left)} {'leave' if len(change.left) > 1 else 'leaves'}")
    parts += [f"{topic} has {count} partitions" for topic, count in change.grown.items()]
    return f"{change.text}: {', '.join(parts)} ({group})"


def _runs(partitions: Sequence[Partition]) -> str:
    """Partitions in short, `orders:0-3,7 payments:1`, so that lines break between topics."""
    topics: dict[str, list[list[int]]] = {}
    for p in partitions:
        runs = topics.setdefault(p.topic, [])
        if runs and runs[-1][1] == p.number - 1:
            runs[-1][1] = p.number
        else:
            runs.append([p.number, p.number])
    return " ".join(
        f"{topic}:{','.join(str(a) if a == b else f'{a}-{b}' for a, b in runs)}"
        for topic, runs in topics.items()
    )
