"""The last door that printed text passes, whatever command prints it and on whichever stream.

What a terminal would obey (escapes, marks that turn a line around) is shown as its number, in JSON's
way of writing it, so that a document stays what it says. Under GitHub Actions a line that begins
with `::` or holds `##[` would be an order to the runner, whoever wrote it: there it loses the sign
that makes it one. What check says to the runner on purpose is written past that (`to_runner`).
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from typing import Any, TextIO

from rebalsim.outside.text import escaped, no_orders


class Inert:
    """A stream whose text is not obeyed. Errors that cannot be told are no reason for another
    exit code: where `is_of_errors`, what cannot be written is dropped, and all that comes after it.
    """

    def __init__(self, stream: TextIO, is_of_errors: bool = False) -> None:
        self._stream, self._is_of_errors = stream, is_of_errors

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        self._give(escaped(text))
        return len(text)

    def _give(self, text: str, flushes: bool = False) -> None:
        """To the stream beneath."""
        try:
            self._stream.write(text)
            if flushes:
                self._stream.flush()
        except (OSError, ValueError):
            if not self._is_of_errors:
                raise
            drop(self._stream)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        self._give("", flushes=True)

    def finish(self) -> None:
        """Whatever is still held goes out."""
        self._give("", flushes=True)

    def raw(self, text: str) -> None:
        """What the runner is told on purpose, on lines of its own."""
        self._give(text, flushes=True)


class InertLog(Inert):
    """The same of a CI's log. A line is looked at as a whole, so it is held until it ends or is
    flushed; what could be half an order is held even then.
    """

    def __init__(self, stream: TextIO, is_of_errors: bool = False) -> None:
        super().__init__(stream, is_of_errors)
        self._held = ""
        self._is_within = False  # a line's beginning has gone out already

    def write(self, text: str) -> int:
        self._held += escaped(text)
        at = max(self._held.rfind("\n"), self._held.rfind("\r")) + 1
        if at:
            self._out(self._held[:at])
            self._held, self._is_within = self._held[at:], False
        return len(text)

    def flush(self) -> None:
        kept = len(self._held) - len(self._held.rstrip("#: \t"))
        ready = self._held[: len(self._held) - kept]
        if ready:
            self._out(ready)
            self._held, self._is_within = self._held[len(ready) :], True
        self._give("", flushes=True)

    def finish(self) -> None:
        """Whatever is still held goes out."""
        if self._held:
            self._out(self._held)
            self._held = ""
        self._give("", flushes=True)

    def _out(self, text: str) -> None:
        # within a line, `::` at its beginning is none of the line's
        self._give(no_orders(f".{text}")[1:] if self._is_within else no_orders(text))

    def raw(self, text: str) -> None:
        """What the runner is told on purpose, on lines of its own."""
        if self._held or self._is_within:
            self.write("\n")
        self._give(text, flushes=True)


def guard_streams() -> None:
    """Put it before both streams. Output that goes into a file is no CI's log."""
    is_ci = os.environ.get("GITHUB_ACTIONS") == "true"
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not isinstance(stream, Inert):
            kind = InertLog if is_ci and not _is_file(stream) else Inert
            setattr(sys, name, kind(stream, is_of_errors=name == "stderr"))


def release_streams() -> None:
    """Give out what is held, and take it away again."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, Inert):
            stream.finish()
            setattr(sys, name, stream._stream)


def to_runner(text: str, to_stderr: bool) -> None:
    """Commands for the runner, past the guard."""
    stream = sys.stderr if to_stderr else sys.stdout
    if isinstance(stream, Inert):
        stream.raw(text)
    else:
        stream.write(text)


def drop(stream: Any, number: int = 2) -> None:
    """Whatever is written to it from now on goes nowhere: the interpreter flushes once more at its
    end, and would complain with a code of its own.
    """
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno() if stream is not None else number)
        os.close(nowhere)


def beneath(stream: TextIO) -> TextIO:
    """The stream itself, for a bar that we draw: it hides the cursor while it moves."""
    return stream._stream if isinstance(stream, Inert) else stream


def _is_file(stream: Any) -> bool:
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError, AttributeError):
        return False
