"""What every reader ends with where its input is not what it should be: exit code 2 and a sentence,
whatever Python calls the trouble.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rebalsim.domain.errors import InputError, RebalsimError
from rebalsim.outside.text import clipped

# What reading strange bytes can raise. EOFError and zlib's are gzip's; RecursionError is depth,
# OverflowError a number; the others are a document of another shape than its reader expects.
_TROUBLE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
)


@contextmanager
def taken_from(
    name: str | Path, next_step: str = "was it damaged, or made by another program?"
) -> Iterator[None]:
    """Everything that goes wrong inside while reading `name` is one InputError: `NAME: cannot be
    read (why) — next_step`. Errors that say it already pass as they are.
    """
    try:
        yield
    except RebalsimError:
        raise
    except _TROUBLE as e:
        raise InputError(
            f"{clipped(str(name))}: cannot be read ({said(e)}) — {next_step}"
        ) from None
    except Exception as e:
        # zlib.error and the like, which have no common parent; no import only to name them
        if type(e).__module__ not in ("zlib", "_zlib", "gzip", "struct", "binascii"):
            raise
        raise InputError(
            f"{clipped(str(name))}: cannot be read ({said(e)}) — {next_step}"
        ) from None


_strangers: list[str] = []


def strange(name: str | Path) -> None:
    """Say that a file which tells of a run was read and is now being told of: where that fails
    half-way, the file is what must be looked at first.
    """
    _strangers.append(clipped(str(name)))


def forget_strangers() -> None:
    """A command begins."""
    _strangers.clear()


def strangers() -> tuple[str, ...]:
    """The strangers' files that were read in this process."""
    return tuple(dict.fromkeys(_strangers))


def said(error: BaseException) -> str:
    """The error in a few plain words."""
    if isinstance(error, MemoryError):
        return "it needs more memory than there is"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, UnicodeError):
        return "it is not UTF-8 text"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, KeyError):
        return f"it lacks {clipped(str(error), 60)}"
    return clipped(str(error), 120) or type(error).__name__
