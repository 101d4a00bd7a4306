"""Writing a file whole or not at all, with an error that says what to do."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import click

from rebalsim.domain.errors import InputError


class OutputFile(click.Path):
    """A file to be written. An empty name, as of a shell variable that is not set, is no way of
    leaving the option out.
    """

    def __init__(self) -> None:
        super().__init__(dir_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not value:
            self.fail("the name of the file is empty.", param, ctx)
        return super().convert(value, param, ctx)


def write_text(path: str | Path, text: str) -> None:
    """Replaces the file in one step; what was there stays if anything goes wrong."""
    target = Path(path)
    name = ""
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(
            handle, "w", encoding="utf-8", newline="", errors="backslashreplace"
        ) as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(target)
    except OSError as e:
        if name:
            Path(name).unlink(missing_ok=True)
        raise InputError(
            f"{target}: cannot be written ({e.strerror or e}) — give a file in a folder that "
            "exists and is yours"
        ) from None
