"""`rebalsim verify FILE…`: hold the rules against what a real Kafka did."""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from rebalsim.cli import exits
from rebalsim.domain.errors import InputError
from rebalsim.outside.rule import taken_from
from rebalsim.outside.text import inert
from rebalsim.verify.finding import Finding
from rebalsim.verify.recognise import recognise

# kind → the module whose verify(path, differences=…) → Finding does it
JUDGES = {
    "assignors": "rebalsim.verify.vectors",
    "streams-assignors": "rebalsim.verify.streams_vectors",
    "classic": "rebalsim.verify.classic_conversations",
    "consumer": "rebalsim.verify.consumer_conversations",
    "trace": "rebalsim.verify.traces",
    "streams-conversations": "rebalsim.verify.streams_conversations",
    "streams-trace": "rebalsim.verify.streams_traces",
    "connect-assignors": "rebalsim.verify.connect_assignors",
    "connect-trace": "rebalsim.verify.connect_traces",
    "logs": "rebalsim.verify.logs",
}
# what some of them are asked beside that
ALSO_ASKED = {
    "trace": ("out", "several", "wire"),
    "streams-trace": ("out", "several"),
    "connect-trace": ("out", "several"),
}


@click.command("verify", epilog="Example: rebalsim verify tests/reality/traces/*.json.gz")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON object a line and file instead of text."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Write the prediction of one trace to this file, of several to PATH/NAME.json.",
)
@click.option(
    "--wire", is_flag=True, help="Compare traces message by message and show the first difference."
)
@click.option(
    "--phases",
    is_flag=True,
    help="Compare the pauses of traces (of 50 ms and more) and their phases: those that were "
    "against those of the replay; "
    "right is what is alike within 100 ms or 5 %, absent on both sides left out.",
)
@click.option(
    "--differences", default=3, show_default=True, help="How many differences to show per file."
)
def command(
    files: tuple[Path, ...],
    as_json: bool,
    out: Path | None,
    wire: bool,
    phases: bool,
    differences: int,
) -> int:
    """Replay recordings of a real Kafka and say how far rebalsim agrees with them.

    Takes any mix of assignor answers, coordinator conversations and traces of consumers, plain
    or .gz, and folders of logs with their truth.json (of which --json prints one object).
    Beneath the totals of several traces stands what chance allows: how far the replay agrees with
    groups that go by its own rules, their races drawn anew under 20 seeds. Exit 0: all answers and
    conversations are identical and all traces were replayed; 1: an answer or a conversation
    differs; 2: a file is not a recording.
    """
    if phases:
        return _phase_by_phase(files, as_json)
    codes: list[int] = []
    findings = []
    asked = {"out": out, "several": len(files) > 1, "wire": wire}
    for path in files:
        try:
            with taken_from(path):
                kind = recognise(path)
                judge: Any = importlib.import_module(JUDGES[kind])
                also = {name: asked[name] for name in ALSO_ASKED.get(kind, ())}
                finding = judge.verify(path, differences=differences, **also)
        except InputError as e:
            click.echo(inert(str(e)), err=True)
            codes.append(exits.INVALID)
            continue
        findings.append(finding)
        codes.append(exits.WITHIN if finding.ok else exits.BROKEN)
        if not as_json:
            click.echo(inert(finding.summary))
            for line in finding.details:
                click.echo(f"  {inert(line)}")
        elif finding.kind != "logs":  # of which one object tells all sets
            click.echo(json.dumps(finding.document))
    if as_json:
        _total_of_logs([f for f in findings if f.kind == "logs"])
    elif len(findings) > 1:
        _totals(findings)
    return exits.gravest(codes)


def _total_of_logs(logs: Sequence[Finding]) -> None:
    if logs:
        from rebalsim.verify.logs import total

        click.echo(json.dumps(total(logs)))


def _totals(findings: Sequence[Finding]) -> None:
    for kind in dict.fromkeys(f.kind for f in findings):
        judge = importlib.import_module(JUDGES[kind])
        for line in judge.summarise([f for f in findings if f.kind == kind]):
            click.echo(line)


def _parts_of(path: Path, as_json: bool) -> None:
    """What the pauses of Connect's tasks and sinks consist of, one by one."""
    from rebalsim.verify import connect_parts as parts
    from rebalsim.verify.connect_traces import compare_parts

    compared = compare_parts(path)
    if as_json:
        document = {"file": str(path), "kind": "phases", "pauses": parts.document(compared)}
        click.echo(json.dumps(document))
        return
    click.echo(
        inert(f"{path}: {len(compared)} pauses, recorded and ours: {parts.say_sums(compared)}")
    )
    for line in parts.lines(compared, len(compared)):
        click.echo(f"  {inert(line)}")


def _phase_by_phase(files: tuple[Path, ...], as_json: bool) -> int:
    """Each trace's pauses, and all together, cut into phases: what really was against what the
    replay says.
    """
    from rebalsim.verify.phases import accuracy_of, is_played
    from rebalsim.verify.replay_accuracy import document, told, total

    codes, accuracies = [exits.WITHIN], []
    for path in files:
        try:
            kind = recognise(path)
            if kind == "connect-trace":
                _parts_of(path, as_json)
                continue
            if kind != "trace":
                raise InputError(
                    f"{path}: is no trace of consumers or workers — only traces have phases"
                )
            if not is_played(path):
                click.echo(
                    f"{path}: not replayed yet — its members use a protocol whose client is not "
                    "simulated",
                    err=True,
                )
                continue
            accuracies.append(accuracy_of(path))
        except InputError as e:
            click.echo(inert(str(e)), err=True)
            codes.append(exits.INVALID)
            continue
        if as_json:
            click.echo(
                json.dumps({"file": str(path), "kind": "phases", **document(accuracies[-1])})
            )
        else:
            click.echo(f"{path}: {told(accuracies[-1])[0].partition(': ')[2]}")
    if accuracies and not as_json:
        for line in told(total(accuracies)):
            click.echo(line)
    return exits.gravest(codes)
