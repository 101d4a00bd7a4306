"""Writing a file whole or not at all, with an error that says what to do."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from rebalsim.domain.errors import InputError


def write_text(path: str | Path, text: str) -> None:
    """Replaces the file in one step; what was there stays if anything goes wrong."""
    target = Path(path)
    name = ""
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "w", encoding="utf-8", newline="", errors="backslashreplace") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(target)
    except OSError as e:
        if name:
            Path(name).unlink(missing_ok=True)
        raise InputError(f"{target}: cannot be written ({e.strerror or e}) — give a file in a folder that exists and is yours") from None
