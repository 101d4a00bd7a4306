"""Files written whole or not at all: beside the old one, which is then replaced in one step.

Only regular files are replaced. A name that is a link means the file that it points at; a device, a
pipe or a folder is refused, for replacing it would take it away from everybody.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from rebalsim.domain.errors import InputError
from rebalsim.outside.rule import said
from rebalsim.outside.text import clipped

_PERMISSIONS = 0o777


def write_text(path: str | Path, text: str) -> None:
    """Replaces the file in one step; what was there stays if anything goes wrong."""
    with replaced(path) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def write_new(path: str | Path, text: str) -> None:
    """A file that was not there before, whole or not at all."""
    shown = clipped(str(path))
    has_begun = is_whole = False
    try:
        with Path(path).open("xb") as file:
            has_begun = True
            file.write(text.encode("utf-8", "backslashreplace"))
        is_whole = True
    except FileExistsError:
        raise InputError(
            f"{shown} exists, and nothing is overwritten — choose another name, or move it away"
        ) from None
    except (OSError, ValueError) as e:
        raise InputError(
            f"{shown} cannot be written: {said(e)} — choose a folder that exists, is yours and has "
            "room"
        ) from None
    finally:
        if has_begun and not is_whole:
            Path(path).unlink(missing_ok=True)


@contextmanager
def replaced(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write to that takes the place of the one at `path` when all is written."""
    shown = clipped(str(path))
    if str(path) == os.devnull:
        with Path(os.devnull).open("wb") as nowhere:
            yield nowhere
        return
    name = ""
    try:
        target = Path(os.path.realpath(path))
        mode = _mode_for(target, shown)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.")
        with os.fdopen(handle, "wb") as file:
            yield file
        Path(name).chmod(mode)
        Path(name).replace(target)
        name = ""
    except (OSError, ValueError) as e:
        raise InputError(
            f"{shown}: cannot be written ({said(e)}) — give a file in a folder that exists, is "
            "yours and has room"
        ) from None
    finally:
        if name:
            Path(name).unlink(missing_ok=True)


def _mode_for(target: Path, shown: str) -> int:
    """The permissions that the file has, or that a new one gets."""
    try:
        there = target.stat().st_mode
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
    if not stat.S_ISREG(there):
        kind = "a folder" if stat.S_ISDIR(there) else "a device, pipe or socket"
        raise InputError(
            f"{shown}: is {kind}, and is not replaced by a file — give the name of a file"
        )
    return there & _PERMISSIONS
