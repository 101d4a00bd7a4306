"""The door: the table of commands, and whatever one raises mapped to an exit code.

A command lives in a file of its own and is imported only when it is asked for, so `rebalsim
--help` stays as quick as click itself.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
from pathlib import Path
from typing import Any

import click

from rebalsim import __version__
from rebalsim.cli import exits
from rebalsim.cli.lazy_group import Commands, LazyGroup

# The one table of commands.
COMMANDS: Commands = {
    "Play": {
        "run": (
            "rebalsim.cli.run",
            "Play a story in all its variants, side by side, and tell what stood still, and why.",
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
    from rebalsim.domain.errors import BugError, RebalsimError

    _open_what_is_closed()
    _write_twins()
    output = sys.stdout
    try:
        try:
            outcome: Any = door.main(args=args, prog_name="rebalsim", standalone_mode=False)
        except click.exceptions.Exit as e:
            outcome = e.exit_code
        # what is still buffered must not fail later, when nobody maps it to a code
        sys.stdout.flush()
        return outcome if isinstance(outcome, int) else exits.WITHIN
    except click.ClickException as e:
        e.show()
        return exits.INVALID
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted.", err=True)
        return exits.INTERRUPTED
    except SystemExit:
        if sys.stdout is output:
            raise  # the shell asked for completions
        # click has put its own in the output's place, and would end with 1: a broken budget's code
        return _reader_is_gone()
    except BrokenPipeError:
        return _reader_is_gone()
    except BugError as e:
        return _bug(e, args)
    except RebalsimError as e:
        click.echo(str(e), err=True)
        return exits.INVALID
    except OSError as e:
        if e.filename is not None or e.errno not in _OUTPUT_FAILS:
            return _bug(e, args)
        _drop_output()
        click.echo(f"The output cannot be written: {e.strerror}", err=True)
        return exits.INVALID
    except Exception as e:
        return _bug(e, args)


_OUTPUT_FAILS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


def _open_what_is_closed() -> None:
    """Python leaves out a stream that the caller closed (`>&-`); what would go there goes
    nowhere.
    """
    if sys.stdout is None or sys.stderr is None:
        nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (as long as the process lives)
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere


def _write_twins() -> None:
    """A stream with an encoding that lacks a sign (cp1252, latin-1) gets its twin in ASCII
    instead of an error.
    """
    for stream in (sys.stdout, sys.stderr):
        if (
            isinstance(stream, io.TextIOWrapper)
            and stream.errors == "strict"
            and not stream.encoding.lower().startswith("utf")
        ):
            codecs.register_error("rebalsim.twins", _twin)
            stream.reconfigure(errors="rebalsim.twins")


def _twin(error: UnicodeError) -> tuple[str, int]:
    from rebalsim.reports.names import ascii_of

    assert isinstance(error, UnicodeEncodeError)
    return ascii_of(error.object[error.start : error.end]), error.end


def _reader_is_gone() -> int:
    """`| head` has seen enough. That is no verdict: neither all is well, nor is a budget broken."""
    _drop_output()
    return exits.INTERRUPTED


def _drop_output() -> None:
    """The interpreter flushes once more at its end: to nowhere, else it would complain, with a
    code of its own.
    """
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.__stdout__.fileno() if sys.__stdout__ is not None else 1)
    except (OSError, ValueError):
        pass


def _bug(error: Exception, args: list[str]) -> int:
    if "--debug" in args:
        import traceback

        traceback.print_exception(error)
    click.echo(
        f"rebalsim {__version__} contradicts itself: {type(error).__name__}: {error}\n"
        "This is a bug in rebalsim, not in your file. Please report it with the scenario and "
        f"this line: rebalsim {' '.join(args)}\n"
        "`rebalsim --debug …` shows where it happened.",
        err=True,
    )
    return exits.BUG
