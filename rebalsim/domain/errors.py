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
    """The user's file or option is wrong; the message says what, where, and what to write instead."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in a file. Lines and columns count from 1."""

    file: str
    line: int
    column: int
    message: str          # what is wrong with the value shown — what to write instead
    source: str = ""      # the line as it stands in the file
    width: int = 1        # how many columns the caret underlines
    rule: str = ""        # the lint rule that found it, if one did
    is_warning: bool = False


class ProblemsError(InputError):
    """A file with problems: all of them, not just the first."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        return "\n".join(f"{p.file}:{p.line}:{p.column}: {p.message}" for p in self.problems)


class Missing(RebalsimError):
    """Something that must be installed is not; the message says what to install."""


class BugError(RebalsimError):
    """rebalsim contradicts itself: an invariant is broken. Never the user's fault."""
