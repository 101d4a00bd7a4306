"""Every error that a user can cause, and the one that only we can.

RebalsimError
├── InputError        the user's file or option is wrong (exit 2)
│   └── ProblemsError   a file with one or more problems, each with its place
├── Missing           something that must be installed is not (exit 2)
└── BugError          rebalsim contradicts itself (exit 70)

Errors that cross simpy are re-created as type(e)(*e.args): they take positional arguments only.
"""

from __future__ import annotations

from dataclasses import dataclass


class RebalsimError(Exception):
    """Anything that ends a command with a message instead of a traceback."""


class InputError(RebalsimError):
    """The user's file or option is wrong; the message says what, where, and what to write
    instead.
    """


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in a file. Lines and columns count from 1."""

    file: str
    line: int
    column: int
    message: str  # what is wrong with the value shown — what to write instead
    source: str = ""  # the line as it stands in the file
    width: int = 1  # how many columns the caret underlines
    rule: str = ""  # the lint rule that found it, if one did
    is_warning: bool = False
    # what the message says to write, as Kafka's keys and values, and the variants that it is for
    fix: tuple[tuple[str, str], ...] = ()
    fix_variants: tuple[str, ...] = ()

    def __str__(self) -> str:
        """`file:line:column: what is wrong — what to write instead`, and below it the line with
        a caret.
        """
        file = self.file.replace("\n", "\\x0a")  # a name does not begin a line of its own
        head = (
            f"{file}:{self.line}:{self.column}: "
            f"{'warning: ' if self.is_warning else ''}{self.message}{f' [{self.rule}]' if self.rule else ''}"
        )
        if not self.source.strip():
            return head
        start = max(0, self.column - 60)
        shown = "".join(c if c.isprintable() else " " for c in self.source[start : start + 110])
        before = shown[: self.column - 1 - start]
        width = max(1, min(self.width, len(shown) - len(before)))
        margin = f"{self.line:>6} | "
        return (
            f"{head}\n{margin}{'…' if start else ''}{shown}\n{' ' * (len(margin) - 2)}| "
            f"{' ' * bool(start)}{_blank(before)}{'^' * width}"
        )


def _blank(text: str) -> str:
    """As many spaces as the text is wide in a terminal."""
    if text.isascii():
        return " " * len(text)
    import unicodedata

    return "".join(
        "  " if unicodedata.east_asian_width(c) in "WF" else "" if unicodedata.combining(c) else " "
        for c in text
    )


class ProblemsError(InputError):
    """A file with problems: all of them, not just the first."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


class Missing(RebalsimError):
    """Something that must be installed is not; the message says what to install."""


class BugError(RebalsimError):
    """rebalsim contradicts itself: an invariant is broken. Never the user's fault."""
