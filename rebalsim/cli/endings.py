"""How a command ends: what happened, as an exit code and at most one sentence.

The code tells the truth even where nothing can be printed any more: an error stream that is full or
gone changes no verdict.
"""

from __future__ import annotations

import contextlib
import errno
import signal
import sys
from collections.abc import Callable
from typing import Any

import click

from rebalsim import __version__
from rebalsim.cli import exits
from rebalsim.cli.streams import drop

_OUTPUT_FAILS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


def ending_of(work: Callable[[], Any], args: list[str]) -> int:
    """Do the work and say which code its outcome deserves; never lets a traceback out."""
    from rebalsim.outside.pipes import forget_pipes
    from rebalsim.outside.rule import forget_strangers

    output = sys.stdout
    forget_strangers()
    forget_pipes()
    try:
        try:
            outcome: Any = work()
        except click.exceptions.Exit as e:
            outcome = e.exit_code
        # what is still buffered must not fail later, when nobody maps it to a code
        sys.stdout.flush()
        return outcome if isinstance(outcome, int) else exits.WITHIN
    except (KeyboardInterrupt, click.Abort):
        return interrupted()
    except SystemExit:
        if sys.stdout is output:
            raise  # the shell asked for completions
        # click has put its own in the output's place, and would end with 1: a broken budget's code
        return _reader_is_gone()
    except BrokenPipeError:
        return _reader_is_gone()
    except Exception as e:
        return _trouble(e, args)


def interrupted() -> int:
    """Ctrl-C, at any moment; a second one changes nothing any more."""
    with contextlib.suppress(ValueError, OSError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Where it struck within an exec of a string (a dataclass is made by one), the interpreter
    # remembers it and would end by the signal; the next such exec makes it forget.
    exec("")
    say("Interrupted.")
    return exits.INTERRUPTED


def _trouble(error: Exception, args: list[str]) -> int:
    from rebalsim.domain.errors import BugError, RebalsimError
    from rebalsim.outside.rule import strangers

    if isinstance(error, click.ClickException):
        _show(error)
        return exits.INVALID
    if isinstance(error, RebalsimError) and not isinstance(error, BugError):
        say(str(error))
        return exits.INVALID
    if isinstance(error, OSError) and error.filename is None and error.errno in _OUTPUT_FAILS:
        drop_output()
        say(f"The output cannot be written: {error.strerror}")
        return exits.INVALID
    if isinstance(error, MemoryError):
        say("There is not enough memory for this — make the story smaller, or its horizon shorter")
        return exits.INVALID
    if "--debug" in args:
        import traceback

        traceback.print_exception(error)
    if strangers() and not isinstance(error, BugError):
        say(
            f"{', '.join(strangers())}: what it tells cannot be made sense of "
            f"({type(error).__name__}: {error}) — was it damaged? If rebalsim wrote it just so, "
            "that is a bug: please report it with the file."
        )
        return exits.INVALID
    return _bug(error, args)


def _show(error: click.ClickException) -> None:
    """As click shows it, its words inert."""
    context = getattr(error, "ctx", None)
    if context is not None:
        say(context.get_usage())
        if context.command.get_help_option(context) is not None:
            say(f"Try '{context.command_path} {context.help_option_names[0]}' for help.\n")
    say(f"Error: {error.format_message()}")


def _bug(error: Exception, args: list[str]) -> int:
    say(
        f"rebalsim {__version__} contradicts itself: {type(error).__name__}: {error}\n"
        "This is a bug in rebalsim, not in your file. Please report it with the scenario and "
        f"this line: rebalsim {' '.join(args)}\n"
        "`rebalsim --debug …` shows where it happened."
    )
    return exits.BUG


def say(text: str) -> None:
    """On stderr, inert; nowhere where that cannot be written."""
    from rebalsim.outside.text import inert

    try:
        click.echo(inert(text), err=True)
        sys.stderr.flush()
    except (OSError, ValueError):
        drop_errors()


def _reader_is_gone() -> int:
    """`| head` has seen enough. That is no verdict: neither all is well, nor is a budget broken."""
    drop_output()
    return exits.INTERRUPTED


def drop_output() -> None:
    """The interpreter flushes once more at its end: to nowhere, else it would complain, with a
    code of its own.
    """
    drop(sys.__stdout__, 1)


def drop_errors() -> None:
    """The interpreter flushes the error stream once more at its end: to nowhere, for the same
    reason.
    """
    drop(sys.__stderr__, 2)
