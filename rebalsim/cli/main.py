"""The door: the table of commands, and whatever one raises mapped to an exit code.

A command lives in a file of its own and is imported only when it is asked for, so `rebalsim
--help` stays as quick as click itself.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from rebalsim import __version__
from rebalsim.cli.endings import ending_of
from rebalsim.cli.lazy_group import Commands, LazyGroup
from rebalsim.cli.streams import guard_streams, release_streams

# The one table of commands.
COMMANDS: Commands = {
    "Play": {
        "run": (
            "rebalsim.cli.run",
            "Play a story in all its variants, side by side, and tell what stood still, and why.",
        ),
        "preview": (
            "rebalsim.cli.preview",
            "Say what a change of deployment files will do to consumption, before the merge.",
        ),
        "check": (
            "rebalsim.cli.check",
            "Hold scenarios against their budgets, for CI: exit 1 where one is broken.",
        ),
    },
    "Tell": {
        "observe": (
            "rebalsim.cli.observe",
            "Read brokers' and clients' logs, and tell each group's rebalances and pauses.",
        ),
        "incident": (
            "rebalsim.cli.incident",
            "Last night, from its logs: what happened, and what would have prevented it.",
        ),
        "calibrate": (
            "rebalsim.cli.calibrate",
            "Measure in logs what a scenario cannot know: starts, callbacks, faults.",
        ),
        "report": (
            "rebalsim.cli.report",
            "Tell what stood still in a trace, a recording or logs, and why, without simulating.",
        ),
        "compare": (
            "rebalsim.cli.compare",
            "Say what got better or worse between two of them, and by which phase.",
        ),
        "describe": (
            "rebalsim.cli.describe",
            "Print what kafka-consumer-groups --describe would have shown at a moment.",
        ),
        "trace": ("rebalsim.cli.trace", "Print the whole exchange as a table."),
    },
    "Plan": {
        "sweep": (
            "rebalsim.cli.sweep",
            "Play a family of scenarios on Spark: which points meet the budgets, at what cost.",
        ),
        "recommend": (
            "rebalsim.cli.recommend",
            "Find the smallest change of the settings that meets the budgets.",
        ),
        "replay": ("rebalsim.cli.replay", "Play any run of a sweep again."),
    },
    "Write": {
        "import": (
            "rebalsim.cli.import_files",
            "Write a scenario from deployment files, client settings and listings.",
        ),
        "init": ("rebalsim.cli.init", "Write a commented scenario to start from."),
        "show": (
            "rebalsim.cli.show",
            "Print a scenario as meant: every default, and where each value comes from.",
        ),
        "lint": ("rebalsim.cli.lint", "Find mistakes in scenarios, and settings that will hurt."),
        "schema": ("rebalsim.cli.schema", "Print the JSON Schema of scenario files, for editors."),
        "migrate": (
            "rebalsim.cli.migrate",
            "Say what moving a story to the consumer protocol does, and write the migration.",
        ),
        "explain": (
            "rebalsim.cli.explain",
            "Say what a rule, phase, metric, word or setting means; or why partitions stood still.",
        ),
    },
    "Kafka": {
        "verify": ("rebalsim.cli.verify", "Hold rebalsim against recordings of a real Kafka."),
        "assign": (
            "rebalsim.cli.assign",
            "Ask an assignor who gets which partition, step by step.",
        ),
    },
    "Project": {
        "completion": (
            "rebalsim.cli.completion",
            "Teach your shell to complete commands and scenario names.",
        ),
        "dev": (
            "rebalsim.cli.dev.group",
            "For those who build rebalsim: measure it, and try to break it.",
        ),
        "doctor": (
            "rebalsim.cli.doctor",
            "Say what is installed, what is missing, and what to do about it.",
        ),
    },
}

# what these were called before they moved under `dev`; they still answer to it, unlisted
FORMER = {name: f"rebalsim.cli.dev.{name}" for name in ("bench", "seeds", "fuzz")}


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    path="rebalsim",
    former=FORMER,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: rebalsim run scenarios/scale-out.yaml",
)
@click.version_option(__version__, prog_name="rebalsim")
@click.option("--debug", is_flag=True, help="Show the traceback of an uncaught error.")
def door(debug: bool) -> None:
    """Replays a Kafka consumer group's rebalances and says which partition stood still, for how
    long, and why.
    """


def run(args: list[str] | None = None) -> None:
    """The entry point: runs the command and exits with the code that its outcome means."""
    sys.exit(code_of(sys.argv[1:] if args is None else args))


def code_of(args: list[str]) -> int:
    """Run the command line and say which exit code it deserves; never lets a traceback out
    unless --debug asks for it.
    """
    _open_what_is_closed()
    _write_twins()
    guard_streams()
    try:
        return ending_of(
            lambda: door.main(args=args, prog_name="rebalsim", standalone_mode=False), args
        )
    finally:
        with contextlib.suppress(OSError, ValueError):
            release_streams()


def _open_what_is_closed() -> None:
    """Python leaves out a stream that the caller closed (`>&-`); what would go there goes
    nowhere.
    """
    if sys.stdout is None or sys.stderr is None:
        nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (as long as the process lives)
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere


def _write_twins() -> None:
    """A stream with an encoding that lacks a sign (cp1252, latin-1) gets its twin in ASCII
    instead of an error. LC_ALL=C asks for ASCII, whatever Python makes of it.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and _asks_for_ascii(os.environ):
            codecs.register(_plain)
            codecs.register_error("rebalsim.twins", _twin)
            stream.reconfigure(encoding=_PLAIN, errors="rebalsim.twins")
        elif (
            isinstance(stream, io.TextIOWrapper)
            and stream.errors == "strict"
            and not stream.encoding.lower().startswith("utf")
        ):
            codecs.register_error("rebalsim.twins", _twin)
            stream.reconfigure(errors="rebalsim.twins")


_PLAIN = "rebalsim_plain"


def _plain(name: str) -> codecs.CodecInfo | None:
    """ASCII by another name: what is called ascii, click takes for a mistake, and writes UTF-8."""
    if name != _PLAIN:
        return None
    ascii_ = codecs.lookup("ascii")
    return codecs.CodecInfo(
        ascii_.encode,
        ascii_.decode,
        ascii_.streamreader,
        ascii_.streamwriter,
        ascii_.incrementalencoder,
        ascii_.incrementaldecoder,
        name=_PLAIN,
    )


def _asks_for_ascii(environment: Mapping[str, str]) -> bool:
    """LC_ALL is C or POSIX, and nobody has told Python another encoding."""
    told = environment.get("PYTHONIOENCODING") or environment.get("PYTHONUTF8") == "1"
    return environment.get("LC_ALL") in ("C", "POSIX") and not told


def _twin(error: UnicodeError) -> tuple[str, int]:
    from rebalsim.reports.names import ascii_of

    assert isinstance(error, UnicodeEncodeError)
    return ascii_of(error.object[error.start : error.end]), error.end
