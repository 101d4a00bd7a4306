"""`rebalsim dev fuzz`: broken scenario files by the thousand. Each must end in a clean load or in
clean problems; never in a traceback.
"""

from __future__ import annotations

import atexit
import multiprocessing
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import click

from rebalsim.cli import exits

MAX_SECONDS = 2.0
MAX_MEGABYTES = 500
_BATCH = 500
_PATIENCE_S = 60.0  # on the clock, for a machine that is busy with something else; the limit is in its own time


@dataclass
class Tally:
    """What became of the files so far."""

    loaded: int = 0
    refused: int = 0
    problems: int = 0
    failures: list[tuple[int, str]] = field(default_factory=list)
    slowest: float = 0.0
    slowest_number: int = 0
    megabytes: float = 0.0


@click.command("fuzz", epilog="Example: rebalsim dev fuzz --count 200000")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--count",
    default=20_000,
    show_default=True,
    type=click.IntRange(1),
    help="How many broken files.",
)
@click.option(
    "--reader",
    "readers",
    multiple=True,
    metavar="NAME",
    help="Break this kind of input instead of scenarios, as its commands read it: scenario, plan, "
    "trace, result, baseline, recording, conversation, vectors, log, observed, settings, options, or "
    "all. Repeatable.",
)
@click.option("--seed", default=1, show_default=True, help="Decides which.")
@click.option("--from", "first", default=0, show_default=True, help="The number of the first.")
@click.option(
    "--print",
    "shown",
    type=int,
    metavar="NUMBER",
    help="Print the broken file of this number instead.",
)
def command(
    files: tuple[Path, ...],
    count: int,
    readers: tuple[str, ...],
    seed: int,
    first: int,
    shown: int | None,
) -> int:
    """Break good scenarios and hold the loader to its word.

    With --reader, every kind of file that rebalsim reads is broken, and the commands that read it
    must end with 0 to 3.

    Files are broken by flipped bytes, dropped and doubled lines, swapped values. Each must load,
    or be refused with problems that have a place in it, within 2 s and 500 MB; `lint`'s rules
    run on what loads. Exit 1 where one fails, with its number.
    """
    from rebalsim.proof.mutations import mutated
    from rebalsim.proof.readers import good_scenarios

    if readers:
        return _read_all(readers, seed, first, count, shown)
    goods = [path.read_bytes() for path in files] or good_scenarios()
    if shown is not None:
        click.echo(mutated(goods, seed, shown), nl=False)
        return exits.WITHIN
    started = time.monotonic()
    tally = run(_loads, (goods,), seed, first, count)
    seconds = time.monotonic() - started
    click.echo(
        f"{count:,} broken files from {len(goods)} good ones, seed {seed}: {tally.loaded:,} "
        f"load, {tally.refused:,} are refused "
        f"with {tally.problems:,} problems, {len(tally.failures):,} fail."
    )
    click.echo(
        f"Slowest {tally.slowest * 1000:.0f} ms (number {tally.slowest_number}), at most "
        f"{tally.megabytes:.0f} MB; "
        f"{seconds:.0f} s in all, {seconds / count * 1000:.2f} ms each."
    )
    for number, what in tally.failures[:20]:
        click.echo(f"  number {number}: {what}")
        click.echo(f"    see it: rebalsim dev fuzz --seed {seed} --print {number}")
    return exits.BROKEN if tally.failures else exits.WITHIN


def _read_all(
    readers: tuple[str, ...], seed: int, first: int, count: int, shown: int | None
) -> int:
    """So many inputs of each kind, and a line for each."""
    from rebalsim.cli.main import code_of
    from rebalsim.domain.errors import InputError
    from rebalsim.proof.readers import READERS, Reading

    names = list(READERS) if "all" in readers else list(readers)
    if unknown := next((name for name in names if name not in READERS), ""):
        raise InputError(f"There is no reader '{unknown}' — there are {', '.join(READERS)}, all")
    if shown is not None:
        with tempfile.TemporaryDirectory() as folder:
            click.echo(
                Reading(READERS[names[0]], Path(folder), code_of).broken(seed, shown), nl=False
            )
        return exits.WITHIN
    code = exits.WITHIN
    for name in names:
        started = time.monotonic()
        tally = run(_reads, (name,), seed, first, count)
        click.echo(
            f"{name}: {count:,} broken inputs, seed {seed}: {tally.loaded:,} are read, "
            f"{tally.refused:,} refused, {len(tally.failures):,} fail; slowest "
            f"{tally.slowest * 1000:.0f} ms (number {tally.slowest_number}), at most "
            f"{tally.megabytes:.0f} MB; {time.monotonic() - started:.0f} s"
        )
        for number, what in tally.failures[:20]:
            click.echo(f"  number {number}: {what}")
            click.echo(
                f"    see it: rebalsim dev fuzz --reader {name} --seed {seed} --print {number}"
            )
        code = exits.BROKEN if tally.failures else code
    return code


Judge = Callable[[bytes, int], int]


def _loads(goods: list[bytes]) -> tuple[Callable[[int, int], bytes], Judge]:
    """Scenarios, straight into the loader: what is broken, and who judges it."""
    from rebalsim.proof.mutations import mutated

    judge(goods[0])  # what is imported on the way is not the first file's time
    return lambda seed, number: mutated(goods, seed, number), lambda raw, _: judge(raw)


def _reads(name: str) -> tuple[Callable[[int, int], bytes], Judge]:
    """Give any input to the commands that read such a thing."""
    from rebalsim.cli.main import code_of
    from rebalsim.proof.readers import READERS, Reading

    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    reading = Reading(READERS[name], Path(folder), code_of)
    for number in range(len(reading.reader.commands)):
        reading.judge(reading.goods[0], number)
    return reading.broken, reading.judge


def run(
    begins: Callable[..., Any], what: tuple[Any, ...], seed: int, first: int, count: int
) -> Tally:
    """All of them in a worker process that is killed and replaced when a file takes too long or
    too much.
    """
    tally = Tally()
    context = multiprocessing.get_context("spawn")
    at, end = first, first + count
    while at < end:
        here, there = context.Pipe()
        worker: Any = context.Process(
            target=_work, args=(there, begins, what, seed, at, end), daemon=True
        )
        worker.start()
        there.close()
        at = _listen(here, worker, tally, at, end)
        worker.kill()
        worker.join()
    return tally


def _listen(here: Connection, worker: Any, tally: Tally, at: int, end: int) -> int:
    """Takes the worker's word until it is done or has to be replaced; returns the number to go
    on with.
    """
    is_started = False
    while True:
        if not here.poll(_PATIENCE_S):
            tally.failures.append((at, f"hangs for more than {MAX_SECONDS:.0f} s"))
            return at + 1
        try:
            kind, number, told = here.recv()
        except EOFError:
            worker.join(5)
            tally.failures.append((at, f"the worker died (exit code {worker.exitcode})"))
            return at + 1 if is_started else end  # what cannot begin cannot go on either
        is_started = True
        if kind == "at":
            at = number
        elif kind == "failed":
            tally.failures.append((number, told))
        elif kind == "batch":
            loaded, refused, problems, slowest, slowest_number, megabytes = told
            tally.loaded += loaded
            tally.refused += refused
            tally.problems += problems
            tally.megabytes = max(tally.megabytes, megabytes)
            if slowest > tally.slowest:
                tally.slowest, tally.slowest_number = slowest, slowest_number
            at = number
            if number >= end:
                return end


def _work(
    pipe: Connection,
    begins: Callable[..., Any],
    what: tuple[Any, ...],
    seed: int,
    first: int,
    end: int,
) -> None:
    """In the worker: break, load, judge. Says where it is before each file that might hang."""
    broken, judged = begins(*what)
    _limit_memory()
    loaded = refused = problems = 0
    slowest, slowest_number = 0.0, first
    for number in range(first, end):
        pipe.send(("at", number, None))
        raw = broken(seed, number)
        started = time.process_time()
        try:
            found = judged(raw, number)
        except MemoryError:
            pipe.send(("failed", number, f"needs more than {MAX_MEGABYTES} MB"))
            found = -1
        except Exception as e:
            pipe.send(("failed", number, f"{type(e).__name__}: {e}"))
            found = -1
        took = time.process_time() - started
        if took > MAX_SECONDS:
            pipe.send(("failed", number, f"takes {took:.1f} s"))
        if took > slowest:
            slowest, slowest_number = took, number
        if found == 0:
            loaded += 1
        elif found > 0:
            refused, problems = refused + 1, problems + found
        if (number + 1 - first) % _BATCH == 0 or number + 1 == end:
            pipe.send(
                (
                    "batch",
                    number + 1,
                    (loaded, refused, problems, slowest, slowest_number, _megabytes()),
                )
            )
            loaded = refused = problems = 0
            slowest = 0.0


def judge(raw: bytes) -> int:
    """How many problems the file has (0: it loads). Raises whatever a user would see as a
    traceback, and AssertionError at a bad problem.
    """
    from rebalsim.domain.errors import ProblemsError
    from rebalsim.lint.registry import check
    from rebalsim.scenario.load import story_of

    try:
        story = story_of(raw, "broken.yaml")
        found = [p for p in story.problems() if not p.is_warning]
        if not found:
            for warning in check(story):
                str(warning)
            return 0
    except ProblemsError as e:
        found = list(e.problems)
    lines = (
        raw.count(b"\n")
        + raw.count(b"\r")
        + raw.count(b"\xc2\x85")
        + raw.count(b"\xe2\x80\xa8")
        + raw.count(b"\xe2\x80\xa9")
        + 2
    )
    for problem in found:
        assert 1 <= problem.line <= lines and problem.column >= 1, (
            f"a problem stands outside the file: {problem}"
        )
        assert problem.message and problem.message.isprintable(), (
            f"a problem says nothing readable: {problem!r}"
        )
        assert "—" in problem.message, f"a problem says no way out: {problem}"
        str(problem)
    return len(found)


def _limit_memory() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEGABYTES << 20, MAX_MEGABYTES << 20))
    except (ImportError, ValueError, OSError):
        pass  # not on this platform; the figure is still measured where it can be


def _megabytes() -> float:
    try:
        import resource
        import sys

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (1 << 20) if sys.platform == "darwin" else peak / 1024
    except ImportError:
        return 0.0
